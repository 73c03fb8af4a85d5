/* SPDX-License-Identifier: Apache-2.0 */
#include "page.h"

#include <string.h>

#include "findings.h"
#include "html_page.h"
#include "options/option.h"
#include "topics.h"

/* Writes "2 runs, 1 record of requests and 3 fleets", without what is absent; at least the runs. */
static void count_records(const struct ssreport_report *report, char *text, size_t size) {
    const struct {
        size_t count;
        const char *what, *more;
    } kinds[] = {{report->run_count, "run", ""}, {report->response_count, "record", " of requests"},
        {report->fleet_count, "fleet", ""}};
    size_t used = 0, left = 0;
    for (size_t i = 0; i < 3; i++)
        left += kinds[i].count > 0;
    bool is_empty = left == 0;
    for (size_t i = 0; i < 3; i++) {
        if (kinds[i].count == 0 && !(is_empty && i == 0))
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%zu %s%s%s",
            used == 0   ? ""
            : left == 1 ? " and "
                        : ", ",
            kinds[i].count, kinds[i].what, kinds[i].count == 1 ? "" : "s", kinds[i].more);
        left--;
    }
}

static void print_head(FILE *stream, const struct ssreport_report *report) {
    char runs[128], heading[160];
    count_records(report, runs, sizeof runs);
    const char *question = report->headline.question;
    const char *answer = ssreport_findings_answer(report);
    snprintf(heading, sizeof heading, "%s reported", runs);
    page_begin(stream, *question ? question : heading, *question ? question : heading);
    if (answer)
        page_answer(stream, answer);
    if (*question)
        fprintf(stream, "<p><small>%s.</small></p>\n", heading);
    for (size_t i = 0; i < report->failure_count; i++)
        page_note(stream, report->failures[i].name, report->failures[i].why);
    if (*report->notes.text)
        page_note(stream, NULL, report->notes.text);
}

/* Names the tables that are written next to the page. */
static void print_tables(FILE *stream, const struct ssreport_report *report) {
    const char *separator = "<p><small>Tables next to this page: ";
    for (size_t i = 0; i < report->table_count; i++) {
        if (table_rows(&report->tables[i]) == 0)
            continue;
        fprintf(stream, "%s%s.csv", separator, report->tables[i].name);
        separator = ", ";
    }
    fputs("</small></p>\n", stream);
}

void ssreport_page_print(
    FILE *stream, const struct ssreport_report *report, struct ss_error *without) {
    struct ssreport_page page = {.stream = stream, .without = *without, .topics = ssreport_topics};
    print_head(stream, report);
    for (size_t i = 0; ssreport_topics[i]; i++) {
        if (ssreport_topics[i]->page)
            ssreport_topics[i]->page(&page, report);
    }
    for (size_t i = 0; ssreport_topics[i]; i++) {
        if (ssreport_topics[i]->details)
            ssreport_topics[i]->details(&page, report);
    }
    if (page.without.status)
        page_note(stream, "No pictures", page.without.message);
    print_tables(stream, report);
    page_end(stream, "ssreport");
    *without = page.without;
}

void ssreport_text_print(FILE *stream, const struct ssreport_report *report) {
    const char *answer = ssreport_findings_answer(report);
    if (*report->headline.question)
        ss_option_print_wrapped(stream, 0, report->headline.question);
    if (answer)
        ss_option_print_wrapped(stream, 0, answer);
    if (*report->headline.question)
        fputc('\n', stream);
    for (size_t i = 0; ssreport_topics[i]; i++) {
        if (ssreport_topics[i]->text)
            ssreport_topics[i]->text(stream, report);
    }
}
