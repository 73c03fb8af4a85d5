/* SPDX-License-Identifier: Apache-2.0 */
#include "load_output.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/advice.h"
#include "base/openmetrics.h"
#include "base/whole_file.h"
#include "base/words.h"
#include "record/sample_row.h"
#include "screen/window.h"

/* Explain a difference between load and load_ticks that exceeds this. */
#define TICKS_DIFFERENCE_MAX 0.02

/* With less CPU time, in nanoseconds, load and load_ticks differ because ticks are coarse. */
#define TICKS_CPU_TIME_MIN 2e9

#define NUMBER_WIDTH 7 /* a space and 100.00 */
#define CPU_WIDTH    5
#define DRAWING_MIN  20
#define DRAWING_MAX  100
#define GAP          2 /* blanks before the drawing */

/* Conditions under which a column has values. */
enum need { NONE, TARGET, PRESSURE, NO_GROUP };

/* A value of a sample: a column of the table, and a metric. */
struct column {
    const char *name;    /* as in samples.csv */
    const char *heading; /* at most six characters */
    const char *help;    /* of the metric */
    size_t offset;       /* of a double in struct ss_load_sample */
    int rank;            /* a narrow window drops the lowest ranks first */
    enum need need;
};

/* Columns of this rank are always shown. */
#define FIXED_RANK 9

// clang-format off
#define VALUE(member) offsetof(struct ss_load_sample, member)

static const struct column columns[] = {
    {"target", "target", "Target at the end of the latest sample", VALUE(target), FIXED_RANK, TARGET},
    {"load", "load", "CPU load of the latest sample", VALUE(load), FIXED_RANK, NONE},
    {"error", "error", "Target minus load of the latest sample", VALUE(error), FIXED_RANK, TARGET},
    {"load_ticks", "ticks", "CPU load by ticks", VALUE(load_ticks), 8, NO_GROUP},
    {"user", "user", "User time by ticks", VALUE(user), 7, NONE},
    {"system", "system", "System time by ticks", VALUE(system), 6, NONE},
    {"irq", "irq", "Interrupts by ticks", VALUE(irq), 2, NO_GROUP},
    {"steal", "steal", "Time that the hypervisor took by ticks", VALUE(steal), 4, NO_GROUP},
    {"iowait", "iowait", "Idle time with pending I/O by ticks", VALUE(iowait), 5, NO_GROUP},
    {"idle", "idle", "Idle time by ticks", VALUE(idle), 1, NONE},
    {"pressure", "press", "Fraction of the last 10 seconds in which a task waited for a CPU", VALUE(pressure), 3, PRESSURE},
};
// clang-format on

#define COLUMNS ((int)(sizeof columns / sizeof *columns))

static double column_value(const struct column *column, const struct ss_load_sample *sample) {
    return *(const double *)(const void *)((const char *)sample + column->offset);
}

static bool is_known(const struct ssload_table *table, enum need need) {
    return need == NONE || (need == TARGET && table->request->target) ||
           (need == PRESSURE && table->pressure) || (need == NO_GROUP && !table->request->group);
}

static void open_table(struct ssload_table *table, FILE *stream, ss_time interval) {
    table->stream = stream;
    table->unicode = ss_screen_is_unicode();
    table->decimals = interval % (100 * SS_MILLISECOND) == 0 ? 1 : 3;
    if (interval % SS_SECOND == 0)
        table->decimals = 0;
    table->time_width = 8 + (table->decimals ? table->decimals + 1 : 0);
}

/* Chooses the columns that fit. Call it for each heading, because the window may be resized. */
static void fit(struct ssload_table *table) {
    int width, height;
    ss_screen_size(fileno(table->stream), &width, &height);
    table->screen_lines = isatty(fileno(table->stream)) ? height : 0;

    width -= table->time_width + (table->request->per_cpu ? CPU_WIDTH : 0);
    table->shown = 0;

    for (int rank = FIXED_RANK; rank > 0; rank--) {
        for (int i = 0; i < COLUMNS; i++) {
            bool fits = width - NUMBER_WIDTH - GAP - DRAWING_MIN >= 0 || rank == FIXED_RANK;
            if (columns[i].rank != rank || !is_known(table, columns[i].need) || !fits)
                continue;
            table->shown |= 1u << i;
            width -= NUMBER_WIDTH;
        }
    }

    width -= GAP;
    table->drawing_width = width < DRAWING_MAX ? width : DRAWING_MAX;
    if (width < DRAWING_MIN / 2)
        table->drawing_width = 0;
}

static void print_heading(struct ssload_table *table) {
    fprintf(table->stream, "%-*s", table->time_width, "percent");
    if (table->request->per_cpu)
        fprintf(table->stream, "%*s", CPU_WIDTH, "cpu");

    for (int i = 0; i < COLUMNS; i++) {
        if (table->shown & 1u << i)
            fprintf(table->stream, "%*s", NUMBER_WIDTH, columns[i].heading);
    }

    int half = table->drawing_width / 2;
    if (half > 0)
        fprintf(table->stream, "%*s0%*s%*s", GAP, "", half, "50", table->drawing_width - half - 1,
            "100");
    fputc('\n', table->stream);
}

/* Draws the load as a bar, in eighths of a character, with a mark at the target. */
static void draw(const struct ssload_table *table, const struct ss_load_sample *sample) {
    static const char *const blocks[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
    static const char *const letters[] = {" ", " ", " ", " ", "#", "#", "#", "#", "#"};
    const char *const *bar = table->unicode ? blocks : letters;
    int width = table->drawing_width;
    int mark = isnan(sample->target) ? -1 : (int)(sample->target * width);
    int eighths = (int)lround(sample->load * width * 8), blanks = 0;

    if (mark == width)
        mark--;

    fprintf(table->stream, "%*s", GAP, "");
    for (int i = 0; i < width && (i * 8 < eighths || i <= mark); i++) {
        int here = eighths - i * 8;
        if (here < 0)
            here = 0;
        const char *glyph = bar[here < 8 ? here : 8];
        if (i == mark)
            glyph = table->unicode ? "│" : "|";

        if (*glyph == ' ') {
            blanks++;
            continue;
        }
        fprintf(table->stream, "%*s%s", blanks, "", glyph);
        blanks = 0;
    }
}

static void print_row(
    const struct ssload_table *table, const char *label, const struct ss_load_sample *sample) {
    fprintf(table->stream, "%-*s", table->time_width, label);
    if (table->request->per_cpu && sample->cpu == SS_LOAD_ALL_CPUS)
        fprintf(table->stream, "%*s", CPU_WIDTH, "all");
    else if (table->request->per_cpu)
        fprintf(table->stream, "%*d", CPU_WIDTH, (int)sample->cpu);

    for (int i = 0; i < COLUMNS; i++) {
        double value = column_value(&columns[i], sample);
        if (!(table->shown & 1u << i))
            continue;

        if (isnan(value))
            fprintf(table->stream, "%*s", NUMBER_WIDTH, "-");
        else
            fprintf(table->stream, "%*.2f", NUMBER_WIDTH, fabs(value) < 5e-5 ? 0 : 100 * value);
    }

    if (table->drawing_width > 0 && !isnan(sample->load))
        draw(table, sample);
    fputc('\n', table->stream);
}

static void print_in_table(struct ssload_table *table, const struct ss_load_sample *sample) {
    bool whole = !table->request->per_cpu || sample->cpu == SS_LOAD_ALL_CPUS;
    if (table->lines == 0 ||
        (table->screen_lines > 2 && whole && table->lines >= table->screen_lines - 1)) {
        fit(table);
        print_heading(table);
        table->lines = 1;
    }

    time_t seconds = (time_t)(sample->time / (int64_t)SS_SECOND);
    int milliseconds = (int)(sample->time % (int64_t)SS_SECOND / (int64_t)SS_MILLISECOND);
    char label[40];
    struct tm local;

    localtime_r(&seconds, &local);
    size_t length = strftime(label, sizeof label, "%H:%M:%S", &local);
    if (table->decimals)
        snprintf(label + length, sizeof label - length, ".%0*d", table->decimals,
            table->decimals == 1 ? milliseconds / 100 : milliseconds);

    print_row(table, label, sample);
    table->lines++;
}

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
        .table = {.request = request},
    };
    if (!report->sums)
        return ss_error_memory(error);

    struct ss_error why = {0};
    if (request->output && !(report->stream = ss_walk_stream(request->output, O_TRUNC, &why))) {
        ss_error_fail(error, "cannot write %s: %s%s", ss_words_show(request->output).text,
            why.message, ss_advice_to_write(errno, request->output));
        free(report->sums);
        *report = (struct ssload_report){0};
        return -1;
    }

    if (report->format == SSLOAD_AUTO)
        report->format = isatty(fileno(report->stream)) ? SSLOAD_TABLE : SSLOAD_CSV;
    open_table(&report->table, report->stream, request->interval);
    return 0;
}

void ssload_report_begin(struct ssload_report *report) {
    char line[SS_SAMPLE_ROW_SIZE];
    if (report->format == SSLOAD_CSV)
        fwrite(line, 1, ss_sample_row_heading(line, columns_of(report)), report->stream);
}

static void print_sample(struct ssload_report *report, const struct ss_load_sample *sample) {
    char line[SS_SAMPLE_ROW_SIZE];

    /* A signal may have interrupted a write to a slow reader: another one would block again. */
    if (ferror(report->stream))
        return;
    if (report->format == SSLOAD_TABLE) {
        report->table.pressure |= !isnan(sample->pressure);
        print_in_table(&report->table, sample);
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

static void print_average(const struct ss_load_sample *sample, double seconds) {
    const char *separator = ": ";

    fprintf(stderr, "ssload: average");
    if (sample->cpu != SS_LOAD_ALL_CPUS)
        fprintf(stderr, " of CPU %d", (int)sample->cpu);
    fprintf(stderr, " over %.1f s", seconds);

    for (int i = 0; i < COLUMNS; i++) {
        double value = column_value(&columns[i], sample);
        if (isnan(value))
            continue;

        fprintf(stderr, "%s%s %.2f %%", separator, columns[i].name,
            fabs(value) < 5e-5 ? 0 : 100 * value);
        separator = ", ";
    }
    fputc('\n', stderr);
}

static void explain_ticks(const struct ss_load_sample *sample, const struct ss_load_span *span) {
    if (isnan(sample->load_ticks) || span->capacity < TICKS_CPU_TIME_MIN ||
        fabs(sample->load - sample->load_ticks) <= TICKS_DIFFERENCE_MAX)
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
            fprintf(stderr, "ssload: note: no sample was taken: the time was too short\n");
        return;
    }

    for (int32_t cpu = SS_LOAD_ALL_CPUS; cpu < (int32_t)report->cpus; cpu++) {
        const struct ssload_sums *sums = &report->sums[cpu + 1];
        if (sums->seconds <= 0)
            continue;

        struct ss_load_sample sample = average(sums, cpu);
        if (table && first)
            fputc('\n', report->stream);
        if (table)
            print_row(&report->table, "Average", &sample);
        else if (!report->request->quiet)
            print_average(&sample, sums->seconds);
        first = false;
    }

    struct ss_load_sample all = average(&report->sums[0], SS_LOAD_ALL_CPUS);
    if (table)
        fflush(report->stream); /* before the note, which goes to the same terminal */
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

/*
 * A metric of all CPUs together, and one of each CPU. Their names differ, so that a sum over one
 * metric does not count each CPU twice.
 */
struct pair {
    const char *name, *unit;
    enum ss_metric_type type;
    const char *help;
    const struct column *column; /* of the latest sample; NULL: `sum` */
    size_t sum;                  /* offset of a double in struct ssload_sums */
};

static double value_of(const struct pair *pair, const struct ssload_sums *sums) {
    if (pair->column)
        return column_value(pair->column, &sums->last);
    return *(const double *)(const void *)((const char *)sums + pair->sum);
}

static void put_pair(struct ss_metrics *metrics, const struct pair *pair, const char **labels,
    const struct ssload_report *report) {
    char name[64], help[128], number[16];
    struct ss_metric metric = {name, pair->unit, pair->type, help};

    snprintf(name, sizeof name, "ssload_%s_%s", pair->name, pair->unit);
    snprintf(help, sizeof help, "%s", pair->help);
    metrics->last = NULL; /* the previous call's metric may have had the address of this one */
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
    for (int i = 0; i < COLUMNS; i++) {
        const struct column *column = &columns[i];
        struct pair pair = {column->name, "ratio", SS_METRIC_GAUGE, column->help, column, 0};
        put_pair(&metrics, &pair, labels, report);
    }
    ss_metrics_put(&metrics, &sample_time, labels, (double)report->sums[0].last.time / 1e9);
    ss_metrics_end(&metrics);
}

int ssload_report_write_metrics(const struct ssload_report *report, struct ss_error *error) {
    const char *path = report->request->metrics;
    struct ss_whole_file file;

    if (ss_whole_file_begin(&file, path, error) < 0)
        return ss_error_wrap(error, "--openmetrics");
    put_all(file.stream, report);
    return ss_whole_file_end(&file, path, error) < 0 ? ss_error_wrap(error, "--openmetrics") : 0;
}
