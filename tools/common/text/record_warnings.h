/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_NOTES_H
#define SSREPORT_NOTES_H

#include <stdio.h>
#include <string.h>

/* Warnings about a record, on one line: "a; b". Drops warnings that do not fit. */
struct ssreport_notes {
    char text[1024];
};

__attribute__((format(printf, 2, 3))) void ssreport_notes_add(
    struct ssreport_notes *notes, const char *format, ...);

#endif
