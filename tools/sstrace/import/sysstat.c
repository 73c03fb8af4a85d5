/* SPDX-License-Identifier: Apache-2.0 */
#include "sysstat.h"

#include "base/words.h"

int sstrace_sysstat_select(struct sstrace_sysstat *sysstat, const char *cpu, size_t column) {
    const char *select = sysstat->samples->options->select, *host = sysstat->host;
    bool all = strcmp(cpu, "all") == 0;
    if (!sysstat->any)
        sysstat->only_all = all;
    sysstat->any = true;
    if (!select && sysstat->only_all && !all)
        return 0;

    bool is_plain = select && strcmp(select, cpu) == 0;
    bool is_host = select && all && strcmp(select, host) == 0;
    char name[2 * TEXT_NAME_SIZE];
    snprintf(name, sizeof name, "%s%s%s", host, *host ? "/" : "", cpu);
    if (is_plain && !*sysstat->plain_host)
        strcpy(sysstat->plain_host, host);
    if (is_plain && strcmp(host, sysstat->plain_host) != 0)
        return text_input_blame(sysstat->input, column,
            "several hosts have this CPU: use --select %s/%s or %s",
            ss_words_show(sysstat->plain_host).text, cpu, ss_words_show(name).text);
    return sstrace_samples_select(sysstat->samples, is_plain || is_host ? select : name);
}
