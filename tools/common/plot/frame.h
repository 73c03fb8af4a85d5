/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLOT_FRAME_H
#define PLOT_FRAME_H

/* Writes the commands of gnuplot that begin every picture: terminal, font, frame and axes. */

#include <stdbool.h>
#include <stdio.h>

#include <showstopper/contract.h>

#include "palette.h"

/* Sizes in CSS pixels; the text of a page has 16. */
#define PLOT_WIDTH     560
#define PLOT_HEIGHT    300
#define PLOT_TEXT_SIZE 14 /* the text size of tables */
#define PLOT_SMALL     12

enum plot_kind {
    PLOT_ON_PAGE, /* SVG with the colors of the page and without a background */
    PLOT_SVG,     /* a file with a white background */
    PLOT_PNG,
};

void plot_begin(FILE *script, enum plot_kind kind, unsigned width, unsigned height) SS_NONNULL();

/* Begins a picture of PLOT_WIDTH by PLOT_HEIGHT on a page; the caller adds axes. */
void plot_begin_on_page(FILE *script) SS_NONNULL();

enum plot_range {
    PLOT_FROM_ZERO,   /* the axis begins at 0 */
    PLOT_AROUND_ZERO, /* the axis includes 0, for deviations */
    PLOT_LOGARITHMIC, /* logarithmic scale, which plot_axis() adds to the name */
};

/* Sets an axis; `axis` is 'x' or 'y' in all functions here. */
void plot_axis(FILE *script, char axis, const char *name, enum plot_range range) SS_NONNULL();

/* Appends the start of the axis to its name, unless the axis includes 0. */
void plot_axis_between(FILE *script, char axis, const char *name, double from, double to)
    SS_NONNULL();

/*
 * Returns the unit, in seconds, of a time axis that ends at `end` seconds: a minute for long times.
 */
double plot_time_unit(double end);

/*
 * Sets the horizontal axis to 0 to `end` seconds, in units of plot_time_unit(). `what` is the label
 * of the axis without the unit.
 */
void plot_axis_time(FILE *script, const char *what, double end) SS_NONNULL();

/* Sets a logarithmic axis, with labels at as many round numbers as fit. `from` must be above 0. */
void plot_axis_logarithmic(FILE *script, char axis, const char *name, double from, double to)
    SS_NONNULL();

/* Sets an axis for parts of 1, in percent: from `least` to `most`, rounded outward to 5 %. */
void plot_axis_percent(FILE *script, char axis, const char *name, double least, double most)
    SS_NONNULL();

/* Draws a dashed line across the picture at a value of this axis. */
void plot_line_at(FILE *script, char axis, double at) SS_NONNULL();

#endif
