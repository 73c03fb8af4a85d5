/* SPDX-License-Identifier: Apache-2.0 */
#include "benchmark_run.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/end_signals.h"
#include "base/owned.h"
#include "base/words.h"
#include "platform/child.h"

#define OUTPUT_MAX 65536

#define SAMPLE_MS 100 /* milliseconds */

/* How long to read the output after the end of a benchmark. */
#define DRAIN_MAX SS_SECOND

static volatile sig_atomic_t interrupted, signal_count;

static void count_signal(int signal) {
    interrupted = signal;
    signal_count = signal_count + 1;
}

/* Installs the handler without SA_RESTART, so that a signal interrupts waiting for a benchmark. */
static void catch_signals(void) {
    struct sigaction action = {.sa_handler = count_signal};
    sigset_t end_signals;
    ss_end_signals(&end_signals);
    for (int signal = 1; signal < NSIG; signal++) {
        if (sigismember(&end_signals, signal) == 1)
            sigaction(signal, &action, NULL);
    }
}

static int fail_if_interrupted(struct ss_error *error) {
    return interrupted ? ss_error_fail(error, "interrupted by a signal: %s", strsignal(interrupted))
                       : 0;
}

bool ssprofile_is_interrupted(void) {
    return interrupted != 0;
}

static void warn_of_quota(void) {
    struct ss_quota quota = {0};
    ss_platform_quota_read(NULL, &quota);
    if (quota.cpus > 0)
        fprintf(stderr,
            "ssprofile: warning: a control group limits this process to %.3g CPUs, so the profile "
            "measures that quota, not the machine\n",
            quota.cpus);
}

/*
 * Keeps all CPUs out of idle states until the returned descriptor is closed; -1 if that is not
 * possible. A CPU that sleeps while a benchmark is stopped wakes up late, a virtual CPU later
 * still, so that a throttle with short rounds delivers less than its setting.
 */
static int prevent_idle_states(void) {
    static const int32_t none = 0; /* latency limit in microseconds; valid while the file is open */
    SS_OWNED(close) int file = open(SSPROFILE_LATENCY_FILE, O_WRONLY | O_CLOEXEC);

    if (file < 0 || write(file, &none, sizeof none) != (ssize_t)sizeof none)
        return -1;
    return ss_owned_take(&file);
}

void ssprofile_runner_open(struct ssprofile_runner *runner, bool with_idle_states) {
    warn_of_quota();
    runner->group = (struct limit_group){0};
    runner->has_frequency = false;
    catch_signals();
    runner->latency_file = with_idle_states ? -1 : prevent_idle_states();
}

/*
 * Runs `ssactuate get frequency` once, so that a measurement fails before its first benchmark if
 * the frequency cannot be set.
 */
static int check_frequency(struct ssprofile_runner *runner, struct ss_error *error) {
    char program[] = "ssactuate", verb[] = "get", knob[] = "frequency", root[] = "--root";
    char *command[] = {program, verb, knob, root, (char *)runner->throttle.root, NULL};

    if (runner->has_frequency)
        return 0;
    if (!runner->throttle.root)
        command[3] = NULL;

    SS_OWNED(free) char *level = ssprofile_run_output(runner, command, error);
    runner->has_frequency = level != NULL;
    return level ? 0 : -1;
}

int ssprofile_runner_set_throttle(struct ssprofile_runner *runner,
    const struct ssprofile_throttle *throttle, struct ss_error *error) {
    runner->throttle = *throttle;
    if (throttle->kind == SSPROFILE_FREQUENCY)
        return check_frequency(runner, error);
    if (throttle->kind != SSPROFILE_QUOTA)
        return 0;

    const char *folder = runner->group.parts[LIMIT_QUOTA].folder;
    if (!*folder &&
        (limit_group_find(&runner->group, 1U << LIMIT_QUOTA, "ssprofile", NULL, error) < 0 ||
            limit_group_make(&runner->group, error) < 0))
        return ss_error_wrap(error, "cannot set a quota here (throttle by duty instead)");

    struct ss_error failure = {0};
    if (limit_group_set_quota(&runner->group, throttle->setting, throttle->period, &failure) < 0)
        return ss_error_fail(error, "%s: throttle by duty instead", failure.message);
    return 0;
}

void ssprofile_runner_close(struct ssprofile_runner *runner) {
    limit_group_remove(&runner->group);
    if (runner->latency_file >= 0)
        close(runner->latency_file);
    runner->latency_file = -1;
}

/* Returns 0 or a negative errno. */
static int pin_to_cpu(uint32_t cpu) {
    struct ss_cpus one = {0};
    ss_cpus_add(&one, cpu);
    return ss_platform_thread_bind(0, &one);
}

/*
 * Binds to the CPU to check it. The affinity mask proves nothing: a process may bind itself to CPUs
 * outside of its mask.
 */
int ssprofile_choose_cpu(uint64_t requested, uint32_t *cpu, struct ss_error *error) {
    const struct ss_cpus none = {0};
    struct ss_cpus before;
    ss_platform_affinity(&before);

    *cpu = requested == SSPROFILE_ANY_CPU ? ss_cpus_first_outside(&before, &none)
                                          : (uint32_t)requested;
    int result = pin_to_cpu(*cpu);
    ss_platform_thread_bind(0, &before);

    if (result == 0)
        return 0;
    return ss_error_fail(error,
        "--cpu: cannot run on CPU %u: see `taskset -cp $$` and `nproc --all`", (unsigned)*cpu);
}

struct command {
    const struct ssprofile_runner *runner;
    bool pins;         /* pinned by this process, rather than by showstopper */
    bool enters_group; /* the control group of a quota */
    char *path;        /* value of PATH */
};

/* Steps of the child before it executes the command. */
enum { STEP_PIN = 1, STEP_GROUP, STEP_ENVIRONMENT };

static int prepare(const void *context) {
    const struct command *command = context;
    const struct ssprofile_runner *runner = command->runner;

    /* LC_ALL: results must have a decimal point. */
    if (setenv("PATH", command->path, 1) < 0 || setenv("LC_ALL", "C", 1) < 0)
        return STEP_ENVIRONMENT;

    if (command->pins && pin_to_cpu(runner->cpu) < 0)
        return STEP_PIN;

    /*
     * Disables address space randomization if permitted, because the addresses of stack and memory
     * can change a rate by some percent.
     */
    personality((unsigned long)personality(0xffffffff) | ADDR_NO_RANDOMIZE);
    return command->enters_group && limit_group_enter(&runner->group) < 0 ? STEP_GROUP : 0;
}

/* Returns PATH with the folder of showstopper's programs first. free() the result. */
static char *make_path(void) {
    const char *old = getenv("PATH");
    SS_OWNED(free) char *own = ss_platform_program_path(1, "");
    return ss_words_format(
        NULL, "%s%s%s", own ? own : "", own ? ":" : "", old && *old ? old : "/usr/bin:/bin");
}

static int fail_to_start(const struct ss_child_failure *failure, const char *program,
    char *const *command, struct ss_error *error) {
    switch (failure->step) {
    case STEP_PIN:
        return ss_error_fail(
            error, "cannot pin %s to the chosen CPU: is that CPU still online?", *command);
    case STEP_GROUP:
        return ss_error_fail(error, "cannot move %s into its control group", *command);
    case STEP_ENVIRONMENT:
        return ss_error_memory(error);
    default:
        return ss_error_fail(error, "cannot execute %s (is it installed?)", program);
    }
}

/*
 * Starts a benchmark, or another command, which is neither pinned nor throttled. If showstopper is
 * the throttle, it pins the benchmark, so that its own processes can use other CPUs. Returns the
 * pid, or -1.
 */
static pid_t start_command(const struct ssprofile_runner *runner, char *const *words,
    bool is_benchmark, int output, struct ss_error *error) {
    size_t length = ss_words_count(words);
    SS_OWNED(free)
    const char **all = calloc(SSPROFILE_THROTTLE_WORDS_MAX + length + 1, sizeof *all);
    SS_OWNED(free) char *path = make_path();
    if (!all || !path)
        return ss_error_memory(error);
    size_t count = is_benchmark ? ssprofile_throttle_words(&runner->throttle, runner->cpu, all) : 0;
    memcpy(all + count, words, length * sizeof *words);

    const struct command command = {
        .runner = runner,
        .pins = is_benchmark && (count == 0 || runner->throttle.kind == SSPROFILE_FREQUENCY),
        .enters_group = is_benchmark && runner->throttle.kind == SSPROFILE_QUOTA,
        .path = path,
    };
    const struct ss_child_setup setup = {
        .words = (char *const *)all,
        .streams = {-1, output, output},
        .death_signal = SIGTERM,
        .prepare = prepare,
        .context = &command,
    };
    struct ss_child child;
    struct ss_child_failure failure;

    int result = ss_child_fork(&child, &setup);
    if (result < 0)
        return ss_error_fail(error, "cannot fork: %s", strerror(-result));
    if (ss_child_execute(&child, &failure) < 0)
        return fail_to_start(&failure, all[0], words, error);
    return child.pid;
}

/* The frequency of a CPU in each sample, in Hz. */
struct samples {
    const struct ss_platform_roots *roots; /* NULL to take none */
    struct ss_cpus cpu;
    double sum;
    unsigned count;
};

/*
 * Waits briefly for output or a signal: a signal just before poll(), or the end of the child, is
 * noticed only after its timeout. Returns whether there is output; otherwise samples the frequency.
 */
static bool wait_for_output(int file, struct samples *samples) {
    struct pollfd ready = {.fd = file, .events = POLLIN};
    if (poll(&ready, 1, SAMPLE_MS) > 0)
        return true;

    double now = samples->roots ? ss_platform_frequency(samples->roots, &samples->cpu) : NAN;
    if (now > 0) {
        samples->sum += now;
        samples->count++;
    }
    return false;
}

/*
 * Returns whether the child ended DRAIN_MAX ago, so that only processes that it left behind can
 * keep its output open. `until` must be 0 in the first call. Does not reap the child.
 */
static bool is_over(pid_t child, ss_time *until) {
    siginfo_t info = {0};
    if (*until == 0 && waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == child)
        *until = ss_time_add(ss_platform_now(), DRAIN_MAX);
    return *until > 0 && ss_platform_now() >= *until;
}

/*
 * Reads to the end, or until shortly after the child has ended, but keeps only the beginning: the
 * child must never wait for room in the pipe. Sends SIGTERM to the child at the first signal to
 * this process; at the second, sends SIGKILL and stops reading.
 */
static void read_output(int file, char *text, pid_t child, struct samples *samples) {
    char rest[4096];
    size_t used = 0;
    sig_atomic_t sent = 0;
    ss_time until = 0;

    for (;;) {
        bool full = used == OUTPUT_MAX - 1;
        bool is_ready = sent == signal_count && wait_for_output(file, samples);

        if (sent < signal_count) {
            /* The child is not reaped yet, so its pid cannot have been reused. */
            kill(child, sent == 0 ? SIGTERM : SIGKILL);
            if (sent > 0)
                break;
            sent = signal_count;
            continue;
        }

        if (is_over(child, &until))
            break;
        if (!is_ready)
            continue;

        ssize_t got =
            full ? read(file, rest, sizeof rest) : read(file, text + used, OUTPUT_MAX - 1 - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        used += full ? 0 : (size_t)got;
    }

    text[used] = '\0';
    for (size_t i = 0; i < used; i++)
        text[i] = text[i] ? text[i] : '?';
}

/* Maximum length of a benchmark's output in a message. */
#define SHOWN_LENGTH 160

static void first_line(char line[SHOWN_LENGTH], const char *output) {
    snprintf(line, SHOWN_LENGTH, "%.*s", (int)strcspn(output, "\n"), output);
}

static int check_status(int status, const char *name, const char *output, struct ss_error *error) {
    char line[SHOWN_LENGTH];
    first_line(line, output);

    if (WIFSIGNALED(status))
        return ss_error_fail(
            error, "%s was killed by a signal: %s", name, strsignal(WTERMSIG(status)));

    switch (WEXITSTATUS(status)) {
    case 0:
        return 0;
    case 126:
    case 127:
        return ss_error_fail(
            error, "cannot execute %s (is it installed?)%s%s", name, *line ? ": " : "", line);
    default:
        return ss_error_fail(error, "%s failed with status %d%s%s", name, WEXITSTATUS(status),
            *line ? ": " : "", line);
    }
}

/*
 * Waits for the child, which may have closed its output long before it exits. Handles signals as
 * read_output() does.
 */
static void await_child(pid_t child, int *status) {
    sig_atomic_t sent = 0;
    int pause = 1; /* milliseconds */

    for (pid_t ended = 0; ended == 0 || (ended < 0 && errno == EINTR);) {
        if (sent < signal_count) {
            kill(child, sent == 0 ? SIGTERM : SIGKILL);
            sent = signal_count;
        }

        ended = waitpid(child, status, WNOHANG);
        if (ended != 0)
            continue;
        poll(NULL, 0, pause);
        pause = pause < SAMPLE_MS ? 2 * pause : SAMPLE_MS;
    }
}

/* Runs a command. Returns its output, or NULL with the error set. */
static char *run_command(const struct ssprofile_runner *runner, char *const *command,
    bool is_benchmark, struct samples *samples, struct ss_error *error) {
    int ends[2], status;
    if (fail_if_interrupted(error) < 0)
        return NULL;
    SS_OWNED(free) char *text = malloc(OUTPUT_MAX);
    if (!text) {
        ss_error_memory(error);
        return NULL;
    }
    if (pipe2(ends, O_CLOEXEC) < 0) {
        ss_error_fail(error, "cannot create a pipe: %s", strerror(errno));
        return NULL;
    }

    pid_t child = start_command(runner, command, is_benchmark, ends[1], error);
    close(ends[1]);
    if (child > 0)
        read_output(ends[0], text, child, samples);
    close(ends[0]);
    if (child < 0)
        return NULL;

    await_child(child, &status);
    if (fail_if_interrupted(error) < 0 || check_status(status, command[0], text, error) < 0)
        return NULL;
    char *output = text;
    text = NULL;
    return output;
}

int ssprofile_run(const struct ssprofile_runner *runner, const struct ssprofile_task *task,
    struct ssprofile_outcome *outcome, struct ss_error *error) {
    const struct ss_platform_roots roots = {.sys = runner->sys};
    struct samples samples = {.roots = runner->sys ? &roots : NULL};
    ss_cpus_add(&samples.cpu, runner->cpu);

    SS_OWNED(free) char *output = run_command(runner, task->command, true, &samples, error);
    if (!output)
        return -1;

    outcome->frequency = samples.count > 0 ? samples.sum / samples.count : NAN;
    if (ssprofile_task_result(task, output, &outcome->result))
        return 0;

    char line[SHOWN_LENGTH];
    first_line(line, output);
    return ss_error_fail(error, "%s printed '%s': its regular expression matches no result above 0",
        task->name, line);
}

char *ssprofile_run_output(
    const struct ssprofile_runner *runner, char *const *command, struct ss_error *error) {
    struct samples none = {0};
    return run_command(runner, command, false, &none, error);
}
