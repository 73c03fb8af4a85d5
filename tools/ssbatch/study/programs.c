/* SPDX-License-Identifier: Apache-2.0 */
#include "programs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/owned.h"

#define PATH_ROOM 4200

static bool is_program(const char *path, struct stat *status) {
    return stat(path, status) == 0 && S_ISREG(status->st_mode) && access(path, X_OK) == 0;
}

/* Finds a program as execvp() does. */
static bool find_program(const char *word, char path[PATH_ROOM], struct stat *status) {
    const char *folders = getenv("PATH");
    if (strchr(word, '/')) {
        snprintf(path, PATH_ROOM, "%s", word);
        return is_program(path, status);
    }
    while (folders && *folders) {
        size_t length = strcspn(folders, ":");
        snprintf(
            path, PATH_ROOM, "%.*s/%s", length ? (int)length : 1, length ? folders : ".", word);
        if (is_program(path, status))
            return true;
        folders += length + (folders[length] == ':');
    }
    return false;
}

static int64_t time_of(const struct stat *status) {
    return (int64_t)status->st_mtim.tv_sec * 1000000000 + status->st_mtim.tv_nsec;
}

static bool is_same(const struct ssbatch_program *program, const struct stat *status) {
    return program->device == status->st_dev && program->inode == status->st_ino &&
           program->size == status->st_size && program->changed == time_of(status);
}

/* Returns NULL if the program cannot be read; a later change of it then goes unnoticed. */
static const struct ssbatch_program *read_program(
    struct ssbatch_programs *programs, const char *path, const struct stat *status) {
    for (size_t i = 0; i < programs->count; i++) {
        if (is_same(&programs->items[i], status) && strcmp(programs->items[i].path, path) == 0)
            return &programs->items[i];
    }
    struct ssbatch_program program = {
        .device = status->st_dev,
        .inode = status->st_ino,
        .changed = time_of(status),
        .size = status->st_size,
    };
    if (ssbatch_sha256_of_file(path, program.digest) < 0 ||
        !SS_GROW(programs->items, programs->count + 1, programs->room))
        return NULL;
    program.path = strdup(path);
    if (!program.path)
        return NULL;
    programs->items[programs->count] = program;
    return &programs->items[programs->count++];
}

void ssbatch_programs_of_run(struct ssbatch_programs *programs, const struct ssbatch_run *run,
    ssbatch_see_program *see, void *context) {
    char path[PATH_ROOM];
    struct stat status;
    for (size_t i = 0; i < run->lines.count; i++) {
        char **words = run->lines.items[i].words;
        for (char **word = words; *word; word++) {
            const struct ssbatch_program *program;
            if ((word == words || strchr(*word, '/')) && find_program(*word, path, &status) &&
                (program = read_program(programs, path, &status)))
                see(context, program, *word);
        }
    }
}

void ssbatch_programs_missing(const struct ssbatch_lines *lines,
    void (*see)(void *context, const struct ssbatch_line *line), void *context) {
    char path[PATH_ROOM];
    struct stat status;
    for (size_t i = 0; i < lines->count; i++) {
        const struct ssbatch_line *line = &lines->items[i];
        if (!strchr(line->words[0], '{') && !find_program(line->words[0], path, &status))
            see(context, line);
    }
}

int ssbatch_identity(const struct ssbatch_plan *plan, const struct ssbatch_run *run,
    char digest[SSBATCH_SHA256_TEXT], struct ss_error *error) {
    struct ssbatch_sha256 hash;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        return ss_error_memory(error);
    ssbatch_plan_print_identity(stream, plan, run);
    if (fclose(stream) == EOF) {
        free(text);
        return ss_error_memory(error);
    }
    ssbatch_sha256_begin(&hash);
    ssbatch_sha256_add(&hash, text, size);
    ssbatch_sha256_end(&hash, digest);
    free(text);
    return 0;
}

void ssbatch_programs_free(struct ssbatch_programs *programs) {
    for (size_t i = 0; i < programs->count; i++)
        free(programs->items[i].path);
    free(programs->items);
    *programs = (struct ssbatch_programs){0};
}
