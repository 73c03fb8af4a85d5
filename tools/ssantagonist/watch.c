/* SPDX-License-Identifier: Apache-2.0 */
#include "watch.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/paths.h"
#include "base/walk.h"
#include "base/words.h"
#include "platform/child.h"
#include "platform/platform.h"
#include "slots.h"

/* A run ends if the victim loses this part of its usual figure in two slots. */
#define LOSS_MAX   0.3
#define LOSS_SLOTS 2

/* Minimum time between starts of a command that ends at once. */
#define REPEAT_MIN (10 * SS_MILLISECOND)

/* Interval between looks whether the command has exited, in milliseconds. */
#define REAP_INTERVAL 1

/* How long the command may take to exit after SIGTERM, before SIGKILL. */
#define END_PATIENCE (2 * SS_SECOND)

/* How long to wait after a slot for its lines: ssrequest writes them at the end of each second. */
#define LATE_SECONDS 1.5

/* A command fails if this many launches print no figure, or this many lines contain no number. */
#define LAUNCHES_WITHOUT 3
#define LINES_WITHOUT    100

/* ssrequest runs this much longer than the last slot, because its end would count as a failure. */
#define SPARE_SECONDS 10

#define LINE_ROOM 4096

struct watch {
    const struct watch_options *options;
    char *const *words; /* the command whose lines are read: one of the following two */
    char **given;       /* owned */
    const char *own[10];
    char rate[32], duration[32]; /* options of ssrequest */
    regex_t pattern;
    enum watch_kind kind; /* WATCH_URL: lines come from ssrequest --each */
    bool counts;          /* the figure is the rate of lines rather than a number in them */
    bool lower_is_better; /* as given, or because figures are times */
    pid_t child;
    int lines;       /* the command's output; -1: closed */
    ss_time started; /* last start of the command */
    char line[LINE_ROOM];
    size_t used;
    bool has_figure; /* a line had a figure */
    size_t launches; /* number of launches that have ended, of a repeated command */
    size_t lines_read;
    struct slots slots;
    size_t slot;                     /* the first slot not yet written */
    double sum[2 * CODES_LENGTH];    /* sum of the figures in a slot */
    double first[2 * CODES_LENGTH];  /* time of the first line of a slot */
    double last[2 * CODES_LENGTH];   /* time of the last line of a slot */
    double failed[2 * CODES_LENGTH]; /* number of requests in a slot that failed */
    double born;                     /* wall clock at the start of the command */
    size_t lost;                     /* number of slots with too large a loss */
    FILE *output;
};

enum watch_kind watch_kind(const char *victim, const char *iteration) {
    struct stat status;
    if (strncmp(victim, "http", 4) == 0 && strstr(victim, "://"))
        return WATCH_URL;
    return iteration && stat(victim, &status) == 0 && !S_ISDIR(status.st_mode) ? WATCH_LOG
                                                                               : WATCH_COMMAND;
}

/* Returns the last number of a line; NaN if it has none. */
static double last_number(const char *line) {
    double last = NAN;
    while (*line) {
        char *end;
        double number = strtod(line, &end);
        if (end != line && isfinite(number)) {
            last = number;
            line = end;
        } else {
            line++;
        }
    }
    return last;
}

/* Returns the figure of a line: 1 if lines are counted, NaN if absent. */
static double figure_of(struct watch *watch, const char *line) {
    regmatch_t groups[2];
    if (!watch->options->iteration)
        return last_number(line);
    if (regexec(&watch->pattern, line, 2, groups, 0) != 0)
        return NAN;
    if (watch->counts)
        return 1;
    if (groups[1].rm_so < 0)
        return NAN;
    char *end;
    double figure = strtod(line + groups[1].rm_so, &end);
    return end > line + groups[1].rm_so ? figure : NAN;
}

static double now(void) {
    return (double)ss_platform_wallclock() / 1e9;
}

/* Returns the slot in which a figure of this time counts; false outside of all. */
static bool find_slot(const struct watch *watch, double time, size_t *slot) {
    double place = (time - watch->slots.begin) / watch->slots.length;
    if (place < (double)watch->slot || place >= (double)watch->slots.count ||
        place - floor(place) < SLOTS_SETTLE)
        return false;
    *slot = (size_t)place;
    return true;
}

static void take_figure(struct watch *watch, double figure, double time) {
    size_t slot;
    watch->has_figure |= isfinite(figure);
    if (!isfinite(figure) || !find_slot(watch, time, &slot))
        return;
    if (watch->slots.figures[slot]++ == 0)
        watch->first[slot] = time;
    watch->last[slot] = time;
    watch->sum[slot] += figure;
}

/* A victim that gives no figure, or fails more requests than not, has lost more than any limit. */
static int check_loss(struct watch *watch, size_t slot, struct ss_error *error) {
    double usual = watch->options->usual, figure = watch->slots.figure[slot];
    double kept = watch->lower_is_better ? usual / figure : figure / usual;
    bool is_silent = isnan(figure) && watch->slots.length >= SLOTS_SILENCE;
    if (is_silent || watch->failed[slot] > watch->slots.figures[slot])
        kept = 0;
    watch->lost += isfinite(usual) && kept < 1 - LOSS_MAX;
    if (watch->lost < LOSS_SLOTS)
        return 0;
    return ss_error_set(error, WATCH_LOSS,
        "the victim lost %.0f %% or more in %d slots: ending the run; no suspect is throttled any "
        "longer",
        100 * LOSS_MAX, LOSS_SLOTS);
}

static int end_slot(struct watch *watch, struct ss_error *error) {
    struct slots *slots = &watch->slots;
    size_t slot = watch->slot++;
    double count = slots->figures[slot];
    if (watch->counts)
        slots->figure[slot] = slots_rate(slots, slot, watch->first[slot], watch->last[slot]);
    else
        slots->figure[slot] = count > 0 ? watch->sum[slot] / count : NAN;
    fprintf(
        watch->output, "%zu,%.3f,%.9g,%.0f,", slot, slots_begin(slots, slot), slots->length, count);
    if (isfinite(slots->figure[slot]))
        fprintf(watch->output, "%.9g", slots->figure[slot]);
    fputc('\n', watch->output);
    if (fflush(watch->output) == EOF)
        return ss_paths_fail(watch->options->output, error);
    return check_loss(watch, slot, error);
}

static int make_words(struct watch *watch, struct ss_error *error) {
    const struct watch_options *options = watch->options;
    const char *const url[] = {"ssrequest", "--quiet", "--rate", watch->rate, "--duration",
        watch->duration, "--each", "/dev/stdout", options->victim, NULL};
    const char *const log[] = {"tail", "-n", "0", "-F", options->victim, NULL};
    size_t count = 0;

    if (watch->kind == WATCH_COMMAND) {
        watch->words = watch->given = ss_words_split(options->victim, &count, error);
        if (watch->given && count == 0)
            return ss_error_fail(error, "--victim: the command is empty");
        return watch->given ? 0 : -1;
    }
    snprintf(watch->rate, sizeof watch->rate, "%.9g", options->rate);
    snprintf(watch->duration, sizeof watch->duration, "%.0fs",
        ceil(fmax(slots_begin(&watch->slots, options->slots) - now(), 0)) + SPARE_SECONDS);
    if (watch->kind == WATCH_URL)
        memcpy(watch->own, url, sizeof url);
    else
        memcpy(watch->own, log, sizeof log);
    watch->words = (char *const *)watch->own;
    return 0;
}

static int restore_sigpipe(const void *unused) {
    (void)unused;
    signal(SIGPIPE, SIG_DFL);
    return 0;
}

/* Starts the command. The kernel kills it when this process dies. */
static int start_command(struct watch *watch, struct ss_error *error) {
    struct ss_child child;
    struct ss_child_failure failure;
    sigset_t none;
    int output[2];
    if (pipe2(output, O_CLOEXEC) < 0)
        return ss_error_fail(error, "cannot create a pipe: %s", strerror(errno));
    sigemptyset(&none);
    const struct ss_child_setup setup = {
        .words = watch->words,
        .streams = {-1, output[1], -1},
        .death_signal = SIGKILL,
        .mask = &none,
        .prepare = restore_sigpipe,
    };
    watch->started = ss_platform_now();
    watch->born = now();
    watch->lines = output[0];
    watch->used = 0;

    int result = ss_child_fork(&child, &setup);
    close(output[1]);
    if (result < 0)
        return ss_error_fail(error, "cannot start a process: %s", strerror(-result));
    if (ss_child_execute(&child, &failure) < 0)
        return ss_error_fail(error, "cannot execute '%s': %s%s",
            ss_words_show(watch->words[0]).text, strerror(failure.number),
            failure.number == EACCES ? "; a log requires --iteration" : "");
    watch->child = child.pid;
    return 0;
}

static int fail_without_figures(const struct watch *watch, struct ss_error *error) {
    if (watch->options->iteration)
        return ss_error_fail(error,
            "too few lines of the victim match --iteration: check it, or use a longer --slot");
    if (watch->has_figure)
        return ss_error_fail(
            error, "no slot has a line of the victim with a number: use a longer --slot");
    return ss_error_fail(error, "no line of the victim has a number: see --iteration");
}

/*
 * Fails early if the output of a command has no figure. A log may contain any number of other
 * lines.
 */
static int check_output(const struct watch *watch, struct ss_error *error) {
    /* Any number of lines may precede the first one that matches --iteration. */
    bool has_none = watch->launches >= LAUNCHES_WITHOUT ||
                    (!watch->options->iteration && watch->lines_read >= LINES_WITHOUT);
    if (watch->kind == WATCH_COMMAND && !watch->has_figure && has_none)
        return fail_without_figures(watch, error);
    return 0;
}

/*
 * Reaps the command, which has closed its output, if it has exited. Fails unless it is repeated and
 * has succeeded.
 */
static int reap_command(struct watch *watch, struct ss_error *error) {
    int status = 0;
    if (waitpid(watch->child, &status, WNOHANG) == 0)
        return 0;
    watch->child = 0;
    watch->launches++;
    if (watch->kind == WATCH_COMMAND && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    return ss_error_fail(error, "the command that measures the victim failed: %s ended with %d",
        ss_words_show(watch->words[0]).text, ss_child_exit_status(status));
}

/*
 * Counts a response time in the slot in which the request ended. A failed request has none: a
 * service that refuses requests responds quickly.
 */
static void take_request(struct watch *watch, const char *line) {
    double due, finished;
    char outcome[16];
    size_t slot;
    if (sscanf(line, "%*u,%*[^,],%lf,%*[^,],%lf,%15[^,]", &due, &finished, outcome) != 3)
        return;
    if (strcmp(outcome, "success") == 0)
        take_figure(watch, finished - due, watch->born + finished);
    else if (find_slot(watch, watch->born + finished, &slot))
        watch->failed[slot]++;
}

static void take_line(struct watch *watch, const char *line) {
    if (watch->kind == WATCH_URL)
        take_request(watch, line);
    else
        take_figure(watch, figure_of(watch, line), now());
}

static void take_bytes(struct watch *watch, const char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != '\n') {
            if (watch->used + 1 < sizeof watch->line)
                watch->line[watch->used++] = bytes[i];
            continue;
        }
        watch->line[watch->used] = '\0';
        watch->used = 0;
        watch->lines_read++;
        take_line(watch, watch->line);
    }
}

static int read_lines(struct watch *watch, struct ss_error *error) {
    char bytes[4096];
    ssize_t count = read(watch->lines, bytes, sizeof bytes);
    if (count > 0)
        take_bytes(watch, bytes, (size_t)count);
    if (count == 0) {
        close(watch->lines);
        watch->lines = -1;
    }
    return check_output(watch, error);
}

/* Waits until the child ends, at most this many seconds. Returns early without pidfds. */
static void await_end(pid_t child, double left) {
    SS_OWNED(close) int pidfd = ss_platform_process_open(child, ss_platform_process_started(child));
    int most = pidfd < 0 ? REAP_INTERVAL : 60000;
    poll(&(struct pollfd){.fd = pidfd, .events = POLLIN}, 1,
        (int)fmin(ceil(1000 * fmax(left, 0)), most));
}

/*
 * Waits for lines, at most until this time, and handles them. Restarts a command that is repeated.
 */
static int wait_until(struct watch *watch, double until, struct ss_error *error) {
    struct pollfd poller = {.fd = watch->lines, .events = POLLIN};
    bool repeats = watch->lines < 0;
    double left = until - now();
    if (repeats && watch->child > 0 &&
        (reap_command(watch, error) < 0 || check_output(watch, error) < 0))
        return -1;
    if (repeats && watch->child > 0) {
        await_end(watch->child, left);
        return 0;
    }
    if (repeats)
        left = fmin(
            left, ss_time_seconds(ss_time_since(watch->started + REPEAT_MIN, ss_platform_now())));
    if (left > 0)
        poll(&poller, repeats ? 0 : 1, (int)fmin(ceil(1000 * left), 60000));
    if (repeats && ss_platform_now() >= watch->started + REPEAT_MIN)
        return start_command(watch, error);
    return poller.revents ? read_lines(watch, error) : 0;
}

/* Fails if no slot has a figure, or most figures have no logarithm, of which effects consist. */
static int check_figures(const struct watch *watch, struct ss_error *error) {
    size_t known = 0, positive = 0;
    for (size_t slot = 0; slot < watch->slots.count; slot++) {
        known += isfinite(watch->slots.figure[slot]);
        positive += watch->slots.figure[slot] > 0;
    }
    if (known > 0 && 2 * positive >= known)
        return 0;
    if (known > 0)
        return ss_error_fail(error,
            "the figure of the victim is 0 or negative in %zu of %zu slots, but must be above 0, "
            "because effects are ratios: see --iteration",
            known - positive, known);
    if (watch->kind == WATCH_URL)
        return ss_error_fail(error, "no request to the victim succeeded");
    return fail_without_figures(watch, error);
}

static int run(struct watch *watch, struct ss_error *error) {
    if (start_command(watch, error) < 0)
        return -1;
    while (watch->slot < watch->options->slots) {
        double late = watch->kind == WATCH_URL ? LATE_SECONDS : 0;
        if (wait_until(watch, slots_begin(&watch->slots, watch->slot + 1) + late, error) < 0)
            return -1;
        while (watch->slot < watch->options->slots &&
               now() >= slots_begin(&watch->slots, watch->slot + 1) + late) {
            if (end_slot(watch, error) < 0)
                return -1;
        }
    }
    return check_figures(watch, error);
}

static void end_command(pid_t child) {
    ss_time begin = ss_platform_now();
    kill(child, SIGTERM);
    while (waitpid(child, NULL, WNOHANG) == 0) {
        if (ss_time_since(ss_platform_now(), begin) > END_PATIENCE)
            kill(child, SIGKILL);
        poll(NULL, 0, REAP_INTERVAL);
    }
}

static void close_watch(struct watch *watch) {
    if (watch->child > 0)
        end_command(watch->child);
    if (watch->lines >= 0)
        close(watch->lines);
    if (watch->output)
        fclose(watch->output);
    if (watch->options->iteration)
        regfree(&watch->pattern);
    free(watch->given);
}

int watch_victim(const struct watch_options *options, struct ss_error *error) {
    static struct watch watch;
    watch = (struct watch){
        .options = options,
        .kind = watch_kind(options->victim, options->iteration),
        .lines = -1,
        .slots = {.count = options->slots,
            .begin = (double)options->start_at / 1e9,
            .length = ss_time_seconds(options->slot)},
    };
    if (options->iteration && regcomp(&watch.pattern, options->iteration, REG_EXTENDED) != 0)
        return ss_error_fail(error, "--iteration: '%s' is not an extended regular expression",
            ss_words_show(options->iteration).text);
    bool has_group = options->iteration && watch.pattern.re_nsub > 0;
    watch.counts = options->iteration && !has_group;
    watch.lower_is_better = options->lower || watch.kind == WATCH_URL || has_group;
    if (make_words(&watch, error) < 0)
        return -1;
    struct ss_error why = {0};
    watch.output = ss_walk_stream(options->output, O_TRUNC, &why);
    if (!watch.output)
        return ss_error_fail(error, "%s: %s", options->output, why.message);
    fputs("slot,begin_epoch_seconds,length_seconds,figures,figure\n", watch.output);
    int status = run(&watch, error);
    close_watch(&watch);
    return status;
}
