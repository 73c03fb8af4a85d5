/* SPDX-License-Identifier: Apache-2.0 */
#include "load_metrics.h"

#include <errno.h>
#include <math.h>

#include "base/openmetrics.h"
#include "base/whole_file.h"
#include "base/words.h"

/*
 * A metric of all CPUs together, and one of each CPU. They have different names, so that a query
 * that adds up CPUs counts nothing twice.
 */
struct pair {
    size_t offset; /* in struct ssload_sums, a double */
    struct ss_metric all;
    struct ss_metric cpu;
};

#define PAIR(member, name, unit, type, help)                                                       \
    {                                                                                              \
        offsetof(struct ssload_sums, member), {"ssload_" name "_" unit, unit, type, help}, {       \
            "ssload_cpu_" name "_" unit, unit, type, help " of this CPU"                           \
        }                                                                                          \
    }

#define RATIO(column, help) PAIR(last.column, #column, "ratio", SS_METRIC_GAUGE, help)

static const struct pair pairs[] = {
    PAIR(busy, "busy", "seconds", SS_METRIC_COUNTER, "Busy CPU time since the start"),
    PAIR(capacity, "capacity", "seconds", SS_METRIC_COUNTER, "Measured CPU time since the start"),
    RATIO(target, "Target at the end of the latest sample"),
    RATIO(load, "CPU load of the latest sample"),
    RATIO(error, "Target minus load of the latest sample"),
    RATIO(load_ticks, "CPU load by ticks"),
    RATIO(user, "User time by ticks"),
    RATIO(system, "System time by ticks"),
    RATIO(irq, "Interrupts by ticks"),
    RATIO(steal, "Time that the hypervisor took by ticks"),
    RATIO(iowait, "Idle time with pending I/O by ticks"),
    RATIO(idle, "Idle time by ticks"),
    RATIO(pressure, "Part of the last 10 seconds in which a task waited for a CPU"),
};

static const struct ss_metric sample_time = {"ssload_sample_timestamp_seconds", "seconds",
    SS_METRIC_GAUGE, "Unix time of the latest sample"};

static double value_of(const struct ssload_sums *sums, size_t offset) {
    return *(const double *)((const char *)sums + offset);
}

/* Writes a metric of each CPU that the latest sample has. */
static void put_cpus(struct ss_metrics *metrics, const struct pair *pair, const char **labels,
    const struct ssload_report *report) {
    char number[16];
    size_t end = 0;
    while (labels[end])
        end += 2;
    labels[end] = "cpu";
    labels[end + 1] = number;
    for (size_t i = 1; i <= report->cpus; i++) {
        const struct ssload_sums *sums = &report->sums[i];
        if (sums->last.time != report->sums[0].last.time)
            continue;
        snprintf(number, sizeof number, "%zu", i - 1);
        ss_metrics_put(metrics, &pair->cpu, labels, value_of(sums, pair->offset));
    }
    labels[end] = NULL;
}

static void put_all(FILE *stream, const struct ssload_report *report) {
    struct ss_metrics metrics = {.stream = stream};
    const char *labels[8] = {NULL};
    size_t count = 0;
    if (report->request->group) {
        labels[count++] = "cgroup";
        labels[count++] = report->request->group;
    }
    if (report->request->cpus) {
        labels[count++] = "cpus";
        labels[count++] = report->request->cpus;
    }
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        ss_metrics_put(&metrics, &pairs[i].all, labels, value_of(report->sums, pairs[i].offset));
        put_cpus(&metrics, &pairs[i], labels, report);
    }
    ss_metrics_put(&metrics, &sample_time, labels, (double)report->sums[0].last.time / 1e9);
    ss_metrics_end(&metrics);
}

int ssload_metrics_write(const struct ssload_report *report, struct ss_error *error) {
    const char *path = report->request->metrics;
    struct ss_whole_file file;
    if (ss_whole_file_open(&file, path) == 0) {
        put_all(file.stream, report);
        if (ss_whole_file_commit(&file) == 0)
            return 0;
    }
    return ss_error_fail(error, "--openmetrics: %s: %s", ss_words_show(path).text, strerror(errno));
}
