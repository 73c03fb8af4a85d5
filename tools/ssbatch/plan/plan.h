/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBATCH_PLAN_H
#define SSBATCH_PLAN_H

/*
 * The plan of a study, see showstopper-plan(5): its runs, and the commands of each run. A new kind
 * of line is a row of read_words_of_line() in plan_read.c and is printed in plan.c; if it is a
 * command, carry/stage.c carries it out.
 */

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <showstopper/error.h>
#include <showstopper/time.h>

/* Size limits of names, in bytes. */
#define SSBATCH_NAME_MAX 200
#define SSBATCH_ROLE_MAX 60

struct ssbatch_column {
    const char *key, *value;
};

/* Columns, in order, each key once. */
struct ssbatch_columns {
    struct ssbatch_column *items; /* owned; the plan owns the texts */
    size_t count, room;
};

/* Returns the value of a column; NULL if absent. */
SS_MUST_USE SS_NONNULL() const
    char *ssbatch_columns_get(const struct ssbatch_columns *columns, const char *key);

enum ssbatch_kind {
    SSBATCH_ONCE, /* a value of the study, from the output of a command */
    SSBATCH_BEFORE,
    SSBATCH_BESIDE,
    SSBATCH_MAIN,
    SSBATCH_AFTER,
    SSBATCH_KINDS,
};

/* Returns "once", "before" and so on. */
const char *ssbatch_kind_name(enum ssbatch_kind kind);

/* A line with a command. Roles and names of values are unique within the study and each run. */
struct ssbatch_line {
    enum ssbatch_kind kind;
    unsigned number;        /* number of the line in the plan, from 1 */
    const char *role;       /* for `once`, the name of the value, never NULL; otherwise the role,
                               NULL if absent */
    const char *pattern;    /* text of ready= or match=; NULL if absent. match= has a group */
    regex_t *regex;         /* the pattern, compiled; NULL if absent; owned */
    const char *ready_file; /* before replacement; NULL if absent. Only a `beside` has one */
    bool has_ok;            /* ok= was given; otherwise only status 0 means success */
    uint64_t ok[4]; /* a bit for each exit status that means success; 128 + N for signal N */
    struct ssbatch_columns columns; /* columns of this line alone */
    char **words;                   /* before replacement; at least one word; ends with NULL */
};

/* Returns whether this exit status of the command means success. */
SS_NONNULL() bool ssbatch_line_accepts(const struct ssbatch_line *line, int status);

/* Prints all statuses that mean success, such as "0,7". */
SS_NONNULL() void ssbatch_line_print_statuses(const struct ssbatch_line *line, FILE *stream);

struct ssbatch_lines {
    struct ssbatch_line *items; /* owned */
    size_t count, room;
};

/* Returns whether one of the lines is of this kind. */
SS_NONNULL() bool ssbatch_lines_have(const struct ssbatch_lines *lines, enum ssbatch_kind kind);

/* Returns the line of this role or value, or NULL. */
SS_MUST_USE SS_NONNULL() const
    struct ssbatch_line *ssbatch_lines_find(const struct ssbatch_lines *lines, const char *role);

/* Writes a command: its words, each after a blank, quoted as necessary. */
SS_NONNULL() void ssbatch_print_words(FILE *stream, char *const *words);

struct ssbatch_run {
    const char *name;   /* usable as a file name, and unique in the plan */
    unsigned number;    /* number of the line in the plan, from 1 */
    const char *reason; /* why the plan skips the run; NULL if it does not */
    ss_time takes;
    ss_time limit; /* 0: none; never below `takes` */
    bool keep;     /* later attempts reuse the folder of the run */
    bool refused;  /* set by ssbatch_merge() */

    /* Names of values (once) and earlier runs, none of them skipped; the list is owned. */
    const char **needs;
    size_t need_count, need_room;

    struct ssbatch_columns columns; /* columns of `set` and of the run itself */

    /*
     * The lines, in order; at least one `main`, and at most one without a role. Empty if the run is
     * skipped.
     */
    struct ssbatch_lines lines;
};

/* Returns whether the run needs the run or value of this name. */
SS_NONNULL() bool ssbatch_run_needs(const struct ssbatch_run *run, const char *name);

struct ssbatch_plan {
    struct ssbatch_lines study; /* values and lines above the first run, in order; no `main` */
    struct ssbatch_run *runs;   /* owned; in order, including skipped runs */
    size_t run_count, run_room;

    /* Times that were probably meant in minutes: */
    size_t doubt_count;
    char doubt[256]; /* the first of them, with its place; "" if absent */

    /* Private. */
    struct ssbatch_run **by_name; /* sorted by name */
    char ***blocks;               /* the words of each line */
    size_t block_count, block_room;
};

/*
 * Reads a plan up to the end of the stream. Messages begin with "NAME:LINE: ". Returns -1 with the
 * error set. Free the plan even on failure; it need not be initialized. Do not copy the plan,
 * because it points into itself.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3) int ssbatch_plan_read(
    struct ssbatch_plan *plan, FILE *stream, const char *name, struct ss_error *error);

SS_NONNULL() void ssbatch_plan_free(struct ssbatch_plan *plan);

/* Returns the run of this name, or NULL. */
SS_MUST_USE SS_NONNULL() struct ssbatch_run *ssbatch_plan_find(
    const struct ssbatch_plan *plan, const char *name);

/*
 * Write a line, the lines of the study, or those of one run, so that they read back as the same. A
 * run is written with all of its columns, so that it does not depend on `set`.
 */
SS_NONNULL() void ssbatch_plan_print_line(FILE *stream, const struct ssbatch_line *line);
SS_NONNULL() void ssbatch_plan_print_study(FILE *stream, const struct ssbatch_plan *plan);
SS_NONNULL() void ssbatch_plan_print_run(FILE *stream, const struct ssbatch_run *run);

/*
 * Writes the identity of a run: everything except times, `keep`, needed runs and line numbers, with
 * columns sorted by key, and including the values that the run needs or mentions. Two runs with the
 * same identity are the same run.
 */
SS_NONNULL()
void ssbatch_plan_print_identity(
    FILE *stream, const struct ssbatch_plan *plan, const struct ssbatch_run *run);

#endif
