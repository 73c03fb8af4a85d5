/* SPDX-License-Identifier: Apache-2.0 */

/* What was counted of the instances of each run, in all and step by step. */

#include <math.h>

#include "report.h"

// clang-format off
#define RATES                                                                                      \
    {"seconds", "seconds counted", 1}, {"runnable_mean", "runnable threads", 2},                   \
    {"cpus_used", "CPUs used", 3}, {"instructions_per_second", NULL},                              \
    {"instructions_per_cycle", "instructions per cycle", 3},                                       \
    {"stalled_frontend_per_cycle", "front-end stalls per cycle", 3},                               \
    {"stalled_backend_per_cycle", "back-end stalls", 3},                                           \
    {"l1d_references_per_second", NULL}, {"l1d_miss_rate", "L1 data misses, %", 2, true},          \
    {"cache_references_per_second", NULL}, {"cache_misses_per_second", NULL},                      \
    {"cache_miss_rate", "last-level misses, %", 2, true},                                          \
    {"page_faults_per_second", "page faults, /s", 1},                                              \
    {"context_switches_per_second", "context switches, /s", 1},                                    \
    {"migrations_per_second", "migrations, /s", 1}
static const struct ssreport_column run_columns[] = {
    {"record", "record"}, {"instructions", NULL}, {"cycles", NULL}, {"stalled_frontend", NULL},
    {"stalled_backend", NULL}, {"l1d_references", NULL}, {"l1d_misses", NULL},
    {"cache_references", NULL}, {"cache_misses", NULL}, {"page_faults", NULL},
    {"context_switches", NULL}, {"migrations", NULL}, {"task_clock_seconds", "CPU time, s", 1},
    RATES,
};
static const struct ssreport_column step_columns[] = {
    {"record", "record"}, {"step", "step"}, {"half", "half"}, {"target", "target, %", 2, true},
    {"load", "load, %", 2, true}, RATES, {"steps_of", NULL},
};
// clang-format on

static void add_rates(struct ssreport_sheet *sheet, const struct ssreport_counted *counted) {
    SSREPORT_NUMBERS(sheet, counted->rows ? counted->seconds : NAN, counted->runnable,
        ssreport_counted_rate(counted, SSREPORT_TASK_CLOCK),
        ssreport_counted_rate(counted, SSREPORT_INSTRUCTIONS),
        ssreport_counted_share(counted, SSREPORT_INSTRUCTIONS, SSREPORT_CYCLES),
        ssreport_counted_share(counted, SSREPORT_STALLED_FRONTEND, SSREPORT_CYCLES),
        ssreport_counted_share(counted, SSREPORT_STALLED_BACKEND, SSREPORT_CYCLES),
        ssreport_counted_rate(counted, SSREPORT_L1D_REFERENCES),
        ssreport_counted_share(counted, SSREPORT_L1D_MISSES, SSREPORT_L1D_REFERENCES),
        ssreport_counted_rate(counted, SSREPORT_CACHE_REFERENCES),
        ssreport_counted_rate(counted, SSREPORT_CACHE_MISSES),
        ssreport_counted_share(counted, SSREPORT_CACHE_MISSES, SSREPORT_CACHE_REFERENCES),
        ssreport_counted_rate(counted, SSREPORT_PAGE_FAULTS),
        ssreport_counted_rate(counted, SSREPORT_CONTEXT_SWITCHES),
        ssreport_counted_rate(counted, SSREPORT_MIGRATIONS));
}

static void add_run(struct ssreport_report *report, const struct ssreport_run *run) {
    struct ssreport_sheet *sheet = &report->sheets[SSREPORT_COUNTERS_RUNS];
    const struct ssreport_record *record = &run->record;
    struct ssreport_counted counted = ssreport_counters_between(&record->counters,
        ssreport_record_elapsed(record, record->counted_from),
        ssreport_record_elapsed(record, ssreport_record_counted_to(record)));
    SSREPORT_TEXTS(sheet, record->name);
    ssreport_sheet_numbers(sheet, counted.sums, SSREPORT_COUNTERS);
    add_rates(sheet, &counted);
}

/* A foreground is looked at in the steps of its background. */
static void add_steps(struct ssreport_report *report, const struct ssreport_run *run) {
    struct ssreport_sheet *sheet = &report->sheets[SSREPORT_COUNTERS_STEPS];
    const struct ssreport_run *background = ssreport_is_word(run->role, "foreground")
                                                ? ssreport_report_beside(report, run, "background")
                                                : NULL;
    const struct ssreport_run *of = background ? background : run;
    double shift = background ? background->record.wall - run->record.wall : 0;
    for (size_t i = 0; i < of->steps.count; i++) {
        const struct ssreport_step *step = &of->steps.items[i];
        struct ssreport_counted counted = ssreport_counters_between(&run->record.counters,
            ssreport_record_elapsed(&of->record, step->from) + shift,
            ssreport_record_elapsed(&of->record, step->to) + shift);
        SSREPORT_TEXTS(sheet, run->record.name);
        SSREPORT_NUMBERS(
            sheet, (double)i + 1, step->half ? step->half : NAN, step->target, step->load.mean);
        add_rates(sheet, &counted);
        SSREPORT_TEXTS(sheet, of->record.name);
    }
}

void ssreport_report_counters(struct ssreport_report *report) {
    report->sheets[SSREPORT_COUNTERS_RUNS] =
        SSREPORT_SHEET("counters", "Counters of the instances, counted time", run_columns);
    report->sheets[SSREPORT_COUNTERS_STEPS] = SSREPORT_SHEET(
        "counters-steps", "Counters by step; of a foreground, its background's", step_columns);
    for (size_t i = 0; i < report->run_count; i++) {
        if (report->runs[i].record.counters.count == 0)
            continue;
        add_run(report, &report->runs[i]);
        add_steps(report, &report->runs[i]);
    }
}
