/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay.h"

#include <math.h>

#include "frame.h"
#include "gnuplot.h"

/* Maximum number of points of a line, and of the only line. */
#define POINTS_MAX  240
#define COLUMNS_MAX 800

#define PANEL_HEIGHT 220 /* of each panel after the first */

enum { LOAD = SSREPORT_LOAD_PANEL, THROUGHPUT = SSREPORT_THROUGHPUT_PANEL, POWER, PANELS };

static const char *const names[PANELS] = {"load, %", "throughput, /s", "power, W"};

char *ssreport_overlay_add(struct ssreport_overlay *overlay, const struct ssreport_run *run,
    const struct ssreport_run *counted, const char *color) {
    if (overlay->count == SSREPORT_OVERLAY_MAX) {
        overlay->omitted++;
        return NULL;
    }
    size_t at = overlay->count++;
    overlay->lines[at].run = run;
    overlay->lines[at].counted = counted;
    overlay->lines[at].color = color ? color : plot_series_color(at);
    return overlay->lines[at].name;
}

static bool is_pair(const struct ssreport_overlay *overlay, size_t at) {
    return overlay->lines[at].run != overlay->lines[at].counted;
}

/* Returns the speed of a run relative to its trace. */
static double speed_of(const struct ssreport_run *run) {
    return run->speed > 0 ? run->speed : 1;
}

static double end_of(const struct ssreport_overlay *overlay) {
    double end = 0;
    for (size_t i = 0; i < overlay->count; i++) {
        const struct ssreport_run *run = overlay->lines[i].run;
        end = fmax(end, ssreport_record_end(&run->record) * speed_of(run));
    }
    return end;
}

static bool has_panel(const struct ssreport_overlay *overlay, int panel) {
    bool has = panel == LOAD;
    if (overlay->only)
        return overlay->only & (1U << panel);
    for (size_t i = 0; i < overlay->count; i++)
        has |= panel == THROUGHPUT ? overlay->lines[i].counted->rates.count > 1
                                   : is_pair(overlay, i) && overlay->lines[i].run->energy.count > 1;
    return has;
}

static size_t points_of(const struct ssreport_overlay *overlay) {
    return overlay->only ? COLUMNS_MAX : POINTS_MAX;
}

/*
 * Writes load, target, least and largest load; for long runs, each point is the mean of neighboring
 * samples. Returns the number of points with a target.
 */
static size_t write_loads(
    FILE *script, const struct ssreport_record *record, size_t points, double unit) {
    size_t width = record->sample_count / (points + 1) + 1, targets = 0;
    for (size_t i = 0; i < record->sample_count; i += width) {
        size_t last = i + width < record->sample_count ? i + width : record->sample_count;
        double load = 0, target = 0, least = INFINITY, most = -INFINITY;
        for (size_t j = i; j < last; j++) {
            const struct ssreport_sample *sample = &record->samples[j];
            load += sample->load / (double)(last - i);
            target += sample->target / (double)(last - i);
            least = fmin(least, sample->load);
            most = fmax(most, sample->load);
        }
        double middle = (record->samples[i].begin + record->samples[last - 1].end) / 2;
        fprintf(script, "%.9g %.6g %.6g %.6g %.6g\n", middle / unit, 100 * load, 100 * target,
            100 * least, 100 * most);
        targets += isfinite(target);
    }
    return targets;
}

static void write_throughputs(
    FILE *script, const struct ssreport_overlay *overlay, size_t at, double unit) {
    const struct ssreport_run *counted = overlay->lines[at].counted;
    double shift = counted->record.wall - overlay->lines[at].run->record.wall;
    const struct ssreport_rates *rates = &counted->rates;
    for (size_t i = 0; i < rates->count; i++)
        fprintf(script, "%.9g %.6g\n",
            (rates->from + ((double)i + 0.5) * rates->interval + shift) / unit, rates->parts[i]);
}

/* Each point is the mean of the samples since the previous one; unknown power is a gap. */
static void write_watts(FILE *script, const struct ssreport_run *run, size_t points, double unit) {
    const struct ssreport_energy *energy = &run->energy;
    size_t width = energy->count / points + 1;
    for (size_t i = 0; i < energy->count; i += width) {
        size_t last = i + width < energy->count ? i + width - 1 : energy->count - 1;
        double at = energy->samples[last].at - run->record.wall;
        struct ssreport_cost cost =
            ssreport_energy_between(energy, energy->samples[i].at - 1e-6, energy->samples[last].at);
        if (!(at >= 0) || at > ssreport_record_end(&run->record))
            continue;
        if (isfinite(cost.watts))
            fprintf(script, "%.9g %.6g\n", at / unit, cost.watts);
        else
            fputc('\n', script);
    }
}

/* Returns the mean of a step; NaN if unknown, or if the panel has no means. */
static double mean_of(const struct ssreport_overlay *overlay, size_t at, int panel,
    const struct ssreport_step *step) {
    const struct ssreport_run *run = overlay->lines[at].run;
    double wall = run->record.wall;
    if (panel == LOAD || !(overlay->only || is_pair(overlay, at)))
        return NAN;
    if (panel == POWER)
        return ssreport_energy_between(&run->energy, wall + step->from, wall + step->to).watts;
    return is_pair(overlay, at) ? ssreport_report_throughput_beside(
                                      overlay->lines[at].counted, run, step->from, step->to)
                                : step->throughput;
}

static void write_means(
    FILE *script, const struct ssreport_overlay *overlay, size_t at, int panel, double unit) {
    const struct ssreport_run *run = overlay->lines[at].run;
    for (size_t i = 0; i < run->steps.count; i++) {
        const struct ssreport_step *step = &run->steps.items[i];
        double mean = mean_of(overlay, at, panel, step);
        if (isfinite(mean))
            fprintf(
                script, "%.9g %.6g\n%.9g %.6g\n\n", step->from / unit, mean, step->to / unit, mean);
    }
}

/* Writes the data blocks $line0_0, $mean0_0, ... of a panel. Returns the line with the target. */
static size_t write_blocks(
    FILE *script, const struct ssreport_overlay *overlay, int panel, double unit) {
    size_t with_target = SIZE_MAX, most = 0;
    for (size_t i = 0; i < overlay->count; i++) {
        const struct ssreport_run *run = overlay->lines[i].run;
        double own = unit / speed_of(run);
        size_t targets = 0;
        fprintf(script, "$line%d_%zu << END\n", panel, i);
        if (panel == LOAD)
            targets = write_loads(script, &run->record, points_of(overlay), own);
        else if (panel == THROUGHPUT)
            write_throughputs(script, overlay, i, own);
        else
            write_watts(script, run, points_of(overlay), own);
        fprintf(script, "NaN NaN NaN NaN NaN\nEND\n$mean%d_%zu << END\n", panel, i);
        write_means(script, overlay, i, panel, own);
        fputs("NaN NaN\nEND\n", script);
        with_target = targets > most ? i : with_target;
        most = targets > most ? targets : most;
    }
    return with_target;
}

static void write_panel(
    FILE *script, const struct ssreport_overlay *overlay, int panel, size_t with_target) {
    const char *separator = "plot ";
    if (panel == LOAD)
        plot_axis_between(script, 'y', names[panel], 0, 100);
    else
        plot_axis(script, 'y', names[panel], PLOT_FROM_ZERO);
    if (panel == LOAD && with_target < overlay->count) {
        fprintf(script,
            "plot $line0_%zu using 1:3 with lines lw 4 lc rgb \"" PLOT_AXIS "\" title \"target\"",
            with_target);
        separator = ", ";
    }
    if (panel == LOAD && overlay->only &&
        overlay->lines[0].run->record.sample_count > points_of(overlay)) {
        fprintf(script,
            "%s$line0_0 using 1:4:5 with filledcurves " PLOT_SHADED
            " lc rgb \"%s\" title \"range\"",
            separator, overlay->lines[0].color);
        separator = ", ";
    }
    for (size_t i = 0; i < overlay->count; i++) {
        const char *color = overlay->lines[i].color;
        bool is_invalid = !overlay->only && (ssreport_run_is_invalid(overlay->lines[i].run) ||
                                                ssreport_run_is_invalid(overlay->lines[i].counted));
        char name[80];
        snprintf(name, sizeof name, "%s%s", overlay->lines[i].name, is_invalid ? ", invalid" : "");
        const char *width = panel == LOAD || !is_pair(overlay, i) ? "1.2" : "0.6";
        fprintf(script, "%s$line%d_%zu using 1:2 with lines lw %s lc rgb \"%s\" title ", separator,
            panel, i, width, color);
        plot_quote(script, name, 40);
        fprintf(script, ", $mean%d_%zu using 1:2 with lines lw 2.5 lc rgb \"%s\" %s", panel, i,
            overlay->only ? PLOT_ORANGE : color,
            overlay->only && panel != LOAD ? "title \"mean of a step\"" : "notitle");
        separator = ", ";
    }
    fputc('\n', script);
}

bool ssreport_overlay_write(FILE *script, const struct ssreport_overlay *overlay) {
    double end = end_of(overlay);
    int panels = 0;
    if (overlay->count < 2 && !overlay->only && !(overlay->count == 1 && is_pair(overlay, 0)))
        return false;
    for (int panel = LOAD; panel < PANELS; panel++)
        panels += has_panel(overlay, panel);
    plot_begin(
        script, PLOT_ON_PAGE, PLOT_WIDTH, PLOT_HEIGHT + (unsigned)(panels - 1) * PANEL_HEIGHT);
    fputs("set key outside top center horizontal samplen 1\nset lmargin 9\n", script);
    if (overlay->omitted > 0)
        fprintf(script, "set title \"the first %zu of %zu runs\"\n", overlay->count,
            overlay->count + overlay->omitted);
    fprintf(script, "set multiplot layout %d,1\n", panels);
    for (int panel = LOAD; panel < PANELS; panel++) {
        if (!has_panel(overlay, panel))
            continue;
        plot_axis_time(script, overlay->time, end);
        if (--panels > 0)
            fputs("unset xlabel\n", script);
        size_t with_target = write_blocks(script, overlay, panel, plot_time_unit(end));
        write_panel(script, overlay, panel, with_target);
        fputs("unset key\nunset title\nset yrange [*:*]\n", script);
    }
    fputs("unset multiplot\n", script);
    return true;
}

void ssreport_overlay_run(
    FILE *script, const struct ssreport_run *run, enum ssreport_panel panel, const char *name) {
    struct ssreport_overlay overlay = {.time = "time", .only = 1U << panel};
    snprintf(ssreport_overlay_add(&overlay, run, run, NULL), 64, "%s", name);
    ssreport_overlay_write(script, &overlay);
}
