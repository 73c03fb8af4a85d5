/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_VERDICT_WINDOWS_H
#define SHOWSTOPPER_VERDICT_WINDOWS_H

#include <stddef.h>

#include <showstopper/contract.h>
#include <showstopper/time.h>

#define SS_WINDOWS_CELLS 2048

/*
 * Amounts over time, for a length of time that is not known in advance. Memory is fixed: when the
 * cells are full, pairs of them are merged, so after 2 s, at least half of them are in use.
 */
struct ss_windows {
    ss_time from;  /* start of the first cell; SS_TIME_NEVER: drops what is added */
    ss_time width; /* width of a cell; 0 before the first amount */
    ss_time reach; /* end of the latest amount, since `from` */
    double cells[SS_WINDOWS_CELLS];
};

/*
 * Spreads `amount` evenly over the time from `start` to `end`. The part before the first cell is
 * left out. If both times are the same, all of it is added at that time.
 */
SS_NONNULL()
void ss_windows_add(struct ss_windows *windows, ss_time start, ss_time end, double amount);

/*
 * Divides the time up to `to` into `count` equal windows, and sets the amount of each. Leaves out
 * later amounts; those in the same cell as `to` are divided evenly.
 */
SS_NONNULL()
void ss_windows_split(const struct ss_windows *windows, ss_time to, size_t count, double amounts[]);

#endif
