/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_COMMANDS_H
#define SSPROFILE_COMMANDS_H

/* Runs `ssprofile measure`; argv[0] is "measure". The other commands are in Python. */

#include <showstopper/error.h>

int ssprofile_measure(char **argv, struct ss_error *error);

#endif
