/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLOT_PALETTE_H
#define PLOT_PALETTE_H

/*
 * The colors of all pictures. Scripts use the colors of a light scheme; a page replaces them with
 * variables, which have other values in a dark scheme.
 */

#include <stddef.h>

#include <showstopper/contract.h>

#define PLOT_INK    "#222222" /* text, and marks on top of other colors */
#define PLOT_AXIS   "#80868b"
#define PLOT_GRID   "#dddddd"
#define PLOT_BLUE   "#0072b2"
#define PLOT_ORANGE "#d55e00"
#define PLOT_GREEN  "#009573"
#define PLOT_PURPLE "#a0529b"
#define PLOT_AMBER  "#a87900"
#define PLOT_SKY    "#3a8fc4"
#define PLOT_BROWN  "#6d4c41"
#define PLOT_GRAY   "#5f6368"

/* Fill styles, which let a light or dark background shine through. */
#define PLOT_SHADED "fs transparent solid 0.18 noborder"
#define PLOT_HALF   "fs transparent solid 0.5 noborder" /* for areas with marks on top */

/* Rings around points of any color. */
#define PLOT_RINGS "points pt 6 ps 1.7 lw 1.6 lc rgb \"" PLOT_INK "\""

/* A gradient from small to large values, for adjacent fields that cover the background. */
#define PLOT_GRADIENT "set palette defined (0 \"#dbe7f2\", 0.5 \"#7fb0d8\", 1 \"#123a66\")\n"

struct plot_color {
    const char *name;         /* "blue" */
    const char *light, *dark; /* "#rrggbb" */
};

/* All colors; the last entry has no name. */
extern const struct plot_color plot_palette[];

/* The backgrounds of light and dark schemes, for which the palette was chosen. */
#define PLOT_PAPER_LIGHT "#ffffff"
#define PLOT_PAPER_DARK  "#16181c"

/*
 * Finds the color by its red, green and blue components in the light scheme, from 0 to 255; NULL if
 * absent.
 */
const struct plot_color *plot_color_find(const unsigned parts[3]) SS_NONNULL();

/*
 * Return the color and the mark (gnuplot's point type) of a series. Series differ in both, for
 * readers who cannot distinguish the colors.
 */
const char *plot_series_color(size_t series);
int plot_series_mark(size_t series);

#endif
