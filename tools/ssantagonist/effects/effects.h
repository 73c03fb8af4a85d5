/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSANTAGONIST_EFFECTS_H
#define SSANTAGONIST_EFFECTS_H

/*
 * Estimates the effect of each throttled suspect on the victim, by least squares over the slots of
 * a study:
 *
 *     ln figure = constant + cubic drift + sum over all codes of (b low + l low in the slot before)
 *
 * where low is 1 in the slots in which a suspect is throttled, and 0 in the others. A larger figure
 * is better; callers that measure times pass their negative logarithms.
 */

#include <stdbool.h>
#include <stddef.h>

#include <showstopper/contract.h>

#include "codes.h"
#include "statistics.h"

/* A mean over a few slots, and its standard error. */
struct effects_usual {
    double mean, error;
};

struct effects_input {
    const struct codes *codes;
    double depth; /* part of its running time that throttling takes from a suspect, 0 to 1 */
    const double *figures; /* logarithm of the figure in each slot; NaN: unknown */
    /* CPU time of each suspect, in any unit of time per second; NaN: unknown. */
    const double *cpu[CODES_SUSPECTS_MAX];          /* in each slot */
    struct effects_usual usual[CODES_SUSPECTS_MAX]; /* before the study, without throttles */
};

/* An estimate and its confidence interval; NaN if unknown. */
struct effects_value {
    double value;
    struct ssreport_interval interval;
};

enum effects_verdict {
    EFFECTS_NOTHING,    /* no effect was found */
    EFFECTS_HURTS,      /* the victim is better off while the suspect is throttled */
    EFFECTS_SHIFTS,     /* it hurts, but catches up later */
    EFFECTS_SUPPORTS,   /* the victim is worse off while the suspect is throttled */
    EFFECTS_UNTESTABLE, /* the suspect lost too little CPU time */
};

/* The effect of one suspect or ghost. Values are natural logarithms of ratios. */
struct effects_one {
    struct effects_value now;      /* b: while it is throttled */
    struct effects_value after;    /* l: in the slot after */
    double withheld;               /* g: part of its CPU time lost while throttled; NaN: unknown */
    struct effects_value returned; /* part of the lost CPU time that it used later */
    bool grew; /* it used more CPU time than before the study, so `returned` says nothing */
    struct effects_value cost; /* b / g: extrapolated cost of all of its CPU time */
    struct effects_value net;  /* (b + l) / g */
    enum effects_verdict verdict;
};

/*
 * Two suspects whose combined effect is not the sum of their effects. Others may throttle in the
 * same slots together: such pairs follow each other and have the same t.
 */
struct effects_pair {
    size_t one, other;
    double t;
};

#define EFFECTS_PAIRS_MAX 8

struct effects {
    size_t slots;                        /* slots with a figure */
    double deviation;                    /* standard deviation of logarithms from the fit */
    double quantile;                     /* an effect is found if |t| is larger */
    struct effects_one codes[CODES_MAX]; /* suspects first, then ghosts */
    bool ghost_found;                    /* a ghost seems to have an effect */
    size_t pairs;
    struct effects_pair
        pair[EFFECTS_PAIRS_MAX]; /* the most significant pairs, the largest |t| first */
    /*
     * The relative change of the CPU time of suspect [i] while suspect [j] was throttled (NaN:
     * unknown), and whether that is significant: 5 % of studies have any such change of another
     * suspect by chance.
     */
    double crossed[CODES_SUSPECTS_MAX][CODES_SUSPECTS_MAX];
    bool crossed_found[CODES_SUSPECTS_MAX][CODES_SUSPECTS_MAX];
};

/* Returns the |t| that the largest of `tests` effects exceeds by chance in 5 % of studies. */
double effects_quantile(size_t tests, double freedom);

/*
 * Returns the smallest cost, as a logarithm, that a study finds with a probability of 90 %, given
 * the standard deviation of the logarithm of a slot's figure.
 */
SS_NONNULL()
double effects_found_from(const struct codes *codes, double deviation, double depth);

/* Estimates the effects. Returns false if too few slots have a figure, or memory is exhausted. */
SS_MUST_USE SS_NONNULL() bool effects_estimate(
    struct effects *effects, const struct effects_input *input);

/* Converts the logarithm of a ratio to a change in percent. */
double effects_percent(double logarithm);

#endif
