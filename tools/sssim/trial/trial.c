/* SPDX-License-Identifier: Apache-2.0 */
#include "trial.h"

#include <math.h>
#include <stdlib.h>

#include "chance.h"
#include "lateness.h"
#include "record/outcome.h"

/* The clock starts above zero, as on a real machine. */
#define START (1000 * SS_SECOND)

/* Returns the sleeper of an instance, which wakes when the demand of the instance changes. */
static uint32_t demand_sleeper(const struct trial *trial, uint32_t number) {
    return trial->options.instances + 1 + number;
}

static uint32_t quota_sleeper(const struct trial *trial) {
    return 2 * trial->options.instances + 1;
}

/* Updates the work of an instance after its runnable threads changed. */
static void follow_work(struct trial *trial, uint32_t number) {
    work_set_threads(&trial->work, number, machine_runnable(&trial->machine, number),
        trial->instances[number].demand.use, trial->now);
}

/*
 * Returns the running time until the demand of an instance changes. It does not advance while the
 * instance is throttled.
 */
static ss_time time_left(const struct trial *trial, uint32_t number) {
    if (trial->machine.group.throttled)
        return trial->instances[number].demand_left;
    ss_time due = trial->sleepers.due[demand_sleeper(trial, number)];
    return due == SS_TIME_NEVER ? due : due - trial->now;
}

/*
 * Returns when the sleeper of an instance must wake if the instance's demand changes after running
 * for `left`. Keeps `left` for the end of throttling.
 */
static ss_time due_after(struct trial *trial, uint32_t number, ss_time left) {
    trial->instances[number].demand_left = left;
    return trial->machine.group.throttled ? SS_TIME_NEVER : ss_time_add(trial->now, left);
}

static ss_time continue_all(struct trial *trial, uint32_t number) {
    struct trial_instance *life = &trial->instances[number];
    struct demand *demand = &life->demand;
    demand_skip(demand, ss_time_since(trial->now, life->stopped));
    life->stopped = SS_TIME_NEVER;
    demand_resume(demand);
    machine_set_width(&trial->machine, number, demand->threads, trial->now);
    machine_continue(&trial->machine, number, trial->now);
    return due_after(trial, number, demand->left);
}

/*
 * Returns the number of threads that still run after a stop, and sets `until` to the time at which
 * they stop.
 */
static uint32_t count_late(const struct trial *trial, uint32_t number, ss_time *until) {
    ss_time length = trial->options.stop_lateness;
    uint32_t width = trial->machine.instances[number].width;
    *until = SS_TIME_NEVER;
    if (length == 0 || width < 2)
        return 0;
    *until = trial->now + length - (trial->now - trial->start) % length;
    return width - 1;
}

/*
 * Stops or continues an instance. While the instance is stopped, its sleeper waits for the threads
 * that the stop has not reached yet.
 */
static void set_running(struct trial *trial, uint32_t number, bool running) {
    struct demand *demand = &trial->instances[number].demand;
    uint32_t sleeper = demand_sleeper(trial, number);
    ss_time due = trial->sleepers.due[sleeper];

    if (running) {
        due = continue_all(trial, number);
    } else {
        if (demand->left != SS_TIME_NEVER)
            demand->left = time_left(trial, number);
        trial->instances[number].stopped = trial->now;
        uint32_t late = count_late(trial, number, &due);
        machine_stop(&trial->machine, number, late, trial->now);
    }

    follow_work(trial, number);
    sleepers_set(&trial->sleepers, sleeper, due);
}

/* Changes the demand of a running instance, or stops the remaining threads of a stopped one. */
static void change_demand(struct trial *trial, uint32_t number) {
    struct demand *demand = &trial->instances[number].demand;
    ss_time due = SS_TIME_NEVER;

    if (trial->machine.instances[number].running) {
        demand_next(demand);
        machine_set_width(&trial->machine, number, demand->threads, trial->now);
        due = ss_time_add(trial->now, demand->left);
    } else {
        machine_stop(&trial->machine, number, 0, trial->now);
    }

    follow_work(trial, number);
    sleepers_set(&trial->sleepers, demand_sleeper(trial, number), due);
}

/* Throttles or releases the instances. */
static void enforce_quota(struct trial *trial) {
    const struct machine *machine = &trial->machine;
    for (uint32_t i = 0; !machine->group.throttled && i < trial->options.instances; i++)
        trial->instances[i].demand_left = time_left(trial, i);
    if (!machine_enforce_quota(&trial->machine, trial->now))
        return;
    for (uint32_t i = 0; i < trial->options.instances; i++) {
        if (machine->instances[i].running)
            sleepers_set(&trial->sleepers, demand_sleeper(trial, i),
                due_after(trial, i, trial->instances[i].demand_left));
    }
}

static ss_time draw_lateness(struct trial *trial) {
    ss_time lateness = trial->options.lateness;
    if (lateness == SS_TIME_NEVER)
        return lateness_recorded(
            ss_random_next(&trial->random), machine_idle_cpus(&trial->machine) > 0);
    if (lateness == 0 || !trial->options.lateness_varies)
        return lateness;
    return ss_time_from_double(chance_draw_exponential(&trial->random, (double)lateness));
}

/*
 * Sets the alarm of an executor. A recorded lateness is drawn only when the alarm is due, because
 * it depends on whether CPUs are idle then.
 */
static void set_alarm(struct trial *trial, uint32_t number, ss_time due) {
    trial->instances[number].has_lateness = false;
    if (due != SS_TIME_NEVER && trial->options.lateness != SS_TIME_NEVER) {
        due = ss_time_add(due, draw_lateness(trial));
        trial->instances[number].has_lateness = true;
    }
    sleepers_set(&trial->sleepers, number, due);
}

/* Unlike that of a group, the load of own processes is not relative to their quota. */
static void read_own(struct trial *trial, struct ss_counters *counters) {
    machine_read_group_exactly(&trial->machine, trial->now, counters);
    counters->capacity = trial->set.load_cpus;
}

static int read_counters(void *context, struct ss_counters *counters) {
    struct trial *trial = context;
    if (trial->source == SS_SOURCE_CGROUP)
        machine_read_group(&trial->machine, trial->now, counters);
    else if (trial->source == SS_SOURCE_OWN)
        read_own(trial, counters);
    else
        machine_read(&trial->machine, trial->now, counters);
    counters->ran = trial->source == SS_SOURCE_RUNTIME || trial->source == SS_SOURCE_OWN;
    return 0;
}

/*
 * Returns when an executor's call that continues its instance returns. Woken threads that find no
 * idle CPU first use the executor's, one after another.
 */
static ss_time held_up_until(const struct trial *trial, uint32_t number) {
    const struct machine *machine = &trial->machine;
    double waiting = machine_demanded_cpus(machine) - machine->cpus;
    double woken = machine->instances[number].width;
    double threads = fmin(fmax(waiting, 0), woken);
    return ss_time_add(trial->now, ss_time_from_double(threads * (double)trial->options.preempt));
}

static int step(struct trial *trial, uint32_t number, struct ss_error *error) {
    if (trial->options.preempt > 0 && trial->machine.group.throttled) {
        sleepers_set(&trial->sleepers, number, trial->machine.group.refill + 1);
        return 0;
    }

    if (!trial->instances[number].has_lateness) {
        trial->instances[number].has_lateness = true;
        sleepers_set(&trial->sleepers, number, ss_time_add(trial->now, draw_lateness(trial)));
        return 0;
    }

    const struct ss_stepper *stepper = &trial->steppers[number];
    if (stepper->controlled && trial->now >= stepper->deadline)
        ss_shared_histogram_add(
            &trial->board->rows[number].lateness, trial->now - stepper->deadline);

    struct ss_action action = ss_stepper_step(&trial->steppers[number], trial->now);
    trial->steps++;
    trial->own += trial->options.switch_cost;
    machine_add_overhead(&trial->machine, trial->options.switch_cost, trial->now);

    if (action.failure) {
        sleepers_set(&trial->sleepers, number, SS_TIME_NEVER);
        return ss_error_fail(error, "executor %u: %s", number,
            action.failure == SS_FAILURE_NOT_A_NUMBER ? "a module returned NaN"
                                                      : "the load can no longer be read");
    }

    if (action.change) {
        set_running(trial, number, action.state == SS_STATE_RUNNING);
        trial->switches++;
        trial->instances[number].switches += trial->now >= trial->counted_from;
    }

    ss_journal_record(&trial->instances[number].journal, &trial->steppers[number], trial->now);
    set_alarm(trial, number, action.deadline);

    if (action.change && action.state == SS_STATE_RUNNING) {
        ss_time held_up = held_up_until(trial, number);
        if (trial->sleepers.due[number] < held_up)
            sleepers_set(&trial->sleepers, number, held_up);
    }
    return 0;
}

void trial_leave(struct trial *trial, uint32_t number) {
    machine_stop(&trial->machine, number, 0, trial->now);
    work_set_threads(&trial->work, number, 0, NULL, trial->now);
    ss_board_permit(trial->board, number, trial->now, false);
    ss_board_leave(trial->board, number, SS_LIFE_ENDED);
    sleepers_set(&trial->sleepers, number, SS_TIME_NEVER);
}

/* Reads exact counters for the statistics: those that modules read may have ticks. */
static int read_exactly(void *context, struct ss_cpu_reading *reading) {
    struct trial *trial = context;
    *reading = (struct ss_cpu_reading){.pressure = NAN};
    if (trial->source == SS_SOURCE_CGROUP)
        machine_read_group_exactly(&trial->machine, trial->now, &reading->counters);
    else if (trial->source == SS_SOURCE_OWN)
        read_own(trial, &reading->counters);
    else
        machine_read_exactly(&trial->machine, trial->now, &reading->counters);
    return 0;
}

/*
 * Updates which samples count. Samples that began before control, or before the counted time, are
 * excluded.
 */
static void enter_stages(struct trial *trial) {
    struct ss_monitor *monitor = &trial->monitor;
    ss_time began = trial->meter.last.counters.time;
    ss_time control_start = atomic_load(&trial->board->control_start);
    if (monitor->control_from == SS_TIME_NEVER && began >= control_start)
        monitor->control_from = control_start;
    if (began >= trial->counted_from)
        monitor->counted_from = trial->counted_from;
}

static void take_iteration(void *context, uint32_t instance, ss_time start, ss_time end) {
    struct trial *trial = context;
    ss_iterations_add(&trial->iterations, instance, start, end);
}

static int take_sample(struct trial *trial, struct ss_error *error) {
    const struct ss_monitor_sample *latest = &trial->monitor.latest;

    enter_stages(trial);
    if (work_collect(&trial->work, trial->now, take_iteration, trial, error) < 0)
        return -1;

    ss_monitor_sample(&trial->monitor, trial->now);
    if (latest->counted) {
        trial->switches_sum += trial->switches - trial->switches_seen;
        trial->own_sum += trial->own - trial->own_seen;
    }

    struct trial_sample sample = {
        .elapsed = ss_time_seconds(trial->now - trial->start),
        .target = latest->target,
        .load = latest->load.load,
        .duty = latest->duty,
    };
    if (trial->options.on_sample)
        trial->options.on_sample(trial->options.context, &sample);

    trial->switches_seen = trial->switches;
    trial->own_seen = trial->own;
    sleepers_set(&trial->sleepers, trial->options.instances, trial->monitor.next);
    return 0;
}

/* Starts the monitor. A sample begins exactly with the trace, so none is partly in the warm-up. */
static void start_monitor(struct trial *trial) {
    ss_time interval = trial->options.interval ? trial->options.interval : trial->options.window;
    ss_time first = trial->options.warmup % interval;

    trial->meter = (struct ss_load_meter){.read = read_exactly, .context = trial};
    /* As in showstopper, the statistics use the source of the feedback. */
    ss_monitor_open(&trial->monitor, &trial->set, trial->source, &trial->meter, trial->board);
    trial->monitor.interval = interval;

    ss_monitor_begin(&trial->monitor, trial->now, trial->now);
    if (first)
        trial->monitor.next = trial->now + first;
    sleepers_set(&trial->sleepers, trial->options.instances, trial->monitor.next);
}

uint32_t trial_count_switching(const struct trial *trial) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < trial->options.instances; i++)
        count += ss_has_rounds(trial->instances[i].switches);
    return count;
}

/* Returns the throughput. An unfinished iteration counts as the fraction that is done. */
static double find_throughput(const struct trial *trial) {
    ss_time from = trial->iterations.from;
    if (trial->work.count == 0 || trial->now <= from)
        return NAN;
    return (trial->iterations.parts + work_under_way(&trial->work, from)) /
           ss_time_seconds(trial->now - from);
}

void trial_get_figures(struct trial *trial, struct trial_figures *figures) {
    struct ss_monitor *monitor = &trial->monitor;
    size_t samples = monitor->figures.count;
    double per_sample = samples ? 1 / (double)samples : NAN;

    *figures = (struct trial_figures){
        .samples = samples,
        .target_mean = ss_figures_target_mean(&monitor->figures),
        .load_mean = ss_figures_load_mean(&monitor->figures),
        .error_mean_percent = ss_figures_error_mean_percent(&monitor->figures),
        .error_mse_e4 = ss_figures_error_mse_e4(&monitor->figures),
        .error_p95_percent = ss_figures_error_p95_percent(&monitor->figures),
        .settling_seconds = ss_settling_seconds(&monitor->settling),
        .duty_mean = ss_monitor_duty_mean(monitor),
        .switches_per_second =
            (double)trial->switches_sum * per_sample / ss_time_seconds(monitor->interval),
        .own_cpu = (double)trial->own_sum * per_sample / (double)monitor->interval,
        .iterations = trial->iterations.ended,
        .throughput = find_throughput(trial),
    };
}

static int load_module(struct trial *trial, enum ss_kind kind, struct ss_error *error) {
    const struct trial_options *options = &trial->options;
    return ss_module_set_load(
        &trial->set, kind, options->modules[kind], options->options[kind], error);
}

static int find_source(struct trial *trial, struct ss_error *error) {
    const struct trial_options *options = &trial->options;
    struct ss_source_request request;
    if (ss_module_set_prepare_feedback(&trial->set, &request, error) < 0)
        return -1;

    trial->source = request.source;
    bool limited = request.source == SS_SOURCE_CGROUP && options->quota > 0;
    if (request.cpus > 0)
        return ss_error_fail(error,
            "feedback/%s: a simulated load is relative to all CPUs: omit cpus",
            trial->set.modules[SS_KIND_FEEDBACK].head->name);

    trial->set.load_cpus = limited ? fmin(options->quota, options->cpus) : options->cpus;
    if (request.source != SS_SOURCE_SENSOR)
        return 0;
    return ss_error_fail(error,
        "feedback/%s: a simulated machine has no programs that print numbers: use a feedback that "
        "reads counters of the system, such as realtime",
        trial->set.modules[SS_KIND_FEEDBACK].head->name);
}

/*
 * Loads the modules. The feedback is first: it defines a load of 100 %, on which the target may
 * depend.
 */
static int load_modules(struct trial *trial, struct ss_error *error) {
    trial->set.instances = trial->options.instances;
    trial->set.cpus = trial->options.cpus;
    trial->set.window = trial->options.window;

    if (load_module(trial, SS_KIND_FEEDBACK, error) < 0 || find_source(trial, error) < 0)
        return -1;

    for (enum ss_kind kind = 0; kind < SS_KINDS; kind++) {
        if (kind != SS_KIND_FEEDBACK && load_module(trial, kind, error) < 0)
            return -1;
    }

    return ss_module_set_prepare(&trial->set, error);
}

static int open_board(struct trial *trial, struct ss_error *error) {
    uint32_t instances = trial->options.instances;
    size_t memory = ss_module_set_memory(&trial->set);
    trial->board = ss_board_allocate(instances, memory, trial->options.recorded);
    trial->steppers = calloc(instances, sizeof *trial->steppers);
    trial->instances = calloc(instances, sizeof *trial->instances);
    if (!trial->board || !trial->steppers || !trial->instances)
        return ss_error_memory(error);
    atomic_store(&trial->board->phase, SS_PHASE_RUNNING);
    atomic_store(&trial->board->control_start, ss_time_add(trial->start, trial->options.warmup));
    return 0;
}

static void start_executors(struct trial *trial) {
    ss_time control_start = atomic_load(&trial->board->control_start);
    const struct trial_options *options = &trial->options;

    for (uint32_t i = 0; i < trial->options.instances; i++) {
        struct ss_pipeline pipeline;
        ss_pipeline_open(&pipeline, &trial->set, trial->board, i,
            (struct ss_counters_source){read_counters, trial});
        ss_stepper_open(&trial->steppers[i], &pipeline);
        ss_board_join(trial->board, i);
        trial->instances[i].journal.ring = ss_board_ring(trial->board, i);

        struct demand *demand = &trial->instances[i].demand;
        demand_open(demand, options->mix ? demand_mix_find(options->mix, i) : &trial->class,
            options->mix ? options->cpus : options->width, options->seed, i);
        machine_set_width(&trial->machine, i, demand->threads, trial->start);

        trial->instances[i].stopped = SS_TIME_NEVER;
        set_running(trial, i, true);
        set_alarm(trial, i, control_start);
    }
}

static int open_machine(struct trial *trial, struct ss_error *error) {
    const struct trial_options *options = &trial->options;
    if (machine_open(&trial->machine, options->cpus, options->instances, options->width,
            trial->start, error) < 0)
        return -1;
    trial->machine.steal = options->steal;
    if (options->quota > 0)
        machine_set_quota(&trial->machine, options->quota, options->quota_period);
    return options->tick_rate ? machine_use_ticks(&trial->machine, options->tick_rate, error) : 0;
}

static int open_work(struct trial *trial, struct ss_error *error) {
    const struct trial_options *options = &trial->options;
    trial->memory.rate = options->memory_rate;
    trial->iterations = (struct ss_iterations){.to = SS_TIME_NEVER};
    ss_iterations_count_from(&trial->iterations, trial->counted_from);
    if (work_open(&trial->work, &options->work, options->instances, options->seed, trial->start,
            error) < 0)
        return -1;
    work_attach(&trial->work, options->memory ? options->memory : &trial->memory, options->side);
    return 0;
}

/* Updates the pace of work and the sleeper of the quota after the machine's state changed. */
static void follow_machine(struct trial *trial) {
    const struct machine *machine = &trial->machine;
    double busy = machine->cpus - machine_idle_cpus(machine);
    double speed = cores_speed(&trial->options.cores, machine->cpus, busy);
    work_set_share(
        &trial->work, speed * machine_share(machine), machine_overlap(machine), trial->now);
    sleepers_set(&trial->sleepers, quota_sleeper(trial), machine_quota_due(machine));
}

int trial_open(struct trial *trial, const struct trial_options *options, struct ss_error *error) {
    *trial = (struct trial){.options = *options, .start = START, .now = START};
    trial->class.kind = DEMAND_PARALLEL;
    trial->random = options->seed;
    trial->counted_from = ss_time_add(START, ss_time_add(options->warmup, options->settle));

    if (load_modules(trial, error) < 0 || open_board(trial, error) < 0 ||
        sleepers_open(&trial->sleepers, 2 * options->instances + 2, error) < 0 ||
        open_machine(trial, error) < 0 || open_work(trial, error) < 0) {
        trial_close(trial);
        return -1;
    }

    machine_set_background(&trial->machine, options->background, trial->now);
    start_executors(trial);
    start_monitor(trial);
    follow_machine(trial);
    return 0;
}

void trial_close(struct trial *trial) {
    ss_monitor_close(&trial->monitor);
    sleepers_close(&trial->sleepers);
    machine_close(&trial->machine);
    work_close(&trial->work);
    ss_iterations_free(&trial->iterations);
    free(trial->steppers);
    free(trial->instances);
    free(trial->board);
    ss_module_set_release(&trial->set);
}

ss_time trial_trace_length(const struct trial *trial) {
    struct ss_self selves[SS_KINDS];
    ss_module_set_selves(&trial->set, trial->board, trial->options.instances, selves);
    return trial->set.modules[SS_KIND_TRACE].table.trace.length(&selves[SS_KIND_TRACE]);
}

ss_time trial_next(const struct trial *trial) {
    return trial->sleepers.due[sleepers_first(&trial->sleepers)];
}

int trial_wake(struct trial *trial, struct ss_error *error) {
    uint32_t sleeper = sleepers_first(&trial->sleepers), instances = trial->options.instances;
    int status = 0;
    trial->now = trial->sleepers.due[sleeper];

    if (sleeper < instances)
        status = step(trial, sleeper, error);
    else if (sleeper == instances)
        status = take_sample(trial, error);
    else if (sleeper == quota_sleeper(trial))
        enforce_quota(trial);
    else
        change_demand(trial, sleeper - instances - 1);
    if (status == 0)
        follow_machine(trial);
    return status;
}

void trial_set_background(struct trial *trial, double cpus, ss_time now) {
    trial->now = now;
    machine_set_background(&trial->machine, cpus, now);
    follow_machine(trial);
}

int trial_finish(struct trial *trial, ss_time now, struct ss_error *error) {
    trial->now = now;
    return work_collect(&trial->work, now, take_iteration, trial, error);
}

int trial_advance(struct trial *trial, ss_time length, struct ss_error *error) {
    ss_time end = ss_time_add(trial->now, length);
    while (trial_next(trial) <= end) {
        if (trial_wake(trial, error) < 0)
            return -1;
    }
    return trial_finish(trial, end, error);
}
