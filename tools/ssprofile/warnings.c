/* SPDX-License-Identifier: Apache-2.0 */
#include "warnings.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/*
 * Returns the index of the kind with this format, and adds it if it is new; SIZE_MAX if memory is
 * exhausted.
 */
static size_t find_kind(struct ssprofile_warnings *warnings, const char *format) {
    for (size_t i = 0; i < warnings->kind_count; i++) {
        if (warnings->kinds[i].format == format)
            return i;
    }
    if (!SS_GROW(warnings->kinds, warnings->kind_count + 1, warnings->kind_capacity)) {
        warnings->failed = true;
        return SIZE_MAX;
    }
    warnings->kinds[warnings->kind_count] = (struct ssprofile_warning_kind){.format = format};
    return warnings->kind_count++;
}

/* Adds a warning and takes ownership of its text, which is NULL if memory is exhausted. */
static void add_item(struct ssprofile_warnings *warnings, size_t kind, char *text) {
    if (!text || kind == SIZE_MAX ||
        !SS_GROW(warnings->items, warnings->count + 1, warnings->capacity)) {
        warnings->failed = true;
        free(text);
        return;
    }
    for (char *at = text; *at; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    }
    warnings->items[warnings->count++] = (struct ssprofile_warning){text, kind};
}

void ssprofile_warn(struct ssprofile_warnings *warnings, const char *format, ...) {
    char *text = NULL;
    size_t kind = find_kind(warnings, format);
    if (kind == SIZE_MAX || warnings->kinds[kind].count++ >= SSPROFILE_WARNINGS_KEPT)
        return;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    add_item(warnings, kind, text);
}

struct ssprofile_warnings ssprofile_warnings_shorten(
    const struct ssprofile_warnings *warnings, size_t most) {
    struct ssprofile_warnings shown = {.failed = warnings->failed};
    for (size_t i = 0; i < warnings->count && !shown.failed; i++) {
        const struct ssprofile_warning_kind *kind = &warnings->kinds[warnings->items[i].kind];
        size_t own = find_kind(&shown, kind->format);
        size_t count = own == SIZE_MAX ? 0 : ++shown.kinds[own].count;
        char *more = NULL;
        if (count <= most)
            add_item(&shown, own, strdup(warnings->items[i].text));
        if (count == most && kind->count > most)
            add_item(&shown, own,
                asprintf(&more, "... and %zu more like it", kind->count - most) < 0 ? NULL : more);
    }
    return shown;
}

void ssprofile_warnings_print(const struct ssprofile_warnings *warnings) {
    struct ssprofile_warnings shown =
        ssprofile_warnings_shorten(warnings, SSPROFILE_WARNINGS_SHOWN);
    for (size_t i = 0; i < shown.count; i++)
        fprintf(stderr, "ssprofile: warning: %s\n", shown.items[i].text);
    if (shown.failed)
        fprintf(stderr, "ssprofile: warning: out of memory: some warnings are missing\n");
    ssprofile_warnings_free(&shown);
}

void ssprofile_warnings_free(struct ssprofile_warnings *warnings) {
    for (size_t i = 0; i < warnings->count; i++)
        free(warnings->items[i].text);
    free(warnings->items);
    free(warnings->kinds);
    *warnings = (struct ssprofile_warnings){0};
}
