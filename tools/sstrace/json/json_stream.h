/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_JSON_STREAM_H
#define SSTRACE_JSON_STREAM_H

/*
 * Reads JSON of any length in constant memory. An importer names the paths that it needs, and is
 * called back with the values at these paths.
 */

#include <showstopper/contract.h>

#include "import.h"

#define SSTRACE_JSON_DEPTH 64

/* Size limit of strings and keys, including the NUL; longer ones are truncated. */
#define SSTRACE_JSON_TEXT_SIZE 1024

enum sstrace_json_kind {
    SSTRACE_JSON_NULL,
    SSTRACE_JSON_BOOLEAN,
    SSTRACE_JSON_NUMBER,
    SSTRACE_JSON_TEXT_VALUE,
    SSTRACE_JSON_LIST,
    SSTRACE_JSON_OBJECT,
    SSTRACE_JSON_END, /* the end of a list or an object */
};

/*
 * A list or an object that the importer expects. `parent` is the index of the enclosing one in the
 * same table, or -1 for the outermost; `name` is its key, or "[]" in a list. Any other kind of
 * value at this place, except null, is refused. The table ends with a `name` of NULL.
 */
struct sstrace_json_place {
    int parent;
    const char *name;
    enum sstrace_json_kind kind;
};

/* A value inside of a place of the table. Values elsewhere are skipped. */
struct sstrace_json_event {
    enum sstrace_json_kind kind;
    int place;         /* index of the enclosing place; for END, of the place that ends */
    int opens;         /* for LIST and OBJECT, index of the place that it opens; -1 if not in the
                          table */
    const char *key;   /* "" in a list */
    uint64_t index;    /* index of the value in the list or object */
    const char *text;  /* for TEXT_VALUE, and for NUMBER as written; NUL-terminated */
    size_t length;     /* length of `text` */
    bool is_truncated; /* `text` is truncated */
    double number;     /* for NUMBER, the value, which is infinite if out of range; otherwise 0 */
};

struct sstrace_json {
    struct text_input *input;
    const struct sstrace_json_place *places;
    /*
     * Receives an event. Returns 0; anything else stops the parser, and the input's error must then
     * be set.
     */
    int (*take)(struct sstrace_json *json, const struct sstrace_json_event *event);
    void *context;
    bool allows_several; /* accept several values, as in JSON Lines */
    bool may_break;      /* accept incomplete JSON, and set `broken` */
    bool broken;

    /* Private: */
    struct {
        int place;
        bool list;
        uint64_t count;
    } levels[SSTRACE_JSON_DEPTH];
    int depth;
    char key[SSTRACE_JSON_TEXT_SIZE], text[SSTRACE_JSON_TEXT_SIZE];
    void *parser;
    const unsigned char *chunk;
    size_t counted;             /* bytes of the chunk that `line` and `column` already include */
    uint64_t line;              /* number of the current line, from 1 */
    uint64_t column;            /* number of bytes in the line before the current position */
    size_t token;               /* length of the last token, as far as known */
    uint64_t bytes_since_event; /* number of bytes since the last event */
};

/*
 * Reads all of the input. Set the public members first, and clear the others. Returns 0, or -1 with
 * the input's error set.
 */
SS_NONNULL() int sstrace_json_read(struct sstrace_json *json);

/* Returns the column of the last token, from 1, and sets the input's line. */
SS_NONNULL() size_t sstrace_json_locate(struct sstrace_json *json);

/* Calls text_input_blame() for the last token. Always returns -1. */
__attribute__((format(printf, 2, 3))) int sstrace_json_blame(
    struct sstrace_json *json, const char *format, ...);

/* Fails if the value is of another kind: "'KEY' must be a number, but it is a list". */
SS_NONNULL()
int sstrace_json_expect(
    struct sstrace_json *json, const struct sstrace_json_event *event, enum sstrace_json_kind kind);

/* A position in the input, for messages that come later. */
struct sstrace_json_mark {
    uint64_t line;
    size_t column;
};

static inline struct sstrace_json_mark sstrace_json_mark(struct sstrace_json *json) {
    size_t column = sstrace_json_locate(json);
    return (struct sstrace_json_mark){.line = json->input->line, .column = column};
}

/* Returns whether `head` begins with an object and contains all of the names. */
static inline bool sstrace_json_has(const char *head, const char *const *names) {
    if (head[strspn(head, " \t\r\n")] != '{')
        return false;
    for (; *names; names++) {
        if (!strstr(head, *names))
            return false;
    }
    return true;
}

#endif
