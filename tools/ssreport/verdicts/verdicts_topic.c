/* SPDX-License-Identifier: Apache-2.0 */
#include "verdicts_topic.h"

#include <string.h>

#include "base/json.h"
#include "findings.h"
#include "html_page.h"
#include "options/option.h"
#include "worth.h"

/* Maximum number of records that the terminal names. */
#define NAMED_MAX 4

// clang-format off
static const struct table_column verdict_columns[] = {
    {"record", "record"}, {"verdict", "verdict"}, {"reasons", "because of"},
};
static const struct table_sheet tables[] = {
    TABLE_SHADED("verdicts", "What the records are worth", verdict_columns, "verdict"),
    {.name = NULL},
};
// clang-format on

static void add_record(
    struct ssreport_report *report, const char *name, const struct ssreport_verdict *verdict) {
    TABLE_ROW(ssreport_table(report, "verdicts"), CELL("record", name),
        CELL("verdict", ss_verdict_word(&verdict->verdict)), CELL("reasons", verdict->reasons));
}

static bool is_word(const struct table_sheet *sheet, size_t row, const char *word) {
    const char *text = table_cell_at(sheet, row, "verdict")->text;
    return text && strcmp(text, word) == 0;
}

size_t ssreport_verdicts_count(const struct ssreport_report *report, const char *word) {
    const struct table_sheet *sheet = ssreport_table(report, "verdicts");
    size_t count = 0;
    for (size_t row = 0; row < table_rows(sheet); row++)
        count += is_word(sheet, row, word);
    return count;
}

static void add_finding(struct ssreport_report *report) {
    const struct table_sheet *sheet = ssreport_table(report, "verdicts");
    size_t invalid = ssreport_verdicts_count(report, "invalid"),
           doubtful = ssreport_verdicts_count(report, "doubtful");
    struct ssreport_worth worth = ssreport_worth_of(report);
    char text[SS_VERDICT_TEXT + 200];
    ssreport_worth_describe(&worth, text, sizeof text);
    if (ssreport_worth_is_nothing(&worth))
        ssreport_findings_add(report, "verdicts", "%s.", text);
    else if (invalid + doubtful > 0 && table_rows(sheet) == 1)
        ssreport_findings_add(report, "verdicts", "The record is doubtful: %s.",
            table_cell_at(sheet, 0, "reasons")->text);
    else if (invalid + doubtful > 0)
        ssreport_findings_add(report, "verdicts",
            "Of %zu records, %zu %s doubtful and %zu %s invalid: see \"What the records are "
            "worth\".%s",
            table_rows(sheet), doubtful, doubtful == 1 ? "is" : "are", invalid,
            invalid == 1 ? "is" : "are",
            report->leave_out == SS_NOT_CHECKED
                ? " --leave-out doubtful reports the valid ones alone."
                : "");
}

static int build(struct ssreport_report *report, struct ss_error *error) {
    (void)error;
    for (size_t i = 0; i < report->run_count; i++)
        add_record(report, report->runs[i].record.name, &report->runs[i].record.verdict);
    for (size_t i = 0; i < report->response_count; i++)
        add_record(report, report->responses[i].name, &report->responses[i].verdict);
    for (size_t i = 0; i < report->checked_count; i++)
        add_record(report, report->checked[i].name, &report->checked[i].verdict);
    for (size_t i = 0; i < report->failure_count; i++) {
        const struct ssreport_failure *failure = &report->failures[i];
        if (failure->finding != SS_NOT_CHECKED)
            TABLE_ROW(ssreport_table(report, "verdicts"), CELL("record", failure->name),
                CELL("verdict", ss_finding_names[failure->finding]), CELL("reasons", failure->why));
    }
    add_finding(report);
    return 0;
}

static void print_details(struct ssreport_page *page, const struct ssreport_report *report) {
    page_sheet(page->stream, ssreport_table(report, "verdicts"));
}

void ssreport_verdicts_print(FILE *stream, const struct ssreport_report *report) {
    const struct table_sheet *sheet = ssreport_table(report, "verdicts");
    for (size_t row = 0; row < table_rows(sheet); row++)
        fprintf(stream, "%s: %s: %s\n", table_cell_at(sheet, row, "record")->text,
            table_cell_at(sheet, row, "verdict")->text, table_cell_at(sheet, row, "reasons")->text);
}

static void print_json_record(struct ss_json *json, const char *name, const char *word,
    const char *reasons, const struct ss_verdict *verdict) {
    ss_json_open(json, NULL, '{');
    ss_json_text(json, "record", name);
    ss_json_text(json, "verdict", word);
    ss_json_text(json, "reasons", reasons);
    if (verdict) {
        ss_verdict_print_json_checks(json, verdict);
    } else {
        ss_json_open(json, "checks", '[');
        ss_json_close(json, ']');
    }
    ss_json_close(json, '}');
}

static void print_json_verdict(
    struct ss_json *json, const char *name, const struct ssreport_verdict *verdict) {
    print_json_record(
        json, name, ss_verdict_word(&verdict->verdict), verdict->reasons, &verdict->verdict);
}

void ssreport_verdicts_print_json(FILE *stream, const struct ssreport_report *report) {
    struct ss_json json = {.stream = stream};
    ss_json_open(&json, NULL, '[');
    for (size_t i = 0; i < report->run_count; i++)
        print_json_verdict(&json, report->runs[i].record.name, &report->runs[i].record.verdict);
    for (size_t i = 0; i < report->response_count; i++)
        print_json_verdict(&json, report->responses[i].name, &report->responses[i].verdict);
    for (size_t i = 0; i < report->checked_count; i++)
        print_json_verdict(&json, report->checked[i].name, &report->checked[i].verdict);
    for (size_t i = 0; i < report->failure_count; i++) {
        const struct ssreport_failure *failure = &report->failures[i];
        if (failure->finding != SS_NOT_CHECKED)
            print_json_record(
                &json, failure->name, ss_finding_names[failure->finding], failure->why, NULL);
    }
    ss_json_close(&json, ']');
}

/* Names the first records that are not valid. */
static void print_text(FILE *stream, const struct ssreport_report *report) {
    const struct table_sheet *sheet = ssreport_table(report, "verdicts");
    char line[SS_VERDICT_TEXT + 4400];
    size_t named = 0, all = ssreport_verdicts_count(report, "invalid") +
                            ssreport_verdicts_count(report, "doubtful");
    if (table_rows(sheet) == 1)
        return; /* the finding names it */
    for (size_t row = 0; row < table_rows(sheet) && named < NAMED_MAX; row++) {
        if (is_word(sheet, row, "valid"))
            continue;
        named++;
        snprintf(line, sizeof line, "%s: %s: %s",
            table_shown(sheet, table_cell_at(sheet, row, "record")->text),
            table_cell_at(sheet, row, "verdict")->text, table_cell_at(sheet, row, "reasons")->text);
        ss_option_print_wrapped(stream, 2, line);
    }
    if (all > named)
        fprintf(stream, "and %zu more that are doubtful or invalid: see ssreport --check\n",
            all - named);
}

const struct ssreport_topic ssreport_verdicts_topic = {
    .name = "verdicts",
    .tables = tables,
    .build = build,
    .details = print_details,
    .text = print_text,
};
