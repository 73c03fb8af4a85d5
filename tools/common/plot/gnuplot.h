/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLOT_GNUPLOT_H
#define PLOT_GNUPLOT_H

/* Runs gnuplot, whatever it draws. */

#include <stddef.h>
#include <stdio.h>

#include <showstopper/error.h>

/*
 * Writes a text in double quotes, each byte as its number, so that no letter has a meaning for
 * gnuplot. Invalid UTF-8 becomes a mark; text beyond `most` letters is cut off.
 */
void plot_quote(FILE *script, const char *text, size_t most);

/*
 * Runs gnuplot on the script, and writes its output to `stream`; the caller owns both files. Fails
 * with status 2, and says what to install if gnuplot is missing, or repeats gnuplot's message.
 */
int plot_run(FILE *script, FILE *stream, struct ss_error *error);

#endif
