/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PLOT_GNUPLOT_H
#define PLOT_GNUPLOT_H

#include <stddef.h>
#include <stdio.h>

#include <showstopper/error.h>

/*
 * Writes a text in double quotes, with each byte as its number, so that no character is special to
 * gnuplot. Replaces invalid UTF-8, and truncates the text after `most` letters.
 */
void plot_quote(FILE *script, const char *text, size_t most);

/*
 * Runs gnuplot on the script, and writes its output to `stream`; the caller owns both files. On
 * failure, the message says what to install if gnuplot is missing, or repeats gnuplot's message.
 */
int plot_run(FILE *script, FILE *stream, struct ss_error *error);

#endif
