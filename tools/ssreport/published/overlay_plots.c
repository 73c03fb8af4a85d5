/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay_plots.h"

#include <math.h>

#include "base/owned.h"
#include "frame.h"
#include "gnuplot.h"
#include "run_order.h"

/* Maximum number of lines: more could not be distinguished by color. */
#define LINES_MAX 8

/* Maximum number of points of a line. */
#define POINTS_MAX 240

/* Properties in which the runs of one picture agree. */
#define OF_REPLAY                                                                                  \
    (SSREPORT_BY_SET | SSREPORT_BY_ENVIRONMENT | SSREPORT_BY_EXPERIMENT | SSREPORT_BY_WORKLOAD |   \
        SSREPORT_BY_METHOD | SSREPORT_BY_TAU | SSREPORT_BY_ROUND | SSREPORT_BY_TRACE)
#define OF_LOAD                                                                                    \
    (SSREPORT_BY_SET | SSREPORT_BY_ENVIRONMENT | SSREPORT_BY_EXPERIMENT | SSREPORT_BY_FAMILY |     \
        SSREPORT_BY_TARGET | SSREPORT_BY_ROUND)

static unsigned common_to(const char *experiment) {
    return ssreport_is_word(experiment, "replay") ? OF_REPLAY : OF_LOAD;
}

static bool belongs(const struct ssreport_run *run, const struct ssreport_run *first) {
    return run->record.sample_count > 0 &&
           ssreport_run_compare(run, first, common_to(first->experiment)) == 0;
}

/* Returns the speed of a run relative to the trace. */
static double speed_of(const struct ssreport_run *run) {
    return run->speed > 0 ? run->speed : 1;
}

struct overlay {
    const struct ssreport_run *runs[LINES_MAX];
    size_t count;
    size_t omitted;   /* number of runs for which there is no line */
    double end, unit; /* end of the longest run, and unit of the axis, in seconds of the trace */
    bool has_rates;
};

static struct overlay find_runs(
    const struct ssreport_report *report, const struct ssreport_run *first) {
    struct overlay overlay = {0};
    for (size_t i = 0; i < report->run_count; i++) {
        const struct ssreport_run *run = &report->runs[i];
        bool is_one = belongs(run, first);
        overlay.omitted += is_one && overlay.count == LINES_MAX;
        if (!is_one || overlay.count == LINES_MAX)
            continue;
        overlay.runs[overlay.count++] = run;
        overlay.end = fmax(overlay.end, ssreport_record_end(&run->record) * speed_of(run));
        overlay.has_rates |= run->rates.count > 1;
    }
    overlay.unit = plot_time_unit(overlay.end);
    return overlay;
}

/* Writes the load; for long runs, each point is the mean of neighboring samples. */
static void write_load(FILE *script, const struct overlay *overlay, size_t at) {
    const struct ssreport_run *run = overlay->runs[at];
    const struct ssreport_record *record = &run->record;
    size_t width = record->sample_count / POINTS_MAX + 1;
    fprintf(script, "$load%zu << END\n", at);
    for (size_t i = 0; i < record->sample_count; i += width) {
        size_t last = i + width < record->sample_count ? i + width : record->sample_count;
        double load = 0;
        for (size_t j = i; j < last; j++)
            load += record->samples[j].load / (double)(last - i);
        double middle = (record->samples[i].begin + record->samples[last - 1].end) / 2;
        fprintf(script, "%.9g %.6g\n", middle * speed_of(run) / overlay->unit, 100 * load);
    }
    fputs("END\n", script);
}

static void write_rates(FILE *script, const struct overlay *overlay, size_t at) {
    const struct ssreport_run *run = overlay->runs[at];
    const struct ssreport_rates *rates = &run->rates;
    fprintf(script, "$rate%zu << END\n", at);
    for (size_t i = 0; i < rates->count; i++)
        fprintf(script, "%.9g %.6g\n",
            (rates->from + ((double)i + 0.5) * rates->interval) * speed_of(run) / overlay->unit,
            rates->parts[i]);
    fputs("NaN NaN\nEND\n", script);
}

static void write_name(FILE *script, const struct ssreport_run *run) {
    char name[100];
    if (run->speed > 0)
        snprintf(name, sizeof name, "speed %.4g", run->speed);
    else if (run->tau > 0)
        snprintf(
            name, sizeof name, "%.60s, %.4g ms", run->method ? run->method : "-", 1000 * run->tau);
    else
        snprintf(name, sizeof name, "%.60s", run->method ? run->method : "-");
    plot_quote(script, name, 40);
}

static void write_panel(
    FILE *script, const struct overlay *overlay, const char *data, const char *style, bool titled) {
    fputs("plot ", script);
    for (size_t i = 0; i < overlay->count; i++) {
        fprintf(script, "%s$%s%zu using 1:2 with %s lc rgb \"%s\" ", i > 0 ? ", " : "", data, i,
            style, plot_series_color(i));
        fputs(titled ? "title " : "notitle", script);
        if (titled)
            write_name(script, overlay->runs[i]);
    }
    fputc('\n', script);
}

bool ssreport_overlay_plots_write(
    FILE *script, const struct ssreport_report *report, const struct ssreport_run *first) {
    struct overlay overlay = find_runs(report, first);
    const char *time = common_to(first->experiment) == OF_REPLAY ? "time of the trace" : "time";
    if (overlay.count < 2)
        return false;
    plot_begin(script, PLOT_ON_PAGE, PLOT_WIDTH, overlay.has_rates ? 480 : PLOT_HEIGHT);
    for (size_t i = 0; i < overlay.count; i++) {
        write_load(script, &overlay, i);
        write_rates(script, &overlay, i);
    }
    fprintf(script,
        "set key outside top center horizontal samplen 1\nset lmargin 9\n"
        "set multiplot layout %d,1\n",
        overlay.has_rates ? 2 : 1);
    if (overlay.omitted > 0)
        fprintf(script, "set title \"the first %zu of %zu runs\"\n", overlay.count,
            overlay.count + overlay.omitted);
    plot_axis_time(script, time, overlay.end);
    if (overlay.has_rates)
        fputs("unset xlabel\n", script);
    plot_axis_between(script, 'y', "load, %", 0, 100);
    write_panel(script, &overlay, "load", "lines lw 1.2", true);
    if (overlay.has_rates) {
        plot_axis_time(script, time, overlay.end);
        fputs("set yrange [*:*]\nunset key\nunset title\n", script);
        plot_axis(script, 'y', "throughput, /s", PLOT_FROM_ZERO);
        write_panel(script, &overlay, "rate", "linespoints pt 7 ps 0.3 lw 1.2", false);
    }
    fputs("unset multiplot\n", script);
    return true;
}

static bool is_of(const struct ssreport_run *run, const void *experiment) {
    return ssreport_is_word(run->experiment, experiment) && run->record.sample_count > 0;
}

static void print_picture(struct ssreport_page *page, const struct ssreport_report *report,
    const struct ssreport_run *run) {
    FILE *script = ssreport_page_script(page);
    char caption[300], which[100], round[32] = "";
    if (!script)
        return;
    if (run->round > 1)
        snprintf(round, sizeof round, ", round %.0f", run->round);
    if (common_to(run->experiment) == OF_REPLAY)
        snprintf(which, sizeof which, "%.60s at all speeds", run->method ? run->method : "-");
    else
        snprintf(which, sizeof which, "all methods at %.4g %%", 100 * run->target);
    snprintf(caption, sizeof caption, "%.100s: %s%s%s", run->workload ? run->workload : "-", which,
        round, run->set > 0 ? ", second set" : "");
    ssreport_page_figure(page, script, ssreport_overlay_plots_write(script, report, run), caption);
}

void ssreport_overlay_plots_print(
    struct ssreport_page *page, const struct ssreport_report *report, const char *experiment) {
    SS_OWNED(groups)
    struct stats_groups pictures =
        ssreport_runs_group(report, common_to(experiment), is_of, experiment);
    fputs("<div class=\"plots\">\n", page->stream);
    for (size_t i = 0; i < pictures.count && !page->without.status; i++)
        print_picture(page, report, &report->runs[pictures.first[i]]);
    fputs("</div>\n", page->stream);
}
