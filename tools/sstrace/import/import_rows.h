/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_IMPORT_ROWS_H
#define SSTRACE_IMPORT_ROWS_H

/* Rows of a known layout, read from a table or from JSON Lines. */

#include <showstopper/contract.h>

#include "import.h"
#include "scale.h"
#include "stamp.h"

struct sstrace_layout {
    /* Columns are found by name if the table has a header, otherwise by number, from 1. */
    const char *time_name, *load_name;
    const char *date_name;   /* column with the date of `time_name`, which counts from the start */
    const char *series_name; /* an optional column */
    const char *total;       /* the series that is the sum of the others; used unless another is
                                selected */
    size_t time, end, series, load;
    char separator; /* 0 for a comma */
    enum sstrace_stamp stamp;
    enum sstrace_unit unit; /* percent unless set */
    int64_t time_unit;      /* unit in ns; 0 to guess it from the magnitude */
    bool has_missing_marks; /* -1 and 101 mark a missing number */
    bool adds_up;           /* rows of the same time add up to one load */
};

struct sstrace_rows {
    struct text_input *input;
    struct sstrace_samples *samples;
    const struct sstrace_layout *layout;
    struct text_table table;
    struct text_field time, date, end, series, load; /* of the current row */
    bool has_series;
    struct sstrace_scale scale;
    struct sstrace_clock clock;
    struct sstrace_origin origin;
    bool has_total;
    bool any; /* a row was read */
};

extern const struct sstrace_layout sstrace_layout_ssload;

SS_MUST_USE SS_NONNULL() int sstrace_rows_open(struct sstrace_rows *rows,
    const struct sstrace_layout *layout, struct text_input *input, struct sstrace_samples *samples);

/* Adds the sample of the current row. */
SS_MUST_USE SS_NONNULL() int sstrace_rows_take(struct sstrace_rows *rows);

#endif
