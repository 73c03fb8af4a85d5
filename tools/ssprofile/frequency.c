/* SPDX-License-Identifier: Apache-2.0 */
#include "frequency.h"

#include <math.h>
#include <stdio.h>

#include "base/owned.h"

bool ssprofile_frequency_sample(struct ssprofile_frequency *frequency) {
    char path[4400];
    double now;
    snprintf(path, sizeof path, "%.4200s/devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq",
        frequency->sys, frequency->cpu);
    SS_OWNED(fclose) FILE *stream = fopen(path, "re");
    if (!stream || fscanf(stream, "%lf", &now) != 1 || !(now > 0))
        return false;
    frequency->sum += now;
    frequency->samples++;
    return true;
}

double ssprofile_frequency_mean(const struct ssprofile_frequency *frequency) {
    return frequency->samples > 0 ? 1000 * frequency->sum / frequency->samples : NAN;
}
