/* SPDX-License-Identifier: Apache-2.0 */
#include "study_topic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "differences.h"
#include "frame.h"
#include "gnuplot.h"
#include "html_page.h"
#include "study_points.h"

/* Maximum numbers of series: in the answer, and in a picture. */
#define NAMED_MAX  3
#define SERIES_MAX 16

// clang-format off
static const struct table_column figure_columns[] = {
    {"set", NULL}, {"rounds", "rounds", .text = {"rounds", 7}},
    {"load_mean", "load, %", 2, true, .text = {"load, %", 8}},
    {"iterations_per_second", "throughput, /s", 4, .text = {"per s", 10}},
    {"low", "from", 4, .text = {"from", 10}}, {"high", "to", 4, .text = {"to", 10}},
    {"at_most", "at most, /s", 4, .if_known = true},
    {"iteration_seconds", "iteration, s", 4},
    {"relative", "relative to the first series", 3, .if_known = true, .text = {"relative", 9}},
    {"relative_low", "from", 3, .if_known = true}, {"relative_high", "to", 3, .if_known = true},
    {"iteration_low", NULL}, {"iteration_high", NULL}, {"load_low", NULL}, {"load_high", NULL},
};
static const struct table_sheet tables[] = {
    TABLE_INIT("study", "Mean of the rounds, by the columns in which runs differ", figure_columns),
    {.name = NULL},
};
// clang-format on

#define FIGURE_COLUMNS (sizeof figure_columns / sizeof *figure_columns)

static bool is_figure(const char *name) {
    for (size_t i = 0; i < FIGURE_COLUMNS; i++) {
        if (strcmp(figure_columns[i].name, name) == 0)
            return true;
    }
    return false;
}

/*
 * Returns the name in the table of a column of the plan: its own, unless a figure has it. The
 * caller frees it. Returns NULL if memory is exhausted.
 */
static char *choose_name(const struct ssreport_differences *differences, const char *column) {
    char *name = strdup(column), *next;
    while (name && (is_figure(name) || (strcmp(name, column) != 0 &&
                                           ssreport_differences_have(differences, name)))) {
        int result = asprintf(&next, "plan_%s", name);
        free(name);
        name = result < 0 ? NULL : next;
    }
    return name;
}

/*
 * Maximum numbers of the plan's columns on a terminal of 80 columns: next to all figures, and next
 * to the throughput only.
 */
#define NARROW_MAX   2
#define COLUMNS_MAX  4
#define COLUMN_WIDTH 10

static void make_room(struct table_column *columns, size_t plan_columns) {
    for (size_t i = COLUMNS_MAX; i < plan_columns; i++)
        columns[i].text.heading = NULL;
    for (size_t i = plan_columns; plan_columns > NARROW_MAX && i < plan_columns + FIGURE_COLUMNS;
         i++) {
        if (strcmp(columns[i].name, "load_mean") == 0 || strcmp(columns[i].name, "relative") == 0)
            columns[i].text.heading = NULL;
    }
}

/* Sets the columns of the table: first the columns of the plan. */
static int set_columns(struct ssreport_report *report) {
    const struct ssreport_differences *differences = &report->differences;
    struct table_sheet *sheet = ssreport_table(report, "study");
    struct table_column *columns = calloc(differences->count + FIGURE_COLUMNS, sizeof *columns);
    size_t count = 0;
    report->study_columns = columns;
    report->study_names = calloc(differences->count + 1, sizeof *report->study_names);
    if (!columns || !report->study_names)
        return -1;
    for (size_t i = 0; i < differences->count; i++) {
        char *name = choose_name(differences, differences->names[i]);
        if (!name)
            return -1;
        report->study_names[count] = name;
        columns[count++] = (struct table_column){.name = name,
            .heading = differences->names[i],
            .text = {differences->names[i], COLUMN_WIDTH}};
    }
    memcpy(columns + count, figure_columns, sizeof figure_columns);
    make_room(columns, count);
    sheet->columns = columns;
    sheet->column_count = count + FIGURE_COLUMNS;
    return 0;
}

static void add_row(struct ssreport_report *report, const struct ssreport_study_point *point) {
    const struct ssreport_differences *differences = &report->differences;
    struct table_sheet *sheet = ssreport_table(report, "study");
    table_add_row(sheet);
    for (size_t i = 0; i < differences->count; i++)
        TABLE_CELLS(sheet, CELL(report->study_names[i], ssreport_columns_get(&point->first->columns,
                                                            differences->names[i])));
    TABLE_CELLS(sheet, CELL("set", point->first->set + 1), CELL("rounds", point->rounds),
        CELL("load_mean", point->load.mean), CELL("iterations_per_second", point->throughput.mean),
        CELL("low", point->throughput.low), CELL("high", point->throughput.high),
        CELL("at_most", point->bound), CELL("iteration_seconds", point->iteration.mean),
        CELL("relative", point->relative.mean), CELL("relative_low", point->relative.low),
        CELL("relative_high", point->relative.high), CELL("iteration_low", point->iteration.low),
        CELL("iteration_high", point->iteration.high), CELL("load_low", point->load.low),
        CELL("load_high", point->load.high));
}

static int build(struct ssreport_report *report, struct ss_error *error) {
    struct ssreport_study_points points;
    int result = ssreport_study_points_find(&points, report);
    if (result == 0 && points.count > 0)
        result = set_columns(report);
    for (size_t i = 0; result == 0 && i < points.count; i++)
        add_row(report, &points.items[i]);
    ssreport_study_points_free(&points);
    return result < 0 ? ss_error_memory(error) : 0;
}

static void release(struct ssreport_report *report) {
    for (size_t i = 0; report->study_names && report->study_names[i]; i++)
        free(report->study_names[i]);
    free(report->study_names);
    free(report->study_columns);
    report->study_names = NULL;
    report->study_columns = NULL;
}

/* Writes "11.9 /s (11.5 to 12.3) at load=20". */
static void describe_point(char text[200], const struct ssreport_report *report,
    const struct ssreport_study_point *point) {
    const struct ssreport_differences *differences = &report->differences;
    const struct ssreport_mean *mean = &point->throughput;
    size_t used = (size_t)snprintf(text, 200, "%.4g /s", mean->mean);
    if (isfinite(mean->low) && isfinite(mean->high))
        used += (size_t)snprintf(text + used, 200 - used, " (%.4g to %.4g)", mean->low, mean->high);
    if (differences->axis < differences->count)
        snprintf(text + used, 200 - used, " at %.40s=%.40s", differences->names[differences->axis],
            ssreport_columns_get(&point->first->columns, differences->names[differences->axis]));
}

/* Finds the first and the last point of a series with a throughput. Returns false without any. */
static bool find_ends(const struct ssreport_study_points *points, size_t series,
    const struct ssreport_study_point *ends[2]) {
    ends[0] = ends[1] = NULL;
    for (size_t i = 0; i < points->count; i++) {
        const struct ssreport_study_point *point = &points->items[i];
        if (point->series != series || point->throughput.count == 0)
            continue;
        ends[0] = ends[0] ? ends[0] : point;
        ends[1] = point;
    }
    return ends[0];
}

/* Writes "with size=large it is 2 /s at load=20 and 10 /s at load=100". */
static size_t answer_series(const struct ssreport_report *report,
    const struct ssreport_study_point *const ends[2], bool first, char *text, size_t size) {
    char name[200], from[200], to[200];
    ssreport_study_series(name, report, ends[0]);
    describe_point(from, report, ends[0]);
    describe_point(to, report, ends[1]);
    bool one = ends[0] == ends[1];
    int used = snprintf(text, size, "%s%s%s%s %s%s%s", first ? "" : "; ",
        *name ? (first ? "With " : "with ") : (first ? "It is" : "it is"), name,
        *name ? " it is" : "", from, one ? "" : " and ", one ? "" : to);
    return (size_t)used < size ? (size_t)used : size - 1;
}

/* Writes "How does the throughput depend on load, for each size?" */
static void ask_question(const struct ssreport_report *report, char question[320]) {
    const struct ssreport_differences *differences = &report->differences;
    bool has_axis = differences->axis < differences->count;
    size_t used = (size_t)snprintf(question, 320, "How does the throughput depend on %.60s",
        has_axis ? differences->names[differences->axis] : "");
    const char *separator = has_axis ? ", for each " : "";
    for (size_t i = 0; i < differences->count && used < 240; i++) {
        if (i == differences->axis || differences->follows[i])
            continue;
        used += (size_t)snprintf(
            question + used, 320 - used, "%s%.60s", separator, differences->names[i]);
        separator = has_axis ? ", " : " and ";
    }
    snprintf(question + used, 320 - used, "?");
}

static bool ask_points(const struct ssreport_report *report,
    const struct ssreport_study_points *points, struct ssreport_headline *headline) {
    char *text = headline->answer;
    size_t size = sizeof headline->answer, known = 0, used = 0;
    for (size_t series = 0; series < points->series; series++) {
        const struct ssreport_study_point *ends[2];
        if (find_ends(points, series, ends) && ++known <= NAMED_MAX)
            used += answer_series(report, ends, known == 1, text + used, size - used);
    }
    if (known > NAMED_MAX)
        used += (size_t)snprintf(
            text + used, size - used, "; the table has %zu more", known - NAMED_MAX);
    if (known == 0)
        return false;
    snprintf(text + used, size - used, ".");
    ask_question(report, headline->question);
    return true;
}

static bool ask(const struct ssreport_report *report, struct ssreport_headline *headline) {
    struct ssreport_study_points points;
    bool asked = false;
    if (report->differences.count > 0 && ssreport_study_points_find(&points, report) == 0) {
        asked = ask_points(report, &points, headline);
        ssreport_study_points_free(&points);
    }
    return asked;
}

/*
 * Writes lines of value, mean, low and high. Without an interval, both bounds equal the mean.
 * Returns the number of lines.
 */
static size_t write_series(
    FILE *script, const struct ssreport_study_points *points, size_t series) {
    size_t count = 0;
    fprintf(script, "$s%zu << END\n", series);
    for (size_t i = 0; i < points->count; i++) {
        const struct ssreport_study_point *point = &points->items[i];
        const struct ssreport_mean *mean = &point->throughput;
        if (point->series != series || !isfinite(point->at) || mean->count == 0)
            continue;
        bool sure = isfinite(mean->low) && isfinite(mean->high);
        fprintf(script, "%.9g %.9g %.9g %.9g\n", point->at, mean->mean,
            sure ? mean->low : mean->mean, sure ? mean->high : mean->mean);
        count++;
    }
    fputs("END\n", script);
    return count;
}

/* Writes the points that contain invalid runs, which get rings. Returns false without any. */
static bool write_invalid(FILE *script, const struct ssreport_study_points *points) {
    size_t count = 0;
    fputs("$invalid << END\n", script);
    for (size_t i = 0; i < points->count; i++) {
        const struct ssreport_study_point *point = &points->items[i];
        bool is_invalid = false;
        for (size_t j = 0; j < point->rounds; j++)
            is_invalid |= ssreport_run_is_invalid(point->runs[j]);
        if (is_invalid && isfinite(point->at) && point->throughput.count > 0)
            count += fprintf(script, "%.9g %.9g\n", point->at, point->throughput.mean) > 0;
    }
    fputs("END\n", script);
    return count > 0;
}

static const struct ssreport_study_point *first_of(
    const struct ssreport_study_points *points, size_t series) {
    size_t i = 0;
    while (points->items[i].series != series)
        i++;
    return &points->items[i];
}

static void plot_series(
    FILE *script, const struct ssreport_report *report, const struct ssreport_study_point *point) {
    char name[200];
    ssreport_study_series(name, report, point);
    fprintf(script, "$s%zu using 1:2:3:4 with yerrorlines pt %d ps 0.7 lw 1.3 lc rgb \"%s\" title ",
        point->series, plot_series_mark(point->series), plot_series_color(point->series));
    plot_quote(script, *name ? name : "all runs", 40);
    fputs(", ", script);
}

static void plot_points(struct ssreport_page *page, const struct ssreport_report *report,
    const struct ssreport_study_points *points) {
    const struct ssreport_differences *differences = &report->differences;
    FILE *script = ssreport_page_script(page);
    size_t count = 0;
    if (!script)
        return;
    plot_begin_on_page(script);
    plot_axis(script, 'x', differences->names[differences->axis], PLOT_FROM_ZERO);
    plot_axis(script, 'y', "throughput, /s", PLOT_FROM_ZERO);
    fputs("set key maxcols 3\n", script);
    for (size_t series = 0; series < points->series; series++)
        count += write_series(script, points, series);
    bool has_invalid = write_invalid(script, points);
    fputs("plot ", script);
    if (has_invalid)
        fputs("$invalid using 1:2 with " PLOT_RINGS " title \"with invalid runs\", ", script);
    for (size_t series = 0; series < points->series; series++)
        plot_series(script, report, first_of(points, series));
    fputs("NaN notitle\n", script);
    ssreport_page_figure(page, script, count > 0, "Throughput; bars are confidence intervals");
}

static void print_plot(struct ssreport_page *page, const struct ssreport_report *report) {
    struct ssreport_study_points points;
    if (report->differences.axis == report->differences.count)
        return;
    if (ssreport_study_points_find(&points, report) == 0 && points.series <= SERIES_MAX)
        plot_points(page, report, &points);
    ssreport_study_points_free(&points);
}

static void print_page(struct ssreport_page *page, const struct ssreport_report *report) {
    const struct table_sheet *sheet = ssreport_table(report, "study");
    if (table_rows(sheet) == 0)
        return;
    ssreport_page_open(page, "Study");
    print_plot(page, report);
    fprintf(page->stream,
        "<p>Runs that differ only in <code>round</code> are the rounds of one row. Intervals have "
        "a confidence of %g %% and reflect the scatter between rounds; a single round has "
        "none.</p>\n",
        100 * report->settings.confidence);
    page_sheet(page->stream, sheet);
    ssreport_page_close(page);
}

static void print_text(FILE *stream, const struct ssreport_report *report) {
    table_print_text(stream, ssreport_table(report, "study"),
        "study; mean throughput of the rounds, and its confidence interval");
}

const struct ssreport_topic ssreport_study_topic = {
    .name = "study",
    .tables = tables,
    .build = build,
    .ask = ask,
    .page = print_page,
    .text = print_text,
    .free = release,
};
