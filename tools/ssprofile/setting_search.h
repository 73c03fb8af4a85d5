/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_SETTING_SEARCH_H
#define SSPROFILE_SETTING_SEARCH_H

/* Which throttle setting makes the target as fast as the base. No input, no output, no clock. */

#include <stdbool.h>
#include <stddef.h>

/* ---- the published search ---- */

#define SSPROFILE_SETTING_MIN 1000 /* of 10000: a setting of 10000 does not throttle */
#define SSPROFILE_SETTING_MAX 10000
#define SSPROFILE_TESTS       16

/* How far off it is when the calibration benchmarks take `mean` times as long as on the base. */
double ssprofile_search_cost(double mean);

struct ssprofile_search {
    int settings[SSPROFILE_TESTS]; /* those that were tested */
    double costs[SSPROFILE_TESTS];
    size_t count;
    int best;         /* setting: the one that was accepted last */
    double best_cost; /* INFINITY: nothing was tested */
    double step;
};

void ssprofile_search_begin(struct ssprofile_search *search);

/* The setting to be tested next; 0: the search is over. It is the same until its cost is told. */
int ssprofile_search_next(struct ssprofile_search *search);

void ssprofile_search_tell(struct ssprofile_search *search, int setting, double cost);

/* ---- the closed method ---- */

#define SSPROFILE_CLOSED_TESTS 8    /* so many settings at most */
#define SSPROFILE_CLOSED_HALF  0.01 /* the interval reaches at most so far to either side */

enum ssprofile_verdict {
    SSPROFILE_TEST,   /* `setting` is to be tested */
    SSPROFILE_REPEAT, /* more repetitions at this setting: the interval is too wide */
    SSPROFILE_DONE,   /* `setting` is it */
    SSPROFILE_NEAR, /* no interval contains 0, but that of the test `nearest` is within 1 % of it */
    SSPROFILE_SLOWER, /* the target is slower than the base without a throttle */
    SSPROFILE_FAILED, /* it has not converged, or wants a setting below the least */
};

struct ssprofile_closed {
    double settings[SSPROFILE_CLOSED_TESTS]; /* as parts of 1 */
    double logs[SSPROFILE_CLOSED_TESTS];     /* mean ln r there */
    double off[SSPROFILE_CLOSED_TESTS];      /* how far from 0 the interval reaches */
    size_t count;
    size_t nearest; /* test: the one that is least off */
    double setting; /* the one that is being tested */
    double least;   /* setting */
};

/* The first test is without a throttle, at a setting of 1. */
void ssprofile_closed_begin(struct ssprofile_closed *closed, double least);

/*
 * What was found at `closed->setting`: the mean of ln r over the calibration benchmarks and half
 * the width of its confidence interval. What is to be tested next is in `closed->setting`.
 */
enum ssprofile_verdict ssprofile_closed_tell(
    struct ssprofile_closed *closed, double mean, double half);

#endif
