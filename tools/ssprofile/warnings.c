/* SPDX-License-Identifier: Apache-2.0 */
#include "warnings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"

/* SIZE_MAX: memory is short. */
static size_t find_kind(struct ssprofile_warnings *warnings, const char *format) {
    for (size_t i = 0; i < warnings->kind_count; i++) {
        if (warnings->kinds[i].format == format)
            return i;
    }
    if (!ssreport_csv_make_room((void **)&warnings->kinds, warnings->kind_count,
            &warnings->kind_capacity, sizeof *warnings->kinds)) {
        warnings->failed = true;
        return SIZE_MAX;
    }
    warnings->kinds[warnings->kind_count] = (struct ssprofile_warning_kind){.format = format};
    return warnings->kind_count++;
}

/* Takes the text over. */
static void add(struct ssprofile_warnings *warnings, size_t kind, char *text) {
    if (!text ||
        !ssreport_csv_make_room((void **)&warnings->items, warnings->count, &warnings->capacity,
            sizeof *warnings->items) ||
        !ssreport_csv_make_room((void **)&warnings->kinds_of, warnings->count,
            &warnings->kinds_of_capacity, sizeof *warnings->kinds_of)) {
        warnings->failed = true;
        free(text);
        return;
    }
    for (char *at = text; *at; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    }
    warnings->kinds_of[warnings->count] = kind;
    warnings->items[warnings->count++] = text;
}

static char *say_more(size_t count) {
    char *text = NULL;
    return asprintf(&text, "... and %zu more like it", count) < 0 ? NULL : text;
}

/* One more that is not kept: the item that counts them says so. */
static void leave(struct ssprofile_warnings *warnings, size_t kind_number) {
    struct ssprofile_warning_kind *kind = &warnings->kinds[kind_number];
    char *text = say_more(++kind->left);
    if (kind->left == 1) {
        kind->item = warnings->count;
        add(warnings, kind_number, text);
    } else if (text && !warnings->failed) {
        free(warnings->items[kind->item]);
        warnings->items[kind->item] = text;
    } else {
        free(text);
    }
}

void ssprofile_warn(struct ssprofile_warnings *warnings, const char *format, ...) {
    char *text = NULL;
    size_t kind = find_kind(warnings, format);
    if (kind == SIZE_MAX)
        return;
    if (warnings->kinds[kind].count++ >= SSPROFILE_WARNINGS_KEPT) {
        leave(warnings, kind);
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    add(warnings, kind, text);
}

void ssprofile_warnings_take(
    struct ssprofile_warnings *into, const struct ssprofile_warnings *from) {
    for (size_t i = 0; i < from->kind_count; i++) {
        size_t kind = find_kind(into, from->kinds[i].format);
        if (kind != SIZE_MAX)
            into->kinds[kind].count += from->kinds[i].count;
    }
    for (size_t i = 0; i < from->count && !into->failed; i++)
        add(into, find_kind(into, from->kinds[from->kinds_of[i]].format), strdup(from->items[i]));
    into->failed |= from->failed;
}

struct ssprofile_warnings ssprofile_warnings_shorten(const struct ssprofile_warnings *warnings) {
    struct ssprofile_warnings shown = {.failed = warnings->failed};
    for (size_t i = 0; i < warnings->count; i++) {
        const struct ssprofile_warning_kind *kind = &warnings->kinds[warnings->kinds_of[i]];
        size_t own = find_kind(&shown, kind->format);
        if (own == SIZE_MAX)
            break;
        size_t told = ++shown.kinds[own].count;
        if (told <= SSPROFILE_WARNINGS_TOLD)
            add(&shown, own, strdup(warnings->items[i]));
        if (told == SSPROFILE_WARNINGS_TOLD && kind->count > told)
            add(&shown, own, say_more(kind->count - told));
    }
    return shown;
}

void ssprofile_warnings_tell(const struct ssprofile_warnings *warnings) {
    struct ssprofile_warnings shown = ssprofile_warnings_shorten(warnings);
    for (size_t i = 0; i < shown.count; i++)
        fprintf(stderr, "ssprofile: warning: %s\n", shown.items[i]);
    if (shown.failed)
        fprintf(stderr, "ssprofile: warning: out of memory: warnings are missing here\n");
    ssprofile_warnings_free(&shown);
}

void ssprofile_warnings_free(struct ssprofile_warnings *warnings) {
    for (size_t i = 0; i < warnings->count; i++)
        free(warnings->items[i]);
    free(warnings->items);
    free(warnings->kinds_of);
    free(warnings->kinds);
    *warnings = (struct ssprofile_warnings){0};
}
