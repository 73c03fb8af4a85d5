/* SPDX-License-Identifier: Apache-2.0 */
#include "tick_accounting.h"

#include <math.h>
#include <stdlib.h>

/* /proc/stat shows hundredths of a second, rounded down. */
#define SHOWN (10 * SS_MILLISECOND)

struct ticks *ticks_open(uint32_t cpus, uint64_t rate, ss_time start) {
    struct ticks *ticks = calloc(1, sizeof *ticks + cpus * sizeof ticks->cpus[0]);
    if (!ticks)
        return NULL;
    ticks->count = cpus;
    ticks->start = start;
    ticks->length = SS_SECOND / rate;
    for (uint32_t i = 0; i < cpus; i++)
        ticks->cpus[i].since = start;
    return ticks;
}

ss_time ticks_last(const struct ticks *ticks, ss_time now) {
    return now - (now - ticks->start) % ticks->length;
}

/*
 * Counts the ticks in (from, to]. A tick at the instant at which a task wakes precedes the task,
 * and samples the previous state.
 */
static double count_ticks(const struct ticks *ticks, ss_time from, ss_time to) {
    ss_time start = ticks->start;
    ss_time count = (to - start) / ticks->length - (from - start) / ticks->length;
    return (double)count;
}

static void settle(const struct ticks *ticks, struct ticks_cpu *cpu, ss_time now) {
    double elapsed = (double)(now - cpu->since);
    double idle = (1 - cpu->level) * elapsed;
    double chores = fmin(cpu->chores, idle);
    cpu->used += cpu->level * elapsed + chores;
    cpu->idle += idle - chores;
    cpu->chores -= chores;
    cpu->sampled += cpu->level * count_ticks(ticks, cpu->since, now);
    cpu->since = now;
}

void ticks_set_busy(struct ticks *ticks, double busy, ss_time now) {
    double min = fmin(busy, ticks->busy), max = fmax(busy, ticks->busy);
    for (uint32_t i = (uint32_t)min; i < max; i++) {
        settle(ticks, &ticks->cpus[i], now);
        ticks->cpus[i].level = fmin(fmax(busy - i, 0), 1);
    }
    ticks->busy = busy;
}

void ticks_add_chore(struct ticks *ticks, double nanoseconds, ss_time now) {
    uint32_t first = (uint32_t)ceil(ticks->busy);
    if (first >= ticks->count)
        return;
    settle(ticks, &ticks->cpus[first], now);
    ticks->cpus[first].chores += nanoseconds;
}

static uint64_t show(double nanoseconds) {
    uint64_t whole = (uint64_t)nanoseconds;
    return whole - whole % SHOWN;
}

void ticks_read(const struct ticks *ticks, ss_time now, struct ss_counters *counters) {
    ss_time tick = ticks_last(ticks, now);
    double used = 0;
    counters->idle = 0;
    counters->busy_ticks = 0;
    for (uint32_t i = 0; i < ticks->count; i++) {
        struct ticks_cpu cpu = ticks->cpus[i];
        /* The time of a busy CPU since the last tick is not accounted for yet. */
        used += cpu.used + cpu.level * (double)ss_time_since(tick, cpu.since);
        settle(ticks, &cpu, now);
        counters->idle += show(cpu.idle);
        counters->busy_ticks += show(floor(cpu.sampled) * (double)ticks->length);
    }
    counters->used = (uint64_t)used;
}
