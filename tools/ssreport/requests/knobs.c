/* SPDX-License-Identifier: Apache-2.0 */
#include "knobs.h"

#include <math.h>
#include <string.h>

#include "findings.h"
#include "published.h"

#define PUBLISHED "actuators-savings"

/* Actuators, and how the publication calls changing them. */
static const struct {
    const char *name, *published;
} knobs[] = {{"frequency", "frequency"}, {"pin", "pinning"}, {"instances", "horizontal"},
    {"cpus", "vertical"}, {"quota", NULL}, {"memory", NULL}, {"duty", NULL}, {"power", NULL}};

#define KNOBS (sizeof knobs / sizeof *knobs)

static double print(const struct ssreport_report *report, const char *knob, const char *column) {
    const char *const keys[] = {knob};
    return published_print(
        &report->published, published_find(&report->published, PUBLISHED, keys, column));
}

static void add_published(
    struct table_sheet *sheet, const struct ssreport_report *report, const char *knob) {
    double saved = print(report, knob, "power_saved_percent");
    double lost = print(report, knob, "throughput_lost_percent");
    TABLE_CELLS(sheet, CELL("published_as", knob), CELL("published_saved_percent", saved),
        CELL("published_lost_percent", lost), CELL("published_lost_per_saved", lost / saved));
}

static const char *text_at(const struct table_sheet *sheet, size_t row, const char *column) {
    const char *text = table_cell_at(sheet, row, column)->text;
    return text ? text : "";
}

/* Adds all pairs of levels that differ only in this knob. Returns their number. */
static size_t add_pairs(struct ssreport_report *report, size_t knob) {
    const struct table_sheet *savings = ssreport_table(report, "requests-savings");
    struct table_sheet *sheet = ssreport_table(report, "requests-knobs");
    size_t count = 0;
    for (size_t i = 0; i < table_rows(savings); i++) {
        if (strcmp(text_at(savings, i, "knob"), knobs[knob].name) != 0)
            continue;
        TABLE_ROW(sheet, CELL("knob", knobs[knob].name),
            CELL("high", text_at(savings, i, "high_knobs")),
            CELL("low", text_at(savings, i, "low_knobs")),
            CELL("arrival", text_at(savings, i, "arrival")),
            CELL("high_capacity", table_cell_at(savings, i, "high_capacity")->number),
            CELL("low_capacity", table_cell_at(savings, i, "low_capacity")->number),
            CELL("saved", table_cell_at(savings, i, "saved")->number),
            CELL("lost", table_cell_at(savings, i, "lost")->number),
            CELL("lost_per_saved", table_cell_at(savings, i, "lost_per_saved")->number));
        if (knobs[knob].published)
            add_published(sheet, report, knobs[knob].published);
        count++;
    }
    return count;
}

/*
 * Returns why this machine lacks an actuator; NULL if it has the actuator.
 * tools/experiments/tradeoffs skips a run with the name of each absent actuator.
 */
static const char *why_absent(const struct ssreport_report *report, const char *name) {
    static const char skipped[] = "skipped: ";
    for (size_t i = 0; i < report->failure_count; i++) {
        const struct ssreport_failure *failure = &report->failures[i];
        const char *slash = strrchr(failure->name, '/');
        if (strcmp(slash ? slash + 1 : failure->name, name) == 0 &&
            strncmp(failure->why, skipped, strlen(skipped)) == 0)
            return failure->why + strlen(skipped);
    }
    return NULL;
}

/* Adds a row with the reason why an actuator has no pairs of levels. */
static void add_missing(struct ssreport_report *report, size_t knob) {
    struct table_sheet *sheet = ssreport_table(report, "requests-knobs");
    const char *absent = why_absent(report, knobs[knob].name);
    char note[400] = "no two levels that differ only in this knob have a known capacity";
    if (absent)
        snprintf(note, sizeof note, "absent: %s", absent);
    else if (!knobs[knob].published)
        return;
    TABLE_ROW(sheet, CELL("knob", knobs[knob].name), CELL("high", ""), CELL("low", ""),
        CELL("arrival", ""), CELL("note", note));
    if (knobs[knob].published)
        add_published(sheet, report, knobs[knob].published);
}

static double number_at(const struct table_sheet *sheet, size_t row, const char *column) {
    return table_cell_at(sheet, row, column)->number;
}

/* Returns whether a row has the largest loss among rows of its knob and arrival. */
static bool is_largest(const struct table_sheet *sheet, size_t row) {
    double lost = number_at(sheet, row, "lost");
    bool is_first = isfinite(lost);
    for (size_t i = 0; i < table_rows(sheet); i++) {
        double other = number_at(sheet, i, "lost");
        if (strcmp(text_at(sheet, i, "knob"), text_at(sheet, row, "knob")) == 0 &&
            strcmp(text_at(sheet, i, "arrival"), text_at(sheet, row, "arrival")) == 0 &&
            (other > lost || (other == lost && i < row)))
            is_first = false;
    }
    return is_first;
}

/* For each knob, adds a finding about the pair of levels with the largest loss of capacity. */
static void add_findings(struct ssreport_report *report) {
    const struct table_sheet *sheet = ssreport_table(report, "requests-knobs");
    for (size_t i = 0; i < table_rows(sheet); i++) {
        char power[100] = "", published[200] = "", arrival[40] = "";
        double saved = number_at(sheet, i, "saved"), lost = number_at(sheet, i, "lost");
        double printed = number_at(sheet, i, "published_lost_percent");
        if (!is_largest(sheet, i))
            continue;
        if (*text_at(sheet, i, "arrival"))
            snprintf(arrival, sizeof arrival, " (%.30s)", text_at(sheet, i, "arrival"));
        if (isnan(saved))
            strcpy(power, "; no power was recorded");
        else
            snprintf(power, sizeof power, ", and %s %.1f %% of the power",
                saved < 0 ? "costs" : "saves", 100 * fabs(saved));
        if (isfinite(printed))
            snprintf(published, sizeof published,
                " Published for another machine (%s): %g %% lost, %g %% of the power saved.",
                text_at(sheet, i, "published_as"), printed,
                number_at(sheet, i, "published_saved_percent"));
        ssreport_findings_add(report, "knob",
            "%s instead of %s%s %s %.1f %% of the capacity, from %.4g to %.4g requests a "
            "second%s.%s",
            text_at(sheet, i, "low"), text_at(sheet, i, "high"), arrival,
            lost < 0 ? "gains" : "loses", 100 * fabs(lost), number_at(sheet, i, "high_capacity"),
            number_at(sheet, i, "low_capacity"), power, published);
    }
}

void ssreport_knobs_fill(struct ssreport_report *report) {
    if (!ssreport_knobs_are_compared(report))
        return;
    for (size_t i = 0; i < KNOBS; i++) {
        if (add_pairs(report, i) == 0)
            add_missing(report, i);
    }
    add_findings(report);
}

bool ssreport_knobs_are_compared(const struct ssreport_report *report) {
    bool found = false;
    for (size_t i = 0; i < report->response_count; i++)
        found |= report->responses[i].knobs != NULL;
    return found;
}
