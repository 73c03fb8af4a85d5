/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_FREQUENCY_H
#define SSPROFILE_FREQUENCY_H

/* Samples the frequency of a CPU. */

#include <stdbool.h>
#include <stdint.h>

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

#endif
