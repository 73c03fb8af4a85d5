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
struct carried {
    struct ssbatch_carrier *carrier;
    const struct ssbatch_run *run;
    struct ssbatch_path result; /* path of the result in the hidden folder */
    char scratch[SSBATCH_PATH]; /* the hidden folder, or one in memory */
    char out[SSBATCH_PATH];     /* folder in `scratch` with the files to keep */
    int memory;                 /* `scratch` in memory, or -1; owned */
    bool is_done;               /* an earlier attempt has a result */
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
    char path[SSBATCH_PATH + 100];
    snprintf(path, sizeof path, "%s/%s", stage->out, act->base);
    if (ssbatch_check_record(path, act->words, has_trace(stage), error) < 0)
        return ss_error_wrap(error, "%s", act->base);
    return 0;
}

int ssbatch_note_journal(const struct ssbatch_call *call, const char *name,
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
    return journal ? ssbatch_call_note(call, name, journal, error) : -1;
}

/*
 * Writes the journal to disk, before any command starts. With `copies`, the journal also copies the
 * result out of memory.
 */
static int note_journal(const struct carried *carried, bool copies, struct ss_error *error) {
    struct ssbatch_carrier *carrier = carried->carrier;
    if (!carrier->memory && !ssbatch_lines_have(&carried->run->lines, SSBATCH_AFTER))
        return 0;
    return ssbatch_note_journal(&carrier->call, carried->run->name, &carried->stage,
        carrier->memory ? carried->scratch : NULL, copies ? carried->result.text : NULL, error);
}

/* Creates the folder in memory, with the files of an earlier attempt if the run continues one. */
static int make_memory(struct carried *carried, struct ss_error *error) {
    const struct ssbatch_carrier *carrier = carried->carrier;
    if (!carrier->memory)
        return 0;
    carried->memory =
        ssbatch_disk_open_private(carried->scratch, &carrier->study.trust, true, error);
    if (carried->memory < 0)
        return -1;
    if (mkdirat(carried->memory, SSBATCH_RESULT, 0777) < 0)
        return ss_paths_fail(carried->out, error);
    return ssbatch_disk_copy_tree(-1, carried->result.text, carried->memory, carried->out, error);
}

/*
 * Chooses a name that no other folder has: calls in other containers that share the folder may have
 * the same pid, and the folders of killed calls wait there to be copied.
 */
static int choose_memory(struct carried *carried, struct ss_error *error) {
    uint32_t random; /* short, because paths of sockets have at most 107 bytes */
    if (getrandom(&random, sizeof random, 0) < 0)
        return ss_error_fail(error, "cannot choose a folder in memory: %s", strerror(errno));
    int length =
        snprintf(carried->scratch, sizeof carried->scratch, "%s/ssbatch-%d-%08" PRIx32 "-%s",
            carried->carrier->memory, (int)getpid(), random, carried->run->name);
    if (length < SSBATCH_PATH)
        return 0;
    return ss_error_fail(
        error, "%s: the path is too long", ss_words_show(carried->carrier->memory).text);
}

static int choose_folders(struct carried *carried, struct ss_error *error) {
    const struct ssbatch_study *study = &carried->carrier->study;
    const char *name = carried->run->name;
    carried->result = ssbatch_study_path(study, SSBATCH_HIDDEN "/" SSBATCH_RESULT, name);
    strcpy(carried->scratch, ssbatch_study_path(study, SSBATCH_HIDDEN, name).text);
    if (carried->carrier->memory && choose_memory(carried, error) < 0)
        return -1;
    return ssbatch_disk_path(carried->out, carried->scratch, SSBATCH_RESULT, error);
}

/* `before` is the status of the run so far. */
static int prepare(struct carried *carried, int before, struct ss_error *error) {
    struct ssbatch_carrier *carrier = carried->carrier;
    const struct ssbatch_run *run = carried->run;
    carried->stage = (struct ssbatch_stage){
        .spawner = &carrier->spawner,
        .lines = &run->lines,
        .name = run->name,
        .out = carried->out,
        .scratch = carried->scratch,
        .folder = carrier->folder,
        .outer = carrier->outer,
        .values = &carrier->values,
        .limit = run->limit,
        .judge = judge_record,
    };

    /*
     * The files of a finished attempt are not reused: a command that continues by itself would find
     * everything done, and measure nothing.
     */
    enum ssbatch_reuse reuse = SSBATCH_REUSE_NOTHING;
    if (choose_folders(carried, error) < 0)
        return -1;
    if (run->keep)
        reuse = before == SSBATCH_FAILED ? SSBATCH_REUSE_RESULT : SSBATCH_REUSE_INTERRUPTED;

    int begun = ssbatch_study_begin(&carrier->study, run->name, reuse, error);
    if (begun < 0)
        return begun;
    if (ssbatch_stage_open(&carried->stage, error) < 0 || note_journal(carried, false, error) < 0 ||
        make_memory(carried, error) < 0 ||
        (run->keep && ssbatch_call_claim(&carrier->call, run->name, carrier->memory, error) < 0))
        return -1;

    /*
     * The journal may copy the result out of memory only now: before, files of the attempt that
     * this one continues were missing there.
     */
    return carrier->memory && run->keep ? note_journal(carried, true, error) : 0;
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

static void carry_out(struct carried *carried, struct ssbatch_attempt *attempt) {
    struct ssbatch_stage *stage = &carried->stage;
    const struct ssbatch_spawner *spawner = &carried->carrier->spawner;

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
        attempt->status = SSBATCH_TO_COME;
    attempt->reason = stage->why;
    if (strcmp(stage->not_undone.message, stage->why.message) != 0)
        attempt->not_undone = stage->not_undone;
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
static int keep(struct carried *carried, uint64_t number, struct ssbatch_attempt *attempt,
    struct ss_error *error) {
    struct ssbatch_carrier *carrier = carried->carrier;
    const struct ssbatch_run *run = carried->run;
    int status = 0;
    ssbatch_stage_remove_empty_output(&carried->stage);
    if (carrier->memory)
        status =
            ssbatch_disk_copy_tree(carried->memory, carried->out, -1, carried->result.text, error);
    /*
     * Fail the run: otherwise each call would repeat it. The files of a run with `keep` remain in
     * memory until they are made readable.
     */
    if (status == SSBATCH_UNREADABLE && !run->keep) {
        if (attempt->status != SSBATCH_TO_COME)
            fail_attempt(attempt, "cannot copy a file out of memory", error);
        *error = (struct ss_error){0};
        status = 0;
    }

    if (status == 0 && attempt->status == SSBATCH_FAILED && carried->is_done) {
        const struct ssbatch_path hidden =
            ssbatch_study_path(&carrier->study, SSBATCH_HIDDEN, run->name);
        status = ssbatch_disk_remove_tree(hidden.text, error) < 0 ? SSBATCH_LEFT : 0;
    } else if (status == 0 && attempt->status != SSBATCH_TO_COME) {
        status = ssbatch_result_write(
            carrier, carried->result.text, run, &carried->stage, attempt, number, error);
        if (status == 0)
            status = ssbatch_study_commit(&carrier->study, run->name, error);
    }
    if (status < 0 && status != SSBATCH_LEFT)
        return -1;

    /* The attempt counts although files remain: only a warning names them. */
    if (carrier->memory && ssbatch_disk_remove_tree(carried->scratch, error) < 0)
        status = SSBATCH_LEFT;
    if (status == SSBATCH_LEFT) {
        attempt->not_removed = *error;
        *error = (struct ss_error){0};
    }
    /* If an `after` failed, the journal stays, so that the next call tries it again. */
    return carried->stage.not_undone.status ? 0
                                            : ssbatch_call_forget(&carrier->call, run->name, error);
}

/* Carries out a prepared run, or notes that it is skipped, and keeps the result. */
static int carry_prepared(struct carried *carried, uint64_t number, struct ssbatch_attempt *attempt,
    struct ss_error *error) {
    if (carried->run->reason)
        attempt->status = SSBATCH_SKIPPED;
    else
        carry_out(carried, attempt);
    return keep(carried, number, attempt, error);
}

static int carry_locked(struct ssbatch_carrier *carrier, const struct ssbatch_run *run,
    uint64_t number, bool is_done, struct ssbatch_attempt *attempt, struct ss_error *error) {
    struct carried carried = {.carrier = carrier, .run = run, .is_done = is_done, .memory = -1};
    struct ss_error left = {0};
    int status = ssbatch_run_status(&carrier->study, run->name, error);
    if (status < 0)
        return -1;
    if (number == 1 && status == SSBATCH_DONE && !ssbatch_is_listed(carrier->redo, run->name)) {
        attempt->status = SSBATCH_DONE; /* another call has completed it since has_result() */
        return 0;
    }
    if (ssbatch_calls_clear(
            &carrier->study, carrier->call.mark, run->name, &carrier->undoer, &left) < 0) {
        fail_attempt(attempt, "cannot undo what an earlier call left", &left);
        return 0;
    }

    status = prepare(&carried, status, error);
    if (status == SSBATCH_LEFT) {
        fail_attempt(attempt, "cannot remove what an earlier attempt left", error);
        return 0;
    }
    if (status == 0)
        status = carry_prepared(&carried, number, attempt, error);
    if (carried.stage.lines)
        ssbatch_stage_free(&carried.stage);
    ss_owned_close(&carried.memory);
    return status;
}

int ssbatch_carry_run(struct ssbatch_carrier *carrier, const struct ssbatch_run *run,
    uint64_t number, bool is_done, struct ssbatch_attempt *attempt, struct ss_error *error) {
    struct ssbatch_holder holder;
    *attempt = (struct ssbatch_attempt){.others = NAN, .waited = attempt->waited};

    int lock = ssbatch_study_lock_run(&carrier->study, run->name, &holder, error);
    if (lock == SSBATCH_HELD) {
        ss_error_fail(&attempt->reason, "it is being carried out on %s by process %d", holder.host,
            (int)holder.pid);
        return 0;
    }
    if (lock < 0)
        return -1;

    int status = carry_locked(carrier, run, number, is_done, attempt, error);
    ssbatch_study_unlock_run(&carrier->study, run->name, lock);
    return status < 0 ? ss_error_wrap(error, "%s", run->name) : 0;
}
