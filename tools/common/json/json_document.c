/* SPDX-License-Identifier: Apache-2.0 */
#include "json_document.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/owned.h"

#define SIZE_MAX_READ ((size_t)16 << 20)

/* All of a stream; NULL: it cannot be read, or is too long to be what it should be. */
static char *read_stream(FILE *stream) {
    char *text = NULL;
    size_t used = 0, size = 0;
    do {
        size = size ? size * 2 : 65536;
        char *larger = size <= SIZE_MAX_READ ? realloc(text, size) : NULL;
        if (!larger)
            break;
        text = larger;
        used += fread(text + used, 1, size - 1 - used, stream);
    } while (used == size - 1);
    if (!text || used == size - 1 || ferror(stream)) {
        free(text);
        return NULL;
    }
    text[used] = '\0';
    return text;
}

yajl_val ssreplay_document_parse(FILE *stream, char *why, size_t size) {
    SS_OWNED(free) char *text = read_stream(stream);
    return text ? yajl_tree_parse(text, why, size) : NULL;
}

yajl_val ssreplay_document_read(
    const char *folder, const char *name, const char *missing, struct ss_error *error) {
    char path[4200], why[256] = "";
    snprintf(path, sizeof path, "%.4000s/%s", folder, name);
    SS_OWNED(fclose) FILE *stream = fopen(path, "re");
    if (!stream) {
        ss_error_fail(error, "%s: %s%s%s", path, strerror(errno), *missing ? ": " : "", missing);
        return NULL;
    }
    yajl_val value = ssreplay_document_parse(stream, why, sizeof why);
    if (!value)
        ss_error_fail(error, "%s is no JSON: %s", path, why);
    return value;
}

yajl_val ssreplay_document_get(yajl_val object, const char *name, yajl_type type) {
    const char *path[] = {name, NULL};
    return object ? yajl_tree_get(object, path, type) : NULL;
}

const char *ssreplay_document_text(yajl_val object, const char *name) {
    yajl_val value = ssreplay_document_get(object, name, yajl_t_string);
    return value ? YAJL_GET_STRING(value) : NULL;
}

double ssreplay_document_number(yajl_val object, const char *name) {
    yajl_val value = ssreplay_document_get(object, name, yajl_t_number);
    return value && YAJL_IS_DOUBLE(value) ? YAJL_GET_DOUBLE(value) : NAN;
}
