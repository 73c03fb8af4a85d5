/* SPDX-License-Identifier: Apache-2.0 */

/*
 * One round of chaos: starts a run, injects the given fault, and checks what the run leaves behind.
 */

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "chaos_bystander.h"
#include "chaos_marked.h"

#define USAGE                                                                                      \
    "Usage: chaos_fault [--grace SECONDS] [--patience SECONDS] [--closing SECONDS]\n"              \
    "           [--planned SECONDS] [--status STATUS] [--log FILE [--after TEXT]]\n"               \
    "           --payload FILE\n"                                                                  \
    "           [--attached VARIABLE=VALUE --living PID[,PID]...|--ended]\n"                       \
    "           [--step MOMENT:SIGNAL:TARGET[+TARGET]...]... -- COMMAND...\n"

#define NAP       0.004 /* seconds between two checks */
#define STEPS_MAX 8
#define AFTER_MAX 300 /* seconds until the log has a text */
#define HOLDS_MAX 200 /* attempts to stop a growing tree */
#define NO_STATUS (-1000)

struct step {
    double moment; /* seconds after the start of the run, or after its log has `after` */
    int signal;
    char *targets;
};

struct round {
    double grace; /* seconds, like the next three */
    double patience;
    double closing; /* time after which the run is ended unless a step does so */
    double planned; /* time at which the run ends by itself; 0: never */
    int status;     /* expected exit status if the run does not end by a step */
    const char *log;
    const char *after; /* moments count from this text in the log; NULL: from the start */
    const char *payload;
    const char *attached; /* the mark of programs that are attached; NULL: none */
    char *living;         /* pids of the programs that the run must not end */
    bool attached_end;    /* the run must end all attached programs */
    struct step steps[STEPS_MAX];
    int steps_count;
    char **command;

    char mark[80];
    struct bystanders bystanders;
    pid_t run;
    double start; /* seconds on the monotonic clock, like the next two */
    double ended; /* when the run's end was noticed; 0: not yet */
    double clock; /* when the cleanup began */
    int run_status;
    bool ending; /* the steps must end the run */
    bool polite; /* the instances get their grace period */
};

static volatile sig_atomic_t told_to_end;

static void on_signal(int number) {
    told_to_end = number;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void sleep_until(double moment) {
    struct timespec time = {(time_t)moment, (long)((moment - (double)(time_t)moment) * 1e9)};
    while (!told_to_end && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR) {
    }
}

_Noreturn static void fail(const char *what) {
    fprintf(stderr, "chaos: %s: %s\n", what, strerror(errno));
    exit(2);
}

_Noreturn static void become_run(struct round *round, int gate) {
    char byte;
    sigset_t none;
    sigemptyset(&none);
    for (int i = 1; i < NSIG; i++)
        signal(i, SIG_DFL); /* showstopper would inherit the signals that our caller ignores */
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    bystanders_start_near(&round->bystanders);
    close(round->bystanders.life[1]);
    if (read(gate, &byte, 1) != 1)
        _exit(2);
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* in case this process is killed */
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    int input = open("/dev/null", O_RDONLY);
    int output = open(round->log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (input < 0 || output < 0)
        fail(round->log);
    dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    putenv(round->mark);
    execv(round->command[0], round->command);
    fail(round->command[0]);
}

static void start_run(struct round *round) {
    int gate[2];
    if (pipe2(gate, O_CLOEXEC) < 0)
        fail("pipe");
    bystanders_open(&round->bystanders, round->payload);
    round->run = fork();
    if (round->run < 0)
        fail("fork");
    if (round->run == 0)
        become_run(round, gate[0]);
    bystanders_await(&round->bystanders);
    round->start = now();
    if (write(gate[1], "", 1) != 1)
        fail("pipe");
    close(gate[0]);
    close(gate[1]);
}

/*
 * Detects the end of the run without reaping it: otherwise later signals to its pid could reach
 * another process.
 */
static bool has_ended(struct round *round) {
    siginfo_t info = {0};
    if (round->ended == 0 &&
        waitid(P_PID, (id_t)round->run, &info, WEXITED | WNOWAIT | WNOHANG) == 0 &&
        info.si_pid == round->run) {
        round->ended = now();
        round->run_status = info.si_code == CLD_EXITED ? info.si_status : -info.si_status;
    }
    return round->ended > 0;
}

static bool begins(const char *text, const char *part) {
    return strncmp(text, part, strlen(part)) == 0;
}

/*
 * Identifies executors by name and group, because an instance has the same name until it executes
 * its program.
 */
static bool is_executor(const struct round *round, const struct marked *process) {
    return begins(process->name, "ss-executor") && process->group == round->run;
}

static bool is_leader(const struct round *round, const struct marked *process,
    const struct marked *all, size_t count) {
    if (process->pid != process->group || begins(process->name, "ss-"))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (all[i].pid == process->parent)
            return is_executor(round, &all[i]);
    }
    return false;
}

static bool is_kind(const struct round *round, const char *kind, const struct marked *process,
    const struct marked *all, size_t count) {
    if (begins(kind, "executor"))
        return is_executor(round, process);
    if (begins(kind, "guardian"))
        return begins(process->name, "ss-guardian");
    if (begins(kind, "leader"))
        return is_leader(round, process, all, count);
    return begins(kind, "everything");
}

/*
 * Stores the processes of a kind in `chosen`: all of them, one with `KIND=NUMBER`, all but one with
 * `KIND-but=NUMBER`. Returns their number.
 */
static size_t choose(const struct round *round, const char *kind, const struct marked *all,
    size_t count, pid_t *chosen) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_kind(round, kind, &all[i], all, count))
            chosen[found++] = all[i].pid;
    }
    const char *number = strchr(kind, '=');
    if (!number || found == 0)
        return found;
    pid_t *one = &chosen[(size_t)atol(number + 1) % found];
    if (strstr(kind, "-but=")) {
        *one = chosen[found - 1];
        return found - 1;
    }
    chosen[0] = *one;
    return 1;
}

/* Chooses all targets before the first signal. Returns the number of signaled processes. */
static size_t hit(struct round *round, const struct step *step) {
    static struct marked all[MARKED_MAX];
    static pid_t chosen[2 * MARKED_MAX];
    char targets[128];
    size_t count = marked_find(round->mark, all);
    size_t found = 0;
    char *rest = NULL;
    snprintf(targets, sizeof targets, "%s", step->targets);
    for (char *kind = strtok_r(targets, "+", &rest); kind; kind = strtok_r(NULL, "+", &rest)) {
        if (strcmp(kind, "master") != 0 && strcmp(kind, "group") != 0)
            found += choose(round, kind, all, count, chosen + found);
        else if (!has_ended(round))
            chosen[found++] = *kind == 'm' ? round->run : -round->run;
        if (found > MARKED_MAX)
            break;
    }
    for (size_t i = 0; i < found; i++)
        kill(chosen[i], step->signal);
    return found;
}

static bool all_stopped(const struct round *round) {
    static struct marked all[MARKED_MAX];
    size_t count = marked_find(round->mark, all);
    for (size_t i = 0; i < count; i++) {
        if (all[i].state != 'T')
            return false;
    }
    return true;
}

static void perform(struct round *round, const struct step *step) {
    size_t found = hit(round, step);
    /* Also stops processes that were forked before their parents were stopped. */
    if (step->signal == SIGSTOP && strcmp(step->targets, "everything") == 0) {
        for (int i = 0; i < HOLDS_MAX && !all_stopped(round) && !told_to_end; i++)
            hit(round, step);
    }
    round->clock = now();
    if (found == 0 || step->signal == SIGSTOP || step->signal == SIGCONT || step->signal == SIGTSTP)
        return;
    bool killed = step->signal == SIGKILL;
    if (strstr(step->targets, "master") || strstr(step->targets, "group") ||
        (killed && strstr(step->targets, "executor"))) {
        round->ending = true;
        round->polite |= !killed;
    }
}

static bool log_has(const struct round *round, const char *text) {
    char line[1024];
    bool found = false;
    FILE *log = fopen(round->log, "re");
    while (log && !found && fgets(line, sizeof line, log))
        found = strstr(line, text) != NULL;
    if (log)
        fclose(log);
    return found;
}

/* The judgment fails if the run ends before. */
static void await_log(struct round *round) {
    double end = now() + AFTER_MAX;
    while (!log_has(round, round->after) && !has_ended(round) && now() < end && !told_to_end)
        sleep_until(now() + NAP);
    round->start = now();
}

static void perform_all(struct round *round) {
    for (int i = 0; i < round->steps_count && !told_to_end; i++) {
        sleep_until(round->start + round->steps[i].moment);
        perform(round, &round->steps[i]);
    }
    if (round->planned > 0) {
        round->clock = round->start + round->planned;
        round->polite = true;
        sleep_until(round->clock);
    } else if (!round->ending) {
        sleep_until(now() + round->closing);
        round->status = NO_STATUS;
        perform(round, &(struct step){.signal = SIGTERM, .targets = (char *)"master"});
        hit(round, &(struct step){.signal = SIGCONT, .targets = (char *)"master"});
    }
}

/*
 * Waits until no process is left. Returns the time that this took after the grace period, or a
 * negative value at a timeout. A process briefly has no environment while it executes a program, so
 * two successive checks must find nothing.
 */
static double await_nothing(struct round *round) {
    static struct marked left[MARKED_MAX];
    double due = round->clock + (round->polite ? round->grace : 0);
    double empty = 0;
    while (!told_to_end) {
        double moment = now();
        bool over = has_ended(round);
        bool empty_now = over && marked_find(round->mark, left) == 0;
        if (empty_now && empty > 0)
            return empty > due ? empty - due : 0;
        empty = empty_now ? moment : 0;
        if (moment > due + round->patience)
            break;
        sleep_until(moment + NAP);
    }
    if (told_to_end)
        return -1;
    size_t count = marked_find(round->mark, left);
    fprintf(stderr, "chaos: %.3f s after the last fault%s: %s, %zu processes are left\n",
        now() - round->clock, round->polite ? " (with grace)" : "",
        round->ended > 0 ? "the master has ended" : "the master lives", count);
    marked_print(left, count);
    return -1;
}

/* Returns whether a process of an attached program is left although the run had to end it. */
static bool attached_left(const struct round *round) {
    static struct marked all[MARKED_MAX];
    size_t count;
    double end = now() + round->patience;
    while ((count = marked_find(round->attached, all)) > 0 && now() < end && !told_to_end)
        sleep_until(now() + NAP);
    if (count > 0) {
        fprintf(stderr, "chaos: %zu attached processes are still alive\n", count);
        marked_print(all, count);
    }
    return count > 0;
}

/* Returns whether an attached program has ended or one of its processes stays stopped. */
static bool attached_touched(const struct round *round) {
    static struct marked all[MARKED_MAX];
    bool touched = false;
    size_t stopped;
    double end = now() + round->patience;
    do {
        size_t count = marked_find(round->attached, all);
        stopped = 0;
        for (size_t i = 0; i < count; i++) {
            if (all[i].state == 'T')
                all[stopped++] = all[i];
        }
        sleep_until(now() + NAP);
    } while (stopped > 0 && now() < end && !told_to_end);
    if (stopped > 0) {
        fprintf(stderr, "chaos: %zu attached processes are left stopped\n", stopped);
        marked_print(all, stopped);
        touched = true;
    }
    char *rest = NULL;
    for (char *pid = strtok_r(round->living, ",", &rest); pid; pid = strtok_r(NULL, ",", &rest)) {
        char state = marked_state(atoi(pid));
        if (!state || state == 'Z' || state == 'X') {
            fprintf(stderr, "chaos: attached process %s was killed\n", pid);
            touched = true;
        }
    }
    return touched;
}

static int judge(struct round *round) {
    int status = 0;
    double cleaned = await_nothing(round);
    if (cleaned < 0)
        status = 1;
    if (marked_left_memory(round->run))
        status = 1;
    if (bystanders_touched(&round->bystanders))
        status = 1;
    if (round->attached_end ? attached_left(round) : round->attached && attached_touched(round))
        status = 1;
    if (round->ended > 0 && round->status != NO_STATUS && round->run_status != round->status) {
        fprintf(stderr, "chaos: the run ended with %d instead of %d\n", round->run_status,
            round->status);
        status = 1;
    }
    if (status == 0)
        printf("%.3f\n", cleaned);
    return told_to_end ? 128 + (int)told_to_end : status;
}

static void add_step(struct round *round, char *text) {
    static const struct {
        const char *name;
        int number;
    } signals[] = {{"INT", SIGINT}, {"TERM", SIGTERM}, {"HUP", SIGHUP}, {"QUIT", SIGQUIT},
        {"KILL", SIGKILL}, {"STOP", SIGSTOP}, {"CONT", SIGCONT}, {"TSTP", SIGTSTP}};
    char *rest = NULL;
    const char *moment = strtok_r(text, ":", &rest);
    const char *name = strtok_r(NULL, ":", &rest);
    struct step step = {.targets = strtok_r(NULL, ":", &rest)};
    for (size_t i = 0; name && i < sizeof signals / sizeof *signals; i++) {
        if (strcmp(signals[i].name, name) == 0)
            step.signal = signals[i].number;
    }
    if (!moment || !step.signal || !step.targets || round->steps_count == STEPS_MAX) {
        fputs(USAGE, stderr);
        exit(2);
    }
    step.moment = atof(moment);
    round->steps[round->steps_count++] = step;
}

static void read_words(struct round *round, int argc, char **argv) {
    static const struct option options[] = {{"grace", 1, NULL, 'g'}, {"patience", 1, NULL, 'p'},
        {"closing", 1, NULL, 'c'}, {"planned", 1, NULL, 'e'}, {"status", 1, NULL, 's'},
        {"log", 1, NULL, 'l'}, {"after", 1, NULL, 'f'}, {"payload", 1, NULL, 'b'},
        {"step", 1, NULL, 't'}, {"attached", 1, NULL, 'a'}, {"living", 1, NULL, 'v'},
        {"ended", 0, NULL, 'n'}, {0}};
    int letter;
    while ((letter = getopt_long(argc, argv, "+", options, NULL)) != -1) {
        if (letter == 'g')
            round->grace = atof(optarg);
        else if (letter == 'p')
            round->patience = atof(optarg);
        else if (letter == 'c')
            round->closing = atof(optarg);
        else if (letter == 'e')
            round->planned = atof(optarg);
        else if (letter == 's')
            round->status = atoi(optarg);
        else if (letter == 'l')
            round->log = optarg;
        else if (letter == 'f')
            round->after = optarg;
        else if (letter == 'b')
            round->payload = optarg;
        else if (letter == 'a')
            round->attached = optarg;
        else if (letter == 'v')
            round->living = optarg;
        else if (letter == 'n')
            round->attached_end = true;
        else if (letter == 't')
            add_step(round, optarg);
        else
            exit(2);
    }
    round->command = argv + optind;
    if (!round->payload || !*round->command ||
        !round->attached != !(round->living || round->attached_end)) {
        fputs(USAGE, stderr);
        exit(2);
    }
}

int main(int argc, char **argv) {
    static struct round round = {
        .patience = 1, .closing = 0.3, .log = "/dev/null", .status = NO_STATUS};
    static const int polite[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal};
    read_words(&round, argc, argv);
    snprintf(round.mark, sizeof round.mark, "SS_TEST_MARK=%d.%.9f", (int)getpid(), now());
    for (int i = 0; i < 3; i++)
        sigaction(polite[i], &action, NULL);
    start_run(&round);
    if (round.after)
        await_log(&round);
    perform_all(&round);
    int status = judge(&round);
    if (status != 0) {
        kill(round.run, SIGKILL);
        marked_end(round.mark);
    }
    if (round.attached)
        marked_end(round.attached);
    bystanders_close(&round.bystanders);
    return status;
}
