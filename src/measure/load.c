/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/load.h"

#include <math.h>

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
    double capacity = elapsed * to->capacity;
    if (to->set != from->set || capacity <= 0)
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
