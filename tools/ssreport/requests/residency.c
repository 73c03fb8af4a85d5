/* SPDX-License-Identifier: Apache-2.0 */
#include "residency.h"

#include <math.h>

#include "points.h"

/* Adds a row for each idle state at one rate. */
static int add_point(struct table_sheet *sheet, const struct ssreport_rate_point *point) {
    const struct ssreport_responses *of = point->of;
    struct ssreport_residency residency;
    if (of->idle.count == 0)
        return 0;
    if (ssreport_idle_between(&of->idle, point->stretch.from, point->stretch.to, &residency) < 0)
        return -1;
    for (size_t i = 0; i < of->idle.state_count && residency.active.count > 0; i++)
        TABLE_ROW(sheet, CELL("record", of->name), CELL("set", of->set + 1),
            CELL("workload", of->workload), CELL("method", of->method),
            CELL("environment", of->environment), CELL("arrival", of->arrival),
            CELL("knobs", of->knobs), CELL("rate", point->stretch.rate),
            CELL("seconds", residency.active.count),
            CELL("frequency_mhz", residency.frequency.mean), CELL("active", residency.active.mean),
            CELL("active_deviation", residency.active.deviation), CELL("state", of->idle.states[i]),
            CELL("share", residency.states[i].share),
            CELL("share_deviation", residency.states[i].share_deviation));
    return 0;
}

int ssreport_residency_fill(struct ssreport_report *report) {
    struct table_sheet *sheet = ssreport_table(report, "requests-idle");
    for (size_t i = 0; i < report->point_count; i++) {
        if (add_point(sheet, &report->points[i]) < 0)
            return -1;
    }
    return 0;
}
