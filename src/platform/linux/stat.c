/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <string.h>

#include "platform/linux/linux.h"

/* Columns of /proc/stat, see proc(5). Later columns are guest time, which is part of user time. */
enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, COLUMNS };

static bool read_line(
    const char *at, const struct ss_cpus *cpus, uint64_t unit, struct ss_cpu_times *times) {
    uint64_t cpu, ticks[COLUMNS] = {0};
    int columns = 0;

    at = ss_linux_read_number(at, &cpu);
    if (cpu >= SS_CPUS_MAX || !ss_cpus_has(cpus, (uint32_t)cpu))
        return false;

    while (columns < COLUMNS && isdigit((unsigned char)at[strspn(at, " ")]))
        at = ss_linux_read_number(at, &ticks[columns++]);

    *times = (struct ss_cpu_times){
        .cpu = (uint32_t)cpu,
        .user = (ticks[USER] + ticks[NICE]) * unit,
        .system = ticks[SYSTEM] * unit,
        .irq = (ticks[IRQ] + ticks[SOFTIRQ]) * unit,
        .steal = ticks[STEAL] * unit,
        .iowait = ticks[IOWAIT] * unit,
        .idle = ticks[IDLE] * unit,
    };
    return columns > IDLE;
}

bool ss_linux_stat_next(
    const char **text, const struct ss_cpus *cpus, uint64_t unit, struct ss_cpu_times *times) {
    const char *end;
    while (strncmp(*text, "cpu", 3) == 0 && (end = strchr(*text, '\n'))) {
        const char *at = *text + 3;
        *text = end + 1;
        if (isdigit((unsigned char)*at) && read_line(at, cpus, unit, times))
            return true;
    }
    return false;
}
