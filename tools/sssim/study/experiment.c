/* SPDX-License-Identifier: Apache-2.0 */
#include "experiment.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/walk.h"
#include "base/whole_file.h"
#include "base/words.h"

static const char columns[] =
    "run,experiment,workload,method,placement,role,group,target,speed,tau_seconds,instances,cpus,"
    "stands_for,warmup_seconds,settle_seconds,seconds,hold_seconds,edge_seconds,seed,round,energy,"
    "status,reason,environment,measured_in,others\n";

/*
 * Maximum length of a workload in the name of a folder, so that two workloads, which may be paths
 * of profiles, fit into one name. Names stay unique, because all pairs of an experiment have the
 * same workloads.
 */
#define WORKLOAD_MAX 100

static int fail(const struct experiment *experiment, const char *name, struct ss_error *error) {
    return ss_error_fail(error, "--record: %s%s%s: %s", ss_words_show(experiment->path).text,
        *name ? "/" : "", name, strerror(errno));
}

static char *join(const struct experiment *experiment, const char *name) {
    char *path;
    return asprintf(&path, "%s/%s", experiment->path, name) < 0 ? NULL : path;
}

int experiment_open(struct experiment *experiment, const char *path, struct ss_error *error) {
    *experiment = (struct experiment){.path = path, .folder = -1};
    if (access(path, F_OK) == 0)
        return ss_error_fail(
            error, "--record: %s already exists: choose another folder", ss_words_show(path).text);

    experiment->stream = open_memstream(&experiment->rows, &experiment->size);
    if (!experiment->stream)
        return ss_error_memory(error);

    struct ss_error why = {0};
    experiment->folder = ss_walk_folder_path(path, O_PATH | O_CREAT | O_EXCL, &why);
    if (experiment->folder < 0)
        return ss_error_fail(error, "--record: %s: %s", ss_words_show(path).text, why.message);
    return mkdirat(experiment->folder, "runs", 0777) < 0 ? fail(experiment, "runs", error) : 0;
}

/* Appends `text` with all characters that are unsafe in a file name replaced by '-'. */
static void append_name(char *name, size_t size, const char *text) {
    size_t used = strlen(name);
    for (; *text && used + 1 < size; text++)
        name[used++] =
            strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+", *text)
                ? *text
                : '-';
    name[used] = '\0';
}

int experiment_add_pair(struct experiment *experiment, const struct experiment_row rows[2],
    char *name, size_t size, struct ss_error *error) {
    char round[32];

    snprintf(name, size, "sets-");
    for (int i = 0; i < 2; i++) {
        size_t end = strlen(name) + WORKLOAD_MAX + 1;
        append_name(name, end < size ? end : size, rows[i].workload);
        append_name(name, size, "-");
    }

    snprintf(round, sizeof round, "%llu", (unsigned long long)rows[0].round);
    append_name(name, size, round);

    SS_OWNED(free) char *folder = experiment_record_path(experiment, name, "");
    if (!folder)
        return ss_error_memory(error);
    struct ss_error why = {0};
    SS_OWNED(close) int made = ss_walk_folder_path(folder, O_PATH | O_CREAT | O_EXCL, &why);
    return made < 0 ? ss_error_fail(error, "--record: %s: %s", folder, why.message) : 0;
}

char *experiment_record_path(
    const struct experiment *experiment, const char *pair, const char *role) {
    char *path;
    return asprintf(&path, "%s/runs/%s/%s", experiment->path, pair, role) < 0 ? NULL : path;
}

/* Writes a cell. As in all manifests, replaces commas, and drops quotes and line ends. */
static void put_cell(FILE *stream, const char *text) {
    for (; *text; text++) {
        if (*text != '"' && *text != '\r' && *text != '\n')
            fputc(*text == ',' ? ';' : *text, stream);
    }
}

static void put_seconds(FILE *stream, double seconds) {
    fputc(',', stream);
    if (seconds > 0)
        fprintf(stream, "%.9g", seconds);
}

static void put_row(FILE *stream, const struct experiment_row *row, const char *name) {
    fprintf(stream, "runs/%s/%s,interference,", name, row->role);
    put_cell(stream, row->workload);
    fprintf(stream, ",%s,sets,%s,%s,,,,%u,", row->method, row->role, name, row->instances);
    fprintf(stream, "%u", row->first_cpu);
    if (row->cpus > 1)
        fprintf(stream, "-%u", row->first_cpu + row->cpus - 1);
    fprintf(stream, ",,%.9g,%.9g", row->warmup, row->settle);
    put_seconds(stream, row->seconds);
    put_seconds(stream, row->hold);
    put_seconds(stream, row->edge);
    fprintf(stream, ",%llu,%llu,,done,,none,,\n", (unsigned long long)row->seed,
        (unsigned long long)row->round);
}

static int write_manifest(struct experiment *experiment, struct ss_error *error) {
    SS_OWNED(free) char *path = join(experiment, "manifest.csv");
    struct ss_whole_file file;
    if (!path || fflush(experiment->stream) != 0)
        return ss_error_memory(error);
    if (ss_whole_file_begin(&file, path, error) < 0)
        return -1;
    fputs(columns, file.stream);
    fwrite(experiment->rows, 1, experiment->size, file.stream);
    return ss_whole_file_end(&file, path, error);
}

int experiment_finish_pair(struct experiment *experiment, const struct experiment_row rows[2],
    const char *name, struct ss_error *error) {
    for (int i = 0; i < 2; i++)
        put_row(experiment->stream, &rows[i], name);
    return write_manifest(experiment, error);
}

void experiment_drop_pair(const struct experiment *experiment, const char *name) {
    char path[NAME_MAX + 8];
    if (snprintf(path, sizeof path, "runs/%s", name) < (int)sizeof path)
        unlinkat(experiment->folder, path, AT_REMOVEDIR);
}

void experiment_close(struct experiment *experiment) {
    if (experiment->stream)
        fclose(experiment->stream);
    if (experiment->stream && experiment->size == 0 && experiment->folder >= 0 &&
        unlinkat(experiment->folder, "runs", AT_REMOVEDIR) == 0)
        ss_walk_remove_folder(experiment->folder, experiment->path);
    if (experiment->stream && experiment->folder >= 0)
        close(experiment->folder);
    free(experiment->rows);
    *experiment = (struct experiment){0};
}
