/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPLAY_DIFFERENCE_H
#define SSREPLAY_DIFFERENCE_H

#include <stdio.h>
#include <yajl/yajl_tree.h>

/* A line for each place in which two descriptions differ. Returns how many there are. */
int ssreplay_print_differences(FILE *stream, yajl_val before, yajl_val now);

#endif
