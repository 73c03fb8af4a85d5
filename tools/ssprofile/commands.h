/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_COMMANDS_H
#define SSPROFILE_COMMANDS_H

/* The commands. Each gets its own name as argv[0] and its options and words behind it. */

#include <showstopper/error.h>

int ssprofile_measure(char **argv, struct ss_error *error);
int ssprofile_compare(char **argv, struct ss_error *error);
int ssprofile_calibrate(char **argv, struct ss_error *error);
int ssprofile_predict(char **argv, struct ss_error *error);

#endif
