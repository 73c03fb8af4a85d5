/* SPDX-License-Identifier: Apache-2.0 */

/* Writes run.json: the commands that were carried out, and their outcome. */

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/grow.h"
#include "base/json.h"
#include "base/owned.h"
#include "base/paths.h"
#include "base/version.h"
#include "base/walk.h"
#include "base/wallclock.h"
#include "carry_run.h"

static void write_columns(struct ss_json *json, const struct ssbatch_columns *columns) {
    ss_json_open(json, "columns", '{');
    for (size_t i = 0; i < columns->count; i++)
        ss_json_text(json, columns->items[i].key, columns->items[i].value);
    ss_json_close(json, '}');
}

static void write_act(
    struct ss_json *json, const struct ssbatch_stage *stage, const struct ssbatch_act *act) {
    char record[SSBATCH_PATH_SIZE + 100];
    struct stat status;
    snprintf(record, sizeof record, "%s/%s", stage->out, act->base);
    bool has_record = stat(record, &status) == 0 && S_ISDIR(status.st_mode);

    ss_json_open(json, NULL, '{');
    ss_json_text(json, "kind", ssbatch_kind_name(act->line->kind));
    ss_json_text(json, "role", act->line->role);
    write_columns(json, &act->line->columns);
    ss_json_text(json, "record", has_record ? act->base : NULL);
    ss_json_open(json, "words", '[');
    for (char *const *word = act->words; act->started && *word; word++)
        ss_json_text(json, NULL, *word);
    ss_json_close(json, ']');
    ss_json_number(json, "status", act->ended ? act->status : (double)NAN);
    ss_json_close(json, '}');
}

static void write_time(struct ss_json *json, const char *name, int64_t time) {
    char text[64];
    ss_wallclock_print(text, sizeof text, time);
    ss_json_text(json, name, time ? text : NULL);
}

struct program_list {
    struct ss_json *json;
    const char **seen; /* paths seen so far: a program that appears twice is written once */
    size_t count, room;
    bool failed; /* memory is exhausted */
};

static void write_program(void *context, const struct ssbatch_program *program, const char *word) {
    struct program_list *list = context;
    (void)word;

    for (size_t i = 0; i < list->count; i++) {
        if (list->seen[i] == program->path)
            return;
    }

    if (!SS_GROW(list->seen, list->count + 1, list->room)) {
        list->failed = true;
        return;
    }

    list->seen[list->count++] = program->path;
    ss_json_open(list->json, NULL, '{');
    ss_json_text(list->json, "path", program->path);
    ss_json_text(list->json, "sha256", program->digest);
    ss_json_close(list->json, '}');
}

int ssbatch_result_write(struct ssbatch_session *session, const char *folder,
    const struct ssbatch_run *run, const struct ssbatch_stage *stage,
    const struct ssbatch_attempt *attempt, uint64_t number, struct ss_error *error) {
    const struct ssbatch_spawner *spawner = &session->spawner;
    char path[SSBATCH_PATH_SIZE], identity[SSBATCH_SHA256_TEXT_SIZE];
    if (ssbatch_identity(&session->plan, run, identity, error) < 0 ||
        ssbatch_disk_path(path, folder, "run.json", error) < 0)
        return -1;
    struct ss_error why = {0};
    SS_OWNED(fclose)
    FILE *file = ss_walk_state_stream(path, &why); /* `ssantagonist plan` executes its commands */
    if (!file)
        return ss_error_fail(error, "cannot write %s: %s", path, why.message);

    struct ss_json json = {.stream = file};
    ss_json_open(&json, NULL, '{');
    ss_json_number(&json, "schema", SSBATCH_RUN_SCHEMA);
    ss_json_text(&json, "name", run->name);
    ss_json_text(&json, "status", ssbatch_status_name(attempt->status));
    ss_json_text(&json, "reason", attempt->reason.status ? attempt->reason.message : run->reason);
    write_columns(&json, &run->columns);
    ss_json_open(&json, "commands", '[');
    for (size_t i = 0; i < stage->lines->count; i++)
        write_act(&json, stage, &stage->acts[i]);
    ss_json_close(&json, ']');
    write_time(&json, "begin", attempt->begin);
    write_time(&json, "end", attempt->begin ? spawner->wallclock(spawner->context) : 0);
    ss_json_number(&json, "seconds", attempt->seconds);
    ss_json_number(&json, "attempts", (double)number);
    ss_json_number(&json, "others", attempt->others);
    ss_json_number(&json, "waited", attempt->waited);
    ss_json_text(&json, "host", session->study.host);
    ss_json_text(&json, "version", ss_version());
    ss_json_text(&json, "identity", identity);

    struct program_list list = {.json = &json};
    ss_json_open(&json, "programs", '[');
    ssbatch_programs_of_run(&session->programs, run, write_program, &list);
    ss_json_close(&json, ']');
    ss_json_close(&json, '}');
    free(list.seen);
    if (list.failed)
        return ss_error_memory(error);
    return ferror(file) || fflush(file) == EOF ? ss_paths_fail(path, error) : 0;
}
