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

/* Opens a file of the CPU's policy: the CPU links to it, or the policy has the CPU's number. */
static FILE *open_policy_file(const char *sys, uint32_t cpu, const char *name) {
    for (int i = 0; i < 2; i++) {
        char folder[40], path[4400];
        snprintf(folder, sizeof folder, i == 0 ? "cpu%u/cpufreq" : "cpufreq/policy%u", cpu);
        snprintf(path, sizeof path, "%.4200s/devices/system/cpu/%s/%s", sys, folder, name);
        FILE *stream = fopen(path, "re");
        if (stream)
            return stream;
    }
    return NULL;
}

static double read_hertz(const char *sys, uint32_t cpu, const char *name) {
    SS_OWNED(fclose) FILE *stream = open_policy_file(sys, cpu, name);
    double kilohertz;
    return stream && fscanf(stream, "%lf", &kilohertz) == 1 ? 1000 * kilohertz : NAN;
}

bool ssprofile_frequency_levels_read(
    struct ssprofile_frequency_levels *levels, const char *sys, uint32_t cpu) {
    SS_OWNED(fclose)
    FILE *stream = open_policy_file(sys, cpu, "scaling_available_frequencies");
    double kilohertz;
    *levels = (struct ssprofile_frequency_levels){
        .lowest = read_hertz(sys, cpu, "cpuinfo_min_freq"),
        .highest = read_hertz(sys, cpu, "cpuinfo_max_freq"),
    };
    while (stream && levels->count < sizeof levels->table / sizeof *levels->table &&
           fscanf(stream, "%lf", &kilohertz) == 1)
        levels->table[levels->count++] = 1000 * kilohertz;
    /* The limits of the hardware may include boost, which cannot be set. */
    for (size_t i = 0; i < levels->count; i++) {
        double level = levels->table[i];
        levels->lowest = i == 0 ? level : fmin(levels->lowest, level);
        levels->highest = i == 0 ? level : fmax(levels->highest, level);
    }
    return levels->lowest > 0 && levels->highest >= levels->lowest;
}

double ssprofile_frequency_nearest(
    const struct ssprofile_frequency_levels *levels, double setting) {
    double wanted = fmin(fmax(setting * levels->highest, levels->lowest), levels->highest);
    double nearest = 1000 * nearbyint(wanted / 1000); /* the kernel counts in kHz */
    for (size_t i = 0; i < levels->count; i++) {
        if (i == 0 || fabs(levels->table[i] - wanted) < fabs(nearest - wanted))
            nearest = levels->table[i];
    }
    return nearest;
}
