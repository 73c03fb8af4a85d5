/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_SIMULATION_H
#define SSSIM_SIMULATION_H

#include <showstopper/contract.h>

#include "demand.h"
#include "options/arguments.h"
#include "study.h"
#include "trial.h"

/* The runs of `sssim --sweep`: all combinations of the values of the swept options. */

#define GRID_AXES_MAX 16

struct grid_axis {
    char *name;    /* name of the option, in its long form */
    char **values; /* values, as written on a command line */
    size_t count;
};

struct grid {
    struct grid_axis axes[GRID_AXES_MAX];
    size_t count; /* number of axes; 0 without a sweep */
};

struct simulation {
    struct trial_options trial; /* must be first: the options of modules set it by offset */
    uint64_t cpus;
    uint64_t instances; /* 0 for one per CPU */
    const char *class;
    ss_time duration;       /* SS_TIME_NEVER if not given */
    double background;      /* CPU use of the background, as a fraction of the machine */
    int smt_fill;           /* enum simulation_fill */
    const char *turbo;      /* frequency steps as text; NULL if not given */
    const char *foreground; /* class of the foreground; NULL without a study */
    uint64_t rounds;
    const char *record; /* NULL to record nothing */
    struct grid grid;
    int csv;
    int help;
    int version;
    struct ss_option_store store;
    struct demand_mix mix;
    struct demand_mix foreground_mix;
};

extern const struct ss_argument simulation_rows[];

/* Parses a command line, which includes argv[0]. Close the simulation even on failure. */
SS_MUST_USE SS_NONNULL(1, 2) int simulation_parse(
    struct simulation *simulation, char **argv, struct ss_error *error);

SS_NONNULL() void simulation_close(struct simulation *simulation);

/*
 * Opens the trial, which must not outlive the simulation. Sets `length` to its total length.
 * `on_sample` may be NULL. Warnings go to the simulation's store.
 */
SS_MUST_USE SS_NONNULL(1, 2, 4) int simulation_open_trial(struct simulation *simulation,
    struct trial *trial, void (*on_sample)(void *context, const struct trial_sample *sample),
    ss_time *length, struct ss_error *error);

/*
 * Makes the options of a study, for its first round. They must not outlive the simulation. `argv`
 * is the command line.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3) int simulation_make_study(struct simulation *simulation,
    char **argv, struct study_options *options, struct ss_error *error);

#endif
