/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_PICTURE_H
#define SSREPORT_PICTURE_H

#include <stdio.h>

#include <showstopper/error.h>

/*
 * Has gnuplot draw what the script says and puts the picture into a page. `number` differs for
 * every picture of a page, since names inside of pictures would collide; `what` is the text
 * alternative.
 */
int ssreport_picture(
    FILE *page, FILE *script, unsigned number, const char *what, struct ss_error *error);

/* Embeds gnuplot's output, for tests. -1 if it is not a picture. */
int ssreport_picture_embed(FILE *page, const char *svg, unsigned number, const char *what);

#endif
