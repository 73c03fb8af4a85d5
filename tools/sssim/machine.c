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

void machine_close(struct machine *machine) {
    free(machine->instances);
    *machine = (struct machine){0};
}

static double idle_cpus(const struct machine *machine) {
    return fmax((double)machine->cpus - ((double)machine->threads + machine->background), 0);
}

static void advance(struct machine *machine, ss_time now) {
    double elapsed = (double)ss_time_since(now, machine->now);
    double idle = machine->idle_part + idle_cpus(machine) * elapsed;
    uint64_t whole = (uint64_t)idle;
    machine->idle += whole;
    machine->idle_part = idle - (double)whole;
    machine->now = now;
}

void machine_set_running(struct machine *machine, uint32_t instance, bool running, ss_time now) {
    struct machine_instance *one = &machine->instances[instance];
    if (one->running == running)
        return;
    advance(machine, now);
    one->running = running;
    if (running)
        machine->threads += one->width;
    else
        machine->threads -= one->width;
}

void machine_read(struct machine *machine, ss_time now, struct ss_counters *counters) {
    advance(machine, now);
    *counters = (struct ss_counters){
        .time = now,
        .set = 1,
        .capacity = machine->cpus,
        .idle = machine->idle,
        .busy_ticks = machine->cpus * (now - machine->start) - machine->idle,
    };
}
