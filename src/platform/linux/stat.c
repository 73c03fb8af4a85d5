/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/linux/stat.h"

#include <ctype.h>
#include <string.h>

#include "platform/linux/linux.h"

static bool read_line(const char *at, const struct ss_cpus *cpus, struct ss_stat_line *line) {
    uint64_t cpu;
    int columns = 0;
    at = ss_linux_read_number(at, &cpu);
    *line = (struct ss_stat_line){.cpu = (uint32_t)cpu};
    if (cpu >= SS_CPUS_MAX || !ss_cpus_has(cpus, line->cpu))
        return false;
    while (columns < SS_STAT_COLUMNS && isdigit((unsigned char)at[strspn(at, " ")]))
        at = ss_linux_read_number(at, &line->ticks[columns++]);
    return columns > SS_STAT_IDLE;
}

bool ss_linux_stat_next(const char **text, const struct ss_cpus *cpus, struct ss_stat_line *line) {
    const char *end;
    while (strncmp(*text, "cpu", 3) == 0 && (end = strchr(*text, '\n'))) {
        const char *at = *text + 3;
        *text = end + 1;
        if (isdigit((unsigned char)*at) && read_line(at, cpus, line))
            return true;
    }
    return false;
}
