/* SPDX-License-Identifier: Apache-2.0 */
#include "published_ratios.h"

#include <math.h>

#include "csv.h"

#define TEXTS 3 /* columns that are no numbers */

const struct ssreport_column ssprofile_published_columns[11] = {{"base", "Base"},
    {"target", "Target"}, {"limits", "Limits"}, {"benchmarks", "Benchmarks", 0},
    {"least", "Least", 2}, {"most", "Most", 2}, {"length", "Length", 2}, {"median", "Median", 2},
    {"mean", "Mean", 2}, {"applications", "Applications", 0}, {"inside", "Inside", 0}};

static bool take_row(void *context, const struct sstrace_field *fields) {
    struct ssreport_sheet *sheet = context;
    double numbers[11];
    for (size_t i = TEXTS; i < sheet->column_count; i++) {
        /* An empty one was not published. */
        numbers[i] = NAN;
        if (fields[i].length > 0 && !ssreport_csv_number(&fields[i], &numbers[i]))
            return false;
    }
    for (size_t i = 0; i < TEXTS; i++) {
        char text[64];
        snprintf(text, sizeof text, "%.*s", (int)(fields[i].length < 63 ? fields[i].length : 63),
            fields[i].text);
        SSREPORT_TEXTS(sheet, text);
    }
    ssreport_sheet_numbers(sheet, numbers + TEXTS, sheet->column_count - TEXTS);
    return true;
}

void ssprofile_published_read(
    struct ssreport_sheet *sheet, const char *folder, struct ssprofile_warnings *warnings) {
    const char *columns[12] = {NULL};
    struct ssreport_notes notes = {0};
    struct ss_error error = {0};
    for (size_t i = 0; i < sheet->column_count; i++)
        columns[i] = sheet->columns[i].name;
    struct ssreport_csv csv = {
        .name = "variability.csv", .columns = columns, .take = take_row, .context = sheet};
    if (ssreport_csv_read(folder, &csv, &notes, &error) < 0)
        ssprofile_warn(warnings, "no published figures: %s/%s", folder, error.message);
    else if (*notes.text)
        ssprofile_warn(warnings, "published figures: %s", notes.text);
}
