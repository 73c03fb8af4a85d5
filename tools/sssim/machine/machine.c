/* SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

#include <math.h>
#include <stdlib.h>

/* /proc/stat shows hundredths of a second, rounded down. */
#define SHOWN_UNIT (10 * SS_MILLISECOND)

/* Returns the state with all CPUs idle; NULL if memory is exhausted. */
static struct ticks *ticks_open(uint32_t cpus, uint64_t rate, ss_time start) {
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

static ss_time ticks_last(const struct ticks *ticks, ss_time now) {
    return now - (now - ticks->start) % ticks->length;
}

/*
 * Counts the ticks in (from, to]. A tick at the instant at which a task wakes precedes the task,
 * and samples the previous state.
 */
static double count_ticks(const struct ticks *ticks, ss_time from, ss_time to) {
    ss_time start = ticks->start;
    return (double)((to - start) / ticks->length - (from - start) / ticks->length);
}

static void settle(const struct ticks *ticks, struct ticks_cpu *cpu, ss_time now) {
    double elapsed = (double)(now - cpu->since);
    double idle = (1 - cpu->level) * elapsed;
    double overhead = fmin(cpu->overhead, idle);
    cpu->used += cpu->level * elapsed + overhead;
    cpu->idle += idle - overhead;
    cpu->overhead -= overhead;
    cpu->sampled += cpu->level * count_ticks(ticks, cpu->since, now);
    cpu->since = now;
}

static void ticks_set_busy(struct ticks *ticks, double busy, ss_time now) {
    double min = fmin(busy, ticks->busy), max = fmax(busy, ticks->busy);
    for (uint32_t i = (uint32_t)min; i < max; i++) {
        settle(ticks, &ticks->cpus[i], now);
        ticks->cpus[i].level = fmin(fmax(busy - i, 0), 1);
    }
    ticks->busy = busy;
}

/* Runs a short task on the first idle CPU. */
static void ticks_add_overhead(struct ticks *ticks, double nanoseconds, ss_time now) {
    uint32_t first = (uint32_t)ceil(ticks->busy);
    if (first >= ticks->count)
        return;
    settle(ticks, &ticks->cpus[first], now);
    ticks->cpus[first].overhead += nanoseconds;
}

static uint64_t show(double nanoseconds) {
    uint64_t whole = (uint64_t)nanoseconds;
    return whole - whole % SHOWN_UNIT;
}

/* Sets `idle`, `busy_ticks` and `used` to the kernel's figures. */
static void ticks_read(const struct ticks *ticks, ss_time now, struct ss_counters *counters) {
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

int machine_open(struct machine *machine, uint32_t cpus, uint32_t instances, uint32_t width,
    ss_time start, struct ss_error *error) {
    *machine = (struct machine){
        .cpus = cpus,
        .count = instances,
        .instances = calloc(instances, sizeof *machine->instances),
        .start = start,
        .now = start,
        .group = {.changed = start},
    };

    if (!machine->instances)
        return ss_error_memory(error);

    for (uint32_t i = 0; i < instances; i++)
        machine->instances[i].width = width;
    return 0;
}

int machine_use_ticks(struct machine *machine, uint64_t rate, struct ss_error *error) {
    machine->ticks = ticks_open(machine->cpus, rate, machine->start);
    return machine->ticks ? 0 : ss_error_memory(error);
}

void machine_set_quota(struct machine *machine, double cpus, ss_time period) {
    double quota = cpus * (double)period;
    machine->group = (struct machine_group){
        .quota = quota,
        .period = period,
        .left = quota,
        .refill = machine->start + period,
        .changed = machine->start,
    };
}

void machine_close(struct machine *machine) {
    free(machine->instances);
    free(machine->ticks);
    *machine = (struct machine){0};
}

/* Returns the number of threads of all instances that run or wait for a CPU. */
static double group_threads(const struct machine *machine) {
    return machine->group.throttled ? 0 : (double)machine->threads;
}

double machine_demanded_cpus(const struct machine *machine) {
    return group_threads(machine) + machine->background;
}

double machine_idle_cpus(const struct machine *machine) {
    double idle = (double)machine->cpus - machine_demanded_cpus(machine);
    return idle > 0 ? idle : 0;
}

/* Replaces fmin(), which handles NaN and therefore takes several times as long. */
static double lesser(double a, double b) {
    return a < b ? a : b;
}

/* Returns the number of CPUs that currently run tasks of the group. */
static double group_cpus(const struct machine *machine) {
    double threads = group_threads(machine);
    double wanted = machine_demanded_cpus(machine);
    double busy = wanted > machine->cpus ? threads * machine->cpus / wanted : threads;
    return busy * (1 - machine->steal);
}

double machine_share(const struct machine *machine) {
    double wanted = machine_demanded_cpus(machine);
    if (machine->group.throttled)
        return 0;
    return (1 - machine->steal) * (wanted > machine->cpus ? machine->cpus / wanted : 1);
}

double machine_overlap(const struct machine *machine) {
    double wanted = machine_demanded_cpus(machine);
    return wanted > machine->cpus ? (machine->cpus - 1) / (wanted - 1) : 1;
}

static uint64_t take_whole(double *part) {
    uint64_t whole = (uint64_t)*part;
    *part -= (double)whole;
    return whole;
}

static void advance_group(struct machine *machine, ss_time now) {
    struct machine_group *group = &machine->group;
    double used = group_cpus(machine) * (double)ss_time_since(now, machine->now);
    group->used_part += used;
    group->used += take_whole(&group->used_part);
    group->left -= used;
    /* Begin a new period, even after periods in which nothing ran. */
    if (group->quota > 0 && !group->throttled && now >= group->refill) {
        group->refill += ((now - group->refill) / group->period + 1) * group->period;
        group->left = group->quota;
    }
}

static void advance(struct machine *machine, ss_time now) {
    if (now == machine->now) /* several changes at the same instant are common */
        return;
    advance_group(machine, now);

    double elapsed = (double)ss_time_since(now, machine->now);
    double cpus = machine_idle_cpus(machine);
    double idle = cpus * elapsed;
    double overhead = lesser(machine->overhead, idle);
    machine->overhead -= overhead;
    machine->idle_part += idle - overhead;
    machine->idle += take_whole(&machine->idle_part);

    double busy = (machine->cpus - cpus) * elapsed + overhead;
    machine->used_part += busy * (1 - machine->steal);
    machine->stolen_part += busy * machine->steal;
    machine->stolen += take_whole(&machine->stolen_part);
    machine->used += take_whole(&machine->used_part);

    machine->now = now;
}

/* Updates the state of the CPUs after the demand changed. */
static void occupy(struct machine *machine, double idle_before) {
    machine->group.changed = machine->now;
    double idle = machine_idle_cpus(machine);
    if (machine->ticks && idle != idle_before)
        ticks_set_busy(machine->ticks, machine->cpus - idle, machine->now);
}

/* Without an idle CPU the overhead takes the place of an instance, which changes no counter. */
void machine_add_overhead(struct machine *machine, ss_time length, ss_time now) {
    advance(machine, now);
    if (machine_idle_cpus(machine) > 0)
        machine->overhead += (double)length;
    if (machine->ticks)
        ticks_add_overhead(machine->ticks, (double)length, now);
}

static uint32_t runnable(const struct machine_instance *one) {
    return one->running ? one->width : one->lingering;
}

uint32_t machine_runnable(const struct machine *machine, uint32_t instance) {
    return runnable(&machine->instances[instance]);
}

static void change(
    struct machine *machine, uint32_t instance, struct machine_instance next, ss_time now) {
    struct machine_instance *one = &machine->instances[instance];
    uint32_t before = runnable(one), after = runnable(&next);
    *one = next;
    if (before == after)
        return;

    double idle_before = machine_idle_cpus(machine);
    advance(machine, now);
    machine->threads = machine->threads - before + after;
    occupy(machine, idle_before);
}

void machine_continue(struct machine *machine, uint32_t instance, ss_time now) {
    struct machine_instance next = machine->instances[instance];
    next.running = true;
    change(machine, instance, next, now);
}

void machine_stop(struct machine *machine, uint32_t instance, uint32_t lingering, ss_time now) {
    struct machine_instance next = machine->instances[instance];
    next.running = false;
    next.lingering = lingering;
    change(machine, instance, next, now);
}

void machine_set_width(struct machine *machine, uint32_t instance, uint32_t width, ss_time now) {
    struct machine_instance next = machine->instances[instance];
    next.width = width;
    change(machine, instance, next, now);
}

void machine_set_background(struct machine *machine, double background, ss_time now) {
    double idle_before = machine_idle_cpus(machine);
    advance(machine, now);
    machine->background = background;
    occupy(machine, idle_before);
}

ss_time machine_quota_due(const struct machine *machine) {
    const struct machine_group *group = &machine->group;
    double cpus = group_cpus(machine);
    if (group->quota <= 0 || (cpus <= 0 && !group->throttled))
        return SS_TIME_NEVER;
    if (group->throttled)
        return group->refill;
    ss_time empty =
        ss_time_add(machine->now, ss_time_from_double(ceil(fmax(group->left, 0) / cpus)));
    return empty < group->refill ? empty : group->refill;
}

bool machine_enforce_quota(struct machine *machine, ss_time now) {
    struct machine_group *group = &machine->group;
    double idle_before = machine_idle_cpus(machine);
    advance(machine, now);

    bool before = group->throttled;
    if (before && now >= group->refill) {
        group->throttled = false;
        group->waited += now - group->since;
        group->refill += group->period;
        group->left = group->quota;
    } else if (!before && group->left <= 0) {
        group->throttled = true;
        group->since = now;
    }

    occupy(machine, idle_before);
    return group->throttled != before;
}

void machine_read_exactly(struct machine *machine, ss_time now, struct ss_counters *counters) {
    advance(machine, now);
    *counters = (struct ss_counters){
        .time = now,
        .set = 1,
        .capacity = machine->cpus,
        .cpus = machine->cpus,
        .idle = machine->idle,
        .steal = machine->stolen,
        .busy_ticks = machine->cpus * (now - machine->start) - machine->idle,
        .used = machine->used,
    };
}

void machine_read(struct machine *machine, ss_time now, struct ss_counters *counters) {
    machine_read_exactly(machine, now, counters);
    if (!machine->ticks)
        return;
    ticks_read(machine->ticks, now, counters);
    counters->used = (uint64_t)((double)counters->used * (1 - machine->steal));
}

void machine_read_group_exactly(
    struct machine *machine, ss_time now, struct ss_counters *counters) {
    const struct machine_group *group = &machine->group;
    advance(machine, now);
    double quota = group->quota > 0 ? group->quota / (double)group->period : machine->cpus;

    *counters = (struct ss_counters){
        .time = now,
        .set = 1,
        .capacity = fmin(quota, machine->cpus),
        .cpus = machine->cpus,
        .period = group->quota > 0 ? group->period : 0,
        .throttled = group->waited,
        .used = group->used,
    };
}

void machine_read_group(struct machine *machine, ss_time now, struct ss_counters *counters) {
    machine_read_group_exactly(machine, now, counters);
    if (!machine->ticks)
        return;
    ss_time accounted = ticks_last(machine->ticks, now);
    if (accounted < machine->group.changed)
        accounted = machine->group.changed;
    counters->used -= (uint64_t)(group_cpus(machine) * (double)(now - accounted));
}
