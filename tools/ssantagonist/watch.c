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

#include "base/grow.h"
#include "base/owned.h"
#include "base/paths.h"
#include "base/walk.h"
#include "base/words.h"
#include "loss.h"
#include "platform/child.h"
#include "platform/platform.h"
#include "slots.h"

/* Minimum time between starts of a command that ends at once. */
#define REPEAT_MIN (10 * SS_MILLISECOND)

/* How often to check whether the command has exited, in milliseconds. */
#define REAP_INTERVAL 1

/* How long the command may take to exit after SIGTERM, before SIGKILL. */
#define END_PATIENCE (2 * SS_SECOND)

/*
 * A slot of a URL is complete once a request that was due LATE_SECONDS after its end is answered:
 * some requests take longer than others, and ssrequest writes lines at the end of each second.
 * Without an answer, it is complete after LATE_MAX seconds.
 */
#define LATE_SECONDS 2
#define LATE_MAX     9

/* A command fails if this many launches print no figure, or this many lines contain no number. */
#define LAUNCHES_WITHOUT_FIGURE 3
#define LINES_WITHOUT_NUMBER    100

/* ssrequest runs this much longer than the last slot: an earlier exit would count as a failure. */
#define SPARE_SECONDS 10

#define LINE_ROOM 4096

/* The lines of the victim in a slot. */
struct row {
    double sum;         /* of its figures */
    double figures;     /* number of them */
    double first, last; /* times of the first and the last line */
    double failed;      /* number of requests that failed */
    double *values;     /* its figures, kept only for a quantile; owned */
    size_t count, room;
};

struct watch {
    const struct watch_options *options;
    char *const *words;  /* the command whose lines are read: one of the following two */
    char **victim_words; /* owned */
    const char *own_words[10];
    char rate[32], duration[32]; /* options of ssrequest */
    regex_t pattern;
    enum watch_kind kind; /* WATCH_URL: lines come from ssrequest --each */
    bool counts_lines;    /* the figure is the rate of lines rather than a number in them */
    bool lower_is_better; /* as given, or because figures are times */
    pid_t child;
    int lines;       /* the command's output; -1: closed */
    ss_time started; /* last start of the command */
    char line[LINE_ROOM];
    size_t used;
    bool has_figure; /* a line had a figure */
    size_t launches; /* launches of a repeated command that have ended */
    size_t lines_read;
    struct slots slots;
    size_t slot; /* the first slot not yet written */
    struct row *rows;
    struct loss losses[CODES_SUSPECTS_MAX];
    bool is_aside[CODES_SUSPECTS_MAX];  /* suspects that are not throttled any longer */
    size_t known_count, positive_count; /* number of slots with a figure, and with one above 0 */
    double command_begin;               /* wall clock at the start of the command */
    double due;                         /* when the latest request with an answer was due */
    bool is_over;                       /* no suspect is throttled any longer */
    bool is_out_of_memory;
    FILE *output, *aside;
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
    if (watch->counts_lines)
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

/* Sets the slot in which a figure of this time counts. Returns false if it counts in none. */
static bool find_slot(const struct watch *watch, double time, size_t *slot) {
    double place = (time - watch->slots.begin) / watch->slots.length;
    if (place < (double)watch->slot || place >= (double)watch->slots.count ||
        place - floor(place) < watch->slots.settle)
        return false;
    *slot = (size_t)place;
    return true;
}

static void take_figure(struct watch *watch, double figure, double time) {
    size_t slot;
    watch->has_figure |= isfinite(figure);
    if (!isfinite(figure) || !find_slot(watch, time, &slot))
        return;
    struct row *row = &watch->rows[slot];
    if (row->figures++ == 0)
        row->first = time;
    row->last = time;
    row->sum += figure;
    if (isnan(watch->options->quantile))
        return;
    if (SS_GROW(row->values, row->count + 1, row->room))
        row->values[row->count++] = figure;
    else
        watch->is_out_of_memory = true;
}

static int compare(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

/* Returns the figure of a slot; NaN if unknown. */
static double figure_of_slot(const struct watch *watch, size_t slot) {
    const struct row *row = &watch->rows[slot];
    if (watch->counts_lines)
        return slots_rate(&watch->slots, slot, row->figures, row->first, row->last);
    if (row->figures == 0)
        return NAN;
    if (isnan(watch->options->quantile))
        return row->sum / row->figures;
    qsort(row->values, row->count, sizeof *row->values, compare);
    return row->values[(size_t)ceil(fmax(watch->options->quantile * (double)row->count - 1, 0))];
}

static int fail_to_write(const struct watch *watch, const char *name, struct ss_error *error) {
    return ss_error_fail(
        error, "cannot write %s/%s: %s", watch->options->folder, name, strerror(errno));
}

/* Sets a suspect aside from this row on: ends its throttle, which then continues the suspect. */
static int set_aside(struct watch *watch, size_t suspect, size_t row, struct ss_error *error) {
    const struct suspects *throttles = &watch->options->throttles;
    watch->is_aside[suspect] = true;
    if (suspect < throttles->count)
        ss_platform_process_signal_by_pid(
            throttles->items[suspect].pid, throttles->items[suspect].started, SIGTERM);
    fprintf(stderr,
        "ssantagonist: s%zu is no longer throttled: the victim lost %.0f %% or more while it was "
        "stopped\n",
        suspect + 1, 100 * LOSS_MAX);
    fprintf(watch->aside, "s%zu,%zu\n", suspect + 1, row);
    if (fflush(watch->aside) == EOF)
        return fail_to_write(watch, "aside.csv", error);
    return 0;
}

/*
 * Adds a row to the losses of one suspect. Returns whether the victim has lost too much in its
 * blocks, of which this row is the last, so that the suspect must be set aside.
 */
static bool add_to_loss(struct watch *watch, size_t suspect, size_t slot, double figure) {
    const struct codes *codes = &watch->options->codes;
    struct loss *loss = &watch->losses[suspect];
    bool stopped[CODES_ROWS_MAX];

    codes_draw(codes, suspect, slot / codes->rows, stopped);
    if (stopped[slot % codes->rows])
        return loss_add_block(loss, figure, watch->options->loss_blocks);
    loss_add_row(loss, figure);
    return false;
}

/* Adds this row to all losses, and sets suspects aside that cost the victim too much. */
static int check_loss(struct watch *watch, size_t slot, double figure, struct ss_error *error) {
    const struct row *row = &watch->rows[slot];
    bool is_silent =
        row->failed > row->figures || (isnan(figure) && watch->slots.length >= SLOTS_SHORT_SECONDS);
    double value = watch->lower_is_better ? -log(figure) : log(figure);
    size_t suspects = watch->options->codes.suspects;

    if (is_silent)
        value = -INFINITY;
    if (suspects == 0 || (!is_silent && !isfinite(value)))
        return 0;

    watch->is_over = true;
    for (size_t i = 0; i < suspects; i++) {
        if (watch->is_aside[i])
            continue;
        if (add_to_loss(watch, i, slot, value) && set_aside(watch, i, slot, error) < 0)
            return -1;
        watch->is_over &= watch->is_aside[i];
    }
    return 0;
}

static int end_slot(struct watch *watch, struct ss_error *error) {
    size_t slot = watch->slot++;
    double figure = figure_of_slot(watch, slot);
    fprintf(watch->output, "%zu,%.3f,%.9g,%.0f,", slot, slots_begin(&watch->slots, slot),
        watch->slots.length, watch->rows[slot].figures);
    if (isfinite(figure))
        fprintf(watch->output, "%.9g", figure);
    fputc('\n', watch->output);
    free(watch->rows[slot].values);
    watch->rows[slot].values = NULL;
    watch->known_count += isfinite(figure);
    watch->positive_count += figure > 0;
    if (watch->is_out_of_memory)
        return ss_error_memory(error);
    if (fflush(watch->output) == EOF)
        return ss_error_fail(
            error, "cannot write %s/slots.csv: %s", watch->options->folder, strerror(errno));
    return check_loss(watch, slot, figure, error);
}

static int make_words(struct watch *watch, struct ss_error *error) {
    const struct watch_options *options = watch->options;
    const char *const url[] = {"ssrequest", "--quiet", "--rate", watch->rate, "--duration",
        watch->duration, "--each", "/dev/stdout", options->victim, NULL};
    const char *const log[] = {"tail", "-n", "0", "-F", options->victim, NULL};
    size_t count = 0;

    if (watch->kind == WATCH_COMMAND) {
        watch->words = watch->victim_words = ss_words_split(options->victim, &count, error);
        if (watch->victim_words && count == 0)
            return ss_error_fail(error, "--victim: the command is empty");
        return watch->victim_words ? 0 : -1;
    }
    snprintf(watch->rate, sizeof watch->rate, "%.9g", options->rate);
    snprintf(watch->duration, sizeof watch->duration, "%.0fs",
        ceil(fmax(slots_begin(&watch->slots, options->slots) - now(), 0)) + SPARE_SECONDS);
    if (watch->kind == WATCH_URL)
        memcpy(watch->own_words, url, sizeof url);
    else
        memcpy(watch->own_words, log, sizeof log);
    watch->words = (char *const *)watch->own_words;
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
    watch->command_begin = now();
    watch->lines = output[0];
    watch->used = 0;

    int result = ss_child_fork(&child, &setup);
    close(output[1]);
    if (result < 0)
        return ss_error_fail(error, "cannot start a process: %s", strerror(-result));
    if (ss_child_execute(&child, &failure) < 0)
        return ss_error_fail(error, "cannot execute '%s': %s%s",
            ss_words_show(watch->words[0]).text, strerror(failure.err),
            failure.err == EACCES ? "; a log requires --iteration" : "");
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
    bool has_none = watch->launches >= LAUNCHES_WITHOUT_FIGURE ||
                    (!watch->options->iteration && watch->lines_read >= LINES_WITHOUT_NUMBER);
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
    return ss_error_fail(error,
        "the command that measures the victim failed: %s ended with status %d",
        ss_words_show(watch->words[0]).text, ss_child_exit_status(status));
}

/*
 * Counts a response time in the slot in which the request was due. A failed request has none: a
 * service that refuses requests responds quickly.
 */
static void take_request(struct watch *watch, const char *line) {
    double due, finished;
    char outcome[16];
    size_t slot;
    if (sscanf(line, "%*u,%*[^,],%lf,%*[^,],%lf,%15[^,]", &due, &finished, outcome) != 3)
        return;
    watch->due = fmax(watch->due, watch->command_begin + due);
    if (strcmp(outcome, "success") == 0)
        take_figure(watch, finished - due, watch->command_begin + due);
    else if (find_slot(watch, watch->command_begin + due, &slot))
        watch->rows[slot].failed++;
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

/* Fails if no slot has a figure, or most figures are not above 0: effects are ratios of figures. */
static int check_figures(const struct watch *watch, struct ss_error *error) {
    if (watch->is_over ||
        (watch->known_count > 0 && 2 * watch->positive_count >= watch->known_count))
        return 0;
    if (watch->known_count > 0)
        return ss_error_fail(error,
            "the figure of the victim is 0 or negative in %zu of %zu slots, but must be above 0, "
            "because effects are ratios: see --iteration",
            watch->known_count - watch->positive_count, watch->known_count);
    if (watch->kind == WATCH_URL)
        return ss_error_fail(error, "no request to the victim succeeded");
    return fail_without_figures(watch, error);
}

static bool is_complete(const struct watch *watch) {
    double end = slots_begin(&watch->slots, watch->slot + 1);
    if (watch->kind != WATCH_URL)
        return now() >= end;
    return watch->due >= end + LATE_SECONDS || now() >= end + LATE_MAX;
}

static int run(struct watch *watch, struct ss_error *error) {
    if (start_command(watch, error) < 0)
        return -1;
    while (watch->slot < watch->options->slots && !watch->is_over) {
        double late = watch->kind == WATCH_URL ? LATE_MAX : 0;
        if (wait_until(watch, slots_begin(&watch->slots, watch->slot + 1) + late, error) < 0)
            return -1;
        while (watch->slot < watch->options->slots && !watch->is_over && is_complete(watch)) {
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
    if (watch->aside)
        fclose(watch->aside);
    if (watch->options->iteration)
        regfree(&watch->pattern);
    for (size_t i = 0; watch->rows && i < watch->slots.count; i++)
        free(watch->rows[i].values);
    free(watch->rows);
    free(watch->victim_words);
}

static FILE *create(const struct watch *watch, const char *name, struct ss_error *error) {
    SS_OWNED(free) char *path = ss_words_format(error, "%s/%s", watch->options->folder, name);
    struct ss_error why = {0};
    FILE *file = path ? ss_walk_state_stream(path, &why) : NULL; /* `plan` trusts it */
    if (path && !file)
        ss_error_fail(error, "cannot write %s: %s", path, why.message);
    return file;
}

static int open_rows(struct watch *watch, struct ss_error *error) {
    watch->rows = calloc(watch->slots.count, sizeof *watch->rows);
    if (!watch->rows)
        return ss_error_memory(error);
    watch->output = create(watch, "slots.csv", error);
    if (!watch->output)
        return -1;
    fputs("slot,begin_epoch_seconds,length_seconds,figures,figure\n", watch->output);
    if (watch->options->codes.suspects == 0)
        return 0;
    watch->aside = create(watch, "aside.csv", error);
    if (!watch->aside)
        return -1;
    fputs("suspect,row\n", watch->aside);
    return 0;
}

int watch_victim(const struct watch_options *options, struct ss_error *error) {
    static struct watch watch;
    watch = (struct watch){
        .options = options,
        .kind = watch_kind(options->victim, options->iteration),
        .lines = -1,
        .slots = {.count = options->slots,
            .begin = (double)options->start_at / 1e9,
            .length = ss_time_seconds(options->slot),
            .settle = options->settle},
    };
    if (options->iteration && regcomp(&watch.pattern, options->iteration, REG_EXTENDED) != 0)
        return ss_error_fail(error, "--iteration: '%s' is not an extended regular expression",
            ss_words_show(options->iteration).text);
    bool has_group = options->iteration && watch.pattern.re_nsub > 0;
    watch.counts_lines = options->iteration && !has_group;
    watch.lower_is_better = options->lower_is_better || watch.kind == WATCH_URL || has_group;
    int status = make_words(&watch, error);
    if (status == 0)
        status = open_rows(&watch, error);
    if (status == 0)
        status = run(&watch, error);
    close_watch(&watch);
    return status;
}
