/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_SETTING_SEARCH_H
#define SSPROFILE_SETTING_SEARCH_H

/*
 * Searches for the throttle setting that makes the target as fast as the base. Pure computation,
 * without input and output.
 */

#include <stdbool.h>
#include <stddef.h>

#define SSPROFILE_SETTING_MIN 1000 /* out of 10000, which is full speed */
#define SSPROFILE_SETTING_MAX 10000
#define SSPROFILE_TESTS       16

/*
 * Returns the cost of a setting at which the benchmarks take `mean` times as long as on the base.
 */
double ssprofile_search_cost(double mean);

struct ssprofile_search {
    int settings[SSPROFILE_TESTS]; /* settings tested so far */
    double costs[SSPROFILE_TESTS];
    size_t count;
    int best;         /* the setting that was accepted last */
    double best_cost; /* cost of `best`; INFINITY before the first test */
    double step;
};

void ssprofile_search_begin(struct ssprofile_search *search);

/*
 * Returns the next setting to test, and the same one until its cost is added; 0 if the search is
 * over.
 */
int ssprofile_search_next(struct ssprofile_search *search);

void ssprofile_search_add_cost(struct ssprofile_search *search, int setting, double cost);

#define SSPROFILE_CLOSED_TESTS 8    /* maximum number of settings */
#define SSPROFILE_CLOSED_HALF  0.01 /* maximum half width of the interval */

enum ssprofile_verdict {
    SSPROFILE_TEST,   /* test `setting` next */
    SSPROFILE_REPEAT, /* add repetitions at this setting: the interval is too wide */
    SSPROFILE_DONE,   /* `setting` is the result */
    SSPROFILE_NEAR,   /* no interval contains 0, but test `nearest` has one within
                         SSPROFILE_CLOSED_HALF of 0 */
    SSPROFILE_SLOWER, /* the target is slower than the base without a throttle */
    SSPROFILE_FAILED, /* the method did not converge, or needs a setting below the minimum */
};

struct ssprofile_closed {
    double settings[SSPROFILE_CLOSED_TESTS]; /* tested settings, as parts of 1 */
    double logs[SSPROFILE_CLOSED_TESTS];     /* mean ln r at each setting */
    double off[SSPROFILE_CLOSED_TESTS];      /* distance of the far end of each interval from 0 */
    size_t count;
    size_t nearest; /* the test with the smallest value in `off` */
    double setting; /* current setting */
    double least;   /* minimum setting */
};

/* Begins with a test without a throttle, at a setting of 1. */
void ssprofile_closed_begin(struct ssprofile_closed *closed, double least);

/*
 * Adds the result of a test at `closed->setting`: the mean of ln r over the calibration benchmarks
 * and half the width of its confidence interval. Afterwards `closed->setting` is the next setting
 * to test.
 */
enum ssprofile_verdict ssprofile_closed_add_ratio(
    struct ssprofile_closed *closed, double mean, double half);

#endif
