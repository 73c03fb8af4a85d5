/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/load.h"

#include <math.h>
#include <stdlib.h>

static double clamp(double load) {
    return fmin(fmax(load, 0), 1);
}

double ss_load_of_idle(double idle, double capacity) {
    return clamp(1 - idle / capacity);
}

double ss_load_of_used(double used, double capacity) {
    return clamp(used / capacity);
}

double ss_load_of_ticks(double busy, double idle) {
    return idle + busy > 0 ? busy / (idle + busy) : NAN;
}

bool ss_load_between(enum ss_source source, const struct ss_counters *from,
    const struct ss_counters *to, struct ss_load *load) {
    *load = (struct ss_load){.load_ticks = NAN};
    if (to->time <= from->time)
        return false;

    double elapsed = (double)(to->time - from->time);
    load->seconds = elapsed / 1e9;
    if (source == SS_SOURCE_SENSOR) {
        load->load = to->value;
        return !isnan(to->value);
    }

    /* The limit of a group may have changed at any time between the readings. */
    double capacity = elapsed * (from->capacity + to->capacity) / 2;
    if (to->set != from->set || !(from->capacity > 0 && to->capacity > 0))
        return false;
    if (source == SS_SOURCE_CGROUP || source == SS_SOURCE_RUNTIME || source == SS_SOURCE_OWN) {
        load->load = ss_load_of_used((double)(to->used - from->used), capacity);
        return to->used >= from->used;
    }
    if (to->idle < from->idle || to->busy_ticks < from->busy_ticks)
        return false;

    double idle = (double)(to->idle - from->idle);
    double busy = (double)(to->busy_ticks - from->busy_ticks);
    load->load = ss_load_of_idle(idle, capacity);
    load->load_ticks = ss_load_of_ticks(busy, idle);

    return true;
}

static int read_platform(void *reader, struct ss_cpu_reading *reading) {
    return ss_platform_cpu_times_read(reader, reading);
}

int ss_load_meter_open(struct ss_load_meter *meter, const struct ss_source_request *request,
    const struct ss_cpus *cpus, const struct ss_platform_roots *roots, struct ss_error *error) {
    *meter = (struct ss_load_meter){.read = read_platform, .context = &meter->reader};
    if (ss_platform_cpu_times_open(&meter->reader, request, cpus, roots, error) < 0)
        return -1;
    size_t room = request->source == SS_SOURCE_CGROUP ? 1 : ss_cpus_count(cpus);
    meter->last.items = calloc(room, sizeof *meter->last.items);
    meter->previous.items = calloc(room, sizeof *meter->previous.items);
    if (meter->last.items && meter->previous.items)
        return 0;
    ss_load_meter_close(meter);
    return ss_error_memory(error);
}

int ss_load_meter_read(struct ss_load_meter *meter) {
    struct ss_cpu_reading last = meter->last;
    meter->last = meter->previous;
    meter->previous = last;
    return meter->read(meter->context, &meter->last);
}

void ss_load_meter_close(struct ss_load_meter *meter) {
    ss_platform_cpu_times_close(&meter->reader);
    free(meter->last.items);
    free(meter->previous.items);
    *meter = (struct ss_load_meter)SS_LOAD_METER_CLOSED;
}
