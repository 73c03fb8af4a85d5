/* SPDX-License-Identifier: Apache-2.0 */
#include "pair_plots.h"

#include <math.h>
#include <string.h>

#include "base/owned.h"
#include "combined_throughput.h"
#include "frame.h"
#include "gnuplot.h"
#include "overlay.h"
#include "page_parts.h"

#define SAME_PAIR (SSREPORT_PAIR_ENVIRONMENT | SSREPORT_PAIR_PROGRAMS)

/* Maximum length of a name in a picture. */
#define LABEL_MAX 24

/* Unknown placements get colors in the order of their first pairs. */
static const char *color_of(const struct ssreport_report *report, const char *placement) {
    const char *known = ssreport_placement_color(placement);
    size_t other = 4; /* after the colors of known placements */
    if (known)
        return known;
    SS_OWNED(groups)
    struct stats_groups groups = ssreport_pairs_group(report, SSREPORT_PAIR_PLACEMENT);
    for (size_t i = 0; i < groups.count; i++, other++) {
        if (strcmp(report->pairs[groups.first[i]].placement, placement) == 0)
            break;
    }
    return plot_series_color(other);
}

enum kind { FOREGROUND, BACKGROUND, BOTH, RELATIVE, PER_WH, PER_WH_RELATIVE };

static double value_of(const struct ssreport_report *report, const struct ssreport_pair *pair,
    const struct ssreport_pair_step *step, enum kind kind) {
    switch (kind) {
    case FOREGROUND:
        return step->foreground;
    case BACKGROUND:
        return step->background;
    case BOTH:
        return ssreport_measure_of(pair, step, SSREPORT_OF_SYSTEM);
    case RELATIVE:
        return 100 * ssreport_measure_relative(report, pair, step, SSREPORT_OF_SYSTEM);
    case PER_WH:
        return ssreport_measure_of(pair, step, SSREPORT_PER_WATT_HOUR);
    case PER_WH_RELATIVE:
        return 100 * ssreport_measure_relative(report, pair, step, SSREPORT_PER_WATT_HOUR);
    }
    return NAN;
}

/* Returns whether the load rises in the half to which a step belongs; true without a staircase. */
static bool is_rising(const struct ssreport_pair *pair, const struct ssreport_pair_step *step) {
    double first = NAN, last = NAN;
    for (size_t i = 0; i < pair->count; i++) {
        if (pair->steps[i].half != step->half)
            continue;
        first = isnan(first) ? pair->steps[i].target : first;
        last = pair->steps[i].target;
    }
    return !(last < first);
}

/*
 * Returns whether a picture is a time line of the steps, as published for both sides together,
 * rather than over load. With one load in each run, there is nothing to see over time.
 */
static bool is_time_line(const struct ssreport_pair *pair, enum kind kind) {
    return kind >= BOTH && pair->count > 1;
}

static double end_of(const struct ssreport_pair *pair) {
    return ssreport_record_end(&pair->background->record);
}

/* Writes the rising steps of each pair, or the falling ones; all steps are one line over time. */
static void write_points(FILE *script, const struct ssreport_report *report,
    const struct stats_groups *groups, size_t group, enum kind kind, bool rising) {
    for (size_t i = groups->first[group]; i < groups->items; i = groups->next[i]) {
        const struct ssreport_pair *pair = &report->pairs[i];
        bool over_time = is_time_line(pair, kind);
        for (size_t j = 0; j < pair->count; j++) {
            const struct ssreport_pair_step *step = &pair->steps[j];
            const struct ssreport_step *own = &pair->background->steps.items[j];
            double value = value_of(report, pair, step, kind);
            double middle = (own->from + own->to) / 2 / plot_time_unit(end_of(pair));
            if (isfinite(value) && isfinite(step->load) &&
                (over_time || is_rising(pair, step)) == rising)
                fprintf(script, "%.6g %.6g\n", over_time ? middle : 100 * step->load, value);
        }
        if (over_time)
            fputc('\n', script); /* the next round is another line */
    }
}

/* Writes a data block for each panel, placement and direction: $a0up, $a0down, $a1up ... */
static void write_blocks(FILE *script, const struct ssreport_report *report,
    const struct ssreport_pair *pair, const enum kind kinds[2]) {
    SS_OWNED(groups)
    struct stats_groups groups = ssreport_pairs_group(report, SAME_PAIR | SSREPORT_PAIR_PLACEMENT);
    size_t placements = 0;
    for (size_t group = 0; group < groups.count; group++) {
        if (!ssreport_pair_is_like(pair, &report->pairs[groups.first[group]], SAME_PAIR))
            continue;
        for (int panel = 0; panel < 2; panel++) {
            for (int rising = 0; rising < 2; rising++) {
                fprintf(
                    script, "$%c%zu%s << END\n", 'a' + panel, placements, rising ? "up" : "down");
                write_points(script, report, &groups, group, kinds[panel], rising);
                /* gnuplot rejects an empty block, but not an undefined point. */
                fputs("NaN NaN\nEND\n", script);
            }
        }
        placements++;
    }
}

static void write_panel(FILE *script, const struct ssreport_report *report,
    const struct ssreport_pair *pair, int panel, bool titled, const char *label,
    const char *style) {
    SS_OWNED(groups)
    struct stats_groups groups = ssreport_pairs_group(report, SAME_PAIR | SSREPORT_PAIR_PLACEMENT);
    size_t placement = 0;
    plot_axis(script, 'y', label, PLOT_FROM_ZERO);
    fputs("plot ", script);
    for (size_t group = 0; group < groups.count; group++) {
        const struct ssreport_pair *first = &report->pairs[groups.first[group]];
        if (!ssreport_pair_is_like(pair, first, SAME_PAIR))
            continue;
        const char *color = color_of(report, first->placement);
        fprintf(script, "%s$%c%zuup with %s lc rgb \"%s\" ", placement > 0 ? ", " : "", 'a' + panel,
            placement, style, color);
        if (titled) {
            fputs("title ", script);
            plot_quote(script, first->placement, LABEL_MAX);
        } else {
            fputs("notitle", script);
        }
        fprintf(script, ", $%c%zudown with points pt 10 ps 0.7 lc rgb \"%s\" notitle", 'a' + panel,
            placement, color);
        placement++;
    }
    fputc('\n', script);
}

/* Returns whether a panel of this kind has points. Without any, gnuplot would fail. */
static bool is_known(
    const struct ssreport_report *report, const struct ssreport_pair *like, enum kind kind) {
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct ssreport_pair *pair = &report->pairs[i];
        if (!ssreport_pair_is_like(like, pair, SAME_PAIR))
            continue;
        for (size_t j = 0; j < pair->count; j++) {
            const struct ssreport_pair_step *step = &pair->steps[j];
            if (isfinite(step->load) && isfinite(value_of(report, pair, step, kind)))
                return true;
        }
    }
    return false;
}

static bool write_panels(FILE *script, const struct ssreport_report *report,
    const struct ssreport_pair *pair, const enum kind kinds[2], const char *const labels[2]) {
    int known[2], count = 0;
    for (int panel = 0; panel < 2; panel++) {
        if (is_known(report, pair, kinds[panel]))
            known[count++] = panel;
    }
    if (count == 0)
        return false;
    bool over_time = is_time_line(pair, kinds[0]);
    const char *style = over_time ? "linespoints pt 7 ps 0.5 lw 1.2" : "points pt 9 ps 0.7";
    plot_begin(script, PLOT_ON_PAGE, PLOT_WIDTH, count == 2 ? 500 : 280);
    fputs("set key samplen 1\nset lmargin 9\n", script);
    if (over_time)
        plot_axis_time(script, "time", end_of(pair));
    else
        plot_axis_between(script, 'x', "background load observed, %", 0, 100);
    write_blocks(script, report, pair, kinds);
    fprintf(script, "set multiplot layout %d,1\n", count);
    if (count == 2) {
        write_panel(script, report, pair, known[0], true, labels[known[0]], style);
        fputs("unset key\n", script);
    }
    write_panel(
        script, report, pair, known[count - 1], count == 1, labels[known[count - 1]], style);
    fputs("unset multiplot\n", script);
    return true;
}

bool ssreport_plot_sides(
    FILE *script, const struct ssreport_report *report, const struct ssreport_pair *pair) {
    return write_panels(script, report, pair, (const enum kind[]){FOREGROUND, BACKGROUND},
        (const char *const[]){"foreground, /s", "background, /s"});
}

bool ssreport_plot_whole_system(
    FILE *script, const struct ssreport_report *report, const struct ssreport_pair *pair) {
    return write_panels(script, report, pair, (const enum kind[]){BOTH, RELATIVE},
        (const char *const[]){
            pair->is_one_program ? "both, /s" : "weighted speedup", "of per-chip, %"});
}

bool ssreport_plot_energy(
    FILE *script, const struct ssreport_report *report, const struct ssreport_pair *pair) {
    return write_panels(script, report, pair, (const enum kind[]){PER_WH, PER_WH_RELATIVE},
        (const char *const[]){
            pair->is_one_program ? "both, per Wh" : "seconds alone, per Wh", "of per-chip, %"});
}

bool ssreport_plot_placements(
    FILE *script, const struct ssreport_report *report, const struct ssreport_pair *pair) {
    struct ssreport_overlay overlay = {.time = "time"};
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct ssreport_pair *other = &report->pairs[i];
        char *name = ssreport_pair_is_like(pair, other, SAME_PAIR | SSREPORT_PAIR_ROUND)
                         ? ssreport_overlay_add(&overlay, other->background, other->foreground,
                               color_of(report, other->placement))
                         : NULL;
        if (name)
            snprintf(name, 64, "%.60s", other->placement);
    }
    return ssreport_overlay_write(script, &overlay);
}

#define FIELD_WIDTH  110 /* in units of the picture */
#define FIELD_HEIGHT 82
#define MARGIN_LEFT  150
#define MARGIN_TOP   60
#define FILLED       0.9 /* part of a field that is filled; the rest is a gap */

/* Returns whether both pairs have the same axes. */
static bool share_axes(const struct ssreport_pair *pair, const struct ssreport_pair *other) {
    return ssreport_pair_is_like(pair, other, 0) &&
           ssreport_pair_is_emulated(pair) == ssreport_pair_is_emulated(other);
}

/* Return the place of a pair in the matrix of one side, whose programs are in rows. */
static size_t row_of(const struct ssreport_pair *pair, enum kind side) {
    return side == FOREGROUND ? pair->row : pair->column;
}

static size_t column_of(const struct ssreport_pair *pair, enum kind side) {
    return side == FOREGROUND ? pair->column : pair->row;
}

/* Finds the numbers of rows and columns of the matrix of a set. */
static void find_size(const struct ssreport_report *report, const struct ssreport_pair *pair,
    enum kind side, size_t *rows, size_t *columns) {
    *rows = *columns = 0;
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct ssreport_pair *other = &report->pairs[i];
        if (!ssreport_pair_is_like(pair, other, 0))
            continue;
        size_t row = row_of(other, side), column = column_of(other, side);
        *rows = row >= *rows ? row + 1 : *rows;
        *columns = column >= *columns ? column + 1 : *columns;
    }
}

/* Returns the largest throughput of this side's program over all plots that share its axes. */
static double most_of(
    const struct ssreport_report *report, const struct ssreport_pair *pair, enum kind side) {
    unsigned role = side == FOREGROUND ? SSREPORT_PAIR_FOREGROUND : SSREPORT_PAIR_BACKGROUND;
    double most = 0;
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct ssreport_pair *other = &report->pairs[i];
        if (!share_axes(pair, other) || !ssreport_pair_is_like(pair, other, role))
            continue;
        for (size_t j = 0; j < other->count; j++)
            most = fmax(most, value_of(report, other, &other->steps[j], side));
    }
    return most;
}

/*
 * Returns the lower end of the vertical axes, relative to the largest throughput: 0 or, if that
 * would leave half of each field empty, a multiple of 10 % below all points. NaN without points.
 */
static double find_origin(
    const struct ssreport_report *report, const struct ssreport_pair *pair, enum kind side) {
    double least = NAN;
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct ssreport_pair *other = &report->pairs[i];
        double most = most_of(report, other, side);
        for (size_t j = 0; share_axes(pair, other) && most > 0 && j < other->count; j++)
            least = fmin(least, value_of(report, other, &other->steps[j], side) / most);
    }
    return least <= 0.5 ? 0 : floor(10 * least - 1e-9) / 10;
}

/*
 * Writes the line of one half into its field. All fields are one plot, because gnuplot is slow with
 * many plots.
 */
static void write_lines(FILE *script, const struct ssreport_report *report,
    const struct ssreport_pair *pair, enum kind side, int half, double origin) {
    double left = (double)column_of(pair, side);
    double bottom = -1 - (double)row_of(pair, side);
    double most = most_of(report, pair, side);
    for (size_t i = 0; i < pair->count; i++) {
        const struct ssreport_pair_step *step = &pair->steps[i];
        double value = value_of(report, pair, step, side);
        if ((step->half == 2) == (half == 2) && isfinite(value) && isfinite(step->load) && most > 0)
            fprintf(script, "%.4f %.4f\n", left + FILLED * fmin(step->load, 1),
                bottom + FILLED * (value / most - origin) / (1 - origin));
    }
    fputs("\n\n", script);
}

static void write_names(FILE *script, const struct ssreport_report *report,
    const struct ssreport_pair *pair, enum kind side, size_t rows, double origin) {
    SS_OWNED(groups)
    struct stats_groups foregrounds = ssreport_pairs_group(report, SSREPORT_PAIR_FOREGROUND);
    SS_OWNED(groups)
    struct stats_groups backgrounds = ssreport_pairs_group(report, SSREPORT_PAIR_BACKGROUND);
    const struct stats_groups *programs[] = {&foregrounds, &backgrounds};
    for (int role = 0; role < 2; role++) {
        for (size_t i = 0; i < programs[role]->count; i++) {
            const struct ssreport_pair *other = &report->pairs[programs[role]->first[i]];
            if (!ssreport_pair_is_like(pair, other, 0))
                continue;
            fputs("set label ", script);
            bool by_row = (role == 0) == (side == FOREGROUND);
            plot_quote(
                script, role == 0 ? other->program : other->background_program, by_row ? 16 : 13);
            if (by_row)
                fprintf(script, " at -0.12,%.3f right\n",
                    -(double)row_of(other, side) - 1 + FILLED / 2);
            else
                fprintf(
                    script, " at %.3f,0.08 center\n", (double)column_of(other, side) + FILLED / 2);
        }
    }
    /* Label the axes only at the lower left field, for all fields. */
    fprintf(script,
        "set label \"0\" at 0,%.3f center font \",%d\"\n"
        "set label \"100 %%\" at %.3f,%.3f center font \",%d\"\n"
        "set label \"100 %%\" at -0.03,%.3f right font \",%d\"\n",
        -(double)rows - 0.13, PLOT_SMALL, FILLED, -(double)rows - 0.13, PLOT_SMALL,
        -(double)rows + FILLED - 0.04, PLOT_SMALL);
    if (origin > 0)
        fprintf(script, "set label \"from %.0f %%\" at -0.03,%.3f right font \",%d\"\n",
            100 * origin, -(double)rows + 0.04, PLOT_SMALL);
}

static void write_frames(FILE *script, const struct ssreport_report *report,
    const struct ssreport_pair *pair, enum kind side) {
    SS_OWNED(groups) struct stats_groups groups = ssreport_pairs_group(report, SAME_PAIR);
    fputs("$frames << END\n", script);
    for (size_t i = 0; i < groups.count; i++) {
        const struct ssreport_pair *other = &report->pairs[groups.first[i]];
        if (!ssreport_pair_is_like(pair, other, SSREPORT_PAIR_ENVIRONMENT))
            continue;
        double left = (double)column_of(other, side);
        double bottom = -1 - (double)row_of(other, side);
        fprintf(script, "%.4f %.4f\n%.4f %.4f\n%.4f %.4f\n%.4f %.4f\n%.4f %.4f\n\n", left, bottom,
            left + FILLED, bottom, left + FILLED, bottom + FILLED, left, bottom + FILLED, left,
            bottom);
    }
    fputs("END\n", script);
}

unsigned ssreport_plot_matrix(FILE *script, const struct ssreport_report *report,
    const struct ssreport_pair *pair, bool of_background) {
    enum kind side = of_background ? BACKGROUND : FOREGROUND;
    size_t rows, columns;
    double origin = find_origin(report, pair, side);
    if (isnan(origin))
        return 0;
    find_size(report, pair, side, &rows, &columns);
    unsigned width = MARGIN_LEFT + 20 + FIELD_WIDTH * (unsigned)columns;
    unsigned height = MARGIN_TOP + 40 + FIELD_HEIGHT * (unsigned)rows;
    width = width < 460 ? 460 : width;
    plot_begin(script, PLOT_ON_PAGE, width, height);
    fprintf(script,
        "unset border\nunset tics\nunset grid\nset xrange [0:%.3f]\nset yrange [%.3f:0]\n"
        "set lmargin at screen %.5f\nset rmargin at screen %.5f\n"
        "set tmargin at screen %.5f\nset bmargin at screen %.5f\n"
        "set key at screen 0.005,0.995 top left horizontal samplen 1.5 noenhanced\n",
        (double)columns, -(double)rows, (double)MARGIN_LEFT / width,
        (double)(MARGIN_LEFT + FIELD_WIDTH * columns) / width, 1 - (double)MARGIN_TOP / height,
        1 - (double)(MARGIN_TOP + FIELD_HEIGHT * rows) / height);
    write_names(script, report, pair, side, rows, origin);
    write_frames(script, report, pair, side);
    SS_OWNED(groups)
    struct stats_groups groups =
        ssreport_pairs_group(report, SSREPORT_PAIR_ENVIRONMENT | SSREPORT_PAIR_PLACEMENT);
    for (size_t i = 0; i < groups.count; i++) {
        if (!ssreport_pair_is_like(
                pair, &report->pairs[groups.first[i]], SSREPORT_PAIR_ENVIRONMENT))
            continue;
        for (int half = 1; half <= 2; half++) {
            fprintf(script, "$lines%zu_%d << END\n", i, half);
            for (size_t j = groups.first[i]; j < groups.items; j = groups.next[j])
                write_lines(script, report, &report->pairs[j], side, half, origin);
            fputs("NaN NaN\nEND\n", script);
        }
    }
    fputs("plot $frames with lines lw 0.6 lc rgb \"" PLOT_AXIS "\" notitle", script);
    for (size_t i = 0; i < groups.count; i++) {
        const struct ssreport_pair *first = &report->pairs[groups.first[i]];
        if (!ssreport_pair_is_like(pair, first, SSREPORT_PAIR_ENVIRONMENT))
            continue;
        const char *color = color_of(report, first->placement);
        fprintf(script, ", $lines%zu_1 with lines lw 1.2 lc rgb \"%s\" title ", i, color);
        plot_quote(script, first->placement, LABEL_MAX);
        fprintf(script, ", $lines%zu_2 with lines lw 1.2 dt (4,3) lc rgb \"%s\" notitle", i, color);
    }
    fputc('\n', script);
    return width;
}
