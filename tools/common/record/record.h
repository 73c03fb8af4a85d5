/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_RECORD_H
#define SSREPORT_RECORD_H

/*
 * A recorded run in memory. Times are seconds since control began on the run's clock, which stands
 * still while the run is paused. In its files ("elapsed") it goes on.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <showstopper/error.h>

#include "base/histogram.h"
#include "counters.h"
#include "record_warnings.h"
#include "statistics.h"

/* What lies between two samples and is one of them. Loads are parts of 1. */
struct ssreport_sample {
    double begin, end;
    double target; /* NaN: free */
    double load;
    double duty;  /* NaN: not known */
    bool counted; /* the figures are made of it */
};

/* Time in which the run stood still, elapsed. */
struct ssreport_pause {
    double begin, end;
};

struct ssreport_iteration {
    double start, end;
    double instance; /* NaN: unknown */
};

/* Into so many parts the run is cut, to see how the duty of an instance changes. */
#define SSREPORT_DUTY_PARTS 120

struct ssreport_duty {
    double running, known; /* seconds */
};

struct ssreport_instance {
    uint32_t number;
    struct ssreport_duty all;
    struct ssreport_duty *parts; /* owned; NULL: nothing is known */
};

/* Of the duties that an instance had in the parts of the run. */
struct ssreport_range ssreport_instance_range(const struct ssreport_instance *instance);

/* A text that the run was given with --label. */
struct ssreport_label {
    char *name, *value;
};

struct ssreport_record {
    const char *path;  /* only while it is read */
    char *name;        /* what it is called here: its path */
    const char *title; /* the part of it that is shown; NULL: all */
    struct ssreport_notes notes;
    bool interrupted;
    bool never_stopped; /* by a fixed duty of 100 % */

    /* Owned; NULL: not known. */
    char *version, *command, *started, *ended_by;

    struct ssreport_label *labels; /* owned */
    size_t label_count, label_capacity;

    /* From its own summary; NaN: not known. */
    double instance_count, cpu_count, settling, switches, iterations_done, iterations_left, own_cpu,
        lateness_p99_us, error_mean_percent, steal, iteration_mean, iteration_deviation;

    double wall;         /* when control began, seconds since 1970; NaN: not known */
    double counted_from; /* 0 without settling time */
    double ended;        /* when control ended; 0: not known */
    double first_end;    /* when the first instance ended by itself; INFINITY: none did */
    double *over;        /* instances that ended by themselves */
    size_t over_count, over_capacity;
    struct ssreport_pause *pauses; /* owned, in order */
    size_t pause_count, pause_capacity;

    struct ssreport_sample *samples;
    size_t sample_count, sample_capacity;
    struct ssreport_iteration *iterations;
    size_t iteration_count, iteration_capacity;
    struct ss_histogram iteration_times; /* of the counted time; no values if not recorded */
    bool has_iterations;                 /* they were counted at all */
    bool is_bursty;                      /* its own summary has no throughput for that reason */
    struct ssreport_counters counters;   /* empty: not recorded */
    struct ssreport_instance *instances;
    size_t instance_room;
};

void ssreport_record_free(struct ssreport_record *record);

/* Its name in titles and sentences. */
const char *ssreport_record_title(const struct ssreport_record *record);

/* The value of a label; NULL: it has none of this name. */
const char *ssreport_record_label(const struct ssreport_record *record, const char *name);

/* Where the last sample ends; 0: there is none. */
double ssreport_record_end(const struct ssreport_record *record);

/* Where the counted time ends: with control, or with the last sample where that is not known. */
double ssreport_record_counted_to(const struct ssreport_record *record);

/* From an elapsed time to the run's clock, and back. */
double ssreport_record_run_time(const struct ssreport_record *record, double elapsed);
double ssreport_record_elapsed(const struct ssreport_record *record, double run_time);

/* Whether the run stood still at an elapsed time. */
bool ssreport_record_is_paused(const struct ssreport_record *record, double elapsed);

#endif
