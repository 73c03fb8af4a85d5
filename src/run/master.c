/* SPDX-License-Identifier: Apache-2.0 */
#include "run/master.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/end_signals.h"
#include "loop/pipeline.h"
#include "platform/platform.h"
#include "record/judge.h"
#include "run/events.h"
#include "run/perf.h"
#include "run/stage_actions.h"
#include "tree/isolation.h"
#include "tree/sweep.h"

/* Maximum wait for the guardian, which may be dead, before an attached program is signaled. */
#define GUARDIAN_PATIENCE (2 * SS_SECOND)

/* A run that waits for --start-at reads the wall clock this often, because it may be set. */
#define CLOCK_INTERVAL (100 * SS_MILLISECOND)

static void record_setpoint(struct ss_master *master, const struct ss_setpoint_change *change) {
    bool set = !isnan(change->load);
    ss_recorder_event(master->recorder, &(struct ss_record_event){change->time, "target_set", -1,
                                            set ? NULL : "trace", change->load});
    if (set)
        ss_master_print_verbose(master, "the target was set to %g %%", 100 * change->load);
    else
        ss_master_print_verbose(master, "the target follows the trace again");
}

/*
 * Before the warm-up, the origin of the record's times is not known. `now` is SS_TIME_NEVER at the
 * last call.
 */
static void record_setpoints(struct ss_master *master, ss_time now) {
    struct ss_setpoint_change change;
    if (master->stage < SS_STAGE_WARMUP)
        return;
    while (ss_setpoints_take(&master->board->setpoints, &master->setpoints, now, &change))
        record_setpoint(master, &change);
}

static void warn_of_missed_setpoints(struct ss_master *master) {
    uint64_t missed = ss_setpoints_missed(&master->board->setpoints, &master->setpoints);
    if (missed == 0 || !master->plan->record)
        return;
    master->outcome->lines_lost += missed;
    ss_outcome_warn(master->outcome,
        "%" PRIu64 " change%s of the target by --set %s missing from the record: they were made "
        "faster than they could be written, or their process was killed",
        missed, missed == 1 ? "" : "s", missed == 1 ? "is" : "are");
}

/* Limits change only with samples, so the origin of the record's times is known by now. */
static void record_limit(struct ss_master *master) {
    const struct ss_capacity *capacity = &master->monitor.capacity;
    if (capacity->changes == master->limits_seen)
        return;
    master->limits_seen = capacity->changes;
    ss_recorder_event(master->recorder, &(struct ss_record_event){capacity->changed_at,
                                            "allowance_changed", -1, NULL, capacity->latest});
    ss_master_print_verbose(master,
        "100 %% is now %g CPU%s: the limits of the control group have changed", capacity->latest,
        capacity->latest == 1 ? "" : "s");
}

static void update_progress(struct ss_master *master, ss_time now) {
    const struct ss_monitor_sample *sample = &master->monitor.latest;
    bool controlled = master->stage > SS_STAGE_WARMUP;
    struct ss_progress_values values = {
        .elapsed = controlled ? ss_time_seconds(ss_board_trace_time(master->board, now)) : -1,
        .target = sample->target,
        .load = sample->load.load,
        .duty = sample->duty,
        .others = ss_usage_blamed_on_others(&master->usage),
        .error = ss_figures_error_mean_percent(&master->monitor.figures),
        .iterations = ss_iterations_rate(&master->iterations, now).per_second,
        .has_iterations = master->plan->repeat || master->plan->has_iteration,
        .instances = master->plan->instances,
        .ended = (uint32_t)master->outcome->ends.count,
    };

    ss_progress_update(&master->progress, sample->time, &values);
}

static void take_sample(struct ss_master *master, ss_time now) {
    if (now < master->monitor.next || master->stage < SS_STAGE_WARMUP ||
        master->stage >= SS_STAGE_ENDING)
        return;

    const struct ss_monitor_sample *sample = &master->monitor.latest;
    ss_time before = sample->time;
    ss_monitor_sample(&master->monitor, now);
    if (sample->time != before) {
        ss_recorder_sample(master->recorder, sample);
        ss_notice_publish(&master->board->sample,
            &(struct ss_board_sample){sample->target, sample->load.load, sample->duty},
            SS_BOARD_SAMPLE_WORDS);
    }

    if (master->stage == SS_STAGE_COUNTING && sample->time != before)
        ss_usage_follow(&master->usage, sample->doubt, now);
    else
        ss_usage_drop(&master->usage);

    if (master->stage == SS_STAGE_COUNTING)
        ss_conditions_sample(&master->conditions, now);
    ss_recorder_flush(master->recorder, master->board);
    update_progress(master, now);
}

static ss_time next_deadline(const struct ss_master *master) {
    if (master->stage == SS_STAGE_ENDING)
        return master->stage_end;
    ss_time sample = master->stage >= SS_STAGE_WARMUP ? master->monitor.next : SS_TIME_NEVER;
    ss_time drawing = ss_progress_due(&master->progress);
    ss_time next = sample < master->stage_end ? sample : master->stage_end;
    if (master->stage == SS_STAGE_WAITING && next > ss_platform_now() + CLOCK_INTERVAL)
        next = ss_platform_now() + CLOCK_INTERVAL;
    ss_time counters = ss_master_perf_due(master);
    next = counters < next ? counters : next;
    return drawing < next ? drawing : next;
}

static void supervise(struct ss_master *master) {
    while (master->stage != SS_STAGE_OVER) {
        atomic_fetch_add(&master->board->beat, 1);
        ss_signals_regain_priority();
        ss_master_handle_events(master, next_deadline(master));
        ss_time now = ss_platform_now();
        ss_master_read_sensor(master, now);
        record_setpoints(master, now);
        take_sample(master, now); /* sampled before the stage changes, so that the last sample of
                                     the stage is not lost */
        ss_master_take_perf(master, now);
        ss_master_advance(master, now);
        record_limit(master);
        if (master->crew.running == 0 && master->stage >= SS_STAGE_STARTING) {
            ss_master_handle_board(master);
            ss_master_handle(master, SS_EVENT_GONE, "workloads", SIGTERM);
        }

        ss_progress_draw_due(&master->progress, now);
    }
}

static void record_iteration(void *context, const struct ss_iteration *iteration) {
    ss_recorder_iteration(context, iteration);
}

/*
 * Opens the recorder before anything else, so that a run that cannot be recorded does not start.
 * A run that is interrupted before it begins must leave no record: it would block the next one.
 */
static int open_recorder(struct ss_master *master) {
    master->recorder = malloc(sizeof *master->recorder);
    if (!master->recorder)
        return ss_error_memory(master->error);
    master->iterations.on_add = record_iteration;
    master->iterations.context = master->recorder;
    int status = ss_recorder_open(master->recorder, master->plan, master->error);
    if (status == 0 && master->plan->record && ss_end_signal_is_pending(&master->caller_mask)) {
        ss_recorder_abandon(master->recorder);
        sigprocmask(SIG_SETMASK, &master->caller_mask, NULL); /* ends this process */
    }
    return status;
}

static int open_board(struct ss_master *master) {
    const struct ss_plan *plan = master->plan;

    master->board = ss_board_create(plan->instances, ss_module_set_memory(&plan->set),
        plan->record && !plan->no_decisions, &master->descriptor, master->error);
    if (!master->board)
        return -1;

    master->board->keep = plan->keep;
    master->board->load_cpus = plan->set.load_cpus;
    master->board->attached = plan->attached.count > 0;
    master->board->beside = plan->beside;
    if (plan->attached.group)
        snprintf(master->board->group, sizeof master->board->group, "%s", plan->attached.group);
    for (uint32_t i = 0; !plan->attached.group && i < plan->attached.count; i++) {
        atomic_store(&master->board->rows[i].leader, plan->attached.items[i].pid);
        atomic_store(&master->board->rows[i].leader_started, plan->attached.items[i].started);
    }

    /* As PID 1 of a container we also adopt orphans that have nothing to do with the run. */
    master->board->owns_all_children = getpid() != 1 && !ss_platform_has_living_children();
    snprintf(master->board->mark, sizeof master->board->mark, "%d.%" PRIu64, (int)getpid(),
        ss_platform_process_started(getpid()));

    return 0;
}

static int open_crew(struct ss_master *master) {
    const struct ss_plan *plan = master->plan;
    struct ss_error *error = master->error;
    /* Adopt what dead executors leave, so that it can still be found. */
    ss_platform_adopt_orphans();
    ss_sweep_prepare(master->board);
    master->crew = (struct ss_crew){
        .plan = plan,
        .board = master->board,
        .signals = &master->signals,
        .scheduling = master->scheduling,
    };
    if (ss_crew_open(&master->crew, error) < 0 || ss_crew_start_guardian(&master->crew, error) < 0)
        return -1;

    /*
     * An attached program may fork at any time, and the child may leave its parent. The guardian
     * misses forks that happen before it listens, so wait before a signal can cause one.
     */
    ss_time deadline = ss_platform_now() + GUARDIAN_PATIENCE;
    while (master->board->attached && atomic_load(&master->board->searches) == 0 &&
           ss_platform_now() < deadline)
        ss_platform_sleep(&master->board->searches, 0, deadline);

    if (plan->source.source != SS_SOURCE_SENSOR)
        return 0;
    struct ss_sensor_caller caller = {&master->signals, master->scheduling, master->board->mark};
    int status =
        ss_sensor_start(&master->sensor, plan->source.argument, &caller, ss_platform_now(), error);
    atomic_store(&master->board->sensor, master->sensor.pid);
    return status;
}

static bool keep_iterations_apart(struct ss_master *master) {
    const struct ss_plan *plan = master->plan;
    if (ss_iterations_keep_apart(&master->iterations, plan->instances, plan->commands.line_count) <
        0)
        return false;
    for (uint32_t line = 0; line < plan->commands.line_count; line++) {
        const struct ss_command_line *command = &plan->commands.lines[line];
        for (uint32_t i = 0; i < command->count; i++)
            master->iterations.line_of[command->first + i] = line;
    }
    return true;
}

/* Reads the CPU time now, because the executors' latest readings may be a round old. */
static int read_cpu_time(void *context, struct ss_cpu_reading *reading) {
    struct ss_master *master = context;
    *reading = (struct ss_cpu_reading){
        .group = true, .pressure = NAN, .count = 1, .items = reading->items};
    ss_cpu_time_sum(
        master->board, master->plan->cpu_count, master->plan->set.load_cpus, &reading->counters);
    reading->counters.used = 0;
    for (uint32_t i = 0; i < master->plan->instances; i++)
        reading->counters.used += ss_cpu_time_read(&master->cpu_times[i], reading->counters.time);
    *reading->items = (struct ss_cpu_times){.used = reading->counters.used};
    return 0;
}

static int open_cpu_time_meter(struct ss_master *master) {
    struct ss_load_meter *meter = &master->meter;

    *meter = (struct ss_load_meter)SS_LOAD_METER_CLOSED;
    meter->read = read_cpu_time;
    meter->context = master;
    meter->last.items = calloc(1, sizeof *meter->last.items);
    meter->previous.items = calloc(1, sizeof *meter->previous.items);
    master->cpu_times = calloc(master->plan->instances, sizeof *master->cpu_times);
    if (!meter->last.items || !meter->previous.items || !master->cpu_times)
        return ss_error_memory(master->error);

    for (uint32_t i = 0; i < master->plan->instances; i++)
        ss_cpu_time_open(&master->cpu_times[i], master->board, i);
    return 0;
}

/*
 * Opens a second meter for cpus.csv unless the monitor's meter reads the CPUs anyway. If that
 * fails, the columns stay empty.
 */
static void open_cpus(struct ss_master *master) {
    struct ss_source_request request = {.source = SS_SOURCE_SYSTEM};
    struct ss_error ignored = {0};
    if (master->plan->record && !master->monitor.cpus &&
        ss_load_meter_open(&master->cpus, &request, &master->plan->cpus, NULL, &ignored) == 0)
        master->monitor.cpus = &master->cpus;
}

/*
 * Opens the meter of the machine, before the run is isolated: in another PID namespace, control
 * groups of version 2 do not show whether they contain all processes.
 */
static int open_meter(struct ss_master *master) {
    struct ss_plan *plan = master->plan;
    if (!ss_plan_reads_counters(plan))
        return 0;
    if (ss_load_meter_open(&master->meter, &plan->source, &plan->cpus, NULL, master->error) < 0)
        return -1;
    ss_platform_counters_share(&master->meter.reader.counters, &plan->reader);
    return 0;
}

/* Opens the monitor. The parts of the load are for the record only: control does not need them. */
static int open_monitor(struct ss_master *master) {
    struct ss_plan *plan = master->plan;
    enum ss_source source = plan->source.source;

    /* The source that the plan chose may have disappeared since. */
    if (ss_plan_reads_counters(plan))
        source = master->meter.reader.counters.source;
    ss_monitor_open(&master->monitor, &plan->set, source, &master->meter, master->board);
    open_cpus(master);
    if (source == SS_SOURCE_OWN)
        return open_cpu_time_meter(master);

    if (plan->record && ss_plan_reads_counters(plan))
        ss_platform_cpu_times_add_parts(&master->meter.reader, NULL);
    return 0;
}

static int open_master(struct ss_master *master) {
    struct ss_plan *plan = master->plan;
    struct ss_error *error = master->error;

    master->scheduling = ss_platform_scheduling_save();
    master->lives_seen = calloc(plan->instances, sizeof *master->lives_seen);
    master->switches_before = calloc(plan->instances, sizeof *master->switches_before);
    master->iterations_seen = calloc(plan->instances, sizeof *master->iterations_seen);
    bool apart = keep_iterations_apart(master);
    master->polls = calloc(SS_MASTER_POLLS + 2 * (size_t)plan->instances, sizeof *master->polls);
    if (!master->scheduling || !master->lives_seen || !master->switches_before ||
        !master->iterations_seen || !master->polls || !apart)
        return ss_error_memory(error);
    if (ss_signals_open(&master->signals) < 0)
        return ss_error_fail(error, "cannot create a pipe: %s", strerror(errno));

    master->signals.caller_mask = master->caller_mask;
    ss_progress_open(
        &master->progress, plan->progress, plan->quiet, plan->duration, &master->board->view_rows);

    /*
     * A process that forwards output is as busy as its writers make it: at a high priority it could
     * keep them from running.
     */
    int refused = ss_platform_minimize_latency(
        ss_plan_pipes_output(plan) ? SS_PRIORITY_INHERITED : SS_PRIORITY_REALTIME);
    if (refused)
        ss_master_print_verbose(
            master, "no real-time priority for wake-ups: %s", strerror(-refused));
    else
        ss_master_print_verbose(master, "wake-ups run at real-time priority%s",
            ss_plan_pipes_output(plan) ? ", except in the master, which forwards output" : "");

    for (enum ss_kind kind = 0; kind < SS_KINDS; kind++) {
        if (*plan->found[kind])
            ss_master_print_verbose(
                master, "%s: %s", plan->set.modules[kind].head->name, plan->found[kind]);
    }

    if (open_monitor(master) < 0)
        return -1;

    ss_usage_open(&master->usage, master->board, &plan->cpus, plan->source.source == SS_SOURCE_OWN);
    master->output = (struct ss_output){
        .instances = plan->instances,
        .folder = plan->output,
        .numbers = plan->numbers,
        .out = ss_plan_output_descriptor(plan),
        .tty = plan->tty,
        .forwards_errors = plan->has_iteration || plan->output,
        .pattern = plan->has_iteration ? &plan->iteration : NULL,
        .iterations = &master->iterations,
        .board = master->board,
        .own_wait = ss_platform_own_wait,
    };
    if (ss_plan_pipes_output(plan) && ss_output_open(&master->output, error) < 0)
        return -1;

    return open_crew(master) < 0 ? -1 : ss_master_open_perf(master);
}

/*
 * Warns of processes that survived SIGKILL. If the instances are attached, the run fails, because
 * --end requested their end.
 */
static void warn_of_survivors(struct ss_master *master) {
    uint32_t left = atomic_load(&master->board->survivors);
    for (uint32_t i = 0; i < master->plan->instances; i++)
        left += atomic_load(&master->board->rows[i].survivors);
    if (left == 0)
        return;
    ss_outcome_warn(master->outcome,
        "%u killed process%s of instances had not ended when the run ended: frozen by a "
        "control group, waiting for a device, or still freeing memory",
        (unsigned)left, left == 1 ? "" : "es");
    if (master->board->attached && master->failure_status == 0)
        master->failure_status = SS_ERROR_FAILED;
}

/*
 * Warns of instances that outlived their executors, because no other process could be started to
 * end or continue them and memory was exhausted.
 */
static void warn_of_abandoned(struct ss_master *master) {
    for (uint32_t i = 0; i < master->plan->instances; i++) {
        struct ss_row *row = &master->board->rows[i];
        if (atomic_load(&row->life) == SS_LIFE_ALIVE)
            ss_outcome_warn(master->outcome,
                "instance %s (process %d) was left behind, and may be stopped, because no process "
                "could be started and memory is exhausted: continue it with kill -CONT",
                master->plan->numbers[i], (int)atomic_load(&row->leader));
    }
}

static void warn_of_excess(struct ss_master *master) {
    struct ss_option_store store = {0};
    ss_pipeline_warn_of_excess(&master->plan->set, master->board, &store);
    for (size_t i = 0; i < store.warning_count; i++)
        ss_outcome_warn(master->outcome, "%s", store.warnings[i]);
    ss_option_store_free(&store);
}

/*
 * Call this while the guardian lives: if the master is killed meanwhile, the guardian ends what the
 * sensor leaves. A sensor that has not ended stays on the board, so that no sweep counts it.
 */
static void end_sensor(struct ss_master *master) {
    pid_t pid = master->sensor.pid;
    if (ss_sensor_end(&master->sensor))
        atomic_store(&master->board->sensor, 0);
    else
        ss_outcome_warn(master->outcome,
            "the sensor, process %d, did not end when it was killed: it belongs to another user, "
            "is frozen, or waits for a device; end it yourself",
            (int)pid);
}

/*
 * Closes the recorder. Removes the record of a run that failed to start, because it would block the
 * next attempt.
 */
static void close_recorder(struct ss_master *master) {
    if (!master->board || !atomic_load(&master->board->setup_done)) {
        ss_recorder_abandon(master->recorder);
        return;
    }
    if (master->error->status)
        ss_master_record_event(master, "error", -1, master->error->message, NAN);
    ss_recorder_close(master->recorder, master->board, master->outcome);
}

static void close_master(struct ss_master *master) {
    ss_master_end_perf(master, ss_platform_now());
    if (master->crew.board) {
        end_sensor(master);
        ss_crew_dismiss_guardian(&master->crew);
        ss_master_handle_board(master); /* records the instances that the guardian has ended */
    }

    ss_output_drain(&master->output, ss_platform_now());
    ss_outcome_take_iterations(master->outcome, master->plan, &master->iterations);
    ss_iterations_free(&master->iterations);
    if (master->output.failed) {
        master->outcome->lines_lost++;
        ss_outcome_warn_of_loss(
            master->outcome, "output of instances was lost: %s", strerror(master->output.err));
    }

    if (master->crew.board) {
        warn_of_survivors(master);
        warn_of_abandoned(master);
        warn_of_excess(master);
        record_setpoints(master, SS_TIME_NEVER);
        warn_of_missed_setpoints(master);
        ss_crew_close(&master->crew);
    }

    ss_monitor_close(&master->monitor);
    ss_load_meter_close(&master->meter);
    ss_load_meter_close(&master->cpus);
    ss_usage_close(&master->usage);
    if (master->descriptor >= 0)
        close(master->descriptor);

    /* The remaining work is not urgent. */
    if (master->scheduling)
        ss_platform_scheduling_restore(master->scheduling, NULL);
    ss_output_close(&master->output);
    if (master->recorder)
        close_recorder(master);
    free(master->recorder);
    ss_progress_finish(&master->progress);
    ss_board_close(master->board);
    free(master->scheduling);
    for (uint32_t i = 0; master->cpu_times && i < master->plan->instances; i++)
        ss_cpu_time_close(&master->cpu_times[i]);
    free(master->cpu_times);
    free(master->lives_seen);
    free(master->switches_before);
    free(master->iterations_seen);
    free(master->polls);
}

/* Returns NULL if memory is exhausted. */
static struct ss_master *make_master(
    struct ss_plan *plan, struct ss_outcome *outcome, struct ss_error *error) {
    struct ss_master *master = calloc(1, sizeof *master);
    if (!master)
        return NULL;

    master->plan = plan;
    master->outcome = outcome;
    master->error = error;
    master->sensor.status = master->sensor.from = -1;
    master->meter = (struct ss_load_meter)SS_LOAD_METER_CLOSED;
    master->cpus = (struct ss_load_meter)SS_LOAD_METER_CLOSED;
    master->descriptor = -1;
    master->perf.next = master->perf.collect_at = SS_TIME_NEVER;
    master->stage = SS_STAGE_WAITING;
    ss_iterations_count_from(&master->iterations, SS_TIME_NEVER);
    master->iterations.to = SS_TIME_NEVER;

    return master;
}

/* Continues in a child. In this process it returns only to report that the child failed. */
static int isolate(struct ss_master *master) {
    int status = ss_isolate(master->board, master->error);
    master->outcome->lost = status < 0 && atomic_load(&master->board->setup_done);
    return status;
}

int ss_master_run(struct ss_plan *plan, struct ss_outcome *outcome, struct ss_error *error) {
    ss_outcome_open(outcome);
    struct ss_master *master = make_master(plan, outcome, error);
    if (!master) {
        ss_error_memory(error);
        outcome->status = error->status;
        return -1;
    }

    /* Hold signals back until ss_signals_open() can turn them into an orderly end. */
    ss_end_signals_block(&master->caller_mask);
    if (open_recorder(master) == 0 && open_board(master) == 0 && open_meter(master) == 0 &&
        (!plan->isolate || isolate(master) == 0) && open_master(master) == 0) {
        atomic_store(&master->board->setup_done, 1);
        ss_master_advance(master, ss_platform_now());
        supervise(master);
    }

    close_master(master);
    /* Signals may kill us again: printing may block, and nothing is left to clean up. */
    int signal = ss_signals_close(&master->signals);
    sigprocmask(SIG_SETMASK, &master->caller_mask, NULL);
    if (outcome->signal == 0)
        outcome->signal = signal;
    ss_progress_close(&master->progress);
    ss_judge_run(outcome, plan);
    outcome->status = error->status ? error->status : master->failure_status;
    free(master);

    return error->status ? -1 : 0;
}
