/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TRACE_STAIRS_H
#define SHOWSTOPPER_TRACE_STAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include <showstopper/error.h>

/* Loads that are held one after the other. */
struct ss_stairs {
    double from;
    double to;
    double rise;     /* load from one level to the next, negative when the stairs go down */
    uint64_t levels; /* at least 1 */
    bool symmetric;  /* from the highest level to the lowest and back, the lowest held twice */
};

/* FROM:TO:STEP, three loads; `symmetric` stays as it is. */
int ss_stairs_parse(const char *text, struct ss_stairs *stairs, struct ss_error *error);

/* How many steps there are. */
uint64_t ss_stairs_count(const struct ss_stairs *stairs);

/* The load of a step, from 0 to ss_stairs_count() - 1. */
double ss_stairs_load(const struct ss_stairs *stairs, uint64_t step);

#endif
