/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MEASURE_LOAD_SAMPLE_H
#define SHOWSTOPPER_MEASURE_LOAD_SAMPLE_H

#include "platform/platform.h"

/* Instead of the number of a CPU: all that are measured, taken together. */
#define SS_LOAD_ALL_CPUS (-1)

/* Room for a row in any form, and for the heading. */
#define SS_LOAD_SAMPLE_ROW 768

/* What ssload prints of a sample, and what samples.csv keeps. What is not known is NaN. */
struct ss_load_sample {
    int64_t time;      /* wall clock, nanoseconds since 1970 */
    double elapsed;    /* seconds since the run's start */
    double target;     /* of 1, as all that follow; none in `free` sections */
    double load;       /* 1 - (idle + iowait) / elapsed, or what a group used of its allowance */
    double error;      /* target - load */
    double load_ticks; /* busy ticks over all ticks, as mpstat, sar and top show */
    int32_t cpu;       /* or SS_LOAD_ALL_CPUS */
    double user;       /* these six are parts of all ticks, or of a group's allowance */
    double system;
    double irq;
    double steal;
    double iowait;
    double idle;
    double pressure;
    double duty;  /* see duty.h */
    bool counted; /* the run's figures are made of it */
};

/* Nothing is known yet. */
struct ss_load_sample ss_load_sample_new(void);

/* Columns that not every table has. */
enum {
    SS_LOAD_COLUMN_CPU = 1,
    SS_LOAD_COLUMNS_RUN = 2, /* duty and counted */
};

/* Each writes one line with its end and returns its length. */
size_t ss_load_sample_heading(char line[SS_LOAD_SAMPLE_ROW], unsigned columns);
size_t ss_load_sample_csv(
    char line[SS_LOAD_SAMPLE_ROW], const struct ss_load_sample *sample, unsigned columns);
size_t ss_load_sample_json(
    char line[SS_LOAD_SAMPLE_ROW], const struct ss_load_sample *sample, unsigned columns);

/* CPU time between two readings. Zeroed: none; more can be added up. */
struct ss_load_span {
    double capacity; /* nanoseconds of CPU time that the clock says there were */
    bool group;
    bool parts;
    struct ss_cpu_times times;
};

/*
 * Between two readings of one CPU or of all. A CPU that is not in both of them, or whose counters
 * have gone back, is left out; false when nothing is left.
 */
bool ss_load_span_between(const struct ss_cpu_reading *from, const struct ss_cpu_reading *to,
    int32_t cpu, struct ss_load_span *span);

/*
 * The load of each CPU of the set between two readings, by idle time, ascending by CPU. NaN: not
 * in both readings, or its counters have gone back; so are all between readings of a group.
 */
void ss_load_of_each_cpu(const struct ss_cpu_reading *from, const struct ss_cpu_reading *to,
    const struct ss_cpus *cpus, double *loads);

/* The part of these CPUs' time that the hypervisor took; NaN: unknown. */
double ss_load_steal(const struct ss_cpu_reading *from, const struct ss_cpu_reading *to);

void ss_load_span_add(struct ss_load_span *sum, const struct ss_load_span *span);

/* Sets load, load_ticks and the parts, and the error where there is a target. */
void ss_load_sample_set(struct ss_load_sample *sample, const struct ss_load_span *span);

/* Takes readings and keeps the last two. */
struct ss_load_meter {
    int (*read)(void *context, struct ss_cpu_reading *reading); /* 0, or an errno */
    void *context;
    struct ss_cpu_reader reader; /* the usual context */
    struct ss_cpu_reading last;
    struct ss_cpu_reading before;
};

/* Initializes one that is not open. */
#define SS_LOAD_METER_CLOSED                                                                       \
    { .reader = SS_CPU_READER_CLOSED }

/* As ss_platform_cpu_times_open(). Takes no reading. The meter must stay where it is. */
int ss_load_meter_open(struct ss_load_meter *meter, const struct ss_source_request *request,
    const struct ss_cpus *cpus, const struct ss_platform_roots *roots, struct ss_error *error);

/* Takes one; the last becomes the one before. 0, or a negative errno. */
int ss_load_meter_read(struct ss_load_meter *meter);

void ss_load_meter_close(struct ss_load_meter *meter);

#endif
