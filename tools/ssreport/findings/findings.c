/* SPDX-License-Identifier: Apache-2.0 */
#include "findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "html_page.h"
#include "options/option.h"
#include "worth.h"

/* Maximum numbers of findings about single pairs: on the terminal, and unfolded on the page. */
#define SENTENCES_MAX      12
#define SENTENCES_OPEN_MAX 8

// clang-format off
static const struct table_column columns[] = {
    {"kind", NULL}, {"scope", NULL}, {"environment", "environment"}, {"measured_in", NULL},
    {"placement", "placement"},
    {"foreground", "foreground"}, {"background", "background"}, {"against", "against"}, {"measure", NULL},
    {"percent", "%", 2}, {"low_percent", "its confidence, from", 2}, {"high_percent", "to", 2},
    {"told", NULL}, {"count", "of"}, {"of", ""}, {"sentence", NULL}, {"set", NULL},
};
static const struct table_sheet tables[] = {
    TABLE_INIT("findings", "Findings", columns),
    {.name = NULL},
};
// clang-format on

struct table_sheet *ssreport_findings_add_list(
    struct ssreport_report *report, const char *kind, const char *format, va_list arguments) {
    struct table_sheet *sheet = ssreport_table(report, "findings");
    char *sentence = NULL;
    if (vasprintf(&sentence, format, arguments) < 0)
        sentence = NULL;
    sheet->failed |= !sentence;
    TABLE_ROW(sheet, CELL("kind", kind), CELL("scope", "all"), CELL("told", "yes"),
        CELL("sentence", sentence));
    free(sentence);
    return sheet;
}

struct table_sheet *ssreport_findings_add(
    struct ssreport_report *report, const char *kind, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    struct table_sheet *sheet = ssreport_findings_add_list(report, kind, format, arguments);
    va_end(arguments);
    return sheet;
}

struct ssreport_finding ssreport_finding_at(const struct ssreport_report *report, size_t row) {
    const struct table_sheet *sheet = ssreport_table(report, "findings");
    return (struct ssreport_finding){.sentence = table_cell_at(sheet, row, "sentence")->text,
        .is_general = strcmp(table_cell_at(sheet, row, "scope")->text, "all") == 0};
}

size_t ssreport_findings_first(
    const struct ssreport_report *report, const char *kind, bool is_general) {
    const struct table_sheet *sheet = ssreport_table(report, "findings");
    for (size_t i = 0; i < table_rows(sheet); i++) {
        if (ssreport_finding_at(report, i).is_general == is_general &&
            strcmp(table_cell_at(sheet, i, "kind")->text, kind) == 0)
            return i;
    }
    return SSREPORT_NO_ROW;
}

const char *ssreport_findings_answer(const struct ssreport_report *report) {
    const struct ssreport_headline *headline = &report->headline;
    if (*headline->answer)
        return headline->answer;
    return headline->finding == SSREPORT_NO_ROW
               ? NULL
               : ssreport_finding_at(report, headline->finding).sentence;
}

/*
 * Returns whether a finding is listed: it is not the headline and, if no record supports an answer,
 * it is about the records.
 */
static bool is_listed(const struct ssreport_report *report, size_t row) {
    static const char *const about_records[] = {"verdicts", "others", "early"};
    struct ssreport_worth worth = ssreport_worth_of(report);
    const char *kind = table_cell_at(ssreport_table(report, "findings"), row, "kind")->text;
    bool is_about = !ssreport_worth_is_nothing(&worth);
    for (size_t i = 0; i < sizeof about_records / sizeof *about_records; i++)
        is_about |= strcmp(kind, about_records[i]) == 0;
    return is_about && row != report->headline.finding;
}

struct counts {
    size_t all;     /* listed findings */
    size_t special; /* of these, those about single pairs */
    size_t sure;    /* findings with a confidence interval, with that of the headline */
};

static struct counts count_findings(const struct ssreport_report *report) {
    const struct table_sheet *sheet = ssreport_table(report, "findings");
    struct counts counts = {0};
    for (size_t i = 0; i < table_rows(sheet); i++) {
        bool listed = is_listed(report, i), is_shown = listed || i == report->headline.finding;
        counts.all += listed;
        counts.special += listed && !ssreport_finding_at(report, i).is_general;
        counts.sure += is_shown && isfinite(table_cell_at(sheet, i, "low_percent")->number);
    }
    return counts;
}

static void print_sentences(FILE *stream, const struct ssreport_report *report, bool general) {
    page_findings_begin(stream);
    for (size_t i = 0; i < table_rows(ssreport_table(report, "findings")); i++) {
        struct ssreport_finding finding = ssreport_finding_at(report, i);
        if (finding.is_general == general && is_listed(report, i))
            page_finding(stream, finding.sentence);
    }
    page_findings_end(stream);
}

static void print_page(struct ssreport_page *page, const struct ssreport_report *report) {
    struct counts counts = count_findings(report);
    if (counts.all + counts.sure == 0)
        return;
    ssreport_page_open(page, "Findings");
    print_sentences(page->stream, report, true);
    if (counts.special > 0) {
        fprintf(page->stream, "<details%s><summary>Pair by pair: %zu finding%s</summary>\n",
            counts.special <= SENTENCES_OPEN_MAX ? " open=\"open\"" : "", counts.special,
            counts.special == 1 ? "" : "s");
        print_sentences(page->stream, report, false);
        fputs("</details>\n", page->stream);
    }
    if (counts.sure > 0)
        fprintf(page->stream,
            "<p><small>In brackets: the %g %% confidence interval of each statement. Unless runs "
            "or rounds are counted, it reflects the scatter between steps, not between "
            "runs.</small></p>\n",
            100 * report->settings.confidence);
    ssreport_page_close(page);
}

static void print_text(FILE *stream, const struct ssreport_report *report) {
    struct counts counts = count_findings(report);
    size_t special = 0;
    for (size_t i = 0; i < table_rows(ssreport_table(report, "findings")); i++) {
        struct ssreport_finding finding = ssreport_finding_at(report, i);
        if (!is_listed(report, i) || (!finding.is_general && ++special > SENTENCES_MAX))
            continue;
        fputs("- ", stream);
        ss_option_print_wrapped(stream, 2, finding.sentence);
    }
    if (special > SENTENCES_MAX)
        fprintf(stream, "and %zu more about single pairs: see findings.csv (--output)\n",
            special - SENTENCES_MAX);
    if (counts.sure > 0)
        fprintf(stream, "(%g %% confidence intervals in brackets)\n",
            100 * report->settings.confidence);
    if (counts.all > 0)
        fputc('\n', stream);
}

const struct ssreport_topic ssreport_findings_topic = {
    .name = "findings",
    .tables = tables,
    .page = print_page,
    .text = print_text,
};
