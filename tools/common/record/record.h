/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_RECORD_H
#define RECORD_RECORD_H

/*
 * A recorded run in memory. Times are seconds since control began, on the run's clock, which stops
 * while the run is paused. Times in files ("elapsed") include pauses.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <showstopper/error.h>

#include "base/histogram.h"
#include "counters.h"
#include "record_verdict.h"
#include "record_warnings.h"
#include "statistics.h"

/* Identifies the folder or file of a record. */
struct ssreport_place {
    bool known;
    dev_t device;
    ino_t inode;
};

/* A sample of the load, for the time since the previous sample. Loads are from 0 to 1. */
struct ssreport_sample {
    double begin, end;
    double target; /* NaN in a `free` section */
    double load;
    double duty;  /* NaN if unknown */
    bool counted; /* the figures include the sample */
};

/* A pause of the run, in elapsed time. */
struct ssreport_pause {
    double begin, end;
};

struct ssreport_iteration {
    double start, end;
    double instance; /* NaN if unknown */
};

/* The run is divided into this many parts, to show how the duty of an instance changes. */
#define SSREPORT_DUTY_PARTS 120

struct ssreport_duty {
    double running, known; /* seconds */
};

struct ssreport_instance {
    uint32_t number;
    struct ssreport_duty all;
    struct ssreport_duty *parts; /* owned; NULL if unknown */
};

/* A text given with --label, or the value of a column of a plan. */
struct ssreport_label {
    char *name, *value;
};

/* The columns of a record in the plan of its study, in their order. */
struct ssreport_columns {
    struct ssreport_label *items; /* owned */
    size_t count, room;
};

/* Returns the value of a column; "" if the record lacks the column. */
const char *ssreport_columns_get(const struct ssreport_columns *columns, const char *name);

/* Sets a column, replacing any previous value. Returns -1 if memory is exhausted. */
int ssreport_columns_set(struct ssreport_columns *columns, const char *name, const char *value);

void ssreport_columns_free(struct ssreport_columns *columns);

struct ssreport_record {
    char *folder;      /* its path, owned; NULL if the record was not read */
    char *name;        /* path of the record, with a number if it is given more than once */
    const char *title; /* the part of the name that is shown; NULL: all of it */
    struct ssreport_notes notes;
    struct ssreport_verdict verdict;
    bool interrupted;
    bool is_damaged;    /* summary.json exists but is not the summary of a run */
    bool running;       /* incomplete because the run is still in progress */
    bool never_stopped; /* the duty is fixed at 100 % */
    bool open_loop;     /* the duty is fixed */

    /* Owned texts; NULL if unknown. */
    char *version, *command, *started, *ended_by;

    struct ssreport_label *labels; /* owned */
    size_t label_count, label_capacity;

    /* Figures from the run's own summary; NaN if unknown. */
    double instance_count, cpu_count, settling, switches, iterations_done, iterations_left, own_cpu,
        lateness_p99_us, error_mean_percent, steal, iteration_mean, iteration_deviation;

    double load_cpus; /* number of CPUs that are busy at a load of 1; NaN if unknown */

    double wall;         /* start of control, seconds since 1970; NaN if unknown */
    double counted_from; /* start of the counted time; 0 without --settle */
    double ended;        /* end of control; 0 if unknown */
    double first_end;    /* time at which the first instance ended by itself; INFINITY if none
                            did */
    double *over;        /* numbers of the instances that ended by themselves */
    size_t over_count, over_capacity;
    struct ssreport_pause *pauses; /* owned, in order */
    size_t pause_count, pause_capacity;

    struct ssreport_sample *samples;
    size_t sample_count, sample_capacity;
    struct ssreport_iteration *iterations;
    size_t iteration_count, iteration_capacity;
    struct ss_histogram iteration_times; /* lengths of iterations in the counted time; empty if not
                                            recorded */
    bool has_iterations;                 /* the run counted iterations */
    bool is_bursty;                      /* iterations were read in bursts, so the run's summary has
                                            no throughput */
    struct ssreport_counters counters;   /* empty if not recorded */
    struct ssreport_instance *instances;
    size_t instance_room;
};

/*
 * Reads a record, even if parts are missing or damaged; `notes` says which. Returns -1 with the
 * error set if nothing can be reported. Free the record in either case.
 */
int ssreport_record_read(
    struct ssreport_record *record, const char *path, const char *name, struct ss_error *error);

void ssreport_record_free(struct ssreport_record *record);

/* Returns the name for titles and sentences. */
const char *ssreport_record_title(const struct ssreport_record *record);

/* Returns the value of a label; NULL if absent. */
const char *ssreport_record_label(const struct ssreport_record *record, const char *name);

/* Returns the end of the last sample; 0 without samples. */
double ssreport_record_end(const struct ssreport_record *record);

/*
 * Returns the end of the counted time: the end of control or, if that is unknown, of the last
 * sample.
 */
double ssreport_record_counted_to(const struct ssreport_record *record);

/* Convert an elapsed time to the run's clock, and back. */
double ssreport_record_run_time(const struct ssreport_record *record, double elapsed);
double ssreport_record_elapsed(const struct ssreport_record *record, double run_time);

/* Returns whether the run was paused at an elapsed time. */
bool ssreport_record_is_paused(const struct ssreport_record *record, double elapsed);

#endif
