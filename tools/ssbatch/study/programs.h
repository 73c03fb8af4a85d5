/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_PROGRAMS_H
#define SSBATCH_PROGRAMS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "plan.h"
#include "sha256.h"

/* A program file as of the time when it was read. */
struct ssbatch_program {
    char *path; /* as found in PATH, or as in the plan; owned */
    char digest[SSBATCH_SHA256_TEXT_SIZE];
    dev_t device;
    ino_t inode;
    int64_t changed; /* time of the last modification, in ns since 1970 */
    off_t size;
};

/* A cache: a file is read again only if it has changed. */
struct ssbatch_programs {
    struct ssbatch_program *items;
    size_t count, room;
};

/* Receives a program, and the word that names it: without a slash, PATH was searched for it. */
typedef void ssbatch_visit_program(
    void *context, const struct ssbatch_program *program, const char *word);

/*
 * Calls `visit` for each program of a run: the first words of its lines, and words that are paths
 * of executable files.
 */
SS_NONNULL(1, 2, 3)
void ssbatch_programs_of_run(struct ssbatch_programs *programs, const struct ssbatch_run *run,
    ssbatch_visit_program *visit, void *context);

/* Calls `visit` for each line whose first word is not a program, unless it has a placeholder. */
SS_NONNULL(1, 2)
void ssbatch_programs_missing(const struct ssbatch_lines *lines,
    void (*visit)(void *context, const struct ssbatch_line *line), void *context);

/* Computes the digest of what identifies a run, apart from its programs. */
SS_MUST_USE SS_NONNULL(1, 2, 3) int ssbatch_identity(const struct ssbatch_plan *plan,
    const struct ssbatch_run *run, char digest[SSBATCH_SHA256_TEXT_SIZE], struct ss_error *error);

SS_NONNULL() void ssbatch_programs_free(struct ssbatch_programs *programs);

#endif
