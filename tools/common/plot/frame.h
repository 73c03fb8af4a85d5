/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLOT_FRAME_H
#define PLOT_FRAME_H

/* How every picture begins: terminal, font, frame and axes. */

#include <stdbool.h>
#include <stdio.h>

#include <showstopper/contract.h>

#include "palette.h"

/* Sizes are in CSS pixels: 16 make the size of a page's text. */
#define PLOT_WIDTH     560
#define PLOT_HEIGHT    300
#define PLOT_TEXT_SIZE 14 /* as that of tables */
#define PLOT_SMALL     12

enum plot_kind {
    PLOT_ON_PAGE, /* SVG without a background, in the colors of a page */
    PLOT_SVG,     /* a file: on white */
    PLOT_PNG,
};

void plot_begin(FILE *script, enum plot_kind kind, unsigned width, unsigned height) SS_NONNULL();

/* Begins a picture of the usual size on a page; the caller adds axes. */
void plot_begin_on_page(FILE *script) SS_NONNULL();

/* Which range an axis has besides that of its data. */
enum plot_range {
    PLOT_FROM_ZERO,   /* from 0 up */
    PLOT_AROUND_ZERO, /* deviations: 0 is on it */
    PLOT_LOGARITHMIC, /* the name says so */
};

/* `axis` is 'x' or 'y'. */
void plot_axis(FILE *script, char axis, const char *name, enum plot_range range) SS_NONNULL();

/* Sets an axis; its name says where the axis begins, unless it includes 0. */
void plot_axis_between(FILE *script, char axis, const char *name, double from, double to)
    SS_NONNULL();

/* A logarithmic axis with labels at round numbers, as many as fit. `from` must be above 0. */
void plot_axis_logarithmic(FILE *script, char axis, const char *name, double from, double to)
    SS_NONNULL();

/* Sets an axis for parts of 1 in percent: from `least` to `most`, rounded outward to 5 %. */
void plot_axis_percent(FILE *script, char axis, const char *name, double least, double most)
    SS_NONNULL();

/* Draws a dashed line across the picture at a value of this axis. */
void plot_line_at(FILE *script, char axis, double at) SS_NONNULL();

#endif
