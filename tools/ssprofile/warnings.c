/* SPDX-License-Identifier: Apache-2.0 */
#include "warnings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "ssreport/csv.h"

void ssprofile_warn(struct ssprofile_warnings *warnings, const char *format, ...) {
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0 || !ssreport_csv_make_room((void **)&warnings->items, warnings->count,
                          &warnings->capacity, sizeof *warnings->items)) {
        warnings->failed = true;
        if (length >= 0)
            free(text);
        return;
    }
    for (char *at = text; *at; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    }
    warnings->items[warnings->count++] = text;
}

void ssprofile_warnings_tell(const struct ssprofile_warnings *warnings) {
    for (size_t i = 0; i < warnings->count; i++)
        fprintf(stderr, "ssprofile: warning: %s\n", warnings->items[i]);
    if (warnings->failed)
        fprintf(stderr, "ssprofile: warning: out of memory: warnings are missing here\n");
}

void ssprofile_warnings_free(struct ssprofile_warnings *warnings) {
    for (size_t i = 0; i < warnings->count; i++)
        free(warnings->items[i]);
    free(warnings->items);
    *warnings = (struct ssprofile_warnings){0};
}
