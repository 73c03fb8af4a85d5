/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_HOST_SAMPLES_H
#define RECORD_HOST_SAMPLES_H

/*
 * Measurements during a run, kept next to its record: the load of an environment's host, and of
 * each CPU.
 */

#include <stdbool.h>
#include <stddef.h>

#include "record.h"

struct ssreport_host_load {
    double at;   /* seconds since 1970, by the host's clock */
    double load; /* 0 to 1 */
};

/* The run is divided into this many parts, to show how the load of a CPU changes. */
#define SSREPORT_CPU_PARTS 60

struct ssreport_cpu {
    struct {
        float sum; /* of loads from 0 to 1 */
        unsigned samples;
    } parts[SSREPORT_CPU_PARTS];
};

struct ssreport_surroundings {
    struct ssreport_host_load *host; /* owned */
    size_t host_count, host_capacity;
    double clock[2]; /* seconds by which the guest's clock is ahead of the host's, at start and end;
                        NaN if unknown */
    size_t vcpus;
    double vcpu_host, vcpu_wall; /* seconds of host CPU time and of elapsed time, summed over all
                                    virtual CPUs */
    struct ssreport_cpu *cpus;   /* owned */
    size_t cpu_count, cpu_capacity;
};

/*
 * Reads host-load.csv, guest-clock.csv and guest-vcpus.csv in the folder of a record, or as
 * FOLDER.host-load.csv and so on next to it, and cpus.csv in the folder. Each may be missing;
 * problems become notes of the record. Converts the times of a record made inside a guest to the
 * host's clock.
 */
void ssreport_surroundings_read(struct ssreport_surroundings *surroundings, const char *folder,
    struct ssreport_record *record, bool inside);

void ssreport_surroundings_free(struct ssreport_surroundings *surroundings);

/* Returns the mean load of the host in the counted time; NaN if unknown. */
double ssreport_surroundings_host_load(const struct ssreport_surroundings *surroundings,
    const struct ssreport_record *record, size_t *samples);

/* Returns the mean load of the host between two times of the run's clock; NaN if unknown. */
double ssreport_surroundings_host_load_between(const struct ssreport_surroundings *surroundings,
    const struct ssreport_record *record, double from, double to);

/* The load that ssload, an independent program, measured during a run. */
struct ssreport_beside {
    size_t samples;   /* number of samples in the counted time of the run; if 0, the other fields
                         are NaN */
    double load_mean; /* mean load, from 0 to 1 */
    double error_mean_percent, error_mse_e4;
};

/*
 * Reads beside.csv in the record's folder, which is optional. A sample without a target gets the
 * run's target. Problems are noted.
 */
struct ssreport_beside ssreport_beside_read(struct ssreport_record *record, const char *folder);

#endif
