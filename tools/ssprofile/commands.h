/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_COMMANDS_H
#define SSPROFILE_COMMANDS_H

/* The command that is in C. argv[0] is its name. */

#include <showstopper/error.h>

int ssprofile_measure(char **argv, struct ss_error *error);

#endif
