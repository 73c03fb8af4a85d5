/* SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

#include <math.h>
#include <stdlib.h>

int machine_open(struct machine *machine, uint32_t cpus, uint32_t instances, uint32_t width,
    ss_time start, struct ss_error *error) {
    *machine = (struct machine){
        .cpus = cpus,
        .count = instances,
        .instances = calloc(instances, sizeof *machine->instances),
        .start = start,
        .now = start,
    };
    if (!machine->instances)
        return ss_error_set(error, SS_ERROR_FAILED, "out of memory");
    for (uint32_t i = 0; i < instances; i++)
        machine->instances[i].width = width;
    return 0;
}

void machine_set_overhead(struct machine *machine, ss_time overhead) {
    machine->overhead = (double)overhead;
}

int machine_use_ticks(struct machine *machine, uint64_t rate, struct ss_error *error) {
    machine->ticks =
        ticks_open(machine->cpus, rate, ss_time_from_double(machine->overhead), machine->start);
    return machine->ticks ? 0 : ss_error_set(error, SS_ERROR_FAILED, "out of memory");
}

void machine_close(struct machine *machine) {
    free(machine->instances);
    free(machine->ticks);
    *machine = (struct machine){0};
}

double machine_idle_cpus(const struct machine *machine) {
    return fmax((double)machine->cpus - ((double)machine->threads + machine->background), 0);
}

static uint64_t take_whole(double *part) {
    uint64_t whole = (uint64_t)*part;
    *part -= (double)whole;
    return whole;
}

static void advance(struct machine *machine, ss_time now) {
    double elapsed = (double)ss_time_since(now, machine->now);
    double cpus = machine_idle_cpus(machine);
    double idle = cpus * elapsed;
    double chores = fmin(machine->chores, idle);
    double overhead = fmin(machine->owed, idle - chores);
    machine->chores -= chores;
    machine->owed -= overhead;
    machine->idle_part += idle - chores - overhead;
    machine->idle += take_whole(&machine->idle_part);
    machine->used_part += (machine->cpus - cpus) * elapsed + chores;
    machine->used += take_whole(&machine->used_part);
    machine->now = now;
}

/* What becomes of the CPUs when there is more or less to do than before. */
static void occupy(struct machine *machine, double idle_before) {
    double idle = machine_idle_cpus(machine);
    /* Who is woken on the way to idleness works off the rest when he turns idle again. */
    if (idle > idle_before)
        machine->owed = fmin(machine->owed + (idle - idle_before) * machine->overhead,
            machine->cpus * machine->overhead);
    if (machine->ticks && idle != idle_before)
        ticks_set_busy(machine->ticks, machine->cpus - idle, machine->now);
}

/* Where no CPU is idle it takes the place of an instance, which changes no counter. */
void machine_add_chore(struct machine *machine, ss_time length, ss_time now) {
    advance(machine, now);
    if (machine_idle_cpus(machine) > 0)
        machine->chores += (double)length;
    if (machine->ticks)
        ticks_add_chore(machine->ticks, (double)length, now);
}

static uint32_t runnable(const struct machine_instance *one) {
    return one->running ? one->width : one->lingering;
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

void machine_set_running(struct machine *machine, uint32_t instance, bool running, ss_time now) {
    struct machine_instance next = machine->instances[instance];
    if (next.running == running)
        return;
    next.running = running;
    next.lingering = 0;
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

void machine_read_exactly(struct machine *machine, ss_time now, struct ss_counters *counters) {
    advance(machine, now);
    *counters = (struct ss_counters){
        .time = now,
        .set = 1,
        .capacity = machine->cpus,
        .idle = machine->idle,
        .busy_ticks = machine->cpus * (now - machine->start) - machine->idle,
        .used = machine->used,
    };
}

void machine_read(struct machine *machine, ss_time now, struct ss_counters *counters) {
    machine_read_exactly(machine, now, counters);
    if (machine->ticks)
        ticks_read(machine->ticks, now, counters);
}
