/* SPDX-License-Identifier: Apache-2.0 */
#include "warnings.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/owned.h"

/* Counts a warning. Returns how many of its kind there are. */
static size_t count_kind(struct ssprofile_warnings *warnings, const char *format) {
    size_t kind = 0;
    while (kind < SSPROFILE_WARNING_KINDS - 1 && warnings->kinds[kind].format &&
           warnings->kinds[kind].format != format)
        kind++;
    warnings->kinds[kind].format = format;
    return ++warnings->kinds[kind].count;
}

void ssprofile_warn(struct ssprofile_warnings *warnings, const char *format, ...) {
    SS_OWNED(free) char *text = NULL;
    if (count_kind(warnings, format) > SSPROFILE_WARNINGS_MAX || !warnings->stream)
        return;

    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    for (char *at = text; at && *at; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    }
    fprintf(warnings->stream, "ssprofile: warning: %s\n", text ? text : "out of memory");
}

void ssprofile_warnings_end(const struct ssprofile_warnings *warnings) {
    for (size_t i = 0; warnings->stream && i < SSPROFILE_WARNING_KINDS; i++) {
        if (warnings->kinds[i].count > SSPROFILE_WARNINGS_MAX)
            fprintf(warnings->stream, "ssprofile: warning: ... and %zu more like it\n",
                warnings->kinds[i].count - SSPROFILE_WARNINGS_MAX);
    }
}
