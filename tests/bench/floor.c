/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the minimum cost of stopping and continuing processes: N signalers sleep and send
 * signals, without control, modules, shared memory or a guardian.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000ULL

/*
 * Time for processes to start before the first signal: START_LEAD, and START_LEAD_PER for each
 * process.
 */
#define START_LEAD     (SECOND / 5)
#define START_LEAD_PER (SECOND / 200)

struct task {
    unsigned count;       /* signalers */
    uint64_t seconds;     /* duration of signaling */
    uint64_t round;       /* nanoseconds from one stop of a target to its next */
    double duty;          /* fraction of a round in which a target runs */
    uint64_t start;       /* on CLOCK_MONOTONIC, in nanoseconds */
    unsigned signals_max; /* limit per signaler */
    bool grouped;         /* the command prints the IDs of the groups to signal */
    char **command;       /* empty: the targets spin */
};

/* The processes that a signaler stops and continues. */
struct target {
    pid_t pid;
    FILE *output; /* NULL: is not read */
    size_t groups;
    pid_t leaders[1000]; /* of the groups; the target itself is the first one */
};

/* Results of a signaler, in shared memory. */
struct account {
    uint64_t cpu;     /* nanoseconds */
    unsigned signals; /* number of sent signals */
    bool complete;    /* all signals were sent while the target was alive */
};

static volatile sig_atomic_t told_to_end;

static void on_term(int number) {
    (void)number;
    told_to_end = 1;
}

static uint64_t clock_now(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

/* Returns false if the parent has already died. */
static bool die_with(pid_t parent, int signal) {
    return prctl(PR_SET_PDEATHSIG, signal) == 0 && getppid() == parent;
}

_Noreturn static void be_target(char **command, pid_t signaler, int output) {
    setpgid(0, 0);
    if (!die_with(signaler, SIGKILL))
        _exit(126);
    signal(SIGTERM, SIG_DFL);
    if (!*command) {
        for (;;) {
        }
    }
    int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(output >= 0 ? output : null, STDOUT_FILENO);
    execvp(*command, command);
    dprintf(STDERR_FILENO, "floor: %s: %s\n", *command, strerror(errno));
    _exit(127);
}

/* Reads the IDs of groups, one per line, up to the line "ready". */
static bool read_groups(struct target *target) {
    char line[32];
    while (fgets(line, sizeof line, target->output)) {
        if (strcmp(line, "ready\n") == 0)
            return true;
        pid_t leader = (pid_t)atoi(line);
        if (leader <= 1 || target->groups == sizeof target->leaders / sizeof *target->leaders)
            return false;
        if (leader != target->pid)
            target->leaders[target->groups++] = leader;
    }
    return false;
}

static bool start_target(const struct task *task, struct target *target) {
    int ends[2] = {-1, -1};
    if (task->grouped && pipe2(ends, O_CLOEXEC) < 0)
        return false;
    pid_t self = getpid();
    target->pid = fork();
    if (target->pid == 0)
        be_target(task->command, self, ends[1]);
    if (target->pid < 0)
        return false;
    setpgid(target->pid, target->pid); /* the child does, too: either may run first */
    target->leaders[target->groups++] = target->pid;
    if (!task->grouped)
        return true;
    close(ends[1]);
    target->output = fdopen(ends[0], "r");
    return target->output && read_groups(target);
}

/*
 * Ends the target and waits for the end of its output, so that its children are gone, too. Returns
 * whether the target was alive.
 */
static bool end_target(struct target *target) {
    bool lived = waitpid(target->pid, NULL, WNOHANG) == 0;
    kill(-target->pid, SIGKILL);
    waitpid(target->pid, NULL, 0);
    while (target->output && fgetc(target->output) != EOF) {
    }
    return lived;
}

static void signal_target(const struct target *target, int signal) {
    for (size_t i = 0; i < target->groups; i++)
        kill(-target->leaders[i], signal);
}

static void be_punctual(void) {
    struct sched_param parameters = {.sched_priority = sched_get_priority_min(SCHED_FIFO)};
    prctl(PR_SET_TIMERSLACK, 1UL);
    /* If this fails, showstopper is not permitted to do it either. */
    sched_setscheduler(0, SCHED_FIFO, &parameters);
}

static void sleep_until(uint64_t deadline) {
    struct timespec until = {(time_t)(deadline / SECOND), (long)(deadline % SECOND)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/*
 * Signals from the start to the end; stores the lateness of each wake-up in `late`, in nanoseconds.
 */
static void pace(const struct task *task, unsigned number, const struct target *target,
    struct account *account, uint64_t *late) {
    uint64_t run = (uint64_t)((double)task->round * task->duty);
    uint64_t deadline = task->start + task->round * number / task->count;
    uint64_t end = task->start + task->seconds * SECOND;
    sleep_until(task->start);
    uint64_t cpu = clock_now(CLOCK_PROCESS_CPUTIME_ID);
    while (!told_to_end && deadline < end && account->signals < task->signals_max) {
        sleep_until(deadline);
        if (told_to_end)
            break;
        uint64_t now = clock_now(CLOCK_MONOTONIC);
        bool stops = account->signals % 2 == 0;
        signal_target(target, stops ? SIGSTOP : SIGCONT);
        late[account->signals++] = now > deadline ? now - deadline : 0;
        deadline += stops ? task->round - run : run;
    }
    account->cpu = clock_now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    account->complete = !told_to_end;
}

_Noreturn static void be_signaler(const struct task *task, unsigned number, pid_t master,
    struct account *account, uint64_t *late) {
    static struct target target;
    struct task mine = *task;
    struct sigaction action = {.sa_handler = on_term};
    sigaction(SIGTERM, &action, NULL);
    if (!die_with(master, SIGTERM) || !start_target(task, &target))
        _exit(1);
    if (task->grouped)
        mine.start = clock_now(CLOCK_MONOTONIC) + START_LEAD;
    be_punctual();
    pace(&mine, number, &target, account, late);
    account->complete = end_target(&target) && account->complete;
    _exit(account->complete ? 0 : 1);
}

static int compare(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Collects and sorts the lateness of all wake-ups. Returns their number. */
static size_t sort_late(const struct task *task, const struct account *accounts, uint64_t *late) {
    size_t total = 0;
    for (unsigned i = 0; i < task->count; i++) {
        memmove(
            late + total, late + (size_t)i * task->signals_max, sizeof *late * accounts[i].signals);
        total += accounts[i].signals;
    }
    qsort(late, total, sizeof *late, compare);
    return total;
}

static int print(const struct task *task, const struct account *accounts, uint64_t *late) {
    uint64_t cpu = 0;
    for (unsigned i = 0; i < task->count; i++) {
        if (!accounts[i].complete) {
            fprintf(stderr, "floor: signaler %u or its target ended early\n", i);
            return 1;
        }
        cpu += accounts[i].cpu;
    }
    size_t total = sort_late(task, accounts, late);
    double seconds = (double)task->seconds;
    printf("{\n  \"switches_per_second\": %.3f,\n  \"own_cpu\": %.6f,\n", (double)total / seconds,
        (double)cpu / (double)SECOND / seconds);
    printf("  \"wake_lateness_us\": {\n    \"p50\": %.1f,\n    \"p99\": %.1f,\n    \"max\": %.1f\n",
        (double)late[total / 2] / 1e3, (double)late[total * 99 / 100] / 1e3,
        (double)late[total - 1] / 1e3);
    printf("  }\n}\n");
    return 0;
}

static void *share(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("floor: shared memory");
        exit(1);
    }
    return memory;
}

static int run(struct task *task) {
    size_t each = task->signals_max;
    struct account *accounts = share(sizeof *accounts * task->count);
    uint64_t *late = share(sizeof *late * task->count * each);
    pid_t self = getpid();
    task->start = clock_now(CLOCK_MONOTONIC) + START_LEAD + START_LEAD_PER * task->count;
    for (unsigned i = 0; i < task->count; i++) {
        pid_t signaler = fork();
        if (signaler == 0)
            be_signaler(task, i, self, &accounts[i], late + i * each);
        if (signaler < 0) {
            perror("floor: fork"); /* running signalers die with this process */
            return 1;
        }
    }
    while (wait(NULL) > 0) {
    }
    return print(task, accounts, late);
}

/* Returns the first argument after the options, or 0 if they are invalid. */
static int take_options(int argc, char **argv, struct task *task) {
    int at = 1;
    for (; at < argc && argv[at][0] == '-'; at++) {
        if (strcmp(argv[at], "-g") == 0)
            task->grouped = true;
        else if (strcmp(argv[at], "-d") == 0 && at + 1 < argc)
            task->duty = atof(argv[++at]);
        else
            return 0;
    }
    return at;
}

int main(int argc, char **argv) {
    struct task task = {.duty = 0.5};
    int at = take_options(argc, argv, &task);
    bool complete = at > 0 && argc - at >= (task.grouped ? 4 : 3);
    double rate = complete ? atof(argv[at + 1]) : 0;
    task.count = complete ? (unsigned)atoi(argv[at]) : 0;
    task.seconds = complete ? (unsigned)atoi(argv[at + 2]) : 0;
    task.command = argv + at + 3;
    if (task.count < 1 || task.count > 10000 || rate < task.count * 0.1 || rate > 1e6 ||
        task.seconds < 1 || task.seconds > 3600 || !(task.duty > 0 && task.duty < 1)) {
        fprintf(stderr,
            "Usage: floor [-g] [-d DUTY] N RATE SECONDS [COMMAND...]\n"
            "N processes each stop and continue a COMMAND (by default a process that spins).\n"
            "RATE is the total number of signals per second, at least 0.1 per process. DUTY is "
            "the\n"
            "fraction of time for which COMMAND runs (default 0.5): waking up costs more on an "
            "idle\n"
            "machine. With -g, signals are sent to all process groups whose IDs COMMAND prints, "
            "one\n"
            "per line, before the line `ready`.\n");
        return 2;
    }
    task.round = (uint64_t)((double)SECOND * 2 * task.count / rate);
    task.signals_max = (unsigned)(rate / task.count * task.seconds) + 2;
    return run(&task);
}
