/* SPDX-License-Identifier: Apache-2.0 */

#include "counters_topic.h"

#include <math.h>

#include "counters_plots.h"
#include "html_page.h"

// clang-format off
#define RATES                                                                                      \
    {"seconds", "seconds counted", 1}, {"runnable_mean", "runnable threads", 2},                   \
    {"cpus_used", "CPUs used", 3}, {"instructions_per_second", NULL},                              \
    {"instructions_per_cycle", "instructions per cycle", 3},                                       \
    {"stalled_frontend_per_cycle", "front-end stalls per cycle", 3},                               \
    {"stalled_backend_per_cycle", "back-end stalls", 3},                                           \
    {"l1d_references_per_second", NULL}, {"l1d_miss_rate", "L1 data misses, %", 2, true},  \
    {"l2_misses_per_second", NULL}, {"l2_miss_rate", "L2 misses, %", 2, true, true},          \
    {"cache_references_per_second", NULL}, {"cache_misses_per_second", NULL},                      \
    {"cache_miss_rate", "last-level misses, %", 2, true},                                          \
    {"page_faults_per_second", "page faults, /s", 1},                                              \
    {"context_switches_per_second", "context switches, /s", 1},                                    \
    {"migrations_per_second", "migrations, /s", 1}
static const struct table_column run_columns[] = {
    {"record", "record"}, RATES,
};
static const struct table_column step_columns[] = {
    {"record", "record"}, {"step", "step"}, {"half", "half"}, {"target", "target, %", 2, true},
    {"load", "load, %", 2, true}, RATES, {"steps_of", NULL}, {"environment", NULL},
    {"placement", NULL}, {"workload", NULL}, {"role", NULL}, {"background", NULL},
    {"round", NULL}, {"set", NULL},
};
static const struct table_sheet tables[] = {
    TABLE_INIT("counters", "Counters of the instances during the counted time", run_columns),
    TABLE_INIT("counters-steps", "Counters by step; for a foreground, by the steps of its background",
        step_columns),
    {.name = NULL},
};
// clang-format on

#define RATE(name, counter) CELL(name, ssreport_counted_rate(counted, SSREPORT_##counter))
#define SHARE(name, part, whole)                                                                   \
    CELL(name, ssreport_counted_share(counted, SSREPORT_##part, SSREPORT_##whole))

static void add_rates(struct table_sheet *sheet, const struct ssreport_counted *counted) {
    TABLE_CELLS(sheet, CELL("seconds", counted->rows ? counted->seconds : NAN),
        CELL("runnable_mean", counted->runnable), RATE("cpus_used", TASK_CLOCK),
        RATE("instructions_per_second", INSTRUCTIONS),
        SHARE("instructions_per_cycle", INSTRUCTIONS, CYCLES),
        SHARE("stalled_frontend_per_cycle", STALLED_FRONTEND, CYCLES),
        SHARE("stalled_backend_per_cycle", STALLED_BACKEND, CYCLES),
        RATE("l1d_references_per_second", L1D_REFERENCES),
        SHARE("l1d_miss_rate", L1D_MISSES, L1D_REFERENCES), RATE("l2_misses_per_second", L2_MISSES),
        SHARE("l2_miss_rate", L2_MISSES, L2_REFERENCES),
        RATE("cache_references_per_second", CACHE_REFERENCES),
        RATE("cache_misses_per_second", CACHE_MISSES),
        SHARE("cache_miss_rate", CACHE_MISSES, CACHE_REFERENCES),
        RATE("page_faults_per_second", PAGE_FAULTS),
        RATE("context_switches_per_second", CONTEXT_SWITCHES),
        RATE("migrations_per_second", MIGRATIONS));
}

static void add_run(const struct ssreport_report *report, const struct ssreport_run *run) {
    struct table_sheet *sheet = ssreport_table(report, "counters");
    const struct ssreport_record *record = &run->record;
    struct ssreport_counted counted = ssreport_counters_between(
        &record->counters, record->counted_from, ssreport_record_counted_to(record));
    TABLE_ROW(sheet, CELL("record", record->name));
    add_rates(sheet, &counted);
}

/* Adds the counters in each step of a run or, for a foreground, in each step of its background. */
static void add_steps(const struct ssreport_report *report, const struct ssreport_run *run) {
    struct table_sheet *sheet = ssreport_table(report, "counters-steps");
    const struct ssreport_run *background = ssreport_is_word(run->role, "foreground")
                                                ? ssreport_report_beside(report, run, "background")
                                                : NULL;
    const struct ssreport_run *of = background ? background : run;
    double shift = background ? background->record.wall - run->record.wall : 0;
    for (size_t i = 0; i < of->steps.count; i++) {
        const struct ssreport_step *step = &of->steps.items[i];
        double from = ssreport_record_elapsed(&of->record, step->from) + shift;
        double to = ssreport_record_elapsed(&of->record, step->to) + shift;
        struct ssreport_counted counted = ssreport_counters_between(&run->record.counters,
            ssreport_record_run_time(&run->record, from),
            ssreport_record_run_time(&run->record, to));
        TABLE_ROW(sheet, CELL("record", run->record.name), CELL("step", i + 1),
            CELL("half", step->half ? step->half : NAN), CELL("target", step->target),
            CELL("load", step->load.mean), CELL("steps_of", of->record.name),
            CELL("environment", ssreport_run_environment(run)), CELL("placement", run->placement),
            CELL("workload", run->workload), CELL("role", run->role),
            CELL("background", background ? background->workload : ""),
            CELL("round", run->round > 0 ? run->round : NAN), CELL("set", run->set + 1));
        add_rates(sheet, &counted);
    }
}

static int build(struct ssreport_report *report, struct ss_error *error) {
    (void)error;
    for (size_t i = 0; i < report->run_count; i++) {
        if (report->runs[i].record.counters.count == 0)
            continue;
        add_run(report, &report->runs[i]);
        add_steps(report, &report->runs[i]);
    }
    return 0;
}

/* Prints nothing without counts: few machines permit counting. */
static void print_page(struct ssreport_page *page, const struct ssreport_report *report) {
    const struct table_sheet *sheet = ssreport_table(report, "counters");
    if (table_rows(sheet) == 0)
        return;
    ssreport_page_open(page, "Counters");
    page_sheet(page->stream, sheet);
    ssreport_counters_plots_print(page, report);
    ssreport_page_close(page);
}

static void print_run(struct ssreport_page *page, const struct ssreport_report *report,
    const struct ssreport_run *run) {
    if (run->record.counters.count > 0)
        table_print_html(page->stream, ssreport_table(report, "counters-steps"), run->record.name);
}

const struct ssreport_topic ssreport_counters_topic = {
    .name = "counters",
    .tables = tables,
    .build = build,
    .page = print_page,
    .run = print_run,
};
