/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MEASURE_LOAD_SAMPLE_H
#define SHOWSTOPPER_MEASURE_LOAD_SAMPLE_H

#include "platform/platform.h"

/* The value of `cpu` for all measured CPUs together. */
#define SS_LOAD_ALL_CPUS (-1)

/* A sample as ssload prints it and samples.csv stores it. Unknown values are NaN. */
struct ss_load_sample {
    int64_t time;      /* wall clock, nanoseconds since 1970 */
    double elapsed;    /* seconds since the run's start */
    double target;     /* 0 to 1, like the values below; NaN in `free` sections */
    double load;       /* 1 - (idle + iowait) / available CPU time, or the fraction of its allowance
                          that a group used */
    double error;      /* target - load */
    double load_ticks; /* busy ticks over all ticks, as in mpstat, sar and top */
    int32_t cpu;       /* number of the CPU, or SS_LOAD_ALL_CPUS */
    double user;       /* these six values are relative to all ticks, or to a group's allowance */
    double system;
    double irq;
    double steal;
    double iowait;
    double idle;
    double pressure;
    double duty;     /* see struct ss_duty_meter */
    bool counted;    /* included in the run's figures */
    double capacity; /* CPUs that made a load of 1; for a group, its mean allowance in the sample */
};

/* Returns a sample in which every value is unknown. */
struct ss_load_sample ss_load_sample_new(void);

/* CPU time between two readings, or a sum of such times. Empty when zero-initialized. */
struct ss_load_span {
    double capacity; /* CPU time that was available, by the clock, or that a group was allowed;
                        nanoseconds */
    bool group;
    bool parts;
    struct ss_cpu_times times;
};

/*
 * Computes the CPU times between two readings, of one CPU or of all. Excludes CPUs that are not in
 * both readings, or whose counters went backward. Returns false if no CPU remains or no time has
 * passed.
 */
bool ss_load_span_between(const struct ss_cpu_reading *from, const struct ss_cpu_reading *to,
    int32_t cpu, struct ss_load_span *span);

/*
 * Computes the load of each CPU of the set between two readings, from idle time, in order of CPUs.
 * The load is NaN if a CPU is not in both readings, if its counters went backward, and for readings
 * of a group.
 */
void ss_load_of_each_cpu(const struct ss_cpu_reading *from, const struct ss_cpu_reading *to,
    const struct ss_cpus *cpus, double *loads);

/* Returns the fraction of the CPU time that the hypervisor took; NaN if unknown. */
double ss_load_steal(const struct ss_cpu_reading *from, const struct ss_cpu_reading *to);

void ss_load_span_add(struct ss_load_span *sum, const struct ss_load_span *span);

/*
 * Sets the load and its parts; for a group, only the parts that the kernel counts. The error is NaN
 * without a target.
 */
void ss_load_sample_set(struct ss_load_sample *sample, const struct ss_load_span *span);

#endif
