/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_SNAPSHOT_H
#define SHOWSTOPPER_TESTS_SNAPSHOT_H

#include <sys/types.h>

/*
 * Prints the state of every process of a run to standard error, so that the output of a failed test
 * shows why the run does not proceed. Includes `root` (0 if unknown), all processes that carry
 * `mark`, and their descendants.
 */
void snapshot_print(pid_t root, const char *mark);

#endif
