/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/load_sample.h"

#include <math.h>

#include "measure/load.h"

struct ss_load_sample ss_load_sample_new(void) {
    return (struct ss_load_sample){
        .elapsed = NAN,
        .target = NAN,
        .load = NAN,
        .error = NAN,
        .load_ticks = NAN,
        .cpu = SS_LOAD_ALL_CPUS,
        .user = NAN,
        .system = NAN,
        .irq = NAN,
        .steal = NAN,
        .iowait = NAN,
        .idle = NAN,
        .pressure = NAN,
        .capacity = NAN,
        .duty = NAN,
    };
}

/* Subtracts two readings of one CPU. Returns false if a counter went backward. */
static bool subtract(
    const struct ss_cpu_times *from, const struct ss_cpu_times *to, struct ss_cpu_times *times) {
    uint64_t idle_sum_before = from->idle + from->iowait, idle_sum = to->idle + to->iowait;

    if (to->user < from->user || to->system < from->system || to->irq < from->irq ||
        to->steal < from->steal || to->used < from->used || idle_sum < idle_sum_before)
        return false;

    /*
     * If a CPU becomes idle while a task waits for a disk, and is still idle afterward, the kernel
     * moves that time from iowait to idle. Either counter may go backward, but their sum may not.
     */
    uint64_t waited = to->iowait > from->iowait ? to->iowait - from->iowait : 0;
    if (waited > idle_sum - idle_sum_before)
        waited = idle_sum - idle_sum_before;
    *times = (struct ss_cpu_times){
        .user = to->user - from->user,
        .system = to->system - from->system,
        .irq = to->irq - from->irq,
        .steal = to->steal - from->steal,
        .iowait = waited,
        .idle = idle_sum - idle_sum_before - waited,
        .used = to->used - from->used,
    };

    return true;
}

void ss_load_span_add(struct ss_load_span *sum, const struct ss_load_span *span) {
    sum->group = span->group;
    sum->parts = span->parts;
    sum->capacity += span->capacity;
    sum->times.user += span->times.user;
    sum->times.system += span->times.system;
    sum->times.irq += span->times.irq;
    sum->times.steal += span->times.steal;
    sum->times.iowait += span->times.iowait;
    sum->times.idle += span->times.idle;
    sum->times.used += span->times.used;
}

bool ss_load_span_between(const struct ss_cpu_reading *from, const struct ss_cpu_reading *to,
    int32_t cpu, struct ss_load_span *span) {
    *span = (struct ss_load_span){0};
    if (to->counters.time <= from->counters.time)
        return false;

    struct ss_load_span one = {
        .group = to->group,
        .parts = to->parts && from->parts,
        .capacity = (double)(to->counters.time - from->counters.time) *
                    (to->group ? (from->counters.capacity + to->counters.capacity) / 2 : 1),
    };
    for (size_t i = 0, j = 0; i < from->count && j < to->count;) {
        const struct ss_cpu_times *before = &from->items[i], *after = &to->items[j];
        i += before->cpu <= after->cpu;
        j += before->cpu >= after->cpu;
        if (before->cpu == after->cpu && (cpu == SS_LOAD_ALL_CPUS || (uint32_t)cpu == after->cpu) &&
            subtract(before, after, &one.times))
            ss_load_span_add(span, &one);
    }

    return span->capacity > 0;
}

/* Finds the item of this CPU, searching from `*at`; NULL if absent. */
static const struct ss_cpu_times *find_cpu(
    const struct ss_cpu_reading *reading, size_t *at, uint32_t cpu) {
    while (*at < reading->count && reading->items[*at].cpu < cpu)
        ++*at;
    return *at < reading->count && reading->items[*at].cpu == cpu ? &reading->items[*at] : NULL;
}

void ss_load_of_each_cpu(const struct ss_cpu_reading *from, const struct ss_cpu_reading *to,
    const struct ss_cpus *cpus, double *loads) {
    bool known = !from->group && !to->group && to->counters.time > from->counters.time;
    double capacity = known ? (double)(to->counters.time - from->counters.time) : NAN;
    size_t i = 0, j = 0;
    for (uint32_t cpu = 0; cpu < SS_CPUS_MAX; cpu++) {
        struct ss_cpu_times times;
        if (!ss_cpus_has(cpus, cpu))
            continue;
        const struct ss_cpu_times *before = find_cpu(from, &i, cpu), *after = find_cpu(to, &j, cpu);
        bool has = known && before && after && subtract(before, after, &times);
        *loads++ = has ? ss_load_of_idle((double)(times.idle + times.iowait), capacity) : NAN;
    }
}

double ss_load_steal(const struct ss_cpu_reading *from, const struct ss_cpu_reading *to) {
    struct ss_load_sample sample = ss_load_sample_new();
    struct ss_load_span span;
    if (ss_load_span_between(from, to, SS_LOAD_ALL_CPUS, &span))
        ss_load_sample_set(&sample, &span);
    return sample.steal;
}

static void set_group(struct ss_load_sample *sample, const struct ss_load_span *span) {
    sample->load = ss_load_of_used((double)span->times.used, span->capacity);
    sample->idle = 1 - sample->load;
    if (span->parts) {
        sample->user = (double)span->times.user / span->capacity;
        sample->system = (double)span->times.system / span->capacity;
    }
}

static void set_cpus(struct ss_load_sample *sample, const struct ss_load_span *span) {
    const struct ss_cpu_times *times = &span->times;
    double idle_sum = (double)(times->idle + times->iowait);
    double busy = (double)(times->user + times->system + times->irq + times->steal);
    double all = idle_sum + busy;

    sample->load = ss_load_of_idle(idle_sum, span->capacity);
    if (all <= 0)
        return;

    sample->load_ticks = ss_load_of_ticks(busy, idle_sum);
    sample->user = (double)times->user / all;
    sample->system = (double)times->system / all;
    sample->irq = (double)times->irq / all;
    sample->steal = (double)times->steal / all;
    sample->iowait = (double)times->iowait / all;
    sample->idle = (double)times->idle / all;
}

void ss_load_sample_set(struct ss_load_sample *sample, const struct ss_load_span *span) {
    if (span->group)
        set_group(sample, span);
    else
        set_cpus(sample, span);
    sample->error = sample->target - sample->load;
}
