/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_SYSSTAT_H
#define SSTRACE_SYSSTAT_H

/* The choice of a CPU in the output of sysstat, which lists the CPUs of one or several hosts. */

#include <showstopper/contract.h>

#include "fields.h"
#include "samples.h"

struct sstrace_sysstat {
    struct sstrace_samples *samples;
    struct text_input *input;
    char host[TEXT_NAME_SIZE];       /* of the current list of CPUs */
    bool any;                        /* a CPU of the list was read */
    char plain_host[TEXT_NAME_SIZE]; /* host whose CPU was selected without naming the host */
    bool only_all;                   /* the list begins with all CPUs together */
};

/*
 * Returns 1 if the CPU is selected, 0 if not, or -1 with the input's error set if several hosts
 * have it. --select names a CPU, HOST/CPU, or a host; by default all CPUs together are used if they
 * are listed first.
 */
SS_NONNULL()
int sstrace_sysstat_select(struct sstrace_sysstat *sysstat, const char *cpu, size_t column);

#endif
