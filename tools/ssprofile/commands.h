/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_COMMANDS_H
#define SSPROFILE_COMMANDS_H

/* The command in C; argv[0] is the command's name, followed by its options and arguments. */

#include <showstopper/error.h>

int ssprofile_measure(char **argv, struct ss_error *error);

#endif
