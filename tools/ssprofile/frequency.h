/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_FREQUENCY_H
#define SSPROFILE_FREQUENCY_H

/* The frequency of a CPU while something runs on it, sampled from time to time. */

#include <stdbool.h>
#include <stdint.h>

struct ssprofile_frequency {
    const char *sys; /* "/sys", or where it is recorded */
    uint32_t cpu;
    double sum; /* kHz */
    unsigned samples;
};

/* Adds a sample; returns false if the machine does not report the frequency. */
bool ssprofile_frequency_sample(struct ssprofile_frequency *frequency);

/* Mean of all samples in Hz; NaN if unknown. */
double ssprofile_frequency_mean(const struct ssprofile_frequency *frequency);

#endif
