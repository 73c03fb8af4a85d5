/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_FORMS_H
#define SSPROFILE_FORMS_H

/* The forms in which sheets are given out. */

#include <stddef.h>
#include <stdio.h>

#include <showstopper/error.h>

#include "ssreport/sheet.h"

/* As text, in columns. */
void ssprofile_print_text(FILE *stream, const struct ssreport_sheet *sheet);

/*
 * Writes into a folder, which is made: a CSV file for each sheet that has rows, NAME.json with all
 * of them and NAME.html. `notes` are lines for the page.
 */
struct ssprofile_output {
    const char *folder;
    const char *name; /* "compare" */
    const char *title;
    struct ssreport_sheet *sheets;
    size_t count;
    char *const *notes;
    size_t note_count;
};

int ssprofile_write(const struct ssprofile_output *output, struct ss_error *error);

#endif
