/* SPDX-License-Identifier: Apache-2.0 */
#include "json_stream.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "base/words.h"
#include "fields.h"

#define CHUNK ((size_t)1 << 16)

/* The parser keeps an incomplete text in memory; this limits its length in bytes. */
#define INCOMPLETE_MAX ((uint64_t)1 << 20)

static const char *const kind_names[] = {
    [SSTRACE_JSON_NULL] = "null",
    [SSTRACE_JSON_BOOLEAN] = "true or false",
    [SSTRACE_JSON_NUMBER] = "a number",
    [SSTRACE_JSON_TEXT_VALUE] = "a string",
    [SSTRACE_JSON_LIST] = "a list",
    [SSTRACE_JSON_OBJECT] = "an object",
    [SSTRACE_JSON_END] = "an end",
};

/* Counts lines and columns up to a byte of the chunk. */
static void count_to(struct sstrace_json *json, size_t to) {
    while (json->counted < to) {
        const unsigned char *from = json->chunk + json->counted;
        const unsigned char *end = memchr(from, '\n', to - json->counted);
        if (!end) {
            json->column += to - json->counted;
            json->counted = to;
            return;
        }
        json->counted += (size_t)(end - from) + 1;
        json->line++;
        json->column = 0;
    }
}

size_t sstrace_json_locate(struct sstrace_json *json) {
    if (json->chunk)
        count_to(json, yajl_get_bytes_consumed(json->parser));
    json->input->line = json->line;
    return json->column >= json->token ? json->column - json->token + 1 : 1;
}

int sstrace_json_blame(struct sstrace_json *json, const char *format, ...) {
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return text_input_blame(json->input, sstrace_json_locate(json), "%s", message);
}

static int refuse_kind(struct sstrace_json *json, const char *key, enum sstrace_json_kind kind,
    enum sstrace_json_kind expected) {
    if (*key)
        return sstrace_json_blame(json, "'%s' must be %s, but it is %s", ss_words_show(key).text,
            kind_names[expected], kind_names[kind]);
    return sstrace_json_blame(json, "expected %s, not %s", kind_names[expected], kind_names[kind]);
}

int sstrace_json_expect(struct sstrace_json *json, const struct sstrace_json_event *event,
    enum sstrace_json_kind kind) {
    return event->kind == kind ? 0 : refuse_kind(json, event->key, event->kind, kind);
}

/* Returns the index of a member's place in the table; -1 if absent. */
static int find_place(const struct sstrace_json *json, int parent, const char *name) {
    for (int i = 0; json->places[i].name; i++) {
        if (json->places[i].parent == parent && strcmp(json->places[i].name, name) == 0)
            return i;
    }
    return -1;
}

/* Finds the place of a value that begins here. Returns whether the importer needs the value. */
static bool enter(struct sstrace_json *json, struct sstrace_json_event *event) {
    json->bytes_since_event = 0;
    event->opens = event->place = -1;
    event->key = "";

    if (json->depth == 0) {
        event->opens = find_place(json, -1, "");
        return true;
    }

    int at = json->depth - 1;
    event->place = json->levels[at].place;
    event->index = json->levels[at].count++;
    if (event->place < 0)
        return false;

    if (!json->levels[at].list)
        event->key = json->key;
    event->opens = find_place(json, event->place, json->levels[at].list ? "[]" : json->key);
    return true;
}

static int report(struct sstrace_json *json, struct sstrace_json_event *event, size_t token) {
    json->token = token;
    if (!enter(json, event))
        return 1;

    if (event->opens >= 0 && event->kind != SSTRACE_JSON_NULL &&
        json->places[event->opens].kind != event->kind)
        return refuse_kind(json, event->key, event->kind, json->places[event->opens].kind) == 0;
    return event->place < 0 || json->take(json, event) == 0;
}

static int on_null(void *context) {
    struct sstrace_json_event event = {.kind = SSTRACE_JSON_NULL};
    return report(context, &event, 4);
}

static int on_boolean(void *context, int value) {
    struct sstrace_json_event event = {.kind = SSTRACE_JSON_BOOLEAN, .number = value};
    return report(context, &event, value ? 4 : 5);
}

/* Copies a text and replaces NUL bytes, which would end it. Returns whether it was truncated. */
static bool copy(char to[SSTRACE_JSON_TEXT_SIZE], const void *from, size_t *length) {
    bool is_truncated = *length >= SSTRACE_JSON_TEXT_SIZE;
    if (is_truncated)
        *length = SSTRACE_JSON_TEXT_SIZE - 1;
    memcpy(to, from, *length);
    to[*length] = '\0';
    for (char *zero = to; (zero = memchr(zero, '\0', *length - (size_t)(zero - to)));)
        *zero = '?';
    return is_truncated;
}

/* Reports a scalar with text; `quotes` is the number of bytes around it. */
static int report_text(struct sstrace_json *json, enum sstrace_json_kind kind, const void *text,
    size_t length, size_t quotes) {
    struct sstrace_json_event event = {.kind = kind, .text = json->text, .length = length};
    event.is_truncated = copy(json->text, text, &event.length);
    struct text_field field = {.text = json->text, .length = event.length};

    if (kind == SSTRACE_JSON_NUMBER &&
        (event.is_truncated || !text_field_number(&field, false, &event.number)))
        event.number = INFINITY;
    return report(json, &event, length + quotes);
}

static int on_number(void *context, const char *text, size_t length) {
    return report_text(context, SSTRACE_JSON_NUMBER, text, length, 0);
}

static int on_text(void *context, const unsigned char *text, size_t length) {
    return report_text(context, SSTRACE_JSON_TEXT_VALUE, text, length, 2);
}

static int on_key(void *context, const unsigned char *text, size_t length) {
    struct sstrace_json *json = context;
    json->bytes_since_event = 0;
    json->token = length + 2;
    if (json->levels[json->depth - 1].place >= 0)
        copy(json->key, text, &length);
    return 1;
}

static int begin(struct sstrace_json *json, enum sstrace_json_kind kind) {
    struct sstrace_json_event event = {.kind = kind};
    if (!report(json, &event, 1))
        return 0;

    if (json->depth == SSTRACE_JSON_DEPTH)
        return sstrace_json_blame(json, "lists and objects are nested too deeply (at most %d)",
                   SSTRACE_JSON_DEPTH) == 0;

    json->levels[json->depth].place = event.opens;
    json->levels[json->depth].list = kind == SSTRACE_JSON_LIST;
    json->levels[json->depth].count = 0;
    json->depth++;
    return 1;
}

static int on_object(void *context) {
    return begin(context, SSTRACE_JSON_OBJECT);
}

static int on_list(void *context) {
    return begin(context, SSTRACE_JSON_LIST);
}

static int on_end(void *context) {
    struct sstrace_json *json = context;
    json->bytes_since_event = 0;
    json->token = 1;
    json->depth--;
    struct sstrace_json_event event = {
        .kind = SSTRACE_JSON_END, .place = json->levels[json->depth].place, .opens = -1, .key = ""};
    return event.place < 0 || json->take(json, &event) == 0;
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_text,
    .yajl_start_map = on_object,
    .yajl_map_key = on_key,
    .yajl_end_map = on_end,
    .yajl_start_array = on_list,
    .yajl_end_array = on_end,
};

/* Sets the error to the message of the parser, without its prefix and suffix. */
static int refuse_text(struct sstrace_json *json) {
    unsigned char *words = yajl_get_error(json->parser, 0, json->chunk, 0);
    char *text = words ? (char *)words : (char[]){""};
    text[strcspn(text, "\n")] = '\0';

    char *colon = strstr(text, ": ");
    json->token = 1;
    sstrace_json_blame(json, "invalid JSON: %s", colon ? colon + 2 : text);

    if (words)
        yajl_free_error(json->parser, words);
    return -1;
}

/* Checks the end of the input. */
static int finish(struct sstrace_json *json, bool any) {
    json->chunk = NULL;

    yajl_status status = yajl_complete_parse(json->parser);
    if (status == yajl_status_client_canceled)
        return -1;
    if (status == yajl_status_ok)
        return 0;

    json->token = 0;
    if (any && json->may_break) {
        json->broken = true;
        return 0;
    }

    return sstrace_json_blame(json, any ? "unexpected end of file: the JSON is incomplete"
                                        : "expected JSON, but the input is empty");
}

static int feed(struct sstrace_json *json, const unsigned char *chunk, size_t length) {
    json->chunk = chunk;
    json->counted = 0;
    json->bytes_since_event += length;

    yajl_status status = yajl_parse(json->parser, chunk, length);
    if (status == yajl_status_error)
        return refuse_text(json);
    if (status != yajl_status_ok)
        return -1;

    count_to(json, length);
    json->token = 0;
    if (json->bytes_since_event > INCOMPLETE_MAX)
        return sstrace_json_blame(json, "a string or white space is longer than %llu bytes",
            (unsigned long long)INCOMPLETE_MAX);
    return 0;
}

static int read_all(struct sstrace_json *json, unsigned char chunk[CHUNK]) {
    struct text_input *input = json->input;
    bool any = false;
    for (size_t length; (length = fread(chunk, 1, CHUNK, input->stream)) > 0;) {
        chunk[length] = '\0';
        any = any || strspn((char *)chunk, " \t\r\n") < length;
        if (feed(json, chunk, length) != 0)
            return -1;
    }

    if (ferror(input->stream))
        return ss_error_fail(
            input->error, "cannot read %s: %s", ss_words_show(input->name).text, strerror(errno));
    return finish(json, any);
}

int sstrace_json_read(struct sstrace_json *json) {
    unsigned char *chunk = malloc(CHUNK + 1);
    json->parser = yajl_alloc(&callbacks, NULL, json);
    json->line = 1;

    int result = -1;
    if (chunk && json->parser) {
        yajl_config(json->parser, yajl_allow_multiple_values, (int)json->allows_several);
        result = read_all(json, chunk);
    } else
        ss_error_memory(json->input->error);

    if (json->parser)
        yajl_free(json->parser);
    free(chunk);
    return result;
}
