/* SPDX-License-Identifier: Apache-2.0 */

#include "environments_topic.h"

#include <math.h>

// clang-format off
static const struct table_column environment_columns[] = {
    {"record", "record"}, {"environment", "environment"}, {"measured_in", "measured"},
    {"load_mean", "load, %", 2, true}, {"host_load_mean", "load by the host, %", 2, true},
    {"load_difference", "difference, points", 2, true}, {"host_samples", NULL},
    {"clock_difference_start_seconds", "guest's clock ahead at the start, s", 4},
    {"clock_difference_end_seconds", "at the end, s", 4},
    {"vcpus", "vCPUs"}, {"vcpu_host_cpu_seconds", "CPU time of the host for them, s", 1},
    {"vcpu_wall_seconds", NULL}, {"vcpu_load", "part of their time, %", 2, true},
    {"steal_mean", "steal, %", 2, true},
};
static const struct table_sheet tables[] = {
    TABLE_INIT("environments", "Environments: measured from inside and by the host",
        environment_columns),
    {.name = NULL},
};
// clang-format on

static void add_environment(const struct ssreport_report *report, const struct ssreport_run *run) {
    const struct ssreport_surroundings *around = &run->surroundings;
    struct table_sheet *sheet = ssreport_table(report, "environments");
    size_t samples;
    double host = ssreport_surroundings_host_load(around, &run->record, &samples);
    if (around->host_count == 0 && around->vcpus == 0 && isnan(around->clock[0]) &&
        isnan(around->clock[1]))
        return;
    TABLE_ROW(sheet, CELL("record", run->record.name),
        CELL("environment", ssreport_run_environment(run)), CELL("measured_in", run->measured_in),
        CELL("load_mean", run->figures.load_mean), CELL("host_load_mean", host),
        CELL("load_difference", run->figures.load_mean - host), CELL("host_samples", samples),
        CELL("clock_difference_start_seconds", around->clock[0]),
        CELL("clock_difference_end_seconds", around->clock[1]),
        CELL("steal_mean", run->record.steal));
    if (around->vcpus > 0)
        TABLE_CELLS(sheet, CELL("vcpus", around->vcpus),
            CELL("vcpu_host_cpu_seconds", around->vcpu_host),
            CELL("vcpu_wall_seconds", around->vcpu_wall),
            CELL("vcpu_load", around->vcpu_host / around->vcpu_wall));
}

static int build(struct ssreport_report *report, struct ss_error *error) {
    (void)error;
    for (size_t i = 0; i < report->run_count; i++)
        add_environment(report, &report->runs[i]);
    return 0;
}

static void print_page(struct ssreport_page *page, const struct ssreport_report *report) {
    ssreport_page_section(page, ssreport_table(report, "environments"), "Environments");
}

const struct ssreport_topic ssreport_environments_topic = {
    .name = "environments",
    .tables = tables,
    .build = build,
    .page = print_page,
};
