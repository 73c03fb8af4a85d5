/* SPDX-License-Identifier: Apache-2.0 */
#include "topics.h"

#include <stdlib.h>
#include <string.h>

#include "comparison_topic.h"
#include "counters_topic.h"
#include "duet_topic.h"
#include "energy_topic.h"
#include "environments_topic.h"
#include "findings.h"
#include "fleet_topic.h"
#include "interference_topic.h"
#include "load_inputs.h"
#include "loadline_topic.h"
#include "published_topic.h"
#include "requests_topic.h"
#include "runs_topic.h"
#include "study_topic.h"
#include "throughput_topic.h"
#include "verdicts_topic.h"
#include "worth.h"

const struct ssreport_topic *const ssreport_topics[] = {
    &ssreport_findings_topic,
    &ssreport_duet_topic,
    &ssreport_loadline_topic,
    &ssreport_study_topic,
    &ssreport_runs_topic,
    &ssreport_requests_topic,
    &ssreport_published_topic,
    &ssreport_throughput_topic,
    &ssreport_comparison_topic,
    &ssreport_interference_topic,
    &ssreport_environments_topic,
    &ssreport_energy_topic,
    &ssreport_counters_topic,
    &ssreport_fleet_topic,
    &ssreport_verdicts_topic,
    NULL,
};

/* The topics that ask a question, the most specific first. */
static const struct ssreport_topic *const asking[] = {
    &ssreport_fleet_topic,
    &ssreport_duet_topic,
    &ssreport_loadline_topic,
    &ssreport_comparison_topic,
    &ssreport_interference_topic,
    &ssreport_requests_topic,
    &ssreport_throughput_topic,
    &ssreport_study_topic,
    &ssreport_runs_topic,
};

/* If all records are invalid, the finding about that is the answer. */
static void qualify(struct ssreport_report *report) {
    struct ssreport_headline *headline = &report->headline;
    struct ssreport_worth worth = ssreport_worth_of(report);
    const char *answer = ssreport_findings_answer(report);
    if (ssreport_worth_is_nothing(&worth)) {
        headline->finding = ssreport_findings_first(report, "verdicts", true);
        *headline->answer = '\0';
    } else if (answer) {
        if (answer != headline->answer)
            snprintf(headline->answer, sizeof headline->answer, "%s", answer);
        ssreport_qualify(report, headline->answer, sizeof headline->answer);
    }
}

static void ask(struct ssreport_report *report) {
    bool asked = false;
    for (size_t i = 0; i < sizeof asking / sizeof *asking && !asked; i++) {
        report->headline = (struct ssreport_headline){.finding = SSREPORT_NO_ROW};
        asked = asking[i]->ask(report, &report->headline);
    }
    if (asked)
        qualify(report);
}

/* Returns the n-th table of all topics; NULL after the last. */
static const struct table_sheet *table_at(size_t number) {
    for (size_t i = 0; ssreport_topics[i]; i++) {
        for (const struct table_sheet *table = ssreport_topics[i]->tables; table->name; table++) {
            if (number-- == 0)
                return table;
        }
    }
    return NULL;
}

const struct table_sheet *ssreport_topics_table(const char *name) {
    size_t i = 0;
    const struct table_sheet *table = table_at(i);
    while (table && strcmp(table->name, name) != 0)
        table = table_at(++i);
    return table;
}

void ssreport_topics_name_tables(char *names, size_t size) {
    size_t used = 0;
    for (size_t i = 0; table_at(i) && used < size; i++)
        used += (size_t)snprintf(
            names + used, size - used, "%s%s", i > 0 ? ", " : "", table_at(i)->name);
}

static int make_tables(struct ssreport_report *report) {
    size_t count = 0;
    while (table_at(count))
        count++;
    report->tables = calloc(count, sizeof *report->tables);
    if (!report->tables)
        return -1;
    for (size_t i = 0; i < count; i++) {
        report->tables[i] = *table_at(i);
        report->tables[i].prefix = report->prefix;
    }
    report->table_count = count;
    return 0;
}

int ssreport_topics_build(struct ssreport_report *report, struct ss_error *error) {
    ssreport_report_choose_titles(report);
    if (make_tables(report) < 0)
        return ss_error_memory(error);
    for (size_t i = 0; ssreport_topics[i]; i++) {
        if (ssreport_topics[i]->build && ssreport_topics[i]->build(report, error) < 0)
            return -1;
    }
    for (size_t i = 0; ssreport_topics[i]; i++) {
        if (ssreport_topics[i]->finish)
            ssreport_topics[i]->finish(report);
    }
    ask(report);
    for (size_t i = 0; i < report->table_count; i++) {
        if (report->tables[i].failed)
            return ss_error_memory(error);
    }
    return 0;
}

void ssreport_report_free(struct ssreport_report *report) {
    for (size_t i = 0; ssreport_topics[i]; i++) {
        if (ssreport_topics[i]->free)
            ssreport_topics[i]->free(report);
    }
    ssreport_inputs_free(report);
}
