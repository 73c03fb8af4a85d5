/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_FREQUENCY_H
#define SSPROFILE_FREQUENCY_H

/* The frequency of a CPU while something runs on it, looked at from time to time. */

#include <stdbool.h>
#include <stdint.h>

struct ssprofile_frequency {
    const char *sys; /* "/sys", or where it is recorded */
    uint32_t cpu;
    double sum; /* kHz */
    unsigned looks;
};

/* False: the machine does not tell. */
bool ssprofile_frequency_look(struct ssprofile_frequency *frequency);

/* Mean of all looks in Hz; NaN: it is not known. */
double ssprofile_frequency_mean(const struct ssprofile_frequency *frequency);

#endif
