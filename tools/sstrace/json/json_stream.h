/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_JSON_STREAM_H
#define SSTRACE_JSON_STREAM_H

/*
 * Reads JSON of any length in constant memory: an importer names the paths that matter to it and is
 * called back with the values found there.
 */

#include <showstopper/contract.h>

#include "input.h"

#define SSTRACE_JSON_DEPTH 64
#define SSTRACE_JSON_TEXT  1024 /* longer texts and keys, with their 0, are cut */

enum sstrace_json_kind {
    SSTRACE_JSON_NULL,
    SSTRACE_JSON_BOOLEAN,
    SSTRACE_JSON_NUMBER,
    SSTRACE_JSON_TEXT_VALUE,
    SSTRACE_JSON_LIST,
    SSTRACE_JSON_OBJECT,
    SSTRACE_JSON_END, /* of a list or an object */
};

/*
 * A list or an object, by the one in which it stands: an index into the same table, -1 for the
 * outermost. `name` is its key there, "[]" in a list. What else stands at a place, but null, is
 * refused. The table ends with a `name` of NULL.
 */
struct sstrace_json_place {
    int parent;
    const char *name;
    enum sstrace_json_kind kind;
};

/* A value inside a place of the table; values elsewhere are skipped. */
struct sstrace_json_event {
    enum sstrace_json_kind kind;
    int place;        /* in which it stands; at END: the one that ends */
    int opens;        /* LIST and OBJECT: its own place; -1: not in the table */
    const char *key;  /* "" in a list */
    uint64_t index;   /* so many stand before it in the same list or object */
    const char *text; /* of a TEXT_VALUE or as a NUMBER is written, with a final 0 */
    size_t length;    /* of `text` */
    bool cut;         /* `text` is only the beginning */
    double number;    /* 0 for other kinds; infinite if it is too large */
};

struct sstrace_json {
    struct sstrace_input *input;
    const struct sstrace_json_place *places;
    /* Not 0: that was all; the input's error is set. */
    int (*take)(struct sstrace_json *json, const struct sstrace_json_event *event);
    void *context;
    bool several;   /* more than one value, as in JSON Lines */
    bool may_break; /* the text may end anywhere: then `broken` is set, and nothing is refused */
    bool broken;

    /* The rest is its own. */
    struct {
        int place;
        bool list;
        uint64_t count;
    } levels[SSTRACE_JSON_DEPTH];
    int depth;
    char key[SSTRACE_JSON_TEXT], text[SSTRACE_JSON_TEXT];
    void *parser;
    const unsigned char *chunk;
    size_t counted;  /* bytes of the chunk up to where the next two hold */
    uint64_t line;   /* from 1 */
    uint64_t column; /* bytes before in this line */
    size_t token;    /* bytes of what was read last, as far as is known */
    uint64_t quiet;  /* bytes read since there was an event */
};

/* Zeroed before, but the first fields. 0 or -1 with the input's error set, status 2. */
SS_NONNULL()
int sstrace_json_read(struct sstrace_json *json);

/* Where what was read last stands: the column, from 1; the line goes into the input. */
SS_NONNULL()
size_t sstrace_json_spot(struct sstrace_json *json);

/* sstrace_input_blame() at that spot. Always returns -1. */
__attribute__((format(printf, 2, 3))) int sstrace_json_blame(
    struct sstrace_json *json, const char *format, ...);

/* Refuses what is not of that kind: "'KEY' must be a number, but it is a list". */
SS_NONNULL()
int sstrace_json_expect(
    struct sstrace_json *json, const struct sstrace_json_event *event, enum sstrace_json_kind kind);

/* Refuses values that are not finite numbers. */
SS_NONNULL()
int sstrace_json_expect_finite(struct sstrace_json *json, const struct sstrace_json_event *event);

#endif
