/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>

#include "base/owned.h"
#include "platform/linux/linux.h"

#define CPUS_READ_MAX 16

/* Returns the frequency of a CPU in Hz, or 0 if unknown. */
static double read_cpu(const char *sys, uint32_t cpu) {
    struct ss_linux_path path =
        ss_linux_path("%s/devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq", sys, cpu);
    double kilohertz;
    SS_OWNED(fclose) FILE *stream = fopen(path.text, "re");
    return stream && fscanf(stream, "%lf", &kilohertz) == 1 && kilohertz > 0 ? 1000 * kilohertz : 0;
}

double ss_platform_frequency(const struct ss_platform_roots *roots, const struct ss_cpus *cpus) {
    uint32_t all = ss_cpus_count(cpus), seen = 0, read = 0;
    uint32_t step = all > CPUS_READ_MAX ? (all + CPUS_READ_MAX - 1) / CPUS_READ_MAX : 1;
    double sum = 0;
    for (uint32_t cpu = 0; cpu < SS_CPUS_MAX && seen < all; cpu++) {
        if (!ss_cpus_has(cpus, cpu) || seen++ % step > 0)
            continue;
        double frequency = read_cpu(ss_linux_sys(roots), cpu);
        sum += frequency;
        read += frequency > 0;
    }
    return read > 0 ? sum / read : NAN;
}
