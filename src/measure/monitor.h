/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_MEASURE_MONITOR_H
#define SHOWSTOPPER_MEASURE_MONITOR_H

#include "loop/board.h"
#include "measure/doubt.h"
#include "measure/figures.h"
#include "measure/load.h"
#include "measure/load_sample.h"

#define SS_MONITOR_INTERVAL (500 * SS_MILLISECOND)

/*
 * The duty that is reported: the fraction of the time for which instances were allowed to run, as a
 * mean over the living ones. It is computed from permits, so it is the actual duty rather than the
 * last decision.
 */
struct ss_duty_meter {
    ss_time time; /* end of the previous interval */
    struct ss_permission permission;
};

void ss_duty_begin(struct ss_duty_meter *meter, const struct ss_board *board, ss_time now);

/*
 * Returns the duty since the previous call, 0 to 1, and begins the next interval. NaN if no
 * instance is alive, or no time has passed.
 */
double ss_duty_take(struct ss_duty_meter *meter, const struct ss_board *board, ss_time now);

/* The CPUs that make a load of 1. The limits of a control group may change during a run. */
struct ss_capacity {
    double first;       /* CPUs, when the run was planned */
    double latest;      /* CPUs */
    uint64_t changes;   /* number of changes */
    ss_time changed_at; /* when the latest of them was noticed */
};

/* A sample of the machine, as shown and counted. */
struct ss_monitor_sample {
    ss_time time;
    struct ss_load load;
    struct ss_load_span parts; /* parts of the same reading; unknown if its capacity is 0 */
    double pressure;           /* pressure of the same reading, see ss_cpu_reading */
    double steal;              /* fraction of CPU time that the hypervisor took; NaN if unknown */
    const struct ss_load_meter *cpus; /* holds the two readings of this sample until the next one;
                                         NULL if CPUs are not read */
    double target;                    /* NaN in warm-up and `free` sections */
    double duty;                      /* see struct ss_duty_meter; NaN without a target */
    enum ss_doubt_kind doubt;         /* kind of doubt, if the sample is counted */
    bool counted;                     /* included in the figures */
};

/* Samples the load for the summary, the live view and the record. */
struct ss_monitor {
    const struct ss_module_set *set;
    struct ss_load_meter *meter; /* read once for each sample; closed for a sensor */
    struct ss_load_meter *cpus;  /* meter of each CPU: `meter` if it reads the CPUs, otherwise NULL.
                                    The caller may set another one */
    struct ss_board *board;
    enum ss_source source;
    struct ss_self trace;
    struct ss_capacity capacity; /* changes only with SS_SOURCE_CGROUP */
    bool has_last;               /* the meter's last reading is valid */
    struct ss_duty_meter duty;
    bool was_free;        /* the previous sample ended in a `free` section */
    double target_first;  /* target of the first sample since counting began; NaN before */
    bool target_varied;   /* a later target differed from it by more than 1 % */
    ss_time interval;     /* time from sample to sample */
    ss_time next;         /* time of the next sample */
    ss_time control_from; /* SS_TIME_NEVER before control */
    ss_time counted_from; /* SS_TIME_NEVER before samples are counted */
    struct ss_monitor_sample latest;
    struct ss_figures figures;
    struct ss_settling settling;
    double duty_sum;                  /* of the counted samples with a known duty */
    uint64_t duty_count;              /* number of these samples */
    double steal_sum;                 /* sum of stolen seconds per CPU */
    double steal_seconds;             /* counted seconds in which the stolen time was known */
    uint64_t doubts[SS_DOUBT_KINDS];  /* number of counted samples of each kind */
    uint64_t running[SS_DOUBT_KINDS]; /* number of living instances, summed over these samples */
    uint64_t lost;                    /* samples that failed or were skipped due to delays */
    uint64_t lost_counted;            /* those of `lost` since counting began */
    uint64_t free_samples;            /* number of samples left out for a `free` section */
    uint64_t late_samples;            /* counted samples that were over a fifth too long */
};

void ss_monitor_open(struct ss_monitor *monitor, const struct ss_module_set *set,
    enum ss_source source, struct ss_load_meter *meter, struct ss_board *board);

/* Begins a new series of samples at `now`, due at the times of a series that began at `begin`. */
void ss_monitor_begin(struct ss_monitor *monitor, ss_time begin, ss_time now);

void ss_monitor_sample(struct ss_monitor *monitor, ss_time now);

/* Returns the mean duty of the counted samples; NaN if it is unknown in all of them. */
double ss_monitor_duty_mean(const struct ss_monitor *monitor);

/* Excludes a pause: the starts of control and of counting move by its length. */
void ss_monitor_shift(struct ss_monitor *monitor, ss_time length);

void ss_monitor_close(struct ss_monitor *monitor);

#endif
