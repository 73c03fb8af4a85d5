/* SPDX-License-Identifier: Apache-2.0 */
#include "json_document.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/input_file.h"
#include "base/owned.h"
#include "base/version.h"
#include "base/words.h"

#define DOCUMENT_MAX ((size_t)16 << 20)

/* Reads the whole stream. Returns NULL if it cannot be read or is too long. */
static char *read_stream(FILE *stream) {
    char *text = NULL;
    size_t used = 0, room = 0, length = 1;
    while (length > 0 && used < DOCUMENT_MAX && SS_GROW(text, used + 65536, room)) {
        length = fread(text + used, 1, room - 1 - used, stream);
        used += length;
    }

    if (length > 0 || ferror(stream)) {
        free(text);
        return NULL;
    }
    text[used] = '\0';
    return text;
}

struct json_object *document_parse(const char *text, char *why, size_t size) {
    struct json_tokener *tokener = json_tokener_new();
    *why = '\0';
    if (!tokener)
        return NULL;

    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    /* Parse the final 0, too: without it, a number at the end would be incomplete. */
    struct json_object *value = json_tokener_parse_ex(tokener, text, (int)strlen(text) + 1);
    enum json_tokener_error error = json_tokener_get_error(tokener);

    if (!value) {
        const char *what = json_tokener_error_desc(error);
        size_t line = 1, end = json_tokener_get_parse_end(tokener);
        for (size_t i = 0; i < end; i++)
            line += text[i] == '\n';

        if (error == json_tokener_success)
            what = "no value";
        if (error == json_tokener_continue)
            what = "unexpected end";
        snprintf(why, size, "line %zu: %s", line, what);
    }

    json_tokener_free(tokener);
    return value;
}

struct json_object *document_parse_stream(FILE *stream, char *why, size_t size) {
    SS_OWNED(free) char *text = read_stream(stream);
    snprintf(why, size, "the file is unreadable, or larger than 16 MiB");
    return text ? document_parse(text, why, size) : NULL;
}

struct json_object *document_read(
    const char *folder, const char *name, const char *hint, struct ss_error *error) {
    char why[256];
    struct ss_error unreadable = {0};
    SS_OWNED(free) char *path = ss_words_format(error, "%s/%s", folder, name);
    if (!path)
        return NULL;

    SS_OWNED(fclose) FILE *stream = ss_input_stream(AT_FDCWD, path, DOCUMENT_MAX, &unreadable);
    if (!stream) {
        bool is_missing = errno == ENOENT || errno == ENOTDIR;
        ss_error_fail(error, "%s%s%s", unreadable.message, is_missing && *hint ? ": " : "",
            is_missing ? hint : "");
        return NULL;
    }

    struct json_object *value = document_parse_stream(stream, why, sizeof why);
    if (!value)
        ss_error_fail(error, "%s: invalid JSON: %s", path, why);
    return value;
}

struct json_object *document_get(
    const struct json_object *object, const char *name, enum json_type type) {
    struct json_object *value;
    if (!object || !json_object_object_get_ex(object, name, &value))
        return NULL;
    return json_object_is_type(value, type) ? value : NULL;
}

const char *document_as_text(struct json_object *value) {
    return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
}

const char *document_text(const struct json_object *object, const char *name) {
    return document_as_text(document_get(object, name, json_type_string));
}

double document_number(const struct json_object *object, const char *name) {
    struct json_object *value = document_get(object, name, json_type_double);
    if (!value)
        value = document_get(object, name, json_type_int);
    double number = value ? json_object_get_double(value) : NAN;
    return isfinite(number) ? number : NAN;
}

int document_check_record(const struct json_object *document, struct ss_error *error) {
    const char *version = document_text(document, "version");
    double schema = document_number(document, "schema");
    if (!(schema > SS_RECORD_SCHEMA))
        return 0;
    return ss_error_fail(error,
        "the record has schema %g, and this version, %s, reads schemas up to %d: use version %s, "
        "which wrote it, or a later one",
        schema, ss_version(), SS_RECORD_SCHEMA, version ? ss_words_show(version).text : "?");
}
