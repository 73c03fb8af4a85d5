/* SPDX-License-Identifier: Apache-2.0 */
#include "stage.h"

#include <fcntl.h>
#include <regex.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/input_file.h"
#include "base/owned.h"
#include "base/streams.h"
#include "base/units.h"
#include "base/walk.h"
#include "base/words.h"
#include "placeholders.h"

#define PATH_ROOM 4400

/* Polling interval while a `beside` is not ready. */
#define READY_INTERVAL (10 * SS_MILLISECOND)

/* How long after the failure of a command a signal still counts as its cause. */
#define SIGNAL_PATIENCE (200 * SS_MILLISECOND)

/* Time that ended commands may take to disappear after their grace period. */
#define END_PATIENCE (30 * SS_SECOND)

/* The last line of standard error is searched for in this many bytes at its end. */
#define ERRORS_MAX 4096

static void name_files(struct ssbatch_act *act, size_t index) {
    if (act->line->role)
        snprintf(act->base, sizeof act->base, "%s", act->line->role);
    else if (act->line->kind == SSBATCH_MAIN)
        snprintf(act->base, sizeof act->base, "record");
    else /* a role has no dot, so this name cannot clash with one */
        snprintf(
            act->base, sizeof act->base, "%s.%zu", ssbatch_kind_name(act->line->kind), index + 1);
}

int ssbatch_stage_open(struct ssbatch_stage *stage, struct ss_error *error) {
    size_t count = stage->lines->count;
    stage->moment = stage->signal = 0;
    stage->why = stage->undo_error = (struct ss_error){0};
    stage->acts = calloc(count + 1, sizeof *stage->acts);
    if (!stage->acts)
        return ss_error_memory(error);

    for (size_t i = 0; i < count; i++) {
        struct ssbatch_act *act = &stage->acts[i];
        act->line = &stage->lines->items[i];
        act->number = act->output = act->error_output = -1;
        name_files(act, i);
    }

    for (size_t i = 0; i < count; i++) {
        struct ssbatch_act *act = &stage->acts[i];
        if (act->line->kind == SSBATCH_AFTER && ssbatch_act_replace(stage, act, true, error) < 0)
            return ss_error_wrap(error, "line %u", act->line->number);
    }
    return 0;
}

void ssbatch_stage_print_journal(const struct ssbatch_stage *stage, FILE *stream) {
    for (size_t i = 0; i < stage->lines->count; i++) {
        const struct ssbatch_line *line = &stage->lines->items[i];
        if (line->kind != SSBATCH_AFTER)
            continue;

        if (line->has_ok) {
            fputs("statuses ", stream);
            ssbatch_line_print_statuses(line, stream);
            fputc('\n', stream);
        }

        fputs("after", stream);
        ssbatch_print_words(stream, stage->acts[i].words);
        fputc('\n', stream);
    }
}

void ssbatch_stage_free(struct ssbatch_stage *stage) {
    for (size_t i = 0; stage->acts && i < stage->lines->count; i++) {
        for (char **word = stage->acts[i].words; word && *word; word++)
            free(*word);
        free(stage->acts[i].words);
        free(stage->acts[i].found);
        ss_owned_close(&stage->acts[i].output);
        ss_owned_close(&stage->acts[i].error_output);
    }
    free(stage->acts);
    stage->acts = NULL;
}

static void put_output_path(char path[PATH_ROOM], const struct ssbatch_stage *stage,
    const struct ssbatch_act *act, const char *suffix) {
    snprintf(path, PATH_ROOM, "%s/%s.%s", stage->out, act->base, suffix);
}

void ssbatch_stage_remove_empty_output(const struct ssbatch_stage *stage) {
    static const char *const suffixes[] = {"stdout", "stderr"};
    struct ss_walk walk;
    char path[PATH_ROOM];

    for (size_t i = 0; stage->acts && i < stage->lines->count; i++) {
        for (int j = 0; j < 2; j++) {
            put_output_path(path, stage, &stage->acts[i], suffixes[j]);
            if (ss_walk_begin(&walk, path) == 0 && walk.exists && S_ISREG(walk.status.st_mode) &&
                walk.status.st_size == 0)
                unlinkat(walk.folder, walk.name, 0);
            ss_walk_end(&walk);
        }
    }
}

static const char *act_name(const struct ssbatch_act *act) {
    return act->line->role ? act->line->role : ssbatch_kind_name(act->line->kind);
}

static void update(const struct ssbatch_spawner *spawner, struct ssbatch_act *act) {
    if (act->number < 0)
        return;
    struct ssbatch_state state = spawner->get_state(spawner->context, act->number);
    if (state.life == SSBATCH_RUNS)
        return;

    act->ended = true;
    act->status = state.status;
    act->ended_by = state.signal;
    if (state.life != SSBATCH_GONE)
        return;

    act->cpu_time = state.cpu_time;
    spawner->forget(spawner->context, act->number);
    act->number = -1;
}

static void update_all(struct ssbatch_stage *stage) {
    for (size_t i = 0; i < stage->lines->count; i++)
        update(stage->spawner, &stage->acts[i]);
    if (stage->outer)
        update_all(stage->outer);
}

/* Opens a file that only we may write to: patterns take values for later commands from it. */
static int open_output(const struct ssbatch_stage *stage, const struct ssbatch_act *act,
    const char *suffix, struct ss_error *error) {
    char path[PATH_ROOM];
    put_output_path(path, stage, act, suffix);
    struct ss_error why = {0};
    int file = ss_walk_open_state(path, O_RDWR | O_TRUNC | O_APPEND, &why);
    if (file < 0)
        ss_error_fail(error, "cannot write %s: %s", path, why.message);
    return file;
}

static int start(struct ssbatch_stage *stage, struct ssbatch_act *act) {
    struct ss_error *why = &stage->why;
    SS_OWNED(close) int output = open_output(stage, act, "stdout", why);
    SS_OWNED(close) int error_output = open_output(stage, act, "stderr", why);
    if (output < 0 || error_output < 0 ||
        (!act->words && ssbatch_act_replace(stage, act, false, why) < 0))
        return ss_error_wrap(why, "%s", act_name(act));

    const struct ssbatch_command command = {
        .words = act->words,
        .output = output,
        .error_output = error_output,
        .folder = stage->folder,
        .scratch = stage->scratch,
    };

    act->number = stage->spawner->start(stage->spawner->context, &command, why);
    if (act->number < 0)
        return ss_error_wrap(why, "%s", act_name(act));

    act->started = true;
    act->error_output = ss_owned_take(&error_output);
    if (act->line->regex)
        act->output = ss_owned_take(&output);
    act->pid = stage->spawner->get_state(stage->spawner->context, act->number).pid;
    return 0;
}

/* Reopens an output by its descriptor: its name may refer to another file by now. */
static FILE *reopen(int output) {
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", output);
    return ss_input_stream(AT_FDCWD, path, INT64_MAX, NULL);
}

/* Reads the beginning of the last non-empty line that a command wrote to standard error. */
static void read_last_error(const struct ssbatch_act *act, char text[200]) {
    char *line = NULL;
    size_t room = 0;
    text[0] = '\0';
    SS_OWNED(fclose) FILE *file = reopen(act->error_output);
    if (file && fseek(file, -ERRORS_MAX, SEEK_END) < 0)
        rewind(file); /* the file is shorter than that */
    while (file && getline(&line, &room, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0])
            snprintf(text, 200, "%s", line);
    }
    free(line);
}

static int fail_status(struct ssbatch_stage *stage, const struct ssbatch_act *act) {
    char said[200];
    bool is_early = act->line->kind == SSBATCH_BESIDE && !act->end_requested;
    read_last_error(act, said);
    return ss_error_fail(&stage->why, "%s %s %d%s%s%s", act_name(act),
        act->ended_by ? "was ended by signal" : "ended with status",
        act->ended_by ? act->ended_by : act->status, is_early ? " before the run did" : "",
        said[0] ? ": " : "", said);
}

static bool is_ok(const struct ssbatch_act *act) {
    return ssbatch_line_accepts(act->line, act->status);
}

/* Fails the run if a `beside` exited by itself with an unexpected status. */
static int check_besides(struct ssbatch_stage *stage, struct ssbatch_stage *of) {
    for (size_t i = 0; i < of->lines->count; i++) {
        struct ssbatch_act *act = &of->acts[i];
        if (act->line->kind == SSBATCH_BESIDE && act->ended && !act->end_requested && !is_ok(act)) {
            fail_status(of, act);
            return ss_error_fail(&stage->why, "%s", of->why.message);
        }
    }
    return of->outer ? check_besides(stage, of->outer) : 0;
}

/* Returns whether a command ended with an unexpected status before we asked it to end. */
static bool has_failed(const struct ssbatch_stage *stage) {
    for (size_t i = 0; i < stage->lines->count; i++) {
        const struct ssbatch_act *act = &stage->acts[i];
        if (act->ended && !act->end_requested && !act->judged && !is_ok(act))
            return true;
    }
    return stage->outer && has_failed(stage->outer);
}

/*
 * If all processes of a job get a signal, as from Slurm before it requeues the job, a command may
 * end before we get ours. That is an interruption of the run, not a failure.
 */
static int await_signal(const struct ssbatch_stage *stage) {
    struct ssbatch_spawner *spawner = stage->spawner;
    ss_time deadline = spawner->now(spawner->context) + SIGNAL_PATIENCE;
    int signal = 0;
    while (signal == 0 && spawner->now(spawner->context) < deadline)
        signal = spawner->wait(spawner->context, deadline);
    return signal;
}

/* Waits for an event, at most until `wake`. Returns -1 if the run has failed. */
static int await_event(struct ssbatch_stage *stage, ss_time wake) {
    struct ssbatch_spawner *spawner = stage->spawner;
    char limit[SS_UNITS_TEXT_SIZE];
    ss_time end = stage->limit ? stage->begun + stage->limit : SS_TIME_NEVER;

    stage->signal = spawner->wait(spawner->context, wake < end ? wake : end);
    update_all(stage);
    bool late = spawner->now(spawner->context) >= end;
    if (!stage->signal && has_failed(stage))
        stage->signal = await_signal(stage);

    if (stage->signal)
        return ss_error_fail(&stage->why, "interrupted by signal %d", stage->signal);
    if (late) {
        ss_units_show_time(limit, stage->limit);
        return ss_error_fail(&stage->why, "did not finish within its limit of %s", limit);
    }
    return check_besides(stage, stage);
}

/*
 * Returns whether a line of the output matches the pattern; if so, keeps its group 1. Searches only
 * lines that were not searched before: a `beside` may print many before it is ready.
 */
static bool find_match(struct ssbatch_act *act) {
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    bool found = false;
    regmatch_t groups[2];

    SS_OWNED(fclose) FILE *file = reopen(act->output);
    if (file && fseeko(file, act->searched, SEEK_SET) < 0)
        return false;

    while (file && !found && (length = getline(&line, &room, file)) > 0) {
        if (line[length - 1] != '\n' && !act->ended)
            break; /* the rest of the line has not been written yet */
        act->searched += length;
        line[strcspn(line, "\n")] = '\0';
        found = regexec(act->line->regex, line, 2, groups, 0) == 0;
        if (found && groups[1].rm_so >= 0)
            act->found =
                strndup(line + groups[1].rm_so, (size_t)(groups[1].rm_eo - groups[1].rm_so));
    }

    free(line);
    return found;
}

static int await_ready(struct ssbatch_stage *stage, struct ssbatch_act *act) {
    struct ssbatch_spawner *spawner = stage->spawner;
    SS_OWNED(free) char *file = NULL;
    if (act->line->ready_file) {
        file = ssbatch_act_replace_text(stage, act, act->line->ready_file, &stage->why);
        if (!file)
            return -1;
    }

    while (file ? access(file, F_OK) < 0 : act->line->regex && !find_match(act)) {
        if (act->ended && !is_ok(act))
            return fail_status(stage, act);
        if (act->ended)
            return ss_error_fail(&stage->why, "%s ended before it was ready", act_name(act));
        if (await_event(stage, spawner->now(spawner->context) + READY_INTERVAL) < 0)
            return -1;
    }
    return 0;
}

/* Fails the run if a command that has ended printed no line that matches its pattern. */
static int check_output(struct ssbatch_stage *stage, struct ssbatch_act *act) {
    if (!act->line->regex || find_match(act))
        return 0;
    return ss_error_fail(&stage->why, "%s: no line of the output of '%s' matched '%s'",
        act_name(act), ss_words_show(act->words[0]).text, ss_words_show(act->line->pattern).text);
}

static int run_before(struct ssbatch_stage *stage, struct ssbatch_act *act) {
    if (start(stage, act) < 0)
        return -1;
    while (!act->ended) {
        if (await_event(stage, SS_TIME_NEVER) < 0)
            return -1;
    }
    return is_ok(act) ? check_output(stage, act) : fail_status(stage, act);
}

static int run_once(struct ssbatch_stage *stage, struct ssbatch_act *act) {
    if (ssbatch_values_get(stage->values, act->line->role))
        return 0;
    if (run_before(stage, act) < 0)
        return -1;
    if (!act->found)
        return ss_error_fail(&stage->why, "%s: the group of '%s' matched nothing", act_name(act),
            ss_words_show(act->line->pattern).text);
    return ssbatch_values_set(stage->values, act->line->role, act->found, &stage->why);
}

/* Fails if a `main` has ended without a result. */
static int check_main(struct ssbatch_stage *stage, struct ssbatch_act *act) {
    if (!act->ended || act->judged)
        return 0;
    if (!is_ok(act))
        return fail_status(stage, act);
    act->judged = true;
    if (check_output(stage, act) < 0)
        return -1;
    return stage->judge ? stage->judge(stage, act, &stage->why) : 0;
}

/*
 * Starts the `main`s from `first` up to, not including, `end`, and waits for all of them. The
 * first failure ends the run.
 */
static int run_mains(struct ssbatch_stage *stage, size_t first, size_t end) {
    struct ssbatch_spawner *spawner = stage->spawner;
    if (stage->moment == 0)
        stage->moment = spawner->wallclock(spawner->context);

    for (size_t i = first; i < end; i++) {
        if (start(stage, &stage->acts[i]) < 0)
            return -1;
    }

    for (bool all = false; !all;) {
        all = true;
        for (size_t i = first; i < end; i++) {
            if (check_main(stage, &stage->acts[i]) < 0)
                return -1;
            all &= stage->acts[i].ended;
        }
        if (!all && await_event(stage, SS_TIME_NEVER) < 0)
            return -1;
    }
    return 0;
}

int ssbatch_stage_run(struct ssbatch_stage *stage) {
    stage->begun = stage->spawner->now(stage->spawner->context);
    for (size_t i = 0, next; i < stage->lines->count; i = next) {
        struct ssbatch_act *act = &stage->acts[i];
        enum ssbatch_kind kind = act->line->kind;
        int status = 0;
        next = i + 1;
        while (kind == SSBATCH_MAIN && next < stage->lines->count &&
               stage->lines->items[next].kind == SSBATCH_MAIN)
            next++;

        if (kind == SSBATCH_ONCE)
            status = run_once(stage, act);
        else if (kind == SSBATCH_BEFORE)
            status = run_before(stage, act);
        else if (kind == SSBATCH_BESIDE)
            status = start(stage, act) < 0 ? -1 : await_ready(stage, act);
        else if (kind == SSBATCH_MAIN)
            status = run_mains(stage, i, next);
        if (status < 0)
            return -1;
    }
    return 0;
}

/* Waits until nothing is left of an act that is being ended, or fails the run after a deadline. */
static void await_gone(struct ssbatch_stage *stage, struct ssbatch_act *act) {
    struct ssbatch_spawner *spawner = stage->spawner;
    ss_time deadline = spawner->now(spawner->context) + SSBATCH_GRACE + END_PATIENCE;
    while (act->number >= 0 && spawner->now(spawner->context) < deadline) {
        spawner->wait(spawner->context, deadline);
        update_all(stage);
    }
    if (act->number >= 0)
        ss_error_fail(&stage->why, "%s is still running after SIGKILL", act_name(act));
}

static void request_end(struct ssbatch_stage *stage, struct ssbatch_act *act) {
    act->end_requested |= !act->ended;
    stage->spawner->end(stage->spawner->context, act->number, SSBATCH_GRACE);
}

/* Ends the commands of this kind together; SSBATCH_KINDS: those of all kinds. */
static void end_kind(struct ssbatch_stage *stage, enum ssbatch_kind kind) {
    for (size_t i = 0; i < stage->lines->count; i++) {
        struct ssbatch_act *act = &stage->acts[i];
        if ((kind == SSBATCH_KINDS || act->line->kind == kind) && act->number >= 0)
            request_end(stage, act);
    }
    for (size_t i = 0; i < stage->lines->count; i++) {
        if (kind == SSBATCH_KINDS || stage->acts[i].line->kind == kind)
            await_gone(stage, &stage->acts[i]);
    }
}

static void end_besides(struct ssbatch_stage *stage) {
    for (size_t i = stage->lines->count; i-- > 0;) {
        struct ssbatch_act *act = &stage->acts[i];
        if (act->number < 0 || act->ended)
            continue;
        request_end(stage, act);
        await_gone(stage, act);
        if (act->end_requested && act->line->has_ok && !is_ok(act))
            fail_status(stage, act);
    }
}

static void run_after(struct ssbatch_stage *stage, struct ssbatch_act *act) {
    struct ssbatch_spawner *spawner = stage->spawner;
    struct ss_error why = stage->why;
    stage->why = (struct ss_error){0};

    if (start(stage, act) == 0) {
        ss_time limit = spawner->now(spawner->context) + SSBATCH_AFTER_LIMIT;
        while (!act->ended && spawner->now(spawner->context) < limit) {
            spawner->wait(spawner->context, limit);
            update_all(stage);
        }
        if (!act->ended)
            ss_error_fail(&stage->why, "%s did not end within %.0f s", act_name(act),
                ss_time_seconds(SSBATCH_AFTER_LIMIT));
        else if (!is_ok(act))
            fail_status(stage, act);
        else
            check_output(stage, act);
    }

    if (!stage->undo_error.status)
        stage->undo_error = stage->why;
    if (why.status)
        stage->why = why; /* keep the first reason */
}

void ssbatch_stage_end(struct ssbatch_stage *stage) {
    update_all(stage);
    end_kind(stage, SSBATCH_MAIN); /* some are still running if the run failed */
    end_besides(stage);
    stage->spawner->end_orphans(stage->spawner->context);

    for (size_t i = 0; i < stage->lines->count; i++) {
        if (stage->lines->items[i].kind == SSBATCH_AFTER)
            run_after(stage, &stage->acts[i]);
    }

    end_kind(stage, SSBATCH_KINDS); /* daemons, which the `after`s may have needed */
    stage->spawner->end_orphans(stage->spawner->context);
}

ss_time ssbatch_stage_cpu_time(const struct ssbatch_stage *stage) {
    const struct ssbatch_spawner *spawner = stage->spawner;
    ss_time sum = 0;
    for (size_t i = 0; i < stage->lines->count; i++) {
        const struct ssbatch_act *act = &stage->acts[i];
        sum += act->number < 0 ? act->cpu_time : spawner->cpu_time(spawner->context, act->number);
    }
    return sum;
}

int ssbatch_run_after(struct ssbatch_spawner *spawner, const struct ssbatch_command *command,
    const char *ok, struct ss_error *error) {
    char status[16];
    int number = spawner->start(spawner->context, command, error);
    if (number < 0)
        return -1;

    ss_time limit = spawner->now(spawner->context) + SSBATCH_AFTER_LIMIT;
    struct ssbatch_state state = spawner->get_state(spawner->context, number);
    bool late = false;
    for (; state.life != SSBATCH_GONE; state = spawner->get_state(spawner->context, number)) {
        if (!late && (state.life == SSBATCH_ENDED || spawner->now(spawner->context) >= limit)) {
            late = true;
            spawner->end(spawner->context, number, SS_SECOND);
        }
        spawner->wait(spawner->context, late ? SS_TIME_NEVER : limit);
    }

    spawner->forget(spawner->context, number);
    snprintf(status, sizeof status, "%d", state.status);
    if (ss_words_has(ok, ',', status))
        return 0;
    return ss_error_fail(
        error, "'%s' ended with status %d", ss_words_show(command->words[0]).text, state.status);
}
