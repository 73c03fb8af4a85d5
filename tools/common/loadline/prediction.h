/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOADLINE_PREDICTION_H
#define LOADLINE_PREDICTION_H

/*
 * Predicts the throughput at a load that was not measured, from the levels below it. Assumes no
 * shape: fits several, drops those that the levels contradict, and reports the union of the ranges
 * of the others.
 */

#include <showstopper/contract.h>

#include "loadline.h"

#define LOADLINE_KNEES_MAX 32
#define LOADLINE_FITS_MAX  (LOADLINE_KNEES_MAX + 5)

enum loadline_shape {
    LOADLINE_STRAIGHT, /* T / L is linear */
    LOADLINE_CURVE,    /* L / T is a parabola: contention and coherence, for example of locks */
    LOADLINE_KNEE,     /* T bends at a load: all cores are busy, or the frequency changes */
    LOADLINE_LIMIT,    /* T stops growing at a measured load: memory bandwidth is exhausted */
    LOADLINE_SHAPES,
};

struct loadline_question {
    double load;                      /* the load at which to predict */
    double knees[LOADLINE_KNEES_MAX]; /* loads at which T may bend, besides bends that the levels
                                         show */
    size_t knee_count;
    double burst; /* mean throughput of short bursts at full load; NaN without bursts */
    struct ssreport_sureness burst_error; /* uncertainty of its logarithm */
    double confidence;                    /* such as 0.95 */
};

struct loadline_fit {
    enum loadline_shape shape;
    struct ssreport_interval knee; /* loads at which T may bend; NaN without a knee */
    struct ssreport_band range;    /* range of the predicted throughput */
    bool fits;                     /* the levels do not contradict the shape */
};

struct loadline_prediction {
    /* union of the fits' ranges, including bends above the highest level */
    struct ssreport_band range;
    /* union of the fits' ranges if the line does not bend above the highest level */
    struct ssreport_band free;
    double highest; /* load of the highest level */
    double missed;  /* relative error of predicting the highest level from the levels below it */
    double unidentified; /* lowest known knee between the highest level and the predicted load; NaN
                            without one */
    struct loadline_fit fits[LOADLINE_FITS_MAX];
    size_t fit_count;
};

/* Returns NULL, or the reason why no prediction is possible. */
SS_MUST_USE SS_NONNULL() const char *loadline_predict(struct loadline_prediction *prediction,
    const struct loadline *line, const struct loadline_question *question);

#endif
