/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_VERDICT_STATIONARITY_H
#define SHOWSTOPPER_VERDICT_STATIONARITY_H

#include <stdbool.h>
#include <stddef.h>

#include <showstopper/contract.h>

/*
 * Finds whether the level of a series changed: by a step, slowly, or as programs change while they
 * warm up. Each of these shapes is fitted to the series by least squares, and the one whose size
 * is known best, relative to its standard error, is reported. Successive values are usually
 * correlated, which makes standard errors larger: those here allow for it. Tests for unit roots
 * (ADF, KPSS) answer another question: whether a series returns to its mean at all.
 */
#define SS_STATIONARITY_MAX 240

enum ss_shape {
    SS_SHAPE_STEP,
    SS_SHAPE_DRIFT,   /* linear over all of the time */
    SS_SHAPE_WARM_UP, /* exponential, with a time constant of a twelfth of the time */
};

struct ss_change {
    bool checked;             /* enough values are independent to decide */
    double certainty;         /* size over its standard error */
    double size;              /* from before to after, relative to the mean; negative: it fell */
    enum ss_shape shape;      /* the shape that is most certain */
    double at;                /* when a step was, as a fraction of the time */
    unsigned instance_plus_1; /* 1 + the instance that explains the step; 0 if unknown */
};

/* Finds the change in at most SS_STATIONARITY_MAX values. */
SS_NONNULL() struct ss_change ss_stationarity_find(const double *values, size_t count);

/* Returns the number of windows into which to divide the events; 0 if there are too few. */
size_t ss_stationarity_windows(double events);

/* Returns the size of a change that is certain enough to count, otherwise 0; NaN if not checked. */
SS_NONNULL() double ss_stationarity_change(const struct ss_change *change);

/*
 * Describes a change, relative to the level before it: "a step of -4.1 % after 37 % of the time".
 */
#define SS_CHANGE_TEXT_SIZE 96
SS_NONNULL()
void ss_stationarity_print(char text[SS_CHANGE_TEXT_SIZE], const struct ss_change *change);

#endif
