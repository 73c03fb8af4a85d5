/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_FAKE_KERNEL_H
#define SHOWSTOPPER_TESTS_FAKE_KERNEL_H

#include <stdbool.h>

/* Returns whether a path is below SS_TEST_KERNEL/sys. */
bool fake_is_ours(const char *path);

/* Returns whether the file SS_TEST_KERNEL/NAME exists. */
bool fake_has_switch(const char *name);

/* Reads the first line of a file; "" if the file does not exist. */
void fake_get(const char *folder, const char *name, char text[300]);
void fake_put(const char *folder, const char *name, const char *text);
long fake_get_number(const char *folder, const char *name);
void fake_put_number(const char *folder, const char *name, long number);

/* Control groups. Functions that return int return 0 or an errno. */

bool fake_is_group(const char *folder);

/* Writes the files of a new group. */
void fake_fill_group(const char *folder);

/* Removes the files of a group, unless it has processes. */
int fake_empty_group(const char *folder);

/* Answers a write to a file of a group. */
int fake_set_group(const char *folder, const char *name, const char *text);

#endif
