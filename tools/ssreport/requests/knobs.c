/* SPDX-License-Identifier: Apache-2.0 */
#include "knobs.h"

#include <math.h>
#include <string.h>

#include "published.h"

#define PUBLISHED "actuators-savings"

/* Actuators, with the publication's names for changing them. */
static const struct {
    const char *name, *published;
} knobs[] = {{"frequency", "frequency"}, {"pin", "pinning"}, {"instances", "horizontal"},
    {"cpus", "vertical"}, {"quota", NULL}, {"memory", NULL}, {"duty", NULL}, {"power", NULL}};

#define KNOBS (sizeof knobs / sizeof *knobs)

/* Returns a published number; NaN if absent. */
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

/* Adds all pairs of levels that differ in this knob only. Returns their number. */
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

void ssreport_knobs_fill(struct ssreport_report *report) {
    bool has_knobs = false;
    for (size_t i = 0; i < report->response_count; i++)
        has_knobs |= report->responses[i].knobs != NULL;
    for (size_t i = 0; has_knobs && i < KNOBS; i++) {
        if (add_pairs(report, i) > 0 || !knobs[i].published)
            continue;
        TABLE_ROW(ssreport_table(report, "requests-knobs"), CELL("knob", knobs[i].name),
            CELL("high", ""), CELL("low", ""), CELL("arrival", ""),
            CELL("note", "no two levels that differ in this knob only reached their capacity"));
        add_published(ssreport_table(report, "requests-knobs"), report, knobs[i].published);
    }
}
