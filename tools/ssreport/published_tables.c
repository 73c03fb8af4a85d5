/* SPDX-License-Identifier: Apache-2.0 */

/* Which tables were published, which of them are printed beside results, and why others are not. */

#include <math.h>

#include "report.h"

// clang-format off
static const struct ssreport_column columns[] = {
    {"tables", "table"}, {"what", "what it holds"}, {"file", "file"}, {"values", "values"},
    {"beside", "beside"}, {"note", "note"},
};

#define NO_FILE SSREPORT_PUBLISHED_TABLES

/* Tables have the numbers of the evaluation of load control; that of interference has its own. */
static const struct {
    const char *tables, *what;
    enum ssreport_published_table table; /* NO_FILE: there are no values */
    const char *beside, *note;
} known[] = {
    {"1, 2", "constant load: mean error, in percent", SSREPORT_PUBLISHED_MEAN_ERROR,
        "constant-load.csv", "some values are only probable: see there"},
    {"1, 2", "constant load: mean squared error, in %\u00b2", SSREPORT_PUBLISHED_MSE,
        "constant-load.csv", ""},
    {"3", "not known here", NO_FILE, "", "not transcribed"},
    {"4, 5", "replay at six speeds: the smallest and the largest mean squared error, in %\u00b2",
        SSREPORT_PUBLISHED_REPLAY, "replay.csv",
        "which value belongs to which speed cannot be read"},
    {"6", "not known here", NO_FILE, "", "its values are not to be had"},
    {"", "interference metric between virtual machines (KVM), in percent", SSREPORT_PUBLISHED_KVM,
        "interference-published.csv", "of the evaluation of interference"},
    {"", "interference metric between containers (LXC), in percent", SSREPORT_PUBLISHED_LXC,
        "interference-published.csv", "of the evaluation of interference"},
};
// clang-format on

void ssreport_report_published(struct ssreport_report *report) {
    struct ssreport_sheet *sheet = &report->sheets[SSREPORT_PUBLISHED];
    const struct ssreport_published *published = &report->published;
    *sheet = SSREPORT_SHEET("published", "What was published", columns);
    for (size_t i = 0; i < sizeof known / sizeof *known && published->count > 0; i++) {
        size_t values = 0;
        for (size_t j = 0; j < published->count; j++)
            values += ssreport_published_is_value(&published->cells[j], known[i].table);
        SSREPORT_TEXTS(sheet, known[i].tables, known[i].what,
            known[i].table == NO_FILE ? "" : ssreport_published_file(known[i].table));
        SSREPORT_NUMBERS(sheet, (double)values);
        SSREPORT_TEXTS(sheet, known[i].beside,
            known[i].table != NO_FILE && values == 0 ? "the file has no values, or cannot be read"
                                                     : known[i].note);
    }
}
