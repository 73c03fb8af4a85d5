/* SPDX-License-Identifier: Apache-2.0 */
#include "load_output.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/advice.h"
#include "base/openmetrics.h"
#include "base/whole_file.h"
#include "base/words.h"
#include "record/sample_row.h"

/* A difference between load and load_ticks that exceeds this is explained. */
#define TICKS_ASTRAY 0.02

/* Below this much CPU time, in nanoseconds, load and load_ticks differ because ticks are coarse. */
#define TICKS_ENOUGH 2e9

static unsigned columns_of(const struct ssload_report *report) {
    return report->request->per_cpu ? SS_SAMPLE_COLUMN_CPU : 0;
}

int ssload_report_open(
    struct ssload_report *report, const struct ssload_request *request, struct ss_error *error) {
    *report = (struct ssload_report){
        .request = request,
        .stream = stdout,
        .name = request->output ? request->output : "standard output",
        .format = (enum ssload_format)request->format,
        .sums = calloc(SS_CPUS_MAX + 1, sizeof *report->sums),
        .table = {.target = request->target, .per_cpu = request->per_cpu, .group = request->group},
    };
    if (!report->sums)
        return ss_error_memory(error);
    if (request->output && !(report->stream = fopen(request->output, "we"))) {
        ss_error_fail(error, "%s: %s%s", ss_words_show(request->output).text, strerror(errno),
            ss_advice_to_write(errno, request->output));
        free(report->sums);
        *report = (struct ssload_report){0};
        return -1;
    }
    if (report->format == SSLOAD_FITTING)
        report->format = isatty(fileno(report->stream)) ? SSLOAD_TABLE : SSLOAD_CSV;
    ssload_table_open(&report->table, report->stream, request->interval);
    return 0;
}

void ssload_report_begin(struct ssload_report *report) {
    char line[SS_SAMPLE_ROW];
    if (report->format == SSLOAD_CSV)
        fwrite(line, 1, ss_sample_row_heading(line, columns_of(report)), report->stream);
}

static void print_sample(struct ssload_report *report, const struct ss_load_sample *sample) {
    char line[SS_SAMPLE_ROW];
    /* After a write that a signal has interrupted, another one would block again. */
    if (ferror(report->stream))
        return;
    if (report->format == SSLOAD_TABLE) {
        report->table.pressure |= !isnan(sample->pressure);
        ssload_table_print(&report->table, sample);
        return;
    }
    size_t length = report->format == SSLOAD_CSV
                        ? ss_sample_row_csv(line, sample, columns_of(report))
                        : ss_sample_row_json(line, sample, columns_of(report));
    fwrite(line, 1, length, report->stream);
}

void ssload_report_add(struct ssload_report *report, const struct ss_load_sample *sample,
    const struct ss_load_span *span, double seconds) {
    struct ssload_sums *sums = &report->sums[sample->cpu + 1];
    if ((size_t)sample->cpu + 1 > report->cpus)
        report->cpus = (size_t)sample->cpu + 1;
    ss_load_span_add(&sums->span, span);
    sums->last = *sample;
    sums->capacity += span->capacity / 1e9;
    sums->busy += sample->load * span->capacity / 1e9;
    sums->seconds += seconds;
    if (!isnan(sample->pressure)) {
        sums->pressure += sample->pressure * seconds;
        sums->pressure_seconds += seconds;
    }
    /* Like showstopper, exclude samples that began in a `free` section. */
    if (!isnan(sample->target) && !report->was_free) {
        sums->target += sample->target;
        sums->error += sample->error;
        sums->targets++;
    }
    print_sample(report, sample);
}

static struct ss_load_sample average(const struct ssload_sums *sums, int32_t cpu) {
    struct ss_load_sample sample = ss_load_sample_new();
    sample.cpu = cpu;
    ss_load_sample_set(&sample, &sums->span);
    sample.error = NAN;
    if (sums->targets > 0) {
        sample.target = sums->target / (double)sums->targets;
        sample.error = sums->error / (double)sums->targets;
    }
    if (sums->pressure_seconds > 0)
        sample.pressure = sums->pressure / sums->pressure_seconds;
    return sample;
}

static void tell_average(const struct ss_load_sample *sample, double seconds) {
    const char *separator = ": ";
    fprintf(stderr, "ssload: average");
    if (sample->cpu != SS_LOAD_ALL_CPUS)
        fprintf(stderr, " of CPU %d", (int)sample->cpu);
    fprintf(stderr, " over %.1f s", seconds);
    for (int i = 0; i < SSLOAD_COLUMNS; i++) {
        double value = ssload_column_value(&ssload_columns[i], sample);
        if (isnan(value))
            continue;
        fprintf(stderr, "%s%s %.2f %%", separator, ssload_columns[i].name,
            fabs(value) < 5e-5 ? 0 : 100 * value);
        separator = ", ";
    }
    fputc('\n', stderr);
}

static void explain_ticks(const struct ss_load_sample *sample, const struct ss_load_span *span) {
    if (isnan(sample->load_ticks) || span->capacity < TICKS_ENOUGH ||
        fabs(sample->load - sample->load_ticks) <= TICKS_ASTRAY)
        return;
    fprintf(stderr,
        "ssload: note: load is %.2f %%, but load_ticks is %.2f %%: the kernel samples busy time at "
        "timer ticks, which miscounts work that runs in step with them; load is measured by the "
        "clock\n",
        100 * sample->load, 100 * sample->load_ticks);
}

void ssload_report_end(struct ssload_report *report) {
    bool table = report->format == SSLOAD_TABLE, first = true;
    if (report->sums[0].seconds <= 0) {
        if (!report->request->quiet)
            fprintf(stderr, "ssload: note: nothing was measured: the time was too short\n");
        return;
    }
    for (int32_t cpu = SS_LOAD_ALL_CPUS; cpu < (int32_t)report->cpus; cpu++) {
        const struct ssload_sums *sums = &report->sums[cpu + 1];
        if (sums->seconds <= 0)
            continue;
        struct ss_load_sample sample = average(sums, cpu);
        if (table)
            ssload_table_print_average(&report->table, &sample, first);
        else if (!report->request->quiet)
            tell_average(&sample, sums->seconds);
        first = false;
    }
    struct ss_load_sample all = average(&report->sums[0], SS_LOAD_ALL_CPUS);
    if (table)
        fflush(report->stream); /* flushed before the note, which goes to the same terminal */
    if (!report->request->quiet)
        explain_ticks(&all, &report->sums[0].span);
}

int ssload_report_flush(struct ssload_report *report) {
    return fflush(report->stream) == 0 && !ferror(report->stream) ? 0 : -1;
}

int ssload_report_close(struct ssload_report *report) {
    int result = 0;
    if (report->stream == stdout)
        result = ssload_report_flush(report);
    else if (report->stream && fclose(report->stream) != 0)
        result = -1;
    free(report->sums);
    report->stream = NULL;
    report->sums = NULL;
    return result;
}

/* A metric of all CPUs together, and one of each CPU, which a query over all CPUs must not count.
 */
struct pair {
    const char *name, *unit;
    enum ss_metric_type type;
    const char *help;
    const struct ssload_column *column; /* of the latest sample; NULL: `sum` */
    size_t sum;                         /* offset of a double in struct ssload_sums */
};

static double value_of(const struct pair *pair, const struct ssload_sums *sums) {
    if (pair->column)
        return ssload_column_value(pair->column, &sums->last);
    return *(const double *)(const void *)((const char *)sums + pair->sum);
}

static void put_pair(struct ss_metrics *metrics, const struct pair *pair, const char **labels,
    const struct ssload_report *report) {
    char name[64], help[128], number[16];
    struct ss_metric metric = {name, pair->unit, pair->type, help};
    snprintf(name, sizeof name, "ssload_%s_%s", pair->name, pair->unit);
    snprintf(help, sizeof help, "%s", pair->help);
    metrics->last = NULL; /* another metric, in the same place */
    ss_metrics_put(metrics, &metric, labels, value_of(pair, &report->sums[0]));

    struct ss_metric of_cpu = metric;
    size_t end = 0;
    while (labels[end])
        end += 2;
    labels[end] = "cpu";
    labels[end + 1] = number;
    snprintf(name, sizeof name, "ssload_cpu_%s_%s", pair->name, pair->unit);
    snprintf(help, sizeof help, "%s of this CPU", pair->help);
    for (size_t i = 1; i <= report->cpus; i++) {
        const struct ssload_sums *sums = &report->sums[i];
        snprintf(number, sizeof number, "%zu", i - 1);
        if (sums->last.time == report->sums[0].last.time)
            ss_metrics_put(metrics, &of_cpu, labels, value_of(pair, sums));
    }
    labels[end] = NULL;
}

static void put_all(FILE *stream, const struct ssload_report *report) {
    static const struct pair times[] = {
        {"busy", "seconds", SS_METRIC_COUNTER, "Busy CPU time since the start", NULL,
            offsetof(struct ssload_sums, busy)},
        {"capacity", "seconds", SS_METRIC_COUNTER, "Measured CPU time since the start", NULL,
            offsetof(struct ssload_sums, capacity)},
    };
    static const struct ss_metric sample_time = {"ssload_sample_timestamp_seconds", "seconds",
        SS_METRIC_GAUGE, "Unix time of the latest sample"};
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

    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        put_pair(&metrics, &times[i], labels, report);
    for (int i = 0; i < SSLOAD_COLUMNS; i++) {
        const struct ssload_column *column = &ssload_columns[i];
        struct pair pair = {column->name, "ratio", SS_METRIC_GAUGE, column->help, column, 0};
        put_pair(&metrics, &pair, labels, report);
    }
    ss_metrics_put(&metrics, &sample_time, labels, (double)report->sums[0].last.time / 1e9);
    ss_metrics_end(&metrics);
}

int ssload_report_write_metrics(const struct ssload_report *report, struct ss_error *error) {
    const char *path = report->request->metrics;
    struct ss_whole_file file;
    if (ss_whole_file_open(&file, path) == 0) {
        put_all(file.stream, report);
        if (ss_whole_file_commit(&file) == 0)
            return 0;
    }
    return ss_error_fail(error, "--openmetrics: %s: %s", ss_words_show(path).text, strerror(errno));
}
