/* SPDX-License-Identifier: Apache-2.0 */
#include "programs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/owned.h"
#include "text_stream.h"

static bool is_program(const char *path, struct stat *status) {
    return stat(path, status) == 0 && S_ISREG(status->st_mode) && access(path, X_OK) == 0;
}

/* Returns the path at which execvp() finds a program, or NULL; free() it. */
static char *find_program(const char *word, struct stat *status) {
    const char *folders = strchr(word, '/') ? NULL : getenv("PATH");
    char *path = strdup(word);
    if (strchr(word, '/') && path && is_program(path, status))
        return path;

    while (folders && *folders) {
        size_t length = strcspn(folders, ":");
        free(path);
        if (asprintf(&path, "%.*s/%s", length ? (int)length : 1, length ? folders : ".", word) < 0)
            return NULL;
        if (is_program(path, status))
            return path;
        folders += length + (folders[length] == ':');
    }
    free(path);
    return NULL;
}

/*
 * Returns NULL if the program cannot be read; a later change of it then goes unnoticed. Takes
 * ownership of the path.
 */
static const struct ssbatch_program *read_program(
    struct ssbatch_programs *programs, char *path, const struct stat *status) {
    struct ssbatch_program read = {
        .path = path,
        .device = status->st_dev,
        .inode = status->st_ino,
        .changed = (int64_t)status->st_mtim.tv_sec * 1000000000 + status->st_mtim.tv_nsec,
        .size = status->st_size,
    };

    for (size_t i = 0; i < programs->count; i++) {
        const struct ssbatch_program *known = &programs->items[i];
        if (known->device == read.device && known->inode == read.inode &&
            known->size == read.size && known->changed == read.changed &&
            strcmp(known->path, path) == 0) {
            free(path);
            return known;
        }
    }

    if (ssbatch_sha256_of_file(path, read.digest) < 0 ||
        !SS_GROW(programs->items, programs->count + 1, programs->room)) {
        free(path);
        return NULL;
    }

    programs->items[programs->count] = read;
    return &programs->items[programs->count++];
}

void ssbatch_programs_of_run(struct ssbatch_programs *programs, const struct ssbatch_run *run,
    ssbatch_visit_program *visit, void *context) {
    for (size_t i = 0; i < run->lines.count; i++) {
        char **words = run->lines.items[i].words;
        for (char **word = words; *word; word++) {
            struct stat status;
            char *path = word == words || strchr(*word, '/') ? find_program(*word, &status) : NULL;
            const struct ssbatch_program *program =
                path ? read_program(programs, path, &status) : NULL;
            if (program)
                visit(context, program, *word);
        }
    }
}

void ssbatch_programs_missing(const struct ssbatch_lines *lines,
    void (*visit)(void *context, const struct ssbatch_line *line), void *context) {
    struct stat status;
    for (size_t i = 0; i < lines->count; i++) {
        const struct ssbatch_line *line = &lines->items[i];
        SS_OWNED(free) char *path = find_program(line->words[0], &status);
        if (!path && !strchr(line->words[0], '{'))
            visit(context, line);
    }
}

int ssbatch_identity(const struct ssbatch_plan *plan, const struct ssbatch_run *run,
    char digest[SSBATCH_SHA256_TEXT_SIZE], struct ss_error *error) {
    struct ssbatch_sha256 hash;
    struct ss_text text;
    if (ss_text_open(&text, error) < 0)
        return -1;

    ssbatch_plan_print_identity(text.stream, plan, run);
    SS_OWNED(free) char *identity = ss_text_close(&text, error);
    if (!identity)
        return -1;

    ssbatch_sha256_begin(&hash);
    ssbatch_sha256_add(&hash, identity, strlen(identity));
    ssbatch_sha256_end(&hash, digest);
    return 0;
}

void ssbatch_programs_free(struct ssbatch_programs *programs) {
    for (size_t i = 0; i < programs->count; i++)
        free(programs->items[i].path);
    free(programs->items);
    *programs = (struct ssbatch_programs){0};
}
