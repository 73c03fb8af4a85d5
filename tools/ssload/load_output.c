/* SPDX-License-Identifier: Apache-2.0 */
#include "load_output.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/advice.h"
#include "base/words.h"

/* A difference between load and load_ticks that exceeds this is explained. */
#define TICKS_ASTRAY 0.02

/* Below this much CPU time, in nanoseconds, load and load_ticks differ because ticks are coarse. */
#define TICKS_ENOUGH 2e9

static unsigned columns_of(const struct ssload_report *report) {
    return report->request->per_cpu ? SS_LOAD_COLUMN_CPU : 0;
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
    if (request->output && !(report->stream = fopen(request->output, "we")))
        return ss_error_fail(error, "%s: %s%s", ss_words_show(request->output).text,
            strerror(errno), ss_advice_to_write(errno, request->output));
    if (report->format == SSLOAD_FITTING)
        report->format = isatty(fileno(report->stream)) ? SSLOAD_TABLE : SSLOAD_CSV;
    ssload_table_open(&report->table, report->stream, request->interval);
    return 0;
}

void ssload_report_begin(struct ssload_report *report) {
    char line[SS_LOAD_SAMPLE_ROW];
    if (report->format == SSLOAD_CSV)
        fwrite(line, 1, ss_load_sample_heading(line, columns_of(report)), report->stream);
}

static void print_sample(struct ssload_report *report, const struct ss_load_sample *sample) {
    char line[SS_LOAD_SAMPLE_ROW];
    /* After a write that a signal has interrupted, another one would block again. */
    if (ferror(report->stream))
        return;
    if (report->format == SSLOAD_TABLE) {
        report->table.pressure |= !isnan(sample->pressure);
        ssload_table_print(&report->table, sample);
        return;
    }
    size_t length = report->format == SSLOAD_CSV
                        ? ss_load_sample_csv(line, sample, columns_of(report))
                        : ss_load_sample_json(line, sample, columns_of(report));
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

static void tell_value(const char *separator, const char *name, double value) {
    if (!isnan(value))
        fprintf(stderr, "%s%s %.2f %%", separator, name, fabs(value) < 5e-5 ? 0 : 100 * value);
}

static void tell_average(const struct ss_load_sample *sample, double seconds) {
    fprintf(stderr, "ssload: average");
    if (sample->cpu != SS_LOAD_ALL_CPUS)
        fprintf(stderr, " of CPU %d", (int)sample->cpu);
    fprintf(stderr, " over %.1f s: ", seconds);
    tell_value("", "load", sample->load);
    tell_value(", ", "target", sample->target);
    tell_value(", ", "error", sample->error);
    tell_value(", ", "load_ticks", sample->load_ticks);
    tell_value(", ", "user", sample->user);
    tell_value(", ", "system", sample->system);
    tell_value(", ", "irq", sample->irq);
    tell_value(", ", "steal", sample->steal);
    tell_value(", ", "iowait", sample->iowait);
    tell_value(", ", "idle", sample->idle);
    tell_value(", ", "pressure", sample->pressure);
    fputc('\n', stderr);
}

static void explain_ticks(const struct ss_load_sample *sample, const struct ss_load_span *span) {
    if (isnan(sample->load_ticks) || span->capacity < TICKS_ENOUGH ||
        fabs(sample->load - sample->load_ticks) <= TICKS_ASTRAY)
        return;
    fprintf(stderr,
        "ssload: note: load is %.2f %%, but load_ticks is %.2f %%: the kernel samples busy time at "
        "timer ticks, which misjudges work that runs in step with them; load is measured by the "
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
