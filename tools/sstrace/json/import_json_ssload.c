/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "import_rows.h"
#include "json_stream.h"

/* JSON Lines of ssload and of other load monitors: each object is a row of the table of ssload. */

enum { TOP, PLACES_END };

static const struct sstrace_json_place places[] = {
    [TOP] = {-1, "", SSTRACE_JSON_OBJECT},
    [PLACES_END] = {0},
};

/* The members that are read; `texts` of struct lines has the value of each. */
static const struct member {
    const char *key;
    size_t field;                /* offset in struct sstrace_rows */
    enum sstrace_json_kind kind; /* SSTRACE_JSON_NULL for any number or text */
} members[] = {
    {"elapsed_seconds", offsetof(struct sstrace_rows, time), SSTRACE_JSON_NUMBER},
    {"load", offsetof(struct sstrace_rows, load), SSTRACE_JSON_NUMBER},
    {"time", offsetof(struct sstrace_rows, date), SSTRACE_JSON_NULL},
    {"cpu", offsetof(struct sstrace_rows, series), SSTRACE_JSON_NULL},
};

enum { ELAPSED, LOAD, DATE, CPU, MEMBERS };

struct lines {
    struct sstrace_rows rows;
    char texts[MEMBERS][64];
    bool has[MEMBERS];
    struct sstrace_json_mark mark; /* position of the load */
};

static struct text_field *field_of(struct lines *it, int member) {
    return (struct text_field *)((char *)&it->rows + members[member].field);
}

static int end_object(struct sstrace_json *json) {
    struct lines *it = json->context;
    bool has_cpu = it->has[CPU];

    for (int i = 0; i <= LOAD; i++) {
        if (!it->has[i])
            return sstrace_json_blame(json, "'%s' is missing in this object", members[i].key);
    }
    if (!has_cpu && it->rows.samples->options->select)
        return sstrace_json_blame(json, "'cpu' is missing in this object: remove --select");

    if (!it->has[DATE])
        field_of(it, DATE)->length = 0;
    memset(it->has, 0, sizeof it->has);

    it->rows.has_series = has_cpu;
    json->input->line = it->mark.line;
    return sstrace_rows_take(&it->rows);
}

/* Keeps the value of a member as a field of the row. A missing load is null. */
static int take_member(
    struct sstrace_json *json, const struct sstrace_json_event *event, int member) {
    struct lines *it = json->context;
    bool is_text = event->kind == SSTRACE_JSON_TEXT_VALUE || event->kind == SSTRACE_JSON_NUMBER;
    bool is_missing = member == LOAD && event->kind == SSTRACE_JSON_NULL;
    size_t length = is_text ? event->length : 0;
    if (members[member].kind && !is_missing &&
        sstrace_json_expect(json, event, members[member].kind) != 0)
        return -1;
    if (member == DATE && (!is_text || length >= sizeof it->texts[member]))
        return 0; /* other monitors may lack a date */
    if ((!is_text && !is_missing) || length >= sizeof it->texts[member])
        return sstrace_json_blame(json, "invalid value of '%s'", members[member].key);

    memcpy(it->texts[member], is_text ? event->text : "", length + 1);
    it->has[member] = true;
    struct sstrace_json_mark mark = sstrace_json_mark(json);
    if (member == LOAD)
        it->mark = mark;
    *field_of(it, member) =
        (struct text_field){.text = it->texts[member], .length = length, .column = mark.column};
    return 0;
}

static int take(struct sstrace_json *json, const struct sstrace_json_event *event) {
    if (event->kind == SSTRACE_JSON_END)
        return end_object(json);
    for (int i = 0; i < MEMBERS; i++) {
        if (strcmp(event->key, members[i].key) == 0)
            return take_member(json, event, i);
    }
    return 0;
}

static int import(const struct sstrace_format *format, struct text_input *input,
    struct sstrace_samples *samples) {
    struct lines it = {0};
    struct sstrace_json json = {
        .input = input, .places = places, .take = take, .context = &it, .allows_several = true};
    if (sstrace_rows_open(&it.rows, format->layout, input, samples) != 0)
        return -1;
    for (int i = 0; i < MEMBERS; i++)
        field_of(&it, i)->text = it.texts[i];
    return sstrace_json_read(&json);
}

static bool detect(const char *head) {
    static const char *const names[] = {"\"elapsed_seconds\"", "\"load\"", NULL};
    return sstrace_json_has(head, names);
}

const struct sstrace_format sstrace_format_ssload_json = {
    .name = "ssload-json",
    .summary = "JSON Lines of a load monitor: elapsed_seconds and load in each object",
    .takes = SSTRACE_TAKES_SELECT | SSTRACE_TAKES_EVERY,
    .detect = detect,
    .import = import,
    .layout = &sstrace_layout_ssload,
};
