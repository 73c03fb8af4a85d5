/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEXT_RECORD_WARNINGS_H
#define TEXT_RECORD_WARNINGS_H

#include <stdio.h>
#include <string.h>

/* Warnings about a record, on one line: "a; b". Drops warnings that do not fit. */
struct ssreport_notes {
    char text[1024];
};

__attribute__((format(printf, 2, 3))) void ssreport_notes_add(
    struct ssreport_notes *notes, const char *format, ...);

#endif
