/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/monitor.h"

#include <math.h>

#include "loop/pipeline.h"

/* At a duty this close to a bound, control can do no more. */
#define FULL_DUTY 0.995

/* At such a duty, an error beyond this means that the target is out of reach. */
#define OUT_OF_REACH 0.02

/* A change of the target by more than this fraction of it also changes the throughput. */
#define TARGET_CHANGE_MIN 0.01

/* A sample that covers more than this many times the planned time is late. */
#define LATE_FACTOR 1.2

/*
 * A sample is skipped if it is shorter than the planned time divided by this: otherwise the load of
 * an instant would count as much as that of a whole sample.
 */
#define SHORT_DIVISOR 5

/* A `free` section within a sample is found if it is at least this long. */
#define FREE_STEP (10 * SS_MILLISECOND)

void ss_duty_begin(struct ss_duty_meter *meter, const struct ss_board *board, ss_time now) {
    meter->time = now;
    ss_permits_read(&board->permits, now, &meter->permission);
}

double ss_duty_take(struct ss_duty_meter *meter, const struct ss_board *board, ss_time now) {
    struct ss_duty_meter last = *meter;
    uint32_t alive = atomic_load(&board->alive);
    ss_duty_begin(meter, board, now);
    if (alive == 0 || now <= last.time)
        return NAN;
    double given = ss_permission_between(last.permission.given, meter->permission.given);
    /* An executor may have changed state since `now`, and an instance may have ended. */
    return fmin(fmax(given / ((double)(now - last.time) * alive), 0), 1);
}

void ss_monitor_open(struct ss_monitor *monitor, const struct ss_module_set *set,
    enum ss_source source, struct ss_load_meter *meter, struct ss_board *board) {
    struct ss_self selves[SS_KINDS];
    bool lacks_cpus =
        source == SS_SOURCE_SENSOR || source == SS_SOURCE_CGROUP || source == SS_SOURCE_OWN;

    ss_module_set_selves(set, board, set->instances, selves);
    *monitor = (struct ss_monitor){
        .set = set,
        .meter = meter,
        .cpus = lacks_cpus ? NULL : meter,
        .board = board,
        .source = source,
        .trace = selves[SS_KIND_TRACE],
        .capacity = {.first = set->load_cpus, .latest = set->load_cpus},
        .interval = SS_MONITOR_INTERVAL,
        .next = SS_TIME_NEVER,
        .control_from = SS_TIME_NEVER,
        .counted_from = SS_TIME_NEVER,
        .target_first = NAN,
    };
}

void ss_monitor_close(struct ss_monitor *monitor) {
    ss_figures_free(&monitor->figures);
}

static void watch_capacity(struct ss_monitor *monitor) {
    const struct ss_counters *counters = &monitor->meter->last.counters;
    struct ss_capacity *capacity = &monitor->capacity;
    if (monitor->source != SS_SOURCE_CGROUP || counters->capacity == capacity->latest)
        return;
    capacity->latest = counters->capacity;
    capacity->changed_at = counters->time;
    capacity->changes++;
}

static bool read_load(struct ss_monitor *monitor, ss_time now) {
    struct ss_load_meter *meter = monitor->meter;

    if (monitor->source != SS_SOURCE_SENSOR) {
        bool is_read = ss_load_meter_read(meter) == 0;
        if (is_read)
            watch_capacity(monitor);
        return is_read;
    }

    meter->previous = meter->last;
    meter->last = (struct ss_cpu_reading){
        .counters = {.time = now,
            .value = ss_double_from_word(atomic_load(&monitor->board->sensor_value))},
        .pressure = NAN,
    };

    return true;
}

static void read_cpus(struct ss_monitor *monitor) {
    /* A failed reading has no CPUs. */
    if (monitor->cpus && monitor->cpus != monitor->meter && ss_load_meter_read(monitor->cpus) != 0)
        monitor->cpus->last.count = 0;
}

/*
 * Returns when the load was read. The duty is computed up to this time, not up to an earlier one
 * such as the planned end: permits always show the present state of the instances.
 */
static ss_time reading_time(const struct ss_monitor *monitor, ss_time now) {
    return monitor->has_last ? monitor->meter->last.counters.time : now;
}

static struct ss_target target_at(const struct ss_monitor *monitor, ss_time time) {
    struct ss_target target;
    ss_pipeline_target(monitor->set, &monitor->trace, monitor->board, time, &target);
    return target;
}

static void count_lost(struct ss_monitor *monitor) {
    monitor->lost++;
    monitor->lost_counted += monitor->counted_from != SS_TIME_NEVER;
}

/* Leaves out the next sample if the load was read so late that it would be too short. */
static void skip_short(struct ss_monitor *monitor, ss_time reading) {
    while (ss_time_since(monitor->next, reading) < monitor->interval / SHORT_DIVISOR) {
        count_lost(monitor);
        monitor->next += monitor->interval;
    }
}

void ss_monitor_begin(struct ss_monitor *monitor, ss_time begin, ss_time now) {
    monitor->was_free = target_at(monitor, begin).free;
    monitor->has_last = read_load(monitor, now);
    ss_time reading = reading_time(monitor, now);
    ss_duty_begin(&monitor->duty, monitor->board, reading);
    read_cpus(monitor);
    monitor->next = ss_time_add(begin, monitor->interval);
    skip_short(monitor, reading);
}

double ss_monitor_duty_mean(const struct ss_monitor *monitor) {
    return monitor->duty_count ? monitor->duty_sum / (double)monitor->duty_count : NAN;
}

void ss_monitor_shift(struct ss_monitor *monitor, ss_time length) {
    /* SS_TIME_NEVER stays SS_TIME_NEVER. */
    monitor->control_from = ss_time_add(monitor->control_from, length);
    monitor->counted_from = ss_time_add(monitor->counted_from, length);
}

/* Counts living instances and averages their executors' decisions. */
static uint32_t count_instances(const struct ss_board *board, double *decided) {
    uint32_t count = 0;
    double sum = 0;
    for (uint32_t i = 0; i < board->instances; i++) {
        const struct ss_row *row = &board->rows[i];
        if (atomic_load(&row->life) != SS_LIFE_ALIVE)
            continue;
        sum += ss_double_from_word(atomic_load(&row->global_duty));
        count++;
    }
    *decided = count ? sum / count : NAN;
    return count;
}

/*
 * Below this duty, instances practically did not run during a sample, so any load of theirs is
 * unexpected.
 */
#define STOPPED_DUTY 0.01

/*
 * Classifies the sample. Decisions show whether control is at a bound. The duty that was carried
 * out may be lower: a restarted instance briefly may not run.
 */
static void count_doubt(struct ss_monitor *monitor, struct ss_monitor_sample *sample) {
    double error = sample->target - sample->load.load;
    double decided;
    uint32_t running = count_instances(monitor->board, &decided);
    /* With -f own, an idle instance may run all the time; it is stopped once it gets work. */
    bool stopped = decided < 1 - FULL_DUTY &&
                   (monitor->source != SS_SOURCE_OWN || sample->duty < STOPPED_DUTY);

    sample->doubt = SS_DOUBT_NONE;
    if (error > OUT_OF_REACH && decided > FULL_DUTY)
        sample->doubt = SS_DOUBT_BELOW;
    else if (error < -OUT_OF_REACH && stopped)
        sample->doubt = SS_DOUBT_ABOVE;

    monitor->doubts[sample->doubt]++;
    monitor->running[sample->doubt] += running;
}

/*
 * Adds a sample to the settling time and, if counting has begun, to the figures. Returns whether it
 * is in the figures.
 */
static bool count_sample(struct ss_monitor *monitor, struct ss_monitor_sample *sample) {
    double error = sample->target - sample->load.load;

    if (monitor->control_from != SS_TIME_NEVER) {
        double end = ss_time_seconds(ss_time_since(sample->time, monitor->control_from));
        ss_settling_add(&monitor->settling, end - sample->load.seconds, end, error);
    }

    if (monitor->counted_from == SS_TIME_NEVER ||
        !ss_figures_add(&monitor->figures, sample->target, sample->load.load))
        return false;

    /* Unknown if no instance is left, which the run may not have noticed yet. */
    if (!isnan(sample->duty)) {
        monitor->duty_sum += sample->duty;
        monitor->duty_count++;
    }

    monitor->late_samples +=
        sample->load.seconds > LATE_FACTOR * ss_time_seconds(monitor->interval);
    if (!isnan(sample->steal)) {
        monitor->steal_sum += sample->steal * sample->load.seconds;
        monitor->steal_seconds += sample->load.seconds;
    }

    count_doubt(monitor, sample);
    return true;
}

static bool is_partly_free(const struct ss_monitor *monitor, ss_time from, ss_time to) {
    for (ss_time time = from; time < to; time += FREE_STEP) {
        if (target_at(monitor, time).free)
            return true;
    }
    return false;
}

/*
 * Sets the target from just before the sample's end, because a step at its end has no effect yet.
 * Returns false if part of the sample was in a `free` section.
 */
static bool take_target(
    struct ss_monitor *monitor, ss_time end, double duty, struct ss_monitor_sample *sample) {
    ss_time from = monitor->meter->previous.counters.time;
    /* A late sample contains sections after its planned end, too. */
    ss_time late = ss_time_since(sample->time, FREE_STEP);
    bool partly = is_partly_free(monitor, from, late > end ? late : end);
    struct ss_target target = target_at(monitor, end - 1);
    bool counts = !partly && !target.free && !monitor->was_free;

    if (monitor->counted_from != SS_TIME_NEVER) {
        double value = target.free ? 1 : target.load;
        if (isnan(monitor->target_first))
            monitor->target_first = value;
        monitor->target_varied |=
            fabs(value - monitor->target_first) > TARGET_CHANGE_MIN * monitor->target_first;
        monitor->free_samples += !counts;
    }

    monitor->was_free = target_at(monitor, end).free;
    if (target.free)
        return false;

    sample->target = target.load;
    sample->duty = duty;
    return counts;
}

void ss_monitor_sample(struct ss_monitor *monitor, ss_time now) {
    struct ss_monitor_sample sample = {
        .target = NAN, .duty = NAN, .steal = NAN, .cpus = monitor->cpus};
    const struct ss_cpu_reading *before = &monitor->meter->previous, *last = &monitor->meter->last;

    for (; ss_time_since(now, monitor->next) >= monitor->interval;
         monitor->next += monitor->interval)
        count_lost(monitor);

    ss_time end = monitor->next;
    monitor->next = ss_time_add(monitor->next, monitor->interval);
    bool had_last = monitor->has_last;
    monitor->has_last = read_load(monitor, now);
    ss_time reading = reading_time(monitor, now);
    double duty = ss_duty_take(&monitor->duty, monitor->board, reading);
    read_cpus(monitor);
    skip_short(monitor, reading);
    if (!had_last || !monitor->has_last ||
        !ss_load_between(monitor->source, &before->counters, &last->counters, &sample.load)) {
        count_lost(monitor);
        return;
    }

    ss_load_span_between(before, last, SS_LOAD_ALL_CPUS, &sample.parts);
    sample.pressure = last->pressure;
    if (sample.cpus)
        sample.steal = ss_load_steal(&sample.cpus->previous, &sample.cpus->last);
    sample.time = last->counters.time;
    sample.counted = monitor->control_from != SS_TIME_NEVER &&
                     take_target(monitor, end, duty, &sample) && count_sample(monitor, &sample);
    monitor->latest = sample;
}
