/* SPDX-License-Identifier: Apache-2.0 */

/* What was seen inside of an environment, beside what its host saw; and the load of each CPU. */

#include <math.h>

#include "report.h"

// clang-format off
static const struct ssreport_column environment_columns[] = {
    {"record", "record"}, {"environment", "environment"}, {"measured_in", "measured"},
    {"load_mean", "load, %", 2, true}, {"host_load_mean", "load by the host, %", 2, true},
    {"load_difference", "difference, points", 2, true}, {"host_samples", NULL},
    {"clock_difference_start_seconds", "guest's clock ahead at the start, s", 4},
    {"clock_difference_end_seconds", "at the end, s", 4},
    {"vcpus", "vCPUs"}, {"vcpu_host_cpu_seconds", "CPU time of the host for them, s", 1},
    {"vcpu_wall_seconds", NULL}, {"vcpu_load", "part of their time, %", 2, true},
    {"steal_mean", "steal, %", 2, true},
};
static const struct ssreport_column cpu_columns[] = {
    {"record", "record"}, {"cpu", "CPU"}, {"load_mean", "load, %", 2, true},
    {"samples", "samples"},
};
// clang-format on

static void add_environment(struct ssreport_sheet *sheet, const struct ssreport_run *run) {
    const struct ssreport_surroundings *around = &run->surroundings;
    size_t samples;
    double host = ssreport_surroundings_host_load(around, &run->record, &samples);
    bool has_vcpus = around->vcpus > 0;
    if (around->host_count == 0 && !has_vcpus && isnan(around->clock[0]) && isnan(around->clock[1]))
        return;
    SSREPORT_TEXTS(sheet, run->record.name, ssreport_run_environment(run), run->measured_in);
    SSREPORT_NUMBERS(sheet, run->figures.load_mean, host, run->figures.load_mean - host,
        (double)samples, around->clock[0], around->clock[1],
        has_vcpus ? (double)around->vcpus : NAN, has_vcpus ? around->vcpu_host : NAN,
        has_vcpus ? around->vcpu_wall : NAN,
        has_vcpus ? around->vcpu_host / around->vcpu_wall : NAN, run->record.steal);
}

static void add_cpus(struct ssreport_sheet *sheet, const struct ssreport_run *run) {
    for (size_t i = 0; i < run->surroundings.cpu_count; i++) {
        const struct ssreport_cpu *cpu = &run->surroundings.cpus[i];
        SSREPORT_TEXTS(sheet, run->record.name, cpu->name);
        SSREPORT_NUMBERS(
            sheet, cpu->samples > 0 ? cpu->sum / (double)cpu->samples : NAN, (double)cpu->samples);
    }
}

void ssreport_report_environments(struct ssreport_report *report) {
    report->sheets[SSREPORT_ENVIRONMENTS] = SSREPORT_SHEET(
        "environments", "Environments: seen from inside and by the host", environment_columns);
    report->sheets[SSREPORT_CPUS] = SSREPORT_SHEET("cpus", "Load of each CPU", cpu_columns);
    for (size_t i = 0; i < report->run_count; i++) {
        add_environment(&report->sheets[SSREPORT_ENVIRONMENTS], &report->runs[i]);
        add_cpus(&report->sheets[SSREPORT_CPUS], &report->runs[i]);
    }
}
