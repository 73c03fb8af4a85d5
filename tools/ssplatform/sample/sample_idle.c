/* SPDX-License-Identifier: Apache-2.0 */
#include "sample_idle.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/owned.h"
#include "base/words.h"
#include "platform/platform.h"

#define CPU   "sys/devices/system/cpu/cpu%u/"
#define STATE CPU "cpuidle/state%u/"

/* Finds or adds a state. Its column name has letters, digits and _ only. */
static size_t find_or_add_state(struct sample_idle *idle, const char *name) {
    char column[sizeof *idle->states];
    snprintf(column, sizeof column, "%s", name);
    for (char *at = column; *at; at++) {
        if (!isalnum((unsigned char)*at))
            *at = '_';
    }

    for (size_t i = 0; i < idle->state_count; i++) {
        if (strcmp(idle->states[i], column) == 0)
            return i;
    }
    if (idle->state_count == SAMPLE_STATES_MAX)
        return SAMPLE_STATES_MAX - 1; /* count it as the last one */
    strcpy(idle->states[idle->state_count], column);
    return idle->state_count++;
}

static double read_counter(const struct sample_idle *idle, uint32_t cpu, unsigned number) {
    return sys_tree_number(&idle->tree, STATE "time", cpu, number);
}

static int add_counter(
    struct sample_idle *idle, uint32_t cpu, unsigned number, struct ss_error *error) {
    SS_OWNED(free) char *name = sys_tree_line(&idle->tree, STATE "name", cpu, number);
    char unnamed[32];
    snprintf(unnamed, sizeof unnamed, "state%u", number);

    if (!SS_GROW(idle->counters, idle->counter_count + 1, idle->counter_room))
        return ss_error_memory(error);
    idle->counters[idle->counter_count++] = (struct sample_counter){
        .number = number, .state = find_or_add_state(idle, name ? name : unnamed)};
    return 0;
}

static int add_cpu(struct sample_idle *idle, uint32_t cpu, struct ss_error *error) {
    struct sample_cpu added = {.cpu = cpu, .first = idle->counter_count};
    for (unsigned number = 0;
         number < SAMPLE_STATES_MAX && sys_tree_has(&idle->tree, STATE "time", cpu, number);
         number++) {
        if (add_counter(idle, cpu, number, error) < 0)
            return -1;
        added.count++;
    }
    if (added.count == 0)
        return 0;

    if (!SS_GROW(idle->cpus, idle->cpu_count + 1, idle->cpu_room))
        return ss_error_memory(error);
    idle->cpus[idle->cpu_count++] = added;
    ss_cpus_add(&idle->with_states, cpu);
    return 0;
}

int sample_idle_find(struct sample_idle *idle, const char *root, const struct ss_cpus *cpus,
    struct ss_error *error) {
    *idle = (struct sample_idle){0};
    if (sys_tree_open(&idle->tree, root, error) < 0)
        return -1;
    idle->sys = ss_words_format(error, "%s/sys", root ? root : "");
    if (!idle->sys)
        return -1;

    for (uint32_t cpu = 0; cpu < SS_CPUS_MAX; cpu++) {
        if ((!cpus || ss_cpus_has(cpus, cpu)) && add_cpu(idle, cpu, error) < 0)
            return -1;
    }
    return 0;
}

void sample_idle_free(struct sample_idle *idle) {
    sys_tree_close(&idle->tree);
    free(idle->sys);
    free(idle->cpus);
    free(idle->counters);
}

/*
 * Adds the microseconds that a CPU was idle since the last sample to `idle_us`, by state. Returns
 * false if they are unknown: if the CPU is or was offline, or a counter cannot be read or went
 * backward.
 */
static bool read_cpu(
    struct sample_idle *idle, const struct sample_cpu *cpu, double idle_us[SAMPLE_STATES_MAX]) {
    double by_state[SAMPLE_STATES_MAX] = {0};
    bool is_complete = true;
    bool is_online = sys_tree_number(&idle->tree, CPU "online", cpu->cpu) != 0;

    for (size_t i = cpu->first; i < cpu->first + cpu->count; i++) {
        struct sample_counter *counter = &idle->counters[i];
        double number = is_online ? read_counter(idle, cpu->cpu, counter->number) : NAN;
        is_complete &= counter->is_known && number >= counter->last;
        by_state[counter->state] += number - counter->last;
        counter->is_known = !isnan(number);
        counter->last = number;
    }

    for (size_t i = 0; is_complete && i < SAMPLE_STATES_MAX; i++)
        idle_us[i] += by_state[i];
    return is_complete;
}

static void print_frequency(FILE *stream, const struct sample_idle *idle) {
    const struct ss_platform_roots roots = {.sys = idle->sys};
    double hertz = ss_platform_frequency(&roots, &idle->with_states);
    if (!isnan(hertz))
        fprintf(stream, "%.3f", hertz / 1e6);
}

/* Prints part / whole, at most 1. Prints nothing if `whole` is 0. */
static void print_share(FILE *stream, double part, double whole) {
    if (whole > 0)
        fprintf(stream, "%.4f", fmin(part / whole, 1));
}

static void print_columns(FILE *stream, void *source) {
    const struct sample_idle *idle = source;
    fputs("active,frequency_mhz", stream);
    for (size_t i = 0; i < idle->state_count; i++)
        fprintf(stream, ",%s", idle->states[i]);
}

static void print_sample(FILE *stream, void *source, ss_time elapsed) {
    struct sample_idle *idle = source;
    double by_state[SAMPLE_STATES_MAX] = {0}, sum = 0, all = 0;
    for (size_t i = 0; i < idle->cpu_count; i++) {
        if (read_cpu(idle, &idle->cpus[i], by_state))
            all += (double)elapsed / SS_MICROSECOND;
    }
    for (size_t i = 0; i < idle->state_count; i++)
        sum += by_state[i];

    print_share(stream, fmax(all - sum, 0), all);
    fputc(',', stream);
    print_frequency(stream, idle);
    for (size_t i = 0; i < idle->state_count; i++) {
        fputc(',', stream);
        print_share(stream, by_state[i], sum);
    }
}

struct sample_source sample_idle_source(struct sample_idle *idle) {
    return (struct sample_source){print_columns, print_sample, idle};
}
