/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_SURROUNDINGS_H
#define SSREPORT_SURROUNDINGS_H

/* What was measured beside a record: by the host of an environment, and of each CPU. */

#include <stdbool.h>
#include <stddef.h>

#include "record.h"

struct ssreport_host_load {
    double at;   /* seconds since 1970, by the host's clock */
    double load; /* part of 1 */
};

struct ssreport_cpu {
    char name[24];
    double sum; /* of loads, parts of 1 */
    size_t samples;
};

struct ssreport_surroundings {
    struct ssreport_host_load *host; /* owned */
    size_t host_count, host_capacity;
    double clock[2]; /* seconds by which the guest's is ahead at start and end; NaN: not known */
    size_t vcpus;
    double vcpu_host, vcpu_wall; /* seconds of host CPU, and that passed, of all together */
    struct ssreport_cpu *cpus;   /* owned; of the counted time */
    size_t cpu_count, cpu_capacity;
};

/*
 * From host-load.csv, guest-clock.csv, guest-vcpus.csv and cpus.csv in the folder of a record; each
 * may be missing, and what is wrong with one is noted in the record. A record that was made inside
 * of a guest is put onto the clock of the host.
 */
void ssreport_surroundings_read(struct ssreport_surroundings *surroundings, const char *folder,
    struct ssreport_record *record, bool inside);

void ssreport_surroundings_free(struct ssreport_surroundings *surroundings);

/* Mean load of the host during the counted time; NaN: not known. */
double ssreport_surroundings_host_load(const struct ssreport_surroundings *surroundings,
    const struct ssreport_record *record, size_t *samples);

#endif
