/* SPDX-License-Identifier: Apache-2.0 */
#include "responses_plots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "frame.h"
#include "gnuplot.h"
#include "knobs_plots.h"
#include "points.h"

/* Maximum number of columns; more seconds are merged. */
#define COLUMNS_MAX 600

/* With more points than this, which probably come from a trace, no lines join them. */
#define LINED_MAX 60

/* Maximum number of series in a picture; the tables have all of them. */
#define SERIES_MAX 8

static const struct {
    const char *name, *color;
    int mark;
} figures[] = {{"mean", PLOT_GREEN, 7}, {"50 %", PLOT_BLUE, 9}, {"95 %", PLOT_AMBER, 5},
    {"99 %", PLOT_ORANGE, 11}};
#define FIGURES (sizeof figures / sizeof *figures)

static double figure_of(const struct ssreport_response *response, size_t figure) {
    const double values[] = {response->mean, response->p50, response->p95, response->p99};
    return values[figure];
}

static double abscissa_of(
    const struct ssreport_rate_point *point, enum ssreport_abscissa abscissa) {
    return abscissa == SSREPORT_OVER_RATE   ? point->stretch.rate
           : abscissa == SSREPORT_OVER_LOAD ? 100 * point->joined.load
                                            : 100 * point->joined.duty;
}

/* Writes a time, or a gap for 0, which a logarithmic axis cannot show. */
static void put_milliseconds(FILE *script, double seconds) {
    if (seconds > 0 && isfinite(seconds))
        fprintf(script, " %.6g", 1000 * seconds);
    else
        fputs(" NaN", script);
}

/* Compares numbers first: there may be many points, of which few are drawn over the duty. */
static bool is_drawn(const struct ssreport_rate_point *first,
    const struct ssreport_rate_point *point, enum ssreport_abscissa abscissa) {
    if (point->of->closed || !isfinite(abscissa_of(point, abscissa)) ||
        !isfinite(point->stretch.response[SSREPORT_INTENDED].mean))
        return false;
    if (abscissa == SSREPORT_OVER_DUTY)
        return first->stretch.rate == point->stretch.rate &&
               ssreport_rate_point_is_service(first, point);
    return ssreport_rate_point_is_series(first, point);
}

struct place {
    double at;
    const struct ssreport_rate_point *point;
};

static int by_place(const void *left, const void *right) {
    const struct place *one = left, *other = right;
    return (one->at > other->at) - (one->at < other->at);
}

/*
 * Returns the points from left to right; the caller frees them. Returns NULL if all are at one
 * place, or if memory is exhausted.
 */
static struct place *collect(const struct ssreport_report *report, size_t first,
    enum ssreport_abscissa abscissa, size_t *count) {
    struct place *places = calloc(report->point_count + 1, sizeof *places);
    *count = 0;
    for (size_t i = 0; places && i < report->point_count; i++) {
        const struct ssreport_rate_point *point = &report->points[i];
        if (is_drawn(&report->points[first], point, abscissa))
            places[(*count)++] = (struct place){.at = abscissa_of(point, abscissa), .point = point};
    }
    if (places && *count > 0)
        qsort(places, *count, sizeof *places, by_place);
    if (!places || *count < 2 || !(places[*count - 1].at > places[0].at)) {
        free(places);
        return NULL;
    }
    return places;
}

static void write_place(FILE *script, const struct place *place) {
    fprintf(script, "%.9g", place->at);
    for (int origin = 0; origin < SSREPORT_ORIGINS; origin++) {
        for (size_t figure = 0; figure < FIGURES; figure++)
            put_milliseconds(script, figure_of(&place->point->stretch.response[origin], figure));
    }
    fputc('\n', script);
}

/* Number of points of the expected curve per percent of duty. */
#define CURVE_PER_PERCENT 2

/*
 * Writes the curve of the mean response time that is expected if requests are few. Returns false
 * unless a point has no stops and all other points have the same tau.
 */
static bool write_expected(FILE *script, const struct place *places, size_t count) {
    const struct ssreport_rate_point *full = NULL;
    double tau = 0;
    for (size_t i = 0; i < count; i++) {
        const struct ssreport_rate_point *point = places[i].point;
        bool stopped = point->joined.duty < SSREPORT_DUTY_FULL;
        if (!stopped && !full)
            full = point;
        if (stopped && (!(point->of->tau > 0) || (tau > 0 && point->of->tau != tau)))
            return false;
        if (stopped)
            tau = point->of->tau;
    }
    if (!full || !(tau > 0))
        return false;
    double work = full->stretch.response[SSREPORT_INTENDED].mean;
    fputs("$expected << END\n", script);
    for (int i = 0; i <= 100 * CURVE_PER_PERCENT; i++) {
        double duty = i / (100.0 * CURVE_PER_PERCENT);
        fprintf(script, "%g", 100 * duty);
        put_milliseconds(script, work + ssreport_responses_added_by_stops(duty, tau, work));
        fputc('\n', script);
    }
    fputs("END\n", script);
    return true;
}

/* Writes the 95th percentiles of disturbed runs, which get rings. Returns false without any. */
static bool write_disturbed(FILE *script, const struct place *places, size_t count) {
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        const struct ssreport_rate_point *point = places[i].point;
        if (!ssreport_others_disturb(point->of->others))
            continue;
        fprintf(script, "%s%.9g", any ? "" : "$disturbed << END\n", places[i].at);
        put_milliseconds(script, point->stretch.response[SSREPORT_INTENDED].p95);
        fputc('\n', script);
        any = true;
    }
    if (any)
        fputs("END\n", script);
    return any;
}

static void write_figures(FILE *script, bool lines, bool expected, bool disturbed) {
    fputs("plot ", script);
    if (disturbed)
        fputs("$disturbed using 1:2 with " PLOT_RINGS " title \"disturbed by other processes\", ",
            script);
    if (expected)
        fputs("$expected using 1:2 with lines lw 4 lc rgb \"" PLOT_GRID
              "\" title \"mean expected\", ",
            script);
    for (size_t i = 0; i < FIGURES; i++)
        fprintf(script,
            "$points using 1:%zu with %s pt %d ps 0.5 lw 1.4 lc rgb \"%s\" title \"%s\", ", i + 2,
            lines ? "linespoints" : "points", figures[i].mark, figures[i].color, figures[i].name);
    for (size_t i = 0; i < FIGURES; i++)
        fprintf(script, "$points using 1:%zu with %s %s lw 1.2 lc rgb \"%s\" notitle, ",
            i + 2 + FIGURES, lines ? "lines" : "points", lines ? "dt (4,4)" : "pt 6 ps 0.4",
            figures[i].color);
    fprintf(script, "NaN with lines %s lw 1.2 lc rgb \"" PLOT_GRAY "\" title \"from sending\"\n",
        lines ? "dt (4,4)" : "");
}

bool ssreport_responses_plot(FILE *script, const struct ssreport_report *report, size_t first,
    enum ssreport_abscissa abscissa) {
    static const char *const names[] = {"request rate, /s", "CPU load observed, %", "duty, %"};
    size_t count;
    struct place *places = collect(report, first, abscissa, &count);
    if (!places)
        return false;
    plot_begin_on_page(script);
    plot_axis(script, 'y', "response time, ms", PLOT_LOGARITHMIC);
    if (abscissa == SSREPORT_OVER_LOAD)
        plot_axis_percent(
            script, 'x', names[abscissa], places[0].at / 100, places[count - 1].at / 100);
    else if (abscissa == SSREPORT_OVER_RATE)
        plot_axis(script, 'x', names[abscissa], PLOT_FROM_ZERO);
    else
        plot_axis_between(script, 'x', names[abscissa], 0, 100);
    fputs("$points << END\n", script);
    for (size_t i = 0; i < count; i++)
        write_place(script, &places[i]);
    fputs("END\n", script);
    bool expected = abscissa == SSREPORT_OVER_DUTY && write_expected(script, places, count);
    write_figures(script, count <= LINED_MAX, expected, write_disturbed(script, places, count));
    free(places);
    return true;
}

static void title_series(FILE *script, const struct ssreport_rate_point *point) {
    char text[200];
    ssreport_rate_point_name_level(point, text, sizeof text);
    plot_quote(script, *text ? text : point->of->title, 40);
}

bool ssreport_responses_plot_series(
    FILE *script, const struct ssreport_report *report, size_t first) {
    SS_OWNED(groups) struct stats_groups all = ssreport_points_by_series(report);
    size_t count, drawn[SERIES_MAX], series = 0;
    for (size_t i = 0; i < all.count && series < SERIES_MAX; i++) {
        size_t at = all.first[i];
        SS_OWNED(free)
        struct place *places =
            ssreport_rate_point_is_service(&report->points[first], &report->points[at])
                ? collect(report, at, SSREPORT_OVER_RATE, &count)
                : NULL;
        if (!places)
            continue;
        fprintf(script, "$s%zu << END\n", series);
        for (size_t j = 0; j < count; j++)
            write_place(script, &places[j]);
        fputs("END\n", script);
        drawn[series++] = at;
    }
    if (series < 2)
        return false;
    plot_begin_on_page(script);
    plot_axis(script, 'x', "request rate, /s", PLOT_FROM_ZERO);
    plot_axis(script, 'y', "95 % answered within, ms", PLOT_LOGARITHMIC);
    fputs("set key maxcols 2\nplot ", script);
    for (size_t i = 0; i < series; i++) {
        fprintf(script, "$s%zu using 1:4 with linespoints pt %d ps 0.5 lw 1.4 lc rgb \"%s\" title ",
            i, plot_series_mark(i), plot_series_color(i));
        title_series(script, &report->points[drawn[i]]);
        fputs(i + 1 < series ? ", " : "\n", script);
    }
    return true;
}

static double time_unit(const struct ssreport_responses *responses) {
    return plot_time_unit(responses->seconds[responses->count - 1].end);
}

static void begin_over_time(FILE *script, const struct ssreport_responses *responses) {
    plot_begin_on_page(script);
    plot_axis_time(script, "time", responses->seconds[responses->count - 1].end);
}

bool ssreport_responses_plot_times(FILE *script, const struct ssreport_responses *responses) {
    size_t length = responses->count / COLUMNS_MAX + 1;
    if (responses->count < 2)
        return false;
    double unit = time_unit(responses);
    bool estimated = false;
    begin_over_time(script, responses);
    fputs("$points << END\n", script);
    for (size_t i = 0; i < responses->count; i += length) {
        size_t count = i + length < responses->count ? length : responses->count - i;
        const struct ssreport_response_second *seconds = &responses->seconds[i];
        fprintf(script, "%.9g", (seconds->begin + seconds[count - 1].end) / 2 / unit);
        for (int origin = 0; origin < SSREPORT_ORIGINS; origin++) {
            struct ssreport_response response =
                ssreport_responses_of(seconds, count, (enum ssreport_origin)origin);
            estimated |= response.estimated;
            for (size_t figure = 0; figure < FIGURES; figure++)
                put_milliseconds(script, figure_of(&response, figure));
        }
        fputc('\n', script);
    }
    fputs("END\n", script);
    plot_axis(script, 'y',
        estimated ? "response time, ms, percentiles estimated" : "response time, ms",
        PLOT_LOGARITHMIC);
    fputs("plot ", script);
    for (size_t i = 0; i < FIGURES; i++)
        fprintf(script, "$points using 1:%zu with lines lw 1.3 lc rgb \"%s\" title \"%s\", ", i + 2,
            figures[i].color, figures[i].name);
    fprintf(script,
        "$points using 1:%zu with lines dt (4,4) lw 1.3 lc rgb \"" PLOT_GRAY
        "\" title \"95 %% from sending\"\n",
        FIGURES + 4);
    return true;
}

bool ssreport_responses_plot_counts(
    FILE *script, const struct ssreport_responses *responses, const struct ssreport_run *beside) {
    size_t length = responses->count / COLUMNS_MAX + 1;
    bool has_load = false;
    if (responses->count < 2)
        return false;
    double unit = time_unit(responses);
    begin_over_time(script, responses);
    plot_axis(script, 'y', "requests, /s", PLOT_FROM_ZERO);
    fputs("$points << END\n", script);
    for (size_t i = 0; i < responses->count; i += length) {
        const struct ssreport_response_second *seconds = &responses->seconds[i];
        size_t count = i + length < responses->count ? length : responses->count - i;
        double due = 0, completed = 0, failed = 0;
        for (size_t j = 0; j < count; j++) {
            due += seconds[j].due;
            completed += seconds[j].completed;
            failed += seconds[j].failed + seconds[j].refused;
        }
        double time = seconds[count - 1].end - seconds->begin;
        double load = ssreport_responses_join(
            responses, beside, seconds->at - (seconds->end - seconds->begin), seconds[count - 1].at)
                          .load;
        has_load |= isfinite(load);
        fprintf(script, "%.9g %.6g %.6g %.6g", (seconds->begin + time / 2) / unit, due / time,
            completed / time, failed / time);
        if (isfinite(load))
            fprintf(script, " %.6g\n", 100 * load);
        else
            fputs(" NaN\n", script);
    }
    fputs("END\n", script);
    if (has_load)
        fputs(
            "set border 11\nset y2range [0:*]\nset y2tics\nset y2label \"CPU load, %\"\n", script);
    fputs("plot $points using 1:2 with lines lw 1.3 lc rgb \"" PLOT_AXIS "\" title \"due\", "
          "$points using 1:3 with lines lw 1.3 lc rgb \"" PLOT_BLUE "\" title \"succeeded\", "
          "$points using 1:4 with lines lw 1.3 lc rgb \"" PLOT_ORANGE
          "\" title \"failed or refused\"",
        script);
    if (has_load)
        fputs(", $points using 1:5 axes x1y2 with lines lw 1.1 dt (6,3) lc rgb \"" PLOT_GREEN
              "\" title \"load\"",
            script);
    fputc('\n', script);
    return true;
}

static size_t count_duties(const struct ssreport_report *report, size_t first) {
    size_t count = 0;
    for (size_t i = 0; i < report->point_count; i++)
        count += is_drawn(&report->points[first], &report->points[i], SSREPORT_OVER_DUTY);
    return count;
}

/*
 * Returns a point of the service at the rate with the most duties; among several such rates, the
 * lowest.
 */
static size_t find_duties(const struct ssreport_report *report, size_t first) {
    size_t best = first, most = count_duties(report, first);
    for (size_t i = first + 1; i < report->point_count; i++) {
        if (!ssreport_rate_point_is_service(&report->points[first], &report->points[i]))
            continue;
        size_t count = count_duties(report, i);
        if (count > most ||
            (count == most && report->points[i].stretch.rate < report->points[best].stretch.rate)) {
            most = count;
            best = i;
        }
    }
    return best;
}

static void print_plot(struct ssreport_page *page, const struct ssreport_report *report, size_t at,
    enum ssreport_abscissa abscissa) {
    static const char *const what[] = {"Response time against rate",
        "Response time against CPU load", "Response time against duty"};
    char name[400], caption[600];
    const struct ssreport_rate_point *point = &report->points[at];
    FILE *script = ssreport_page_script(page);
    if (!script)
        return;
    ssreport_rate_point_describe(point, name, sizeof name);
    if (abscissa == SSREPORT_OVER_DUTY)
        snprintf(caption, sizeof caption, "%s: %.200s, %.6g/s", what[abscissa],
            point->of->workload ? point->of->workload : name, point->stretch.rate);
    else
        snprintf(caption, sizeof caption, "%s: %s", what[abscissa], name);
    ssreport_page_figure(
        page, script, ssreport_responses_plot(script, report, at, abscissa), caption);
}

/* Prints the pictures of all series of a service. */
static void print_service(
    struct ssreport_page *page, const struct ssreport_report *report, size_t first) {
    char caption[600];
    const struct ssreport_responses *of = report->points[first].of;
    FILE *script = ssreport_page_script(page);
    if (!script)
        return;
    snprintf(caption, sizeof caption, "All series of %.200s, from when requests were due",
        of->workload ? of->workload : "these");
    ssreport_page_figure(
        page, script, ssreport_responses_plot_series(script, report, first), caption);
    print_plot(page, report, find_duties(report, first), SSREPORT_OVER_DUTY);
}

static void print_over_time(struct ssreport_page *page, const struct ssreport_report *report,
    const struct ssreport_responses *of) {
    char caption[600];
    FILE *script = ssreport_page_script(page);
    if (script) {
        snprintf(caption, sizeof caption, "Response time over time: %.500s", of->title);
        ssreport_page_figure(page, script, ssreport_responses_plot_times(script, of), caption);
    }
    script = ssreport_page_script(page);
    if (script) {
        snprintf(caption, sizeof caption, "Requests over time: %.500s", of->title);
        ssreport_page_figure(page, script,
            ssreport_responses_plot_counts(script, of, ssreport_responses_beside(report, of)),
            caption);
    }
}

void ssreport_responses_plots_print(
    struct ssreport_page *page, const struct ssreport_report *report) {
    SS_OWNED(groups) struct stats_groups services = ssreport_points_by_service(report);
    SS_OWNED(groups) struct stats_groups series = ssreport_points_by_series(report);
    fputs(
        "<p>Response times of successful requests: solid lines count from when a request was due, "
        "dashed ones from when it was sent.</p>\n<div class=\"plots\">\n",
        page->stream);
    ssreport_knobs_plots_print(page, report);
    for (size_t i = 0; services.first && series.first && i < report->point_count; i++) {
        if (services.first[services.group[i]] == i)
            print_service(page, report, i);
        if (series.first[series.group[i]] != i)
            continue;
        print_plot(page, report, i, SSREPORT_OVER_RATE);
        print_plot(page, report, i, SSREPORT_OVER_LOAD);
    }
    bool pictured = report->response_count <= SSREPORT_PICTURED_MAX;
    for (size_t i = 0; i < report->response_count && pictured; i++)
        print_over_time(page, report, &report->responses[i]);
    fputs("</div>\n", page->stream);
}
