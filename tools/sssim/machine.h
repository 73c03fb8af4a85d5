/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSSIM_MACHINE_H
#define SSSIM_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include <showstopper/error.h>
#include <showstopper/feedback.h>
#include <showstopper/time.h>

struct machine_instance {
    uint32_t width; /* threads, all of them always runnable; 1: serial */
    bool running;   /* not stopped */
};

/*
 * A machine in virtual time with a perfectly fair scheduler: of R runnable threads on P CPUs as
 * many run at any instant as there is room for. Between two changes nothing changes, so its
 * counters are exact at every instant, and nothing is computed in between.
 */
struct machine {
    uint32_t cpus;
    double background; /* CPUs that the rest of the system wants at every instant */
    uint32_t count;    /* instances */
    struct machine_instance *instances;
    uint64_t threads; /* runnable ones of all instances */
    ss_time start;    /* the counters' zero */
    ss_time now;      /* up to here everything is accounted for */
    uint64_t idle;    /* nanoseconds, summed over the CPUs */
    double idle_part; /* of a nanosecond, not yet in `idle` */
};

/* All instances have the same width and are stopped at first. */
int machine_open(struct machine *machine, uint32_t cpus, uint32_t instances, uint32_t width,
    ss_time start, struct ss_error *error);

void machine_close(struct machine *machine);

/* Time only moves on: `now` is never before the one given last, in both of these. */
void machine_set_running(struct machine *machine, uint32_t instance, bool running, ss_time now);
void machine_read(struct machine *machine, ss_time now, struct ss_counters *counters);

#endif
