/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_REPORT_MAKE_H
#define SHOWSTOPPER_TESTS_REPORT_MAKE_H

/* Makes reports and prints them to memory. */

#include <math.h>

#define FOLDER_VERSION "9.8.7"
#include "findings.h"
#include "load_inputs.h"
#include "page.h"
#include "report_folder.h"
#include "topics.h"

/* Text written to a stream; the test frees it. */
struct text {
    char *bytes;
    size_t size;
    FILE *stream;
};

static inline void begin(struct text *text) {
    text->stream = open_memstream(&text->bytes, &text->size);
    assert_non_null(text->stream);
}

static inline void end(struct text *text) {
    assert_int_equal(fclose(text->stream), 0);
}

static inline void assert_has(const struct text *text, const char *part) {
    if (!strstr(text->bytes, part))
        fail_msg("no '%s' in:\n%s", part, text->bytes);
}

static inline void assert_has_first(const struct text *text, const char *part) {
    if (strncmp(text->bytes, part, strlen(part)) != 0)
        fail_msg("'%s' is not first in:\n%s", part, text->bytes);
}

static inline void assert_has_not(const struct text *text, const char *part) {
    if (strstr(text->bytes, part))
        fail_msg("unexpected '%s' in:\n%s", part, text->bytes);
}

static inline struct ssreport_report begin_report(void) {
    return (struct ssreport_report){
        .settings = {
            .edge = SSREPORT_EDGE_DEFAULT, .interval = 6, .confidence = 0.95, .deviation = 0.05}};
}

/* Trace for which throughput is predicted, or NULL. */
static const char *report_trace;

static inline void finish_report(struct ssreport_report *report) {
    struct ss_error error = {0};
    report->trace = report_trace;
    if (ssreport_topics_build(report, &error) < 0)
        fail_msg("no report: %s", error.message);
}

/* Returns the report on a record or on a folder of records. */
static inline struct ssreport_report make_report(const char *path) {
    struct ssreport_report report = begin_report();
    assert_int_equal(ssreport_gather(&report, path, 0), 0);
    finish_report(&report);
    return report;
}

static inline void assert_headline(
    const struct ssreport_report *report, const char *question, const char *answer) {
    assert_string_equal(report->headline.question, question);
    assert_string_equal(ssreport_findings_answer(report), answer);
}

/* Prints the page, without pictures, and the summary. */
static inline struct text print_report(const struct ssreport_report *report) {
    struct text text;
    struct ss_error without = {.status = 1};
    begin(&text);
    ssreport_page_print(text.stream, report, &without);
    ssreport_text_print(text.stream, report);
    end(&text);
    return text;
}

static inline void read_published(struct ssreport_report *report) {
    struct ssreport_notes notes = {0};
    published_read(
        &report->published, PROJECT_SOURCE_DIR "/tools/experiments/published", "ssreport", &notes);
    assert_string_equal(notes.text, "");
}

static inline const struct table_cell *cell(
    const struct ssreport_report *report, const char *table, size_t row, const char *name) {
    const struct table_sheet *of = ssreport_table(report, table);
    if (row >= table_rows(of))
        fail_msg("%s: no row %zu", table, row);
    return table_cell_at(of, row, name);
}

static inline void assert_text(const struct ssreport_report *report, const char *table, size_t row,
    const char *name, const char *want) {
    assert_string_equal(cell(report, table, row, name)->text, want);
}

static inline void assert_rows(
    const struct ssreport_report *report, const char *table, size_t want) {
    assert_int_equal(table_rows(ssreport_table(report, table)), want);
}

static inline void assert_cell(const struct ssreport_report *report, const char *table, size_t row,
    const char *name, double want) {
    double have = cell(report, table, row, name)->number;
    if (!(fabs(have - want) <= 1e-9 * fabs(want)) && !(isnan(have) && isnan(want)))
        fail_msg("%s is %.12g, not %.12g", name, have, want);
}

#endif
