/* SPDX-License-Identifier: Apache-2.0 */
#include "sample_idle.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/owned.h"

/* Shares have a resolution of 1 / SHARE. */
#define SHARE 10000

static bool read_number(const char *path, uint64_t *number) {
    SS_OWNED(fclose) FILE *file = fopen(path, "re");
    unsigned long long value;
    if (!file || fscanf(file, "%llu", &value) != 1)
        return false;
    *number = value;
    return true;
}

/* Copies the name of a state, as a column name: with letters, digits and _ only. */
static void name_state(const char *folder, char *name, size_t size) {
    char path[4200];
    const char *slash = strrchr(folder, '/');
    snprintf(path, sizeof path, "%s/name", folder);
    SS_OWNED(fclose) FILE *file = fopen(path, "re");
    if (!file || !fgets(name, (int)size, file))
        snprintf(name, size, "%s", slash + 1);
    name[strcspn(name, "\n")] = '\0';
    for (char *at = name; *at; at++) {
        if (!isalnum((unsigned char)*at))
            *at = '_';
    }
}

/*
 * Returns the index of a state. Adds a new state; if there is no room, counts it as the last one.
 */
static size_t find_state(struct sssample_idle *idle, const char *name) {
    for (size_t i = 0; i < idle->state_count; i++) {
        if (strcmp(idle->states[i], name) == 0)
            return i;
    }
    if (idle->state_count == SSSAMPLE_STATES_MAX)
        return SSSAMPLE_STATES_MAX - 1;
    strcpy(idle->states[idle->state_count], name);
    return idle->state_count++;
}

static void add_counter(struct sssample_idle *idle, const char *folder) {
    char name[sizeof *idle->states];
    struct sssample_counter counter = {0};
    name_state(folder, name, sizeof name);
    if (!SS_GROW(idle->counters, idle->counter_count + 1, idle->counter_room) ||
        asprintf(&counter.path, "%s/time", folder) < 0)
        return;
    counter.state = find_state(idle, name);
    idle->counters[idle->counter_count++] = counter;
}

static void add_frequency(struct sssample_idle *idle, const char *path) {
    if (access(path, R_OK) == 0 &&
        SS_GROW(idle->frequencies, idle->frequency_count + 1, idle->frequency_room)) {
        char *copy = strdup(path);
        if (copy)
            idle->frequencies[idle->frequency_count++] = copy;
    }
}

static void add_cpu(struct sssample_idle *idle, const char *root, unsigned cpu) {
    char folder[4096], path[4200];
    size_t before = idle->counter_count;
    for (unsigned state = 0; state < SSSAMPLE_STATES_MAX; state++) {
        snprintf(folder, sizeof folder, "%s/sys/devices/system/cpu/cpu%u/cpuidle/state%u", root,
            cpu, state);
        snprintf(path, sizeof path, "%s/time", folder);
        if (access(path, R_OK) != 0)
            break;
        add_counter(idle, folder);
    }
    if (idle->counter_count == before)
        return;
    if (!SS_GROW(idle->cpus, idle->cpu_count + 1, idle->cpu_room))
        return;
    struct sssample_cpu added = {.first = before, .count = idle->counter_count - before};
    if (asprintf(&added.online, "%s/sys/devices/system/cpu/cpu%u/online", root, cpu) < 0)
        return;
    idle->cpus[idle->cpu_count++] = added;
    snprintf(
        path, sizeof path, "%s/sys/devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq", root, cpu);
    add_frequency(idle, path);
}

bool sssample_idle_find(struct sssample_idle *idle, const char *root, const struct ss_cpus *cpus) {
    *idle = (struct sssample_idle){0};
    for (unsigned cpu = 0; cpu < SS_CPUS_MAX; cpu++) {
        if (!cpus || ss_cpus_has(cpus, cpu))
            add_cpu(idle, root, cpu);
    }
    return idle->cpu_count > 0;
}

void sssample_idle_free(struct sssample_idle *idle) {
    for (size_t i = 0; i < idle->counter_count; i++)
        free(idle->counters[i].path);
    for (size_t i = 0; i < idle->frequency_count; i++)
        free(idle->frequencies[i]);
    for (size_t i = 0; i < idle->cpu_count; i++)
        free(idle->cpus[i].online);
    free(idle->cpus);
    free(idle->counters);
    free(idle->frequencies);
}

/*
 * Adds the microseconds that a CPU was idle since the last sample to `spent`, by state. Returns
 * false if they are unknown: if the CPU is or was offline, or a counter cannot be read or went
 * backward.
 */
static bool read_cpu(struct sssample_idle *idle, const struct sssample_cpu *cpu,
    uint64_t spent[SSSAMPLE_STATES_MAX]) {
    uint64_t by_state[SSSAMPLE_STATES_MAX] = {0}, online = 1;
    bool is_complete = true;
    read_number(cpu->online, &online);
    for (size_t i = cpu->first; i < cpu->first + cpu->count; i++) {
        struct sssample_counter *counter = &idle->counters[i];
        uint64_t number = 0;
        bool is_known = online && read_number(counter->path, &number);
        is_complete &= is_known && counter->is_known && number >= counter->last;
        by_state[counter->state] += number - counter->last;
        counter->is_known = is_known;
        counter->last = number;
    }
    for (size_t i = 0; is_complete && i < SSSAMPLE_STATES_MAX; i++)
        spent[i] += by_state[i];
    return is_complete;
}

/* Reads all CPUs. Returns the number of those whose idle time is known. */
static size_t read_counters(struct sssample_idle *idle, uint64_t spent[SSSAMPLE_STATES_MAX]) {
    size_t count = 0;
    for (size_t i = 0; i < idle->cpu_count; i++)
        count += read_cpu(idle, &idle->cpus[i], spent);
    return count;
}

static void print_frequency(FILE *stream, const struct sssample_idle *idle) {
    uint64_t sum = 0, count = 0, number;
    for (size_t i = 0; i < idle->frequency_count; i++) {
        if (read_number(idle->frequencies[i], &number)) {
            sum += number;
            count++;
        }
    }
    if (count > 0)
        fprintf(stream, "%llu.%03llu", (unsigned long long)(sum / count / 1000),
            (unsigned long long)(sum / count % 1000));
}

/* Prints part / whole, truncated, and at most 1. Prints nothing if `whole` is 0. */
static void print_share(FILE *stream, uint64_t part, uint64_t whole) {
    if (whole == 0)
        return;
    uint64_t share = part * SHARE / whole;
    if (share > SHARE)
        share = SHARE;
    fprintf(stream, "%llu.%04llu", (unsigned long long)(share / SHARE),
        (unsigned long long)(share % SHARE));
}

static void print_columns(FILE *stream, void *source) {
    const struct sssample_idle *idle = source;
    fputs("active,frequency_mhz", stream);
    for (size_t i = 0; i < idle->state_count; i++)
        fprintf(stream, ",%s", idle->states[i]);
}

static void print_sample(FILE *stream, void *source, ss_time spent) {
    struct sssample_idle *idle = source;
    uint64_t by_state[SSSAMPLE_STATES_MAX] = {0}, sum = 0;
    uint64_t all = spent / SS_MICROSECOND * read_counters(idle, by_state);
    for (size_t i = 0; i < idle->state_count; i++)
        sum += by_state[i];
    print_share(stream, all > sum ? all - sum : 0, all);
    fputc(',', stream);
    print_frequency(stream, idle);
    for (size_t i = 0; i < idle->state_count; i++) {
        fputc(',', stream);
        print_share(stream, by_state[i], sum);
    }
}

struct sssample_source sssample_idle_source(struct sssample_idle *idle) {
    return (struct sssample_source){print_columns, print_sample, idle};
}
