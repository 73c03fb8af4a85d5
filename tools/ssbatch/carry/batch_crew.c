/* SPDX-License-Identifier: Apache-2.0 */
#include "batch_crew.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/end_signals.h"
#include "base/owned.h"
#include "base/wakeup.h"
#include "base/words.h"
#include "platform/child.h"

/* How long the keeper waits for a minder to exit. */
#define MINDER_PATIENCE (8 * SS_SECOND)

/* How long killed processes may take to disappear. */
#define KILL_PATIENCE (3 * SS_SECOND)

/* Polling interval in milliseconds for events that do not wake a process. */
#define POLL_INTERVAL 10

static int find_minder(const struct ssbatch_crew *crew, pid_t pid) {
    for (int i = 0; i < SSBATCH_SLOTS_MAX; i++) {
        if (crew->used[i] && crew->minder_pids[i] == pid)
            return i;
    }
    return -1;
}

/* Records that a minder is dead. A minder exits with 0 once nothing is left of its command. */
static void on_minder_gone(struct ssbatch_crew *crew, int number, int status) {
    struct ssbatch_slot *slot = &crew->slots[number];
    crew->minder_pids[number] = 0;
    if (!atomic_load(&slot->ended) && status != 0) {
        atomic_store(&slot->signal, SIGKILL); /* the command dies with its minder */
        atomic_store(&slot->status, 128 + SIGKILL);
        atomic_store(&slot->ended, 1);
    }
    crew->has_lost_minder |= WIFSIGNALED(status);
    if (crew->forgotten[number])
        crew->used[number] = false;
}

static void on_child(struct ssbatch_crew *crew, pid_t pid, int status) {
    int number = find_minder(crew, pid);

    if (WIFSTOPPED(status) && (number >= 0 || pid == crew->keeper.pid)) {
        kill(pid, SIGCONT); /* ssbatch's own processes must not stay stopped */
    } else if (WIFSTOPPED(status)) {
        return;
    } else if (number >= 0) {
        on_minder_gone(crew, number, status);
    } else if (pid == crew->keeper.pid) {
        crew->keeper.pid = 0;
        /* If this fails, ss_keeper_dismiss() tries again. */
        if (!WIFEXITED(status) && ss_keeper_start(&crew->keeper) < 0)
            crew->keeper.pid = 0;
    }
}

static void reap(struct ssbatch_crew *crew) {
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;)
        on_child(crew, pid, status);
}

static void take_signals(struct ssbatch_crew *crew) {
    for (int number; (number = ss_signals_next(&crew->signals)) != 0;) {
        if (number == SIGTSTP)
            ss_signals_suspend(&crew->signals);
        else if (crew->ended_by == 0 && ss_end_signals_has(number))
            crew->ended_by = number;
    }
}

static int wait_for_events(void *context, ss_time deadline) {
    struct ssbatch_crew *crew = context;
    struct pollfd polls[] = {
        {.fd = crew->wakeup[0], .events = POLLIN},
        {.fd = crew->signals.pipe[0], .events = POLLIN},
    };

    ss_time left = ss_time_since(deadline, ss_platform_now());
    int timeout = left / SS_MILLISECOND < 60000 ? (int)(left / SS_MILLISECOND) + 1 : 60000;
    if (crew->ignores_signals && timeout > POLL_INTERVAL)
        timeout = POLL_INTERVAL;

    poll(polls, crew->ignores_signals ? 1 : 2, timeout);
    ss_wakeup_drain(crew->wakeup[0]);
    if (!crew->ignores_signals)
        take_signals(crew);
    reap(crew);
    return crew->ended_by;
}

/* Reaps the minder of a command that could not be executed. The minder exits at once. */
static void free_slot(struct ssbatch_crew *crew, int number) {
    int status;
    pid_t pid;
    crew->forgotten[number] = true;
    while (crew->minder_pids[number] > 0 &&
           ((pid = waitpid(crew->minder_pids[number], &status, WUNTRACED)) > 0 || errno == EINTR)) {
        if (pid > 0)
            on_child(crew, pid, status);
    }
}

static int start(void *context, const struct ssbatch_command *command, struct ss_error *error) {
    struct ssbatch_crew *crew = context;
    int number = 0, ends[2];
    char byte;

    while (number < SSBATCH_SLOTS_MAX && crew->used[number])
        number++;
    if (number == SSBATCH_SLOTS_MAX)
        return ss_error_fail(
            error, "too many commands at the same time (at most %d)", SSBATCH_SLOTS_MAX);

    struct ssbatch_slot *slot = &crew->slots[number];
    memset(slot, 0, sizeof *slot);
    if (pipe2(ends, O_CLOEXEC) < 0)
        return ss_error_fail(error, "cannot start a command: %s", strerror(errno));

    const struct ssbatch_minder minder = {
        .slot = slot,
        .command = command,
        .signals = &crew->signals,
        .master = getpid(),
        .wakeup = crew->wakeup[1],
    };

    pid_t pid = ss_child_fork_blocked();
    if (pid == 0) {
        close(ends[0]);
        ssbatch_minder_run(&minder, ends[1]);
    }

    close(ends[1]);
    SS_OWNED(close) int executed = ends[0];
    if (pid < 0)
        return ss_error_fail(error, "cannot start a command: %s", strerror(errno));

    atomic_store(&slot->minder, pid);
    crew->minder_pids[number] = pid;
    crew->used[number] = true;
    crew->forgotten[number] = false;

    while (read(executed, &byte, 1) < 0 && errno == EINTR) {
        /* until the command has been executed, or exec has failed */
    }

    const struct ss_child_failure failure = {
        .step = atomic_load(&slot->step), .err = atomic_load(&slot->err)};
    if (failure.err == 0)
        return number;

    free_slot(crew, number);
    if (failure.step == SSBATCH_ENTER_FOLDER)
        return ss_error_fail(error, "cannot enter the folder %s: %s: create it",
            ss_words_show(command->folder).text, strerror(failure.err));
    if (failure.step == SSBATCH_SET_UP)
        return ss_error_fail(error, "cannot start a command: %s", strerror(failure.err));
    return ss_child_fail(&failure, command->words[0], error);
}

static struct ssbatch_state get_state(void *context, int number) {
    const struct ssbatch_crew *crew = context;
    struct ssbatch_slot *slot = &crew->slots[number];
    struct ssbatch_state state = {
        .life = SSBATCH_RUNS,
        .pid = atomic_load(&slot->pid),
        .status = atomic_load(&slot->status),
        .signal = atomic_load(&slot->signal),
        .cpu_time = atomic_load(&slot->cpu_time),
    };

    if (atomic_load(&slot->ended))
        state.life = SSBATCH_ENDED;
    if (crew->minder_pids[number] == 0)
        state.life = SSBATCH_GONE;
    return state;
}

static void add_cpu_time(void *sum, pid_t pid) {
    struct ss_process_times times;
    if (ss_platform_process_times(pid, &times))
        *(ss_time *)sum += times.used + times.waited;
    ss_platform_process_children(pid, add_cpu_time, sum);
}

/* The minder sets the CPU time in the slot when it exits. */
static ss_time cpu_time(void *context, int number) {
    const struct ssbatch_crew *crew = context;
    struct ss_process_times minder;
    if (crew->minder_pids[number] == 0 ||
        !ss_platform_process_times(crew->minder_pids[number], &minder))
        return atomic_load(&crew->slots[number].cpu_time);
    ss_time sum = minder.waited;
    ss_platform_process_children(minder.pid, add_cpu_time, &sum);
    return sum;
}

static void end(void *context, int number, ss_time grace) {
    struct ssbatch_crew *crew = context;
    atomic_store(&crew->slots[number].grace, grace);
    if (crew->minder_pids[number] > 1)
        kill(crew->minder_pids[number], SIGTERM);
}

static void forget(void *context, int number) {
    struct ssbatch_crew *crew = context;
    crew->forgotten[number] = true;
    if (crew->minder_pids[number] == 0)
        crew->used[number] = false;
}

static bool is_crew(void *context, pid_t pid) {
    const struct ssbatch_crew *crew = context;
    return pid == crew->keeper.pid || find_minder(crew, pid) >= 0;
}

struct strays {
    const struct ssbatch_crew *crew;
    size_t count;
};

static void count_stray(void *context, pid_t pid) {
    struct strays *strays = context;
    struct ss_process process;
    strays->count += !is_crew((void *)(uintptr_t)strays->crew, pid) &&
                     ss_platform_process_info(pid, &process) && process.state != 'Z';
}

static void end_orphans(void *context) {
    struct ssbatch_crew *crew = context;
    ss_time now = ss_platform_now();
    ss_time patience = now + SSBATCH_GUARDIAN_PATIENCE;
    ss_time limit = patience + KILL_PATIENCE;

    for (; crew->has_lost_minder && now < limit; now = ss_platform_now()) {
        struct strays strays = {.crew = crew};
        ss_platform_process_children(getpid(), count_stray, &strays);
        if (strays.count == 0)
            break;
        if (now >= patience)
            ssbatch_signal_descendants(SIGKILL, is_crew, crew);
        wait_for_events(crew, now + POLL_INTERVAL * SS_MILLISECOND);
    }

    crew->has_lost_minder = false;
}

static ss_time now(void *context) {
    (void)context;
    return ss_platform_now();
}

static int64_t wallclock(void *context) {
    (void)context;
    return ss_platform_wallclock();
}

static ss_time machine_time(void *context) {
    struct ssbatch_crew *crew = context;
    struct ss_counters counters;
    if (!crew->reads_machine || ss_platform_counters_read(&crew->machine, &counters) < 0)
        return SS_TIME_NEVER;
    if (counters.ran)
        return counters.used;
    ss_time capacity = (ss_time)(counters.cpus * (double)counters.time);
    return capacity - counters.idle;
}

struct ssbatch_spawner ssbatch_crew_spawner(struct ssbatch_crew *crew) {
    return (struct ssbatch_spawner){
        .context = crew,
        .start = start,
        .get_state = get_state,
        .end = end,
        .forget = forget,
        .end_orphans = end_orphans,
        .wait = wait_for_events,
        .now = now,
        .wallclock = wallclock,
        .cpu_time = cpu_time,
        .machine_time = machine_time,
        .cpus = crew->reads_machine ? ss_cpus_count(&crew->machine.cpus) : 0,
    };
}

struct search {
    const char *mark;
    bool kill;
    size_t count;
};

static void visit_marked(void *context, pid_t pid) {
    struct search *search = context;
    char mark[SSBATCH_MARK_SIZE];
    struct ss_process process;
    if (pid == getpid() || !ss_platform_process_info(pid, &process) || process.state == 'Z' ||
        !ss_platform_process_variable(pid, SSBATCH_MARK_VARIABLE, mark, sizeof mark) ||
        strcmp(mark, search->mark) != 0)
        return;
    search->count++;
    if (search->kill)
        ss_platform_process_signal_by_pid(pid, process.started, SIGKILL);
}

size_t ssbatch_crew_end_marked(const char *mark) {
    struct search search = {.mark = mark};
    ss_time now = ss_platform_now();
    ss_time patience = now + SSBATCH_GUARDIAN_PATIENCE;
    ss_time limit = patience + KILL_PATIENCE;
    for (;; now = ss_platform_now()) {
        search.count = 0;
        search.kill = now >= patience;
        ss_platform_process_each(visit_marked, &search);
        if (search.count == 0 || now >= limit)
            return search.count;
        poll(NULL, 0, 2 * POLL_INTERVAL);
    }
}

/*
 * Takes over from a dead ssbatch, in the keeper: waits for the minders, ends the remaining
 * processes of the call, and undoes the call with a spawner that signals do not wake.
 */
static void take_over(void *context) {
    struct ssbatch_crew *crew = context;
    for (int i = 0; i < SSBATCH_SLOTS_MAX; i++) {
        pid_t pid = atomic_load(&crew->slots[i].minder);
        if (pid > 1)
            ss_keeper_await(pid, atomic_load(&crew->slots[i].minder_started), MINDER_PATIENCE);
    }

    ssbatch_crew_end_marked(crew->mark);
    ss_platform_adopt_orphans();

    memset(crew->minder_pids, 0, sizeof crew->minder_pids);
    memset(crew->used, 0, sizeof crew->used);
    crew->ended_by = 0;
    crew->keeper.pid = 0;
    crew->ignores_signals = true;

    struct ssbatch_spawner spawner = ssbatch_crew_spawner(crew);
    crew->undo(crew->undo_context, &spawner);
}

int ssbatch_crew_open(struct ssbatch_crew *crew, struct ss_error *error) {
    const struct ss_source_request request = {.source = SS_SOURCE_RUNTIME};
    struct ss_error ignored = {0};
    struct ss_cpus cpus;

    void *slots = mmap(NULL, SSBATCH_SLOTS_MAX * sizeof *crew->slots, PROT_READ | PROT_WRITE,
        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (slots == MAP_FAILED)
        return ss_error_memory(error);

    crew->slots = slots;
    ss_platform_affinity(&cpus);
    crew->reads_machine =
        ss_platform_counters_open(&crew->machine, &request, &cpus, NULL, &ignored) == 0;

    crew->job = (struct ss_keeper_job){
        .name = "ssbatch-keeper",
        .orphaned = take_over,
        .context = crew,
    };

    ss_platform_adopt_orphans();
    if (setenv(SSBATCH_MARK_VARIABLE, crew->mark, 1) < 0 || ss_signals_open(&crew->signals) < 0 ||
        pipe2(crew->wakeup, O_CLOEXEC | O_NONBLOCK) < 0)
        return ss_error_fail(
            error, "cannot set up pipes, signals and the environment: %s", strerror(errno));

    int status = ss_keeper_open(&crew->keeper, &crew->job);
    if (status == 0)
        status = ss_keeper_start(&crew->keeper);
    if (status < 0)
        return ss_error_fail(
            error, "cannot start the process that cleans up after a kill: %s", strerror(-status));
    return 0;
}

void ssbatch_crew_close(struct ssbatch_crew *crew) {
    ss_keeper_dismiss(&crew->keeper);
    ss_keeper_close(&crew->keeper);
    if (crew->reads_machine)
        ss_platform_counters_close(&crew->machine);
    munmap(crew->slots, SSBATCH_SLOTS_MAX * sizeof *crew->slots);
}
