/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_PLOT_COLUMNS_H
#define SHOWSTOPPER_TESTS_PLOT_COLUMNS_H

/* Columns for plots, filled by hand or from the text of a trace. */

#include "terminal_plot.h"
#include "trace/text.h"
#include "unit.h"

#define DAY (86400 * SS_SECOND)

/* Columns that are closed at the end of their scope. */
#define OWNED_COLUMNS __attribute__((cleanup(sstrace_columns_close))) struct sstrace_columns

static inline void add(struct sstrace_columns *columns, ss_time time, double load) {
    struct ss_trace_record record = {.time = time, .load = load};
    assert_int_equal(columns->sink.take(&columns->sink, &record, NULL), 0);
}

static inline struct sstrace_columns begin(ss_time length, size_t count) {
    struct sstrace_columns columns;
    assert_int_equal(sstrace_columns_open(&columns, length, count, NULL), 0);
    return columns;
}

static inline void end(struct sstrace_columns *columns) {
    assert_int_equal(columns->sink.end(&columns->sink, NULL), 0);
}

/* Needs a length because a trace may end before the plot does. */
static inline struct sstrace_columns make(const char *text, ss_time length, size_t count) {
    struct sstrace_columns columns = begin(length, count);
    struct ss_error error = {0};
    FILE *stream = fmemopen((void *)text, strlen(text), "r");
    assert_non_null(stream);
    assert_succeeds(ss_trace_text_read(stream, "text", &columns.sink, &error), error);
    fclose(stream);
    end(&columns);
    return columns;
}

#endif
