/* SPDX-License-Identifier: Apache-2.0 */

/* Which tables were published, and which of them are printed beside results. */

#include "report.h"

// clang-format off
static const struct ssreport_column columns[] = {
    {"tables", "table"}, {"source", "source"}, {"what", "what it holds"}, {"file", "file"},
    {"values", "values"}, {"beside", "beside"}, {"note", "note"},
};
// clang-format on

void ssreport_report_published(struct ssreport_report *report) {
    struct ssreport_sheet *sheet = &report->sheets[SSREPORT_PUBLISHED];
    const struct published *published = &report->published;
    *sheet = SSREPORT_SHEET("published", "What was published", columns);
    for (size_t i = 0; i < published->table_count && published->cell_count > 0; i++) {
        const struct published_table *table = &published->tables[i];
        size_t values = published_count(published, table);
        char file[PUBLISHED_WORD + 4] = "";
        if (*table->name)
            snprintf(file, sizeof file, "%s.csv", table->name);
        SSREPORT_TEXTS(sheet, table->tables, table->source, table->what, file);
        SSREPORT_NUMBERS(sheet, (double)values);
        SSREPORT_TEXTS(sheet, table->beside,
            *table->name && values == 0 ? "the file has no values, or cannot be read"
                                        : table->note);
    }
}
