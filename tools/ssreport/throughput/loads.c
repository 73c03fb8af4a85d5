/* SPDX-License-Identifier: Apache-2.0 */
#include "loads.h"

#include <math.h>
#include <string.h>

#include "page_parts.h"

static bool is_throughput(const struct ssreport_run *run) {
    return run->experiment && strcmp(run->experiment, "throughput") == 0 && !run->role;
}

static void add_row(struct table_sheet *sheet, const struct ssreport_run *run) {
    TABLE_ROW(sheet, CELL("workload", run->workload), CELL("method", run->method),
        CELL("round", run->round > 0 ? run->round : NAN),
        CELL("instances", run->record.instance_count));
}

static void add_steps(struct table_sheet *sheet, const struct ssreport_run *run) {
    for (size_t i = 0; i < run->steps.count; i++) {
        const struct ssreport_step *step = &run->steps.items[i];
        add_row(sheet, run);
        TABLE_CELLS(sheet, CELL("step", i + 1),
            CELL("half", ssreport_steps_direction(&run->steps, step->half)),
            CELL("target", step->target), CELL("load", step->load.mean),
            CELL("iterations_per_second", step->throughput));
    }
}

/* Adds a row for the whole run, which may be too short for a step. */
static void add_run(struct table_sheet *sheet, const struct ssreport_run *run) {
    add_row(sheet, run);
    TABLE_CELLS(sheet, CELL("step", NAN), CELL("half", ""),
        CELL("target", run->target > 0 ? run->target : run->figures.target_mean),
        CELL("load", run->figures.load_mean),
        CELL("iterations_per_second", run->figures.throughput));
}

void ssreport_loads_fill(struct ssreport_report *report) {
    struct table_sheet *sheet = ssreport_table(report, "loads");
    for (size_t i = 0; i < report->run_count; i++) {
        const struct ssreport_run *run = &report->runs[i];
        if (!is_throughput(run))
            continue;
        if (run->steps.count > 1)
            add_steps(sheet, run);
        else
            add_run(sheet, run);
    }
}
