/* SPDX-License-Identifier: Apache-2.0 */
#include "batch_options.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/paths.h"
#include "base/walk.h"
#include "batch_crew.h"
#include "carry_run.h"
#include "merge.h"
#include "order.h"
#include "placeholders.h"
#include "progress.h"
#include "quiet.h"

/* The state of a run in this call. */
enum run_state { RUN_PENDING, RUN_DONE, RUN_SKIPPED, RUN_FAILED, RUN_ELSEWHERE };

struct batch {
    const struct ssbatch_options *options;
    struct ssbatch_session session;
    const struct ssbatch_run **runs;
    enum run_state *states;
    size_t count;
    size_t refused; /* runs of the plan that are done with other columns or commands */

    struct ssbatch_crew crew;
    char scratch[SSBATCH_PATH_SIZE]; /* folder for temporary files of the study's lines */
    struct ssbatch_stage outer;
    bool has_outer;
    struct ssbatch_progress progress;
    struct ssbatch_joblog joblog;

    size_t pending; /* runs to carry out or to note as skipped, when the call began */
    size_t failed, elsewhere;
    size_t disturbed; /* runs in which other processes used more than --others */
    int signal;
    bool stop; /* stop after a failure */
};

SS_FORMAT(3, 4)
static void say(struct batch *batch, const char *name, const char *format, ...) {
    va_list arguments;
    ssbatch_progress_clear(&batch->progress);
    fprintf(stderr, "ssbatch: %s: ", name);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

static void say_refused(struct batch *batch, const char *name, const char *why) {
    say(batch, name,
        "refused: already done, but %s; use ssbatch --redo %s to repeat it, or another folder", why,
        name);
}

/* Says why files of a finished attempt remain. */
static void warn_not_removed(struct batch *batch, const char *name, const char *why) {
    say(batch, name, "warning: cannot remove its temporary files: %s", why);
}

/* Reports an `after` that failed; its journal stays. */
static void warn_not_undone(struct batch *batch, const char *name, const char *why) {
    say(batch, name, "warning: cannot undo it: %s; the next call, or ssbatch --clean, tries again",
        why);
}

struct after_context {
    struct ssbatch_spawner *spawner;
    const struct ssbatch_study *study;
    bool is_keeper; /* this is the keeper of the call: its own current folder needs no check */
};

/* Carries out an `after` of a journal. Its output is appended to .study/undone.log. */
static int run_after(
    void *context, char *const *words, const char *folder, const char *ok, struct ss_error *error) {
    char start[40];
    struct ss_error why = {0};
    const struct after_context *after = context;

    SS_OWNED(close) int entered = ss_walk_folder_path(folder, O_PATH, &why);
    if (entered < 0)
        return ss_error_fail(error, "%s: %s", folder, why.message);
    if (!after->is_keeper &&
        ss_state_check_start(entered, words, &after->study->trust, folder, error) < 0)
        return -1;

    snprintf(start, sizeof start, "/proc/self/fd/%d", entered);
    const struct ssbatch_path path = ssbatch_study_path(after->study, ".study/undone.log");
    SS_OWNED(close)
    int log = ss_state_file(after->study->state, "undone.log", O_WRONLY | O_CREAT | O_APPEND,
        &after->study->trust, path.text, error);
    if (log < 0)
        return -1;

    const struct ssbatch_command command = {words, log, log, start, NULL};
    return ssbatch_run_after(after->spawner, &command, ok, error);
}

static struct ssbatch_undoer make_undoer(struct after_context *context) {
    return (struct ssbatch_undoer){
        .context = context,
        .after = run_after,
        .end_marked = ssbatch_crew_end_marked,
        .lives = ss_platform_process_is_alive,
    };
}

/* Undoes this call, in its keeper. An `after` that fails stays in the journal for the next call. */
static void undo_in_keeper(void *context, struct ssbatch_spawner *spawner) {
    struct batch *batch = context;
    struct after_context after = {spawner, &batch->session.study, true};
    struct ssbatch_undoer undoer = make_undoer(&after);
    ssbatch_call_undo(&batch->session.study, batch->session.call.mark, &undoer, NULL);
}

/* Reads the plan of the study, and allocates `runs` and `states` for all of its runs. */
static int read_kept(struct batch *batch, struct ss_error *error) {
    if (ssbatch_kept_plan_read(&batch->session.plan, &batch->session.study, error) < 0)
        return -1;
    batch->runs = calloc(batch->session.plan.run_count + 1, sizeof *batch->runs);
    batch->states = calloc(batch->session.plan.run_count + 1, sizeof *batch->states);
    return batch->runs && batch->states ? 0 : ss_error_memory(error);
}

/* Drops the runs that ssbatch_merge() has refused, and reports them. */
static void drop_refused(struct batch *batch, const struct ssbatch_plan *given) {
    size_t count = 0;
    for (size_t i = 0; i < batch->count; i++) {
        const struct ssbatch_run *run = batch->runs[i];
        if (!ssbatch_plan_find(given, run->name)->refused) {
            batch->runs[count++] = run;
            continue;
        }
        say_refused(batch, run->name, "its columns or commands differ in this plan");
        batch->refused++;
    }
    batch->count = count;
}

static void say_waiting(const char *lock, const char *holder) {
    fprintf(stderr, "ssbatch: waiting for %s, which has locked %s\n", holder, lock);
}

static struct batch *make_batch(const struct ssbatch_options *options, struct ss_error *error) {
    struct batch *batch = calloc(1, sizeof *batch);
    if (!batch) {
        ss_error_memory(error);
        return NULL;
    }

    batch->options = options;
    batch->session.study.state = -1; /* it may be closed without having been opened */
    return batch;
}

static int open_study(struct batch *batch, enum ssbatch_study_mode mode, struct ss_error *error) {
    const struct ssbatch_options *options = batch->options;
    struct ssbatch_study *study = &batch->session.study;
    int status = ssbatch_study_open(study, options->study, mode, options->trust_owner, error);
    study->report_wait = say_waiting;
    return status;
}

/* Checks the plan before the folder of the study is created. */
static int check_given(
    struct batch *batch, const struct ssbatch_plan *given, struct ss_error *error) {
    struct ssbatch_study *study = &batch->session.study;
    struct ss_error absent = {0};

    if (open_study(batch, SSBATCH_STUDY_CARRY_OUT, &absent) == -1)
        return ss_error_fail(error, "%s", absent.message);
    if (ssbatch_check_runs(study, given, NULL, batch->options->redo, error) < 0)
        return -1;

    ssbatch_study_close(study);
    return 0;
}

static int merge_locked(struct batch *batch, struct ssbatch_plan *given, struct ss_error *error) {
    SS_OWNED(close) int lock = ssbatch_study_lock(&batch->session.study, error);
    if (lock < 0)
        return -1;
    return ssbatch_merge(&batch->session.study, given, batch->options->redo, error);
}

/* Adds the plan to the study, and chooses its runs. */
static int add_given(struct batch *batch, struct ssbatch_plan *given, struct ss_error *error) {
    if (check_given(batch, given, error) < 0 ||
        open_study(batch, SSBATCH_STUDY_CREATE, error) < 0 ||
        merge_locked(batch, given, error) < 0 || read_kept(batch, error) < 0)
        return -1;
    if (ssbatch_choose_runs(
            batch->options, &batch->session.plan, given, batch->runs, &batch->count, error) < 0)
        return -1;

    /* Drop these runs only now: --shuffle must give the order that --dry-run shows. */
    drop_refused(batch, given);
    return 0;
}

static int read_given(struct batch *batch, struct ss_error *error) {
    struct ssbatch_plan given;
    int status = ssbatch_given_plan_read(&given, batch->options->plan, error);
    if (status == 0 && given.doubt[0] && !batch->options->quiet)
        fprintf(stderr, "ssbatch: warning: %s\n", given.doubt);
    if (status == 0)
        status = add_given(batch, &given, error);
    ssbatch_plan_free(&given);
    return status;
}

/*
 * Opens the study and reads its plan. Syncs the folder, because the call that wrote the plan may
 * have been killed before it did.
 */
static int open_kept(struct batch *batch, struct ss_error *error) {
    struct ssbatch_study *study = &batch->session.study;
    if (open_study(batch, SSBATCH_STUDY_CARRY_OUT, error) < 0)
        return -1;
    if (fsync(study->state) < 0)
        return ss_paths_fail(ssbatch_study_path(study, ".study").text, error);
    return read_kept(batch, error);
}

static int choose_runs(struct batch *batch, struct ss_error *error) {
    const struct ssbatch_options *options = batch->options;

    if (!options->only) {
        if (read_given(batch, error) < 0)
            return -1;
    } else if (open_kept(batch, error) < 0 ||
               ssbatch_choose_runs(options, &batch->session.plan, &batch->session.plan, batch->runs,
                   &batch->count, error) < 0 ||
               ssbatch_check_runs(&batch->session.study, &batch->session.plan, options->only,
                   options->redo, error) < 0) {
        return -1;
    }

    batch->failed = batch->refused;
    return 0;
}

/*
 * Returns 1 if the run must not be carried out, 0 if it must, -1 with the error set. Reports a run
 * that is refused.
 */
static int has_result(struct batch *batch, const struct ssbatch_run *run, enum run_state *state,
    struct ss_error *error) {
    struct ss_error why = {0};
    if (ssbatch_study_recover(&batch->session.study, run->name, error) < 0)
        return -1;

    int fate = ssbatch_decide(&batch->session.study, &batch->session.plan, run,
        batch->options->redo, &batch->session.programs, &why, error);
    if (fate < 0 || fate == SSBATCH_CARRY_OUT)
        return fate < 0 ? -1 : 0;

    *state = run->reason ? RUN_SKIPPED : RUN_DONE;
    if (fate == SSBATCH_REFUSE) {
        say_refused(batch, run->name, why.message);
        *state = RUN_FAILED;
    }
    return 1;
}

static int find_pending(struct batch *batch, struct ss_error *error) {
    for (size_t i = 0; i < batch->count; i++) {
        const struct ssbatch_run *run = batch->runs[i];
        int known = has_result(batch, run, &batch->states[i], error);
        if (known < 0)
            return -1;

        int tidied = known ? ssbatch_study_tidy(&batch->session.study, run->name, error) : 0;
        if (tidied == SSBATCH_NOT_REMOVED) {
            warn_not_removed(batch, run->name, error->message);
            *error = (struct ss_error){0};
        } else if (tidied < 0) {
            return -1;
        }
        if (known && batch->states[i] == RUN_FAILED)
            batch->failed++;
        if (known)
            continue;

        batch->states[i] = RUN_PENDING;
        batch->pending++;
        if (run->reason)
            continue; /* a skipped run takes no time */
        batch->progress.runs++;
        batch->progress.left += ss_time_seconds(run->takes);
    }
    return 0;
}

static bool is_disturbed(const struct batch *batch, const struct ssbatch_attempt *attempt) {
    return attempt->others * 100 > batch->options->others;
}

static uint64_t attempts_allowed(const struct batch *batch, const struct ssbatch_attempt *attempt) {
    uint64_t retries = batch->options->retries;
    if (attempt->status == SSBATCH_FAILED)
        return 1 + retries;
    if (attempt->status == SSBATCH_DONE && batch->options->retries_disturbed &&
        is_disturbed(batch, attempt))
        return 1 + (retries ? retries : 1);
    return 0;
}

/*
 * Reports how an attempt failed. Warns about other processes only in the first disturbed run, and
 * in each attempt that is repeated because of them.
 */
static void report_attempt(struct batch *batch, const struct ssbatch_run *run,
    const struct ssbatch_attempt *attempt, bool again) {
    if (attempt->status == SSBATCH_FAILED)
        say(batch, run->name, "failed: %s", attempt->reason.message);
    else if (attempt->status == SSBATCH_PENDING && !attempt->signal)
        say(batch, run->name, "%s", attempt->reason.message);

    if (attempt->status == SSBATCH_DONE && is_disturbed(batch, attempt) &&
        (again || batch->disturbed++ == 0))
        say(batch, run->name, "warning: other processes used %.1f %% of the machine%s",
            100 * attempt->others, again ? "; trying again" : "");

    if (attempt->undo_error.status)
        warn_not_undone(batch, run->name, attempt->undo_error.message);
    if (attempt->removal_error.status)
        warn_not_removed(batch, run->name, attempt->removal_error.message);
}

struct announcer {
    struct batch *batch;
    const char *name;
};

static void announce(void *context, const char *text) {
    const struct announcer *announcer = context;
    say(announcer->batch, announcer->name, "%s", text);
}

static int run_attempts(struct batch *batch, const struct ssbatch_run *run,
    struct ssbatch_attempt *attempt, struct ss_error *error) {
    double below = batch->options->quiet_below / 100;
    struct announcer announcer = {batch, run->name};
    const struct ssbatch_quiet quiet = {below, announce, &announcer};
    uint64_t number = 0;
    bool is_done = false;

    attempt->waited = isnan(below) ? (double)NAN : 0;
    do {
        number++;
        attempt->status = SSBATCH_PENDING;
        if (!isnan(below) && !run->reason)
            attempt->signal = ssbatch_quiet_await(
                &quiet, &batch->session.spawner, batch->session.outer, &attempt->waited);
        if (attempt->signal)
            return 0;

        if (ssbatch_execute_run(&batch->session, run, number, is_done, attempt, error) < 0)
            return -1;
        is_done |= attempt->status == SSBATCH_DONE;

        bool again = number < attempts_allowed(batch, attempt);
        report_attempt(batch, run, attempt, again);
        if (ssbatch_joblog_add(&batch->joblog, &batch->session.study, run, attempt, error) < 0)
            return -1;
    } while (number < attempts_allowed(batch, attempt));

    if (is_done && attempt->status == SSBATCH_FAILED) {
        say(batch, run->name, "keeping the result of the previous attempt");
        attempt->status = SSBATCH_DONE;
    }
    return 0;
}

/*
 * Returns 1 if all runs that this one needs are done or skipped, 0 if not, -1 with the error set.
 * Needed runs of this call were carried out before it.
 */
static int check_needs(struct batch *batch, const struct ssbatch_run *run, struct ss_error *error) {
    for (size_t i = 0; i < run->need_count; i++) {
        const struct ssbatch_run *needed = ssbatch_plan_find(&batch->session.plan, run->needs[i]);
        enum run_state state = RUN_FAILED;
        size_t j = 0;
        if (!needed)
            continue; /* the value of a `once` line, which has run before */

        while (j < batch->count && batch->runs[j] != needed)
            j++;
        if (j < batch->count)
            state = batch->states[j];
        if (j == batch->count || state == RUN_ELSEWHERE) { /* another call may have finished it */
            int known = has_result(batch, needed, &state, error);
            if (known < 0)
                return -1;
            if (!known)
                state = RUN_FAILED;
        }

        if (state == RUN_DONE || state == RUN_SKIPPED)
            continue;
        say(batch, run->name, "not started: needs %s, which is not done", needed->name);
        return 0;
    }
    return 1;
}

/* Names the finished runs that needed the earlier result of a run that was just redone. */
static void report_dependents(struct batch *batch, const struct ssbatch_run *redone) {
    for (size_t i = 0; i < batch->count; i++) {
        const struct ssbatch_run *run = batch->runs[i];
        if (batch->states[i] == RUN_DONE && ssbatch_run_needs(run, redone->name))
            say(batch, run->name,
                "used the earlier result of %s; use ssbatch --redo %s to repeat it", redone->name,
                run->name);
    }
}

/* Looks for a signal that arrived while no command was awaited. */
static void notice_signal(struct batch *batch) {
    struct ssbatch_spawner *spawner = &batch->session.spawner;
    if (!batch->signal)
        batch->signal = spawner->wait(spawner->context, spawner->now(spawner->context));
}

static int run_if_pending(struct batch *batch, size_t index, struct ss_error *error) {
    const struct ssbatch_run *run = batch->runs[index];
    struct ssbatch_attempt attempt = {0};

    notice_signal(batch);
    if (batch->states[index] != RUN_PENDING || batch->signal || batch->stop)
        return 0;

    int ready = check_needs(batch, run, error);
    if (ready < 0)
        return -1;
    batch->states[index] = RUN_FAILED;
    if (!ready) {
        batch->failed++;
        batch->stop = !batch->options->go_on;
        return 0;
    }

    if (!run->reason)
        ssbatch_progress_begin(&batch->progress, run->name);
    if (run_attempts(batch, run, &attempt, error) < 0)
        return -1;
    bool timed = attempt.status == SSBATCH_DONE;
    if (!run->reason)
        ssbatch_progress_end(
            &batch->progress, ss_time_seconds(run->takes), timed ? attempt.seconds : 0);

    batch->signal = attempt.signal;
    if (attempt.status == SSBATCH_DONE) {
        batch->states[index] = RUN_DONE;
        if (ssbatch_is_listed(batch->options->redo, run->name))
            report_dependents(batch, run);
    } else if (attempt.status == SSBATCH_SKIPPED) {
        batch->states[index] = RUN_SKIPPED;
    } else if (attempt.status == SSBATCH_FAILED) {
        batch->failed++;
        batch->stop = !batch->options->go_on;
    } else if (!attempt.signal) {
        batch->states[index] = RUN_ELSEWHERE;
        batch->elsewhere++;
    }
    return 0;
}

/* Carries out the study's own lines up to the first run. If one of them fails, the call fails. */
static int begin_study(struct batch *batch, struct ss_error *error) {
    struct ssbatch_stage *outer = &batch->outer;
    *outer = (struct ssbatch_stage){
        .spawner = &batch->session.spawner,
        .lines = &batch->session.plan.study,
        .name = "study",
        .out = batch->scratch,
        .scratch = batch->scratch,
        .folder = batch->session.folder,
        .values = &batch->session.values,
    };

    if (batch->session.plan.study.count == 0)
        return 0;

    if (ssbatch_call_make_folder(&batch->session.call, batch->scratch, error) < 0 ||
        ssbatch_values_read(&batch->session.values, &batch->session.study, error) < 0 ||
        ssbatch_stage_open(outer, error) < 0 ||
        ssbatch_write_journal(&batch->session.call, "", outer, NULL, NULL, error) < 0)
        return -1;

    batch->has_outer = true;
    batch->session.outer = outer;
    if (ssbatch_stage_run(outer) < 0) {
        batch->signal = outer->signal;
        return batch->signal ? 0 : ss_error_fail(error, "%s", outer->why.message);
    }
    return ssbatch_values_store(&batch->session.values, &batch->session.study, error);
}

static int end_study(struct batch *batch, struct ss_error *error) {
    struct ssbatch_stage *outer = &batch->outer;
    int status = 0;
    if (!batch->has_outer)
        return 0;

    ssbatch_stage_end(outer);
    if (outer->why.status && !outer->signal)
        status = ss_error_fail(error, "%s", outer->why.message);
    /* `error` may have the same reason already. */
    if (outer->undo_error.status && strcmp(outer->undo_error.message, error->message) != 0)
        warn_not_undone(batch, "the study", outer->undo_error.message);
    if (!outer->undo_error.status &&
        ssbatch_call_remove_journal(&batch->session.call, "", error) < 0)
        status = -1;

    ssbatch_stage_free(outer);
    return status;
}

static int open_call(struct batch *batch, struct ss_error *error) {
    if (ss_platform_check_proc(error) < 0)
        return -1;
    if (!getcwd(batch->session.folder, sizeof batch->session.folder))
        return ss_error_fail(error, "cannot determine the current folder: %s", strerror(errno));

    if (ssbatch_call_open(&batch->session.call, &batch->session.study,
            ss_platform_process_started(getpid()), error) < 0)
        return -1;

    batch->crew.mark = batch->session.call.mark;
    batch->crew.undo = undo_in_keeper;
    batch->crew.undo_context = batch;
    if (ssbatch_crew_open(&batch->crew, error) < 0)
        return -1;

    batch->session.spawner = ssbatch_crew_spawner(&batch->crew);
    if (!isnan(batch->options->quiet_below) && batch->session.spawner.cpus <= 0)
        return ss_error_fail(error, "--quiet-below: cannot read the load of this machine");
    return 0;
}

static void close_call(struct batch *batch) {
    if (batch->crew.slots)
        ssbatch_crew_close(&batch->crew);
    if (batch->session.call.study)
        ssbatch_call_close(&batch->session.call);
}

/* Undoes what dead calls have left, even if no run is pending, and carries out pending runs. */
static int run_pending(struct batch *batch, struct ss_error *error) {
    struct after_context after = {&batch->session.spawner, &batch->session.study, false};
    struct ss_error left = {0};

    batch->session.undoer = make_undoer(&after);
    batch->session.redo = batch->options->redo;
    batch->session.memory = batch->options->memory;
    if (ssbatch_calls_clean_up(&batch->session.study, batch->session.call.mark, NULL,
            &batch->session.undoer, &left) < 0)
        fprintf(
            stderr, "ssbatch: warning: cannot undo what an earlier call left: %s\n", left.message);

    if (batch->pending == 0)
        return 0;
    int status = begin_study(batch, error);
    for (size_t i = 0; status == 0 && i < batch->count; i++)
        status = run_if_pending(batch, i, error);
    if (end_study(batch, error) < 0)
        status = -1;
    notice_signal(batch);
    return status;
}

static void print_summary(struct batch *batch) {
    size_t done = 0, skipped = 0;

    ssbatch_progress_clear(&batch->progress);
    for (size_t i = 0; i < batch->count; i++) {
        done += batch->states[i] == RUN_DONE;
        skipped += batch->states[i] == RUN_SKIPPED;
    }

    if (batch->disturbed > 1)
        fprintf(stderr,
            "ssbatch: warning: in %zu runs, other processes used more than %g %% of the machine\n",
            batch->disturbed, batch->options->others);
    if (batch->options->quiet)
        return;

    fprintf(stderr, "ssbatch: %zu of %zu runs done", done, batch->count - skipped + batch->refused);
    if (skipped)
        fprintf(stderr, ", %zu skipped", skipped);
    if (batch->failed)
        fprintf(stderr, ", %zu failed or refused: see ssbatch --list", batch->failed);
    if (batch->elsewhere)
        fprintf(stderr, ", %zu carried out by other calls", batch->elsewhere);
    fputc('\n', stderr);
}

static int carry_out(struct batch *batch, struct ss_error *error) {
    if (ssbatch_joblog_open(&batch->joblog, batch->options->joblog, error) < 0 ||
        choose_runs(batch, error) < 0)
        return -1;
    if (batch->options->add)
        return 0;
    if (find_pending(batch, error) < 0)
        return -1;

    if (!batch->options->quiet) {
        batch->progress.stream = stderr;
        batch->progress.rewrites = isatty(STDERR_FILENO);
    }

    if (batch->pending > 0 || ssbatch_calls_exist(&batch->session.study)) {
        int status = open_call(batch, error);
        if (status == 0)
            status = run_pending(batch, error);
        close_call(batch);
        if (status < 0)
            return -1;
    }

    print_summary(batch);
    return 0;
}

int ssbatch_carry_out(const struct ssbatch_options *options, int *status, struct ss_error *error) {
    struct batch *batch = make_batch(options, error);
    if (!batch)
        return -1;

    int result = carry_out(batch, error);
    int signal = batch->signal;
    if (batch->failed)
        *status = 1;

    if (batch->joblog.file)
        fclose(batch->joblog.file);
    ssbatch_plan_free(&batch->session.plan);
    ssbatch_programs_free(&batch->session.programs);
    ssbatch_values_free(&batch->session.values);
    ssbatch_study_close(&batch->session.study);
    free(batch->runs);
    free(batch->states);
    free(batch);

    if (signal && result < 0) /* the signal ends the process before main() could print it */
        fprintf(stderr, "ssbatch: %s\n", error->message);
    if (signal)
        ss_signals_raise_default(signal);
    return result;
}

static int clean(struct batch *batch, struct ss_error *error) {
    struct after_context after = {&batch->session.spawner, &batch->session.study, false};
    struct ssbatch_undoer undoer = make_undoer(&after);
    if (open_study(batch, SSBATCH_STUDY_CARRY_OUT, error) < 0 || open_call(batch, error) < 0)
        return -1;
    return ssbatch_calls_clean_up(
        &batch->session.study, batch->session.call.mark, NULL, &undoer, error);
}

int ssbatch_clean(const struct ssbatch_options *options, int *status, struct ss_error *error) {
    struct batch *batch = make_batch(options, error);
    (void)status;
    if (!batch)
        return -1;

    int result = clean(batch, error);
    close_call(batch);
    ssbatch_study_close(&batch->session.study);
    free(batch);
    return result;
}
