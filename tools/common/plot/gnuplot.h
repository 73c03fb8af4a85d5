/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLOT_GNUPLOT_H
#define PLOT_GNUPLOT_H

/* gnuplot as a program that is started: whatever shall be drawn. */

#include <stddef.h>
#include <stdio.h>

#include <showstopper/error.h>

/*
 * In double quotes, each byte as its number: so no letter means anything to gnuplot. What is not
 * UTF-8 becomes a mark; what is longer than `most` letters is cut.
 */
void plot_quote(FILE *script, const char *text, size_t most);

/*
 * Runs gnuplot on the script, a file of the caller's, with its output to `stream`, another
 * one. Fails with status 2 and says what to install when there is no gnuplot, or what it complains
 * of.
 */
int plot_run(FILE *script, FILE *stream, struct ss_error *error);

#endif
