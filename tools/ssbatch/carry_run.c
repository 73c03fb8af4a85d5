/* SPDX-License-Identifier: Apache-2.0 */
#include "carry_run.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/paths.h"
#include "base/words.h"
#include "merge.h"
#include "quiet.h"
#include "text_stream.h"
#include "verdict.h"

/* A run while it is carried out. */
struct execution {
    struct ssbatch_session *session;
    const struct ssbatch_run *run;
    struct ssbatch_path result;      /* path of the result in the hidden folder */
    char scratch[SSBATCH_PATH_SIZE]; /* the hidden folder, or one in memory */
    char out[SSBATCH_PATH_SIZE];     /* folder in `scratch` with the files to keep */
    int memory;                      /* `scratch` in memory, or -1; owned */
    bool is_done;                    /* an earlier attempt has a result */
    struct ssbatch_stage stage;
};

static bool has_trace(const struct ssbatch_stage *stage) {
    for (size_t i = 0; i < stage->lines->count; i++) {
        const struct ssbatch_line *line = &stage->lines->items[i];
        char *const *words = stage->acts[i].words ? stage->acts[i].words : line->words;
        if (line->kind == SSBATCH_MAIN && ssbatch_follows_trace(words))
            return true;
    }
    return false;
}

static int judge_record(
    const struct ssbatch_stage *stage, const struct ssbatch_act *act, struct ss_error *error) {
    char path[SSBATCH_PATH_SIZE + 100];
    snprintf(path, sizeof path, "%s/%s", stage->out, act->base);
    if (ssbatch_check_record(path, act->words, has_trace(stage), error) < 0)
        return ss_error_wrap(error, "%s", act->base);
    return 0;
}

int ssbatch_write_journal(const struct ssbatch_call *call, const char *name,
    const struct ssbatch_stage *stage, const char *scratch, const char *result,
    struct ss_error *error) {
    struct ss_text text;
    if (ss_text_open(&text, error) < 0)
        return -1;

    fputs("folder ", text.stream);
    ss_words_quote(text.stream, stage->folder);
    fputc('\n', text.stream);
    ssbatch_stage_print_journal(stage, text.stream);

    if (scratch) {
        fputs("remove ", text.stream);
        ss_words_quote(text.stream, scratch);
        if (result) {
            fputc(' ', text.stream);
            ss_words_quote(text.stream, result);
        }
        fputc('\n', text.stream);
    }

    SS_OWNED(free) char *journal = ss_text_close(&text, error);
    return journal ? ssbatch_call_write_journal(call, name, journal, error) : -1;
}

/*
 * Writes the journal to disk, before any command starts. With `copies`, the journal also copies the
 * result out of memory.
 */
static int write_journal(const struct execution *execution, bool copies, struct ss_error *error) {
    struct ssbatch_session *session = execution->session;
    if (!session->memory && !ssbatch_lines_have(&execution->run->lines, SSBATCH_AFTER))
        return 0;
    return ssbatch_write_journal(&session->call, execution->run->name, &execution->stage,
        session->memory ? execution->scratch : NULL, copies ? execution->result.text : NULL, error);
}

/* Creates the folder in memory, with the files of an earlier attempt if the run continues one. */
static int make_memory_folder(struct execution *execution, struct ss_error *error) {
    const struct ssbatch_session *session = execution->session;
    if (!session->memory)
        return 0;
    execution->memory =
        ssbatch_disk_open_private(execution->scratch, &session->study.trust, true, error);
    if (execution->memory < 0)
        return -1;
    if (mkdirat(execution->memory, SSBATCH_RESULT, 0777) < 0)
        return ss_paths_fail(execution->out, error);
    return ssbatch_disk_copy_tree(
        -1, execution->result.text, execution->memory, execution->out, error);
}

/*
 * Chooses a name that no other folder has: calls in other containers that share the folder may have
 * the same pid, and the folders of killed calls wait there to be copied.
 */
static int choose_memory_folder(struct execution *execution, struct ss_error *error) {
    uint32_t random; /* short, because paths of sockets have at most 107 bytes */
    if (getrandom(&random, sizeof random, 0) < 0)
        return ss_error_fail(error, "cannot choose a folder in memory: %s", strerror(errno));
    int length =
        snprintf(execution->scratch, sizeof execution->scratch, "%s/ssbatch-%d-%08" PRIx32 "-%s",
            execution->session->memory, (int)getpid(), random, execution->run->name);
    if (length < SSBATCH_PATH_SIZE)
        return 0;
    return ss_error_fail(
        error, "%s: the path is too long", ss_words_show(execution->session->memory).text);
}

static int choose_folders(struct execution *execution, struct ss_error *error) {
    const struct ssbatch_study *study = &execution->session->study;
    const char *name = execution->run->name;
    execution->result = ssbatch_study_path(study, SSBATCH_HIDDEN_FORMAT "/" SSBATCH_RESULT, name);
    strcpy(execution->scratch, ssbatch_study_path(study, SSBATCH_HIDDEN_FORMAT, name).text);
    if (execution->session->memory && choose_memory_folder(execution, error) < 0)
        return -1;
    return ssbatch_disk_path(execution->out, execution->scratch, SSBATCH_RESULT, error);
}

/* `before` is the status of the run so far. */
static int prepare(struct execution *execution, int before, struct ss_error *error) {
    struct ssbatch_session *session = execution->session;
    const struct ssbatch_run *run = execution->run;
    execution->stage = (struct ssbatch_stage){
        .spawner = &session->spawner,
        .lines = &run->lines,
        .name = run->name,
        .out = execution->out,
        .scratch = execution->scratch,
        .folder = session->folder,
        .outer = session->outer,
        .values = &session->values,
        .limit = run->limit,
        .judge = judge_record,
    };

    /*
     * The files of a finished attempt are not reused: a command that continues by itself would find
     * everything done, and measure nothing.
     */
    enum ssbatch_reuse reuse = SSBATCH_REUSE_NOTHING;
    if (choose_folders(execution, error) < 0)
        return -1;
    if (run->keep)
        reuse = before == SSBATCH_FAILED ? SSBATCH_REUSE_RESULT : SSBATCH_REUSE_INTERRUPTED;

    int begun = ssbatch_study_begin(&session->study, run->name, reuse, error);
    if (begun < 0)
        return begun;
    if (ssbatch_stage_open(&execution->stage, error) < 0 ||
        write_journal(execution, false, error) < 0 || make_memory_folder(execution, error) < 0 ||
        (run->keep && ssbatch_call_claim(&session->call, run->name, session->memory, error) < 0))
        return -1;

    /*
     * The journal may copy the result out of memory only now: before, files of the attempt that
     * this one continues were missing there.
     */
    return session->memory && run->keep ? write_journal(execution, true, error) : 0;
}

/* Returns the first `main` that failed, or NULL. */
static const struct ssbatch_act *failed_main(const struct ssbatch_stage *stage) {
    for (size_t i = 0; i < stage->lines->count; i++) {
        const struct ssbatch_act *act = &stage->acts[i];
        if (act->line->kind == SSBATCH_MAIN && act->ended &&
            !ssbatch_line_accepts(act->line, act->status))
            return act;
    }
    return NULL;
}

static void carry_out(struct execution *execution, struct ssbatch_attempt *attempt) {
    struct ssbatch_stage *stage = &execution->stage;
    const struct ssbatch_spawner *spawner = &execution->session->spawner;

    struct ssbatch_use before = ssbatch_use_read(spawner, stage);
    attempt->begin = spawner->wallclock(spawner->context);
    ssbatch_stage_run(stage);
    ssbatch_stage_end(stage);
    struct ssbatch_use after = ssbatch_use_read(spawner, stage);

    attempt->others = ssbatch_use_by_others(spawner, &before, &after);
    attempt->seconds = ss_time_seconds(ss_time_since(after.at, before.at));
    attempt->signal = stage->signal;

    const struct ssbatch_act *failed = failed_main(stage);
    attempt->exit_status = failed ? failed->status : 0;
    attempt->ended_by = failed ? failed->ended_by : 0;

    attempt->status = stage->why.status ? SSBATCH_FAILED : SSBATCH_DONE;
    if (stage->signal)
        attempt->status = SSBATCH_PENDING;
    attempt->reason = stage->why;
    if (strcmp(stage->undo_error.message, stage->why.message) != 0)
        attempt->undo_error = stage->undo_error;
}

/* Fails the attempt for the reason in `error`, which it clears: the study continues. */
static void fail_attempt(
    struct ssbatch_attempt *attempt, const char *what, struct ss_error *error) {
    attempt->status = SSBATCH_FAILED;
    attempt->reason = *error;
    ss_error_wrap(&attempt->reason, "%s", what);
    *error = (struct ss_error){0};
}

/* Keeps the result. An interrupted run keeps its hidden folder and is carried out again later. */
static int store_result(struct execution *execution, uint64_t number,
    struct ssbatch_attempt *attempt, struct ss_error *error) {
    struct ssbatch_session *session = execution->session;
    const struct ssbatch_run *run = execution->run;
    int status = 0;
    ssbatch_stage_remove_empty_output(&execution->stage);
    if (session->memory)
        status = ssbatch_disk_copy_tree(
            execution->memory, execution->out, -1, execution->result.text, error);
    /*
     * Fail the run: otherwise each call would repeat it. The files of a run with `keep` remain in
     * memory until they are made readable.
     */
    if (status == SSBATCH_UNREADABLE && !run->keep) {
        if (attempt->status != SSBATCH_PENDING)
            fail_attempt(attempt, "cannot copy a file out of memory", error);
        *error = (struct ss_error){0};
        status = 0;
    }

    if (status == 0 && attempt->status == SSBATCH_FAILED && execution->is_done) {
        const struct ssbatch_path hidden =
            ssbatch_study_path(&session->study, SSBATCH_HIDDEN_FORMAT, run->name);
        status = ssbatch_disk_remove_tree(hidden.text, error) < 0 ? SSBATCH_NOT_REMOVED : 0;
    } else if (status == 0 && attempt->status != SSBATCH_PENDING) {
        status = ssbatch_result_write(
            session, execution->result.text, run, &execution->stage, attempt, number, error);
        if (status == 0)
            status = ssbatch_study_commit(&session->study, run->name, error);
    }
    if (status < 0 && status != SSBATCH_NOT_REMOVED)
        return -1;

    /* The attempt counts although files remain: only a warning names them. */
    if (session->memory && ssbatch_disk_remove_tree(execution->scratch, error) < 0)
        status = SSBATCH_NOT_REMOVED;
    if (status == SSBATCH_NOT_REMOVED) {
        attempt->removal_error = *error;
        *error = (struct ss_error){0};
    }
    /* If an `after` failed, the journal stays, so that the next call tries it again. */
    return execution->stage.undo_error.status
               ? 0
               : ssbatch_call_remove_journal(&session->call, run->name, error);
}

/* Carries out a prepared run, or notes that it is skipped, and keeps the result. */
static int run_prepared(struct execution *execution, uint64_t number,
    struct ssbatch_attempt *attempt, struct ss_error *error) {
    if (execution->run->reason)
        attempt->status = SSBATCH_SKIPPED;
    else
        carry_out(execution, attempt);
    return store_result(execution, number, attempt, error);
}

static int run_locked(struct ssbatch_session *session, const struct ssbatch_run *run,
    uint64_t number, bool is_done, struct ssbatch_attempt *attempt, struct ss_error *error) {
    struct execution execution = {.session = session, .run = run, .is_done = is_done, .memory = -1};
    struct ss_error left = {0};
    int status = ssbatch_run_status(&session->study, run->name, error);
    if (status < 0)
        return -1;
    if (number == 1 && status == SSBATCH_DONE && !ssbatch_is_listed(session->redo, run->name)) {
        attempt->status = SSBATCH_DONE; /* another call has completed it since has_result() */
        return 0;
    }
    if (ssbatch_calls_clean_up(
            &session->study, session->call.mark, run->name, &session->undoer, &left) < 0) {
        fail_attempt(attempt, "cannot undo what an earlier call left", &left);
        return 0;
    }

    status = prepare(&execution, status, error);
    if (status == SSBATCH_NOT_REMOVED) {
        fail_attempt(attempt, "cannot remove what an earlier attempt left", error);
        return 0;
    }
    if (status == 0)
        status = run_prepared(&execution, number, attempt, error);
    if (execution.stage.lines)
        ssbatch_stage_free(&execution.stage);
    ss_owned_close(&execution.memory);
    return status;
}

int ssbatch_execute_run(struct ssbatch_session *session, const struct ssbatch_run *run,
    uint64_t number, bool is_done, struct ssbatch_attempt *attempt, struct ss_error *error) {
    struct ssbatch_holder holder;
    *attempt = (struct ssbatch_attempt){.others = NAN, .waited = attempt->waited};

    int lock = ssbatch_study_lock_run(&session->study, run->name, &holder, error);
    if (lock == SSBATCH_HELD) {
        ss_error_fail(&attempt->reason, "it is being carried out on %s by process %d", holder.host,
            (int)holder.pid);
        return 0;
    }
    if (lock < 0)
        return -1;

    int status = run_locked(session, run, number, is_done, attempt, error);
    ssbatch_study_unlock_run(&session->study, run->name, lock);
    return status < 0 ? ss_error_wrap(error, "%s", run->name) : 0;
}
