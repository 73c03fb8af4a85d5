/* SPDX-License-Identifier: Apache-2.0 */
#include "run/crew.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/wakeup.h"
#include "platform/platform.h"
#include "record/journal.h"
#include "run/perf_counts.h"
#include "run/recent_iterations.h"
#include "tree/cpu_time.h"

/* How long to wait for killed processes to end. */
#define KILL_PATIENCE (400 * SS_MILLISECOND)

/* The interval between requests to the guardian for a last look. */
#define REQUEST_INTERVAL (2 * SS_MILLISECOND)

/*
 * The interval between checks whether something else changed the instance's state; a state may last
 * for hours.
 */
#define CHECK_INTERVAL SS_SECOND

/* The interval between checks whether an attached instance has ended: no signal reports that. */
#define ATTACHED_INTERVAL (50 * SS_MILLISECOND)

struct executor {
    const struct ss_crew *crew; /* as it was when this process was forked */
    uint32_t index;
    const struct ss_launch *launch;
    struct ss_board *board;
    struct ss_row *row;
    struct ss_counter_reader reader;
    struct ss_instance instance;
    struct ss_cpu_time cpu_time; /* with SS_SOURCE_OWN */
    struct ss_stepper stepper;
    struct ss_journal journal;
    struct ss_perf_counts perf_counts; /* with --counters */
    ss_time started;                   /* when the current instance was started */
    bool incomplete;                   /* some released processes may still be stopped */
};

/* Static because signal handlers get no context. Each process has only one executor. */
static _Atomic uint32_t *wake_word;
static volatile sig_atomic_t child_changed;

/* Only changes the word: the signal itself interrupts the sleep. */
static void on_signal(int number) {
    if (number == SIGCHLD)
        child_changed = 1;
    atomic_fetch_add(wake_word, 1);
}

static void wake_others(const struct executor *executor) {
    ss_wakeup_send(executor->crew->wakeup[1]);
    ss_wakeup_send(executor->crew->guardian_wakeup[1]);
}

static ss_time check_interval(const struct executor *executor) {
    return executor->instance.attached ? ATTACHED_INTERVAL : CHECK_INTERVAL;
}

static bool is_orphaned(const struct executor *executor) {
    return getppid() != executor->crew->setup.master;
}

static int read_counters(void *context, struct ss_counters *counters) {
    struct executor *executor = context;

    if (ss_plan_reads_counters(executor->crew->plan))
        return ss_platform_counters_read(&executor->reader, counters);
    if (executor->cpu_time.board) {
        const struct ss_plan *plan = executor->crew->plan;
        ss_cpu_time_sum(executor->board, plan->cpu_count, plan->set.load_cpus, counters);
        return 0;
    }

    *counters = (struct ss_counters){
        .time = ss_platform_now(),
        .capacity = 1,
        .value = ss_double_from_word(atomic_load(&executor->board->sensor_value)),
    };

    return 0;
}

/* Averages over a few switches, because interrupts add to the cost of each. */
static void learn_cost(struct executor *executor, ss_time begun) {
    ss_time *cost = &executor->stepper.planner.cost;
    ss_time both = 2 * ss_time_since(ss_platform_own_cpu_time(), begun);
    *cost = *cost ? (3 * *cost + both) / 4 : both;
}

static void apply_state(struct executor *executor, enum ss_state state) {
    ss_time begun = ss_platform_own_cpu_time();

    if (state == SS_STATE_STOPPED) {
        atomic_store(&executor->row->stopped, 1);
        ss_instance_stop(&executor->instance);
        if (atomic_load(&executor->row->leaving))
            ss_wakeup_send(executor->crew->guardian_wakeup[1]);
    } else {
        ss_instance_continue(&executor->instance);
        atomic_store(&executor->row->stopped, 0);
    }

    learn_cost(executor, begun);
    atomic_fetch_add_explicit(&executor->row->switches, 1, memory_order_relaxed);
}

static void count_leader(void *context, pid_t leader) {
    struct executor *executor = context;
    ss_perf_counts_start(&executor->perf_counts, leader);
}

/* Starts or attaches an instance. On failure, writes the reason to the board. */
static bool start_instance(struct executor *executor) {
    struct ss_row *row = executor->row;
    /* The master wrote an attached instance to the board before this process was forked. */
    if (executor->board->attached) {
        executor->started = ss_platform_now();
        ss_instance_attach(
            &executor->instance, atomic_load(&row->leader), atomic_load(&row->leader_started));
        if (executor->crew->plan->counters)
            ss_perf_counts_attach(&executor->perf_counts, executor->instance.leader);
        return true;
    }

    struct ss_launch launch = *executor->launch;
    if (executor->crew->plan->counters) {
        launch.on_fork = count_leader;
        launch.context = executor;
    }
    int why = ss_instance_start(&executor->instance, &launch);
    if (why) {
        atomic_store(&row->start_error, abs(why));
        atomic_store(&row->fork_failed, why < 0);
        return false;
    }
    executor->started = ss_platform_now();
    atomic_store(&row->leader_started, ss_platform_process_started(executor->instance.leader));
    atomic_store(&row->leader, executor->instance.leader);
    return true;
}

static bool has_guardian(const struct ss_board *board) {
    return ss_platform_process_is_alive(
        atomic_load(&board->guardian), atomic_load(&board->guardian_started));
}

/*
 * Returns whether an attached instance is still empty after the guardian has searched for branches.
 * A process that was forked just before its parent was killed does not become a child of this one:
 * only the guardian, to which the kernel reports forks, can find it. Gives up at `deadline`, or if
 * both guardian and master are dead.
 */
static bool stays_empty(struct executor *executor, ss_time deadline) {
    const struct ss_board *board = executor->board;
    uint32_t needed = atomic_load(&board->searches) + 2; /* a running search may be too early */

    for (;;) {
        uint32_t seen = atomic_load(&executor->row->wake);
        bool looked = (int32_t)(atomic_load(&board->searches) - needed) >= 0;
        ss_instance_refresh_branches(&executor->instance, 0);
        ss_time now = ss_platform_now();
        if (!ss_instance_is_empty(&executor->instance))
            return false;
        if (looked || now >= deadline || (is_orphaned(executor) && !has_guardian(board)))
            return true;
        ss_wakeup_send(executor->crew->guardian_wakeup[1]);
        ss_platform_sleep(&executor->row->wake, seen, now + REQUEST_INTERVAL);
    }
}

static void kill_attached(struct executor *executor) {
    struct ss_instance *instance = &executor->instance;
    ss_time begin = ss_platform_now(), deadline = begin + KILL_PATIENCE;
    for (;;) {
        ss_instance_kill_all(instance, &executor->row->wake, deadline);
        ss_time now = ss_platform_now();
        bool waits = now < begin + SS_HOLD_RUNNABLE_PATIENCE && ss_instance_is_runnable(instance);
        if (now < deadline ? stays_empty(executor, deadline) : !waits)
            return;
        if (now >= deadline)
            deadline = now + KILL_PATIENCE;
    }
}

/*
 * Kills what is left of the instance, and reaps its leader. Takes the pid off the board between the
 * two: until the tree is gone, the guardian needs it in case this process dies; once the leader is
 * reaped, it may be reused.
 */
static int reap_instance(struct executor *executor) {
    if (executor->instance.attached)
        kill_attached(executor);
    else
        ss_instance_kill_all(
            &executor->instance, &executor->row->wake, ss_platform_now() + KILL_PATIENCE);

    ss_perf_counts_end(&executor->perf_counts);
    if (executor->instance.attached)
        atomic_store(&executor->row->survivors, ss_instance_count_left(&executor->instance));
    atomic_store(&executor->row->leader, 0);
    atomic_store(&executor->row->stopped, 0);
    ss_board_permit(executor->board, executor->index, ss_platform_now(), false);

    return ss_instance_reap(&executor->instance);
}

/*
 * Exits after the instance has ended or was released. If the master is dead, first waits for the
 * guardian or, if that is dead, too, ends what dead executors have left.
 */
_Noreturn static void exit_executor(struct executor *executor) {
    if (is_orphaned(executor))
        ss_guardian_stand_in(&executor->crew->setup);
    _exit(0);
}

/*
 * Counts a loss, so that a rescuer sweeps, if processes are left. Ignores those that --keep leaves
 * at the end of the run, unless some may be stopped. Call this when the row is done: before
 * that, a sweep skips what is below an executor.
 */
static void count_losses(struct executor *executor) {
    bool kept = executor->crew->plan->keep && atomic_load(&executor->row->ended_by_us);
    if (executor->incomplete || (!kept && ss_platform_has_living_children()))
        atomic_fetch_add(&executor->board->losses, 1);
}

_Noreturn static void leave_run(struct executor *executor, int status, bool ended_by_us) {
    ss_journal_end(&executor->journal, ss_platform_now());
    atomic_store(&executor->row->status, status);
    atomic_store(&executor->row->ended_by_us, ended_by_us);
    atomic_store(&executor->row->cpu_time, ss_platform_process_cpu_time(getpid()));
    ss_board_leave(executor->board, executor->index, SS_LIFE_ENDED);
    count_losses(executor);
    wake_others(executor);
    exit_executor(executor);
}

/* Exits without an instance; the reason is on the board. */
_Noreturn static void leave_start_failed(struct executor *executor) {
    ss_board_leave(executor->board, executor->index, SS_LIFE_START_FAILED);
    count_losses(executor);
    wake_others(executor);
    exit_executor(executor);
}

/* Continues the instance, which outlives us, and removes it from the board. */
static void release_instance(struct executor *executor) {
    executor->incomplete = !ss_instance_release(&executor->instance);
    ss_perf_counts_end(&executor->perf_counts);
    atomic_store(&executor->row->leader, 0);
    atomic_store(&executor->row->stopped, 0);
    ss_board_permit(executor->board, executor->index, ss_platform_now(), false);
}

/*
 * Handles a leader that has ended by itself: kills what it left, or continues it if attached
 * processes are kept. Returns only if --repeat has started the next instance.
 */
static void on_leader_end(struct executor *executor) {
    atomic_store(&executor->row->ended_at, ss_platform_now());
    if (executor->board->attached && executor->crew->plan->keep) {
        release_instance(executor);
        leave_run(executor, 0, false);
    }

    int status = reap_instance(executor);
    bool again = executor->crew->plan->repeat && WIFEXITED(status) && WEXITSTATUS(status) == 0 &&
                 atomic_load(&executor->board->phase) != SS_PHASE_ENDING;
    if (!again)
        leave_run(executor, status, false);
    if (!executor->crew->plan->has_iteration)
        ss_recent_iterations_put(executor->row, executor->started, ss_platform_now());
    if (!start_instance(executor))
        leave_start_failed(executor);
    if (executor->stepper.state == SS_STATE_STOPPED)
        apply_state(executor, SS_STATE_STOPPED);
    wake_others(executor);
}

static ss_time earlier(ss_time one, ss_time other) {
    return one < other ? one : other;
}

/*
 * Waits until the whole instance has ended, the grace period is over, or the master is dead. Sends
 * the end signal to new branches, too.
 */
static void await_end(struct executor *executor) {
    for (;;) {
        uint32_t seen = atomic_load(&executor->row->wake);
        ss_time grace = atomic_load(&executor->board->end_grace);
        ss_time now = ss_platform_now();

        atomic_fetch_add(&executor->row->beat, 1);
        ss_instance_reap_orphans(&executor->instance);
        ss_instance_refresh_branches(
            &executor->instance, (int)atomic_load(&executor->board->end_signal));
        if (is_orphaned(executor) || ss_instance_is_empty(&executor->instance) || now >= grace)
            return;

        ss_time check_at = ss_time_add(now, check_interval(executor));
        ss_time continue_at = ss_instance_recontinue(&executor->instance, now);
        ss_platform_sleep(
            &executor->row->wake, seen, earlier(earlier(check_at, continue_at), grace));
    }
}

_Noreturn static void end_instance(struct executor *executor) {
    bool instant = is_orphaned(executor);

    ss_journal_end(&executor->journal, ss_platform_now());
    if (executor->crew->plan->keep) {
        release_instance(executor);
        leave_run(executor, 0, true);
    }

    ss_instance_refresh_branches(&executor->instance, 0);
    /* The leader may have exited by itself before this process got a CPU to notice it. */
    bool by_itself = !executor->instance.attached && ss_instance_has_ended(&executor->instance);
    if (by_itself)
        atomic_store(&executor->row->ended_at, ss_platform_now());
    if (!instant) {
        ss_instance_signal(&executor->instance, atomic_load(&executor->board->end_signal));
        ss_instance_continue(&executor->instance);
        await_end(executor);
    }

    leave_run(executor, reap_instance(executor), !by_itself);
}

static void check_events(struct executor *executor) {
    if (is_orphaned(executor) || atomic_load(&executor->board->phase) == SS_PHASE_ENDING)
        end_instance(executor);
    if (child_changed || executor->instance.attached) {
        child_changed = 0;
        if (ss_instance_has_ended(&executor->instance))
            on_leader_end(executor);
        else
            ss_instance_reap_orphans(&executor->instance);
    }
}

/* Gives up control: returns the action that lets the instance run until the master ends the run. */
static struct ss_action give_up(struct executor *executor, enum ss_failure failure) {
    if (atomic_exchange(&executor->row->failure, failure) == SS_FAILURE_NONE)
        wake_others(executor);
    return (struct ss_action){
        .change = executor->stepper.state == SS_STATE_STOPPED,
        .state = SS_STATE_RUNNING,
        .deadline = SS_TIME_NEVER,
    };
}

/*
 * Publishes the CPU time of this instance. Every executor does this whenever it is awake, so that
 * any executor can add up all values.
 */
static void read_cpu_time(struct executor *executor) {
    if (!executor->cpu_time.board)
        return;
    ss_time now = ss_platform_now();
    ss_cpu_time_read(&executor->cpu_time, now);
    ss_cpu_time_publish(&executor->cpu_time, executor->cpu_time.runs, now);
}

_Noreturn static void run_loop(struct executor *executor) {
    for (;;) {
        uint32_t seen = atomic_load(&executor->row->wake);

        atomic_fetch_add_explicit(&executor->row->beat, 1, memory_order_relaxed);
        ss_signals_regain_priority();
        check_events(executor);
        bool stopped = executor->stepper.state == SS_STATE_STOPPED;
        ss_instance_refresh_branches(&executor->instance, stopped ? SIGSTOP : 0);
        read_cpu_time(executor);
        ss_time now = ss_platform_now();
        if (executor->stepper.controlled && now >= executor->stepper.deadline)
            ss_shared_histogram_add(&executor->row->lateness, now - executor->stepper.deadline);
        struct ss_action action = ss_stepper_step(&executor->stepper, now);
        ss_journal_record(&executor->journal, &executor->stepper, now);
        if (action.failure)
            action = give_up(executor, action.failure);
        if (action.change)
            apply_state(executor, action.state);
        else if (executor->stepper.state == SS_STATE_RUNNING)
            ss_instance_unstop(&executor->instance);

        ss_time latest = ss_time_add(now, check_interval(executor));
        if (executor->stepper.state == SS_STATE_RUNNING)
            latest = earlier(latest, ss_instance_recontinue(&executor->instance, now));
        if (executor->cpu_time.board)
            ss_cpu_time_publish(&executor->cpu_time, executor->stepper.state == SS_STATE_RUNNING,
                executor->cpu_time.read_at);

        ss_perf_counts_answer(&executor->perf_counts);
        ss_platform_sleep(&executor->row->wake, seen, earlier(action.deadline, latest));
    }
}

static void open_pipeline(struct executor *executor) {
    const struct ss_plan *plan = executor->crew->plan;

    if (ss_plan_reads_counters(plan)) {
        executor->reader = plan->reader;
        if (ss_platform_counters_reopen(&executor->reader) < 0)
            atomic_store(&executor->row->failure, SS_FAILURE_COUNTERS);
    }

    if (plan->source.source == SS_SOURCE_OWN)
        ss_cpu_time_open(&executor->cpu_time, executor->board, executor->index);
    struct ss_pipeline pipeline;
    ss_pipeline_open(&pipeline, &plan->set, executor->board, executor->index,
        (struct ss_counters_source){read_counters, executor});
    ss_stepper_open(&executor->stepper, &pipeline);
    executor->journal.ring = ss_board_ring(executor->board, executor->index);
    ss_perf_counts_open(&executor->perf_counts, executor->board, executor->row);
}

_Noreturn void ss_executor_run(
    const struct ss_crew *crew, uint32_t index, const struct ss_launch *launch) {
    static const int handled[] = {SIGCHLD, SIGCONT, 0};
    static struct executor executor; /* too large for the stack */

    executor.crew = crew;
    executor.index = index;
    executor.launch = launch;
    executor.board = crew->board;
    executor.row = &crew->board->rows[index];
    executor.instance.board = crew->board;
    executor.instance.row = index;
    wake_word = &executor.row->wake;
    ss_signals_adopt(on_signal, handled);
    errno = 0;
    uint64_t started = ss_platform_process_started(getpid());
    atomic_store(&executor.row->executor_started, started);
    if (started == 0) { /* a rescuer could not identify this process */
        atomic_store(&executor.row->start_error, errno ? errno : ESRCH);
        atomic_store(&executor.row->fork_failed, 1);
        leave_start_failed(&executor);
    }

    /* SIGCONT, because this process may be stopped when the master dies. */
    if (ss_platform_die_with(crew->setup.master, SIGCONT) < 0)
        leave_start_failed(&executor);
    char name[32];
    snprintf(name, sizeof name, "ss-executor %u", index);
    ss_platform_set_name(name);
    ss_platform_adopt_orphans();
    ss_platform_minimize_latency(SS_PRIORITY_REALTIME);
    open_pipeline(&executor);
    if (!start_instance(&executor))
        leave_start_failed(&executor);
    ss_board_join(executor.board, index);
    wake_others(&executor);
    run_loop(&executor);
}
