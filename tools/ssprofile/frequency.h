/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_FREQUENCY_H
#define SSPROFILE_FREQUENCY_H

/* Samples the frequency of a CPU, and lists the available frequencies. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>

struct ssprofile_frequency {
    const char *sys; /* "/sys", or a copy of it */
    uint32_t cpu;
    double sum; /* in kHz */
    unsigned samples;
};

/* Adds a sample; returns false if the machine does not report the frequency. */
bool ssprofile_frequency_sample(struct ssprofile_frequency *frequency);

/* Returns the mean of all samples in Hz; NaN if unknown. */
double ssprofile_frequency_mean(const struct ssprofile_frequency *frequency);

/* The available frequencies, in Hz. */
struct ssprofile_frequency_levels {
    double lowest, highest;
    double table[64]; /* the available ones if they are listed */
    size_t count;
};

/* Reads the levels. Returns false if the CPU has no cpufreq policy. */
SS_MUST_USE SS_NONNULL() bool ssprofile_frequency_levels_read(
    struct ssprofile_frequency_levels *levels, const char *sys, uint32_t cpu);

/* Returns the level nearest to this part of the highest frequency. */
SS_NONNULL()
double ssprofile_frequency_nearest(const struct ssprofile_frequency_levels *levels, double setting);

#endif
