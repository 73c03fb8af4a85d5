/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_IMPORT_JSON_H
#define SSTRACE_IMPORT_JSON_H

/* Helpers for importers of JSON. */

#include "import.h"
#include "json_stream.h"

/* A position in the input, for messages that come later. */
struct sstrace_json_mark {
    uint64_t line;
    size_t column;
};

static inline struct sstrace_json_mark sstrace_json_mark(struct sstrace_json *json) {
    size_t column = sstrace_json_spot(json);
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
