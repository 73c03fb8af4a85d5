/* SPDX-License-Identifier: Apache-2.0 */
#include "guest.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/end_signals.h"
#include "base/owned.h"
#include "base/paths.h"
#include "base/walk.h"
#include "platform/platform.h"

#define THREADS_PATIENCE (10 * SS_SECOND)
#define BOOT_PATIENCE    (300 * SS_SECOND)
#define ANSWER_PATIENCE  (300 * SS_SECOND)
#define OFF_PATIENCE     (2 * SS_SECOND)

/* Number of clock readings. The quickest one counts. */
#define CLOCK_ANSWERS 5

/* Maximum number of attempts to set the clock: answers may be late on a busy machine. */
#define CLOCK_ATTEMPTS 6

/* Acceptable difference of the clocks after the first attempt, in microseconds; grows with each. */
#define CLOCK_DIFFERENCE 500

#define VCPUS_MAX 1024

struct driver {
    const struct ssguest_drive_options *options;
    int to, from, machine, caller, signals; /* descriptors */
    char text[4096];                        /* received text that is not processed yet */
    size_t length;
    char value[4096]; /* the text after the awaited word */
    bool is_running;  /* the command is running */
    int interrupted;  /* exit status for a signal that was passed on; 0: no signal */
    int stopped;      /* exit status if the run must end at once, or 0 */
    ss_time deadline; /* deadline of a command that was interrupted */
    pid_t threads[VCPUS_MAX];
};

/* The outcome of a wait. FOUND: the word has arrived; from wait_once(): text may have arrived. */
enum outcome { FOUND, GONE, LATE, STOPPED };

static void say(const struct driver *driver, const char *word) {
    char line[80];
    snprintf(line, sizeof line, "%s\n", word);
    ssize_t length = write(driver->to, line, strlen(line));
    (void)length; /* a failure means that the machine has exited, which its pidfd reports */
}

/* Takes the next line. Returns false if no line is complete: lines may arrive in parts. */
static bool take_line(struct driver *driver, char line[4096]) {
    char *end = memchr(driver->text, '\n', driver->length);

    if (!end) {
        driver->length = driver->length == sizeof driver->text ? 0 : driver->length;
        return false;
    }

    *end++ = '\0';
    snprintf(line, 4096, "%s", driver->text);
    driver->length -= (size_t)(end - driver->text);
    memmove(driver->text, end, driver->length);
    return true;
}

/*
 * Passes the first signal on to the command. A second one, or one while no command is running, ends
 * the run.
 */
static void read_signal(struct driver *driver) {
    struct signalfd_siginfo arrived;
    if (read(driver->signals, &arrived, sizeof arrived) != sizeof arrived)
        return;

    int status = arrived.ssi_signo == SIGINT ? 130 : 143;

    if (!driver->is_running || driver->interrupted) {
        driver->stopped = status;
        return;
    }

    driver->interrupted = status;
    driver->deadline = ss_platform_now() + driver->options->grace * SS_SECOND;
    say(driver, status == 130 ? "INT" : "TERM");
}

/* Waits for an event until `deadline`. */
static enum outcome wait_once(struct driver *driver, ss_time deadline) {
    struct pollfd files[] = {{driver->from, POLLIN, 0}, {driver->signals, POLLIN, 0},
        {driver->caller, POLLIN, 0}, {driver->machine, POLLIN, 0}};

    ss_time now = ss_platform_now();
    if (now >= deadline)
        return LATE;

    ss_time left = deadline - now;
    poll(files, 4, left < SS_SECOND ? (int)(left / SS_MILLISECOND) + 1 : 1000);

    if (files[1].revents)
        read_signal(driver);
    if (files[2].revents)
        driver->stopped = 143;
    if (driver->stopped)
        return STOPPED;

    if (files[0].revents & POLLIN) {
        ssize_t length =
            read(driver->from, driver->text + driver->length, sizeof driver->text - driver->length);
        driver->length += length > 0 ? (size_t)length : 0;
        return FOUND;
    }

    return files[3].revents ? GONE : FOUND;
}

/*
 * Waits for a line that begins with the word, and copies the rest to `value`. The line `missing
 * FOLDER` also ends the wait, as STOPPED.
 */
static enum outcome await_word(struct driver *driver, const char *word, ss_time patience) {
    ss_time limit = ss_platform_now() + patience;
    size_t length = strlen(word);

    for (;;) {
        char line[4096];
        while (take_line(driver, line)) {
            bool is_missing = strncmp(line, "missing ", 8) == 0;
            if (!is_missing && (strncmp(line, word, length) != 0 || !strchr(" ", line[length])))
                continue;

            snprintf(driver->value, sizeof driver->value, "%s",
                strchr(line, ' ') ? strchr(line, ' ') + 1 : "");
            return is_missing ? STOPPED : FOUND;
        }

        ss_time deadline = driver->deadline < limit ? driver->deadline : limit;
        enum outcome outcome = wait_once(driver, deadline);
        if (outcome != FOUND)
            return outcome;
    }
}

/* Finds the last line that has printable characters, and drops its other characters. */
static bool find_last_line(const char *folder, const char *name, char found[512]) {
    char line[512];
    SS_OWNED(free) char *path = NULL;
    SS_OWNED(fclose)
    FILE *file = asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : fopen(path, "re");

    *found = '\0';
    while (file && fgets(line, sizeof line, file)) {
        char *to = line;
        for (const char *at = line; *at; at++) {
            if (isprint((unsigned char)*at))
                *to++ = *at;
        }

        *to = '\0';
        if (*line)
            snprintf(found, 512, "%s", line);
    }

    return *found;
}

/* Fails with the last line printed by qemu, virtiofsd or the guest's kernel. */
static int fail(const struct driver *driver, const char *what, struct ss_error *error) {
    static const char *const names[] = {"machine.log", "files.log", "console"};
    char line[512];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (find_last_line(driver->options->folder, names[i], line))
            return ss_error_fail(error, "%s: %s", what, line);
    }
    return ss_error_fail(error, "%s: no output", what);
}

/* Returns 0 if the word was found; otherwise -1, with an error unless `stopped` is set. */
static int expect(struct driver *driver, enum outcome outcome, const char *gone, const char *late,
    struct ss_error *error) {
    if (outcome == FOUND)
        return 0;
    if (outcome == STOPPED && driver->stopped)
        return -1;
    if (outcome == STOPPED)
        return ss_error_fail(error, "--share: the guest has no access to %s", driver->value);
    return outcome == GONE ? fail(driver, gone, error) : ss_error_fail(error, "%s", late);
}

/* qemu names the thread of a virtual CPU "CPU NUMBER/". */
static void add_thread(void *context, pid_t thread) {
    struct driver *driver = context;
    char path[128], name[64] = "";
    unsigned number;
    snprintf(
        path, sizeof path, "/proc/%d/task/%d/comm", (int)driver->options->qemu_pid, (int)thread);
    SS_OWNED(fclose) FILE *file = fopen(path, "re");
    if (file && fgets(name, sizeof name, file) && sscanf(name, "CPU %u/", &number) == 1 &&
        number < driver->options->vcpus)
        driver->threads[number] = thread;
}

static bool has_all_threads(const struct driver *driver) {
    for (uint64_t i = 0; i < driver->options->vcpus; i++) {
        if (driver->threads[i] == 0)
            return false;
    }
    return true;
}

static int find_threads(struct driver *driver, struct ss_error *error) {
    ss_time deadline = ss_platform_now() + THREADS_PATIENCE;
    struct pollfd machine = {driver->machine, POLLIN, 0};

    for (;;) {
        ss_platform_process_threads((pid_t)driver->options->qemu_pid, add_thread, driver);
        if (has_all_threads(driver))
            return 0;
        if (poll(&machine, 1, 20) > 0 || ss_platform_now() >= deadline)
            return fail(driver, "cannot start the guest", error);
    }
}

/* Pins each virtual CPU to one CPU of the list, in order. */
static int pin_threads(const struct driver *driver, struct ss_error *error) {
    struct ss_cpus cpus;
    uint64_t number = 0;

    if (!driver->options->pins)
        return 0;

    if (ss_cpus_parse(driver->options->pins, &cpus, error) < 0)
        return ss_error_wrap(error, "--pins");

    for (uint32_t cpu = 0; cpu < SS_CPUS_MAX && number < driver->options->vcpus; cpu++) {
        struct ss_cpus one = {0};
        if (!ss_cpus_has(&cpus, cpu))
            continue;

        ss_cpus_add(&one, cpu);
        int status = ss_platform_thread_bind(driver->threads[number], &one);
        if (status < 0)
            return ss_error_fail(error, "--pins: cannot pin virtual CPU %" PRIu64 " to CPU %u: %s",
                number, (unsigned)cpu, strerror(-status));

        number++;
    }

    return 0;
}

/* Returns the CPU time of a virtual CPU in microseconds; 0 if its thread has ended. */
static int64_t read_cpu_time(const struct driver *driver, uint64_t number) {
    char path[128], text[1024];
    unsigned long long user = 0, kernel = 0;

    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)driver->options->qemu_pid,
        (int)driver->threads[number]);

    SS_OWNED(fclose) FILE *file = fopen(path, "re");
    const char *rest = file && fgets(text, sizeof text, file) ? strrchr(text, ')') : NULL;
    if (rest && sscanf(rest, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user,
                    &kernel) != 2)
        return 0;

    return (int64_t)((user + kernel) * 1000000 / (unsigned long long)sysconf(_SC_CLK_TCK));
}

static void write_times(const struct driver *driver, const int64_t *before, ss_time begin) {
    double wall = (double)(ss_platform_now() - begin) / SS_SECOND;
    SS_OWNED(fclose)
    FILE *file = driver->options->vcpu_times
                     ? ss_walk_stream(driver->options->vcpu_times, O_TRUNC, NULL)
                     : NULL;
    if (!file)
        return;

    fprintf(file, "vcpu,host_cpu_seconds,wall_seconds\n");
    for (uint64_t i = 0; i < driver->options->vcpus; i++)
        fprintf(file, "%" PRIu64 ",%.6f,%.6f\n", i,
            (double)(read_cpu_time(driver, i) - before[i]) / 1e6, wall);
}

struct reading {
    int64_t host, guest; /* microseconds */
};

/* Reads SECONDS.MICROSECONDS. Trusts no guest: refuses times before 1970 and out of range. */
static bool read_clock(const char *text, int64_t *microseconds) {
    char *end;
    long long seconds = strtoll(text, &end, 10);
    long long fraction = *end == '.' ? strtoll(end + 1, NULL, 10) : -1;
    return seconds >= 0 && fraction >= 0 && fraction < 1000000 &&
           !__builtin_mul_overflow(seconds, 1000000, microseconds) &&
           !__builtin_add_overflow(*microseconds, fraction, microseconds);
}

/* Keeps the reading of the quickest answer. Returns LATE if no answer has a valid time. */
static enum outcome ask_clock(struct driver *driver, struct reading *reading) {
    int64_t quickest = INT64_MAX;

    for (int i = 0; i < CLOCK_ANSWERS; i++) {
        int64_t guest;
        int64_t before = ss_platform_wallclock() / 1000;

        say(driver, "clock");
        enum outcome outcome = await_word(driver, "clock", ANSWER_PATIENCE);
        int64_t after = ss_platform_wallclock() / 1000;

        if (outcome != FOUND)
            return outcome;

        if (!read_clock(driver->value, &guest) || after - before >= quickest)
            continue;

        quickest = after - before;
        reading->host = before + quickest / 2;
        reading->guest = guest;
    }

    return quickest < INT64_MAX ? FOUND : LATE;
}

static enum outcome set_clock(struct driver *driver) {
    for (int attempt = 1; attempt <= CLOCK_ATTEMPTS; attempt++) {
        struct reading reading = {0};
        char request[64];

        enum outcome outcome = ask_clock(driver, &reading);
        if (outcome != FOUND)
            return outcome;

        int64_t difference = reading.guest - reading.host;
        if (llabs(difference) <= CLOCK_DIFFERENCE * attempt)
            return FOUND;

        snprintf(request, sizeof request, "shift %" PRId64, -difference);
        say(driver, request);
        outcome = await_word(driver, "clock", ANSWER_PATIENCE);
        if (outcome != FOUND)
            return outcome;
    }

    return FOUND;
}

/* Writes a line to the file of clocks. O_TRUNC replaces the file, which then gets a heading. */
static void write_clock(struct driver *driver, const char *when, int flags) {
    struct reading reading = {0};
    if (!driver->options->clock || ask_clock(driver, &reading) != FOUND)
        return;

    SS_OWNED(fclose) FILE *file = ss_walk_stream(driver->options->clock, flags, NULL);
    if (!file)
        return;

    if (flags & O_TRUNC)
        fprintf(file, "when,host_seconds,guest_seconds,difference_seconds\n");
    fprintf(file, "%s,%" PRId64 ".%06" PRId64 ",%" PRId64 ".%06" PRId64 ",%.6f\n", when,
        reading.host / 1000000, reading.host % 1000000, reading.guest / 1000000,
        reading.guest % 1000000, (double)(reading.guest - reading.host) / 1e6);
}

static int boot(struct driver *driver, struct ss_error *error) {
    if (find_threads(driver, error) < 0 || pin_threads(driver, error) < 0)
        return -1;

    enum outcome outcome = await_word(driver, "ready", BOOT_PATIENCE);
    if (expect(driver, outcome, "the guest ended during boot",
            "the guest did not boot within 5 min", error) < 0)
        return -1;

    return expect(driver, set_clock(driver), "the guest does not answer",
        "the guest does not answer with a valid time", error);
}

/* Runs the command. Stops waiting if it does not exit in time after a signal. */
static int run(struct driver *driver, int *status, struct ss_error *error) {
    int64_t before[VCPUS_MAX];

    for (uint64_t i = 0; i < driver->options->vcpus; i++)
        before[i] = read_cpu_time(driver, i);

    ss_time begin = ss_platform_now();
    driver->is_running = true;
    say(driver, "run");
    enum outcome outcome = await_word(driver, "status", SS_TIME_NEVER / 2);

    driver->is_running = false;
    driver->deadline = SS_TIME_NEVER;

    if (outcome != LATE &&
        expect(driver, outcome, "the guest ended before its command", "", error) < 0)
        return -1;

    *status = outcome == FOUND ? atoi(driver->value) : driver->interrupted;
    write_times(driver, before, begin);
    if (outcome == FOUND)
        write_clock(driver, "end", O_APPEND);

    return 0;
}

/*
 * Turns the guest off. Keeps waiting while the guest reports that it passes on output; ignores
 * these reports after a signal.
 */
static void turn_off(struct driver *driver) {
    struct pollfd files[] = {{driver->machine, POLLIN, 0}, {driver->from, POLLIN, 0},
        {driver->signals, POLLIN, 0}, {driver->caller, POLLIN, 0}};
    ss_time now = ss_platform_now(), deadline = now + OFF_PATIENCE;

    say(driver, "off");
    for (; now < deadline && !files[0].revents; now = ss_platform_now()) {
        poll(files, 4, (int)((deadline - now) / SS_MILLISECOND) + 1);
        if (files[2].revents || files[3].revents)
            files[1].fd = files[2].fd = files[3].fd = -1;
        if (files[1].revents && read(driver->from, driver->text, sizeof driver->text) > 0)
            deadline = ss_platform_now() + OFF_PATIENCE;
    }
}

static int open_driver(struct driver *driver, struct ss_error *error) {
    const struct ssguest_drive_options *options = driver->options;
    sigset_t set;

    ss_end_signals(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    driver->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);

    SS_OWNED(close) int folder = open(options->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || driver->signals < 0)
        return ss_paths_fail(options->folder, error);

    driver->to = openat(folder, "control.in", O_RDWR | O_CLOEXEC);
    driver->from = openat(folder, "control.out", O_RDWR | O_CLOEXEC);
    if (driver->to < 0 || driver->from < 0)
        return ss_paths_fail(options->folder, error);

    pid_t machine = (pid_t)options->qemu_pid, caller = (pid_t)options->caller_pid;
    driver->machine = ss_platform_process_open(machine, ss_platform_process_started(machine));
    driver->caller = ss_platform_process_open(caller, ss_platform_process_started(caller));

    driver->stopped = driver->caller == -ESRCH ? 143 : 0;
    if (driver->machine < 0 && driver->machine != -ESRCH)
        return ss_error_fail(error,
            "cannot watch the guest: pidfd_open: %s: Linux 5.3 or later is required, and must "
            "permit this call",
            strerror(-driver->machine));
    if (driver->machine < 0)
        return fail(driver, "cannot start the guest", error);

    return driver->stopped ? -1 : 0;
}

static int drive(struct driver *driver, int *status, struct ss_error *error) {
    if (open_driver(driver, error) < 0 || boot(driver, error) < 0)
        return -1;

    write_clock(driver, "start", O_TRUNC);
    if (run(driver, status, error) < 0)
        return -1;

    turn_off(driver);
    return 0;
}

int ssguest_drive(
    const struct ssguest_drive_options *options, int *status, struct ss_error *error) {
    struct driver driver = {
        .options = options, .deadline = SS_TIME_NEVER, .machine = -1, .caller = -1};

    if (options->vcpus > VCPUS_MAX)
        return ss_error_fail(error, "--vcpus: too many (at most %d)", VCPUS_MAX);

    int result = drive(&driver, status, error);
    if (driver.stopped) {
        *status = driver.stopped;
        return 0;
    }
    return result;
}
