/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAGE_PICTURE_H
#define PAGE_PICTURE_H

#include <stdio.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

/*
 * Has gnuplot draw what the script says and puts the picture into a page. `number` differs for
 * every picture of a page, since names inside of pictures would collide; `what` is the text
 * alternative.
 */
int page_picture(
    FILE *page, FILE *script, unsigned number, const char *what, struct ss_error *error);

/*
 * Embeds gnuplot's output: its letters have the font and at most the size of the page's, and colors
 * of the palette follow the reader's scheme. -1 if it is not a picture.
 */
int page_picture_embed(FILE *page, const char *svg, unsigned number, const char *what) SS_NONNULL();

struct page_figure {
    FILE *script;
    const char *caption;
    const char *explanation; /* after the caption, in HTML; NULL if absent */
};

/*
 * A picture with its caption, with the next number. Without gnuplot nothing is printed, and
 * `without`, which then has an error already, says why.
 */
void page_figure(FILE *page, const struct page_figure *figure, unsigned *number,
    struct ss_error *without) SS_NONNULL();

#endif
