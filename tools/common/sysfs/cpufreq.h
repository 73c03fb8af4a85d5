/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SYSFS_CPUFREQ_H
#define SYSFS_CPUFREQ_H

#include "sys_tree.h"

#define CPUFREQ "sys/devices/system/cpu/cpufreq"

/* A policy: CPUs that share a frequency. Frequencies are in kHz; NaN if unknown. */
struct cpufreq_policy {
    char folder[100];
    struct ss_cpus cpus;
    char driver[32], governor[32];
    double lowest, highest;             /* limits of the hardware */
    double minimum, maximum, set_speed; /* current limits, and speed of the governor `userspace` */
    char *frequencies; /* those that can be set, including turbo; owned; NULL: all can be set */
    bool has_userspace;
};

/* Zeroed: no policies. */
struct cpufreq_policies {
    struct cpufreq_policy *items; /* by number */
    size_t count, room;
};

/* Reads all policies that have an online CPU. Fails only if memory is exhausted. */
SS_MUST_USE SS_NONNULL() int cpufreq_read(
    struct cpufreq_policies *policies, const struct sys_tree *tree, struct ss_error *error);
SS_NONNULL() void cpufreq_free(struct cpufreq_policies *policies);

#endif
