/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAGE_PICTURE_H
#define PAGE_PICTURE_H

#include <stdio.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

/*
 * Runs gnuplot on the script and puts the picture into a page. `number` must differ for each
 * picture of a page, because names inside pictures would collide; `what` is the text alternative.
 */
int page_picture(
    FILE *page, FILE *script, unsigned number, const char *what, struct ss_error *error);

/*
 * Embeds gnuplot's output, with the font of the page and at most the page's size; colors of the
 * palette follow the reader's scheme. Returns -1 if the output is not a picture.
 */
int page_picture_embed(FILE *page, const char *svg, unsigned number, const char *what) SS_NONNULL();

struct page_figure {
    FILE *script;
    const char *caption;
    const char *explanation; /* in HTML, printed after the caption; NULL if absent */
};

/*
 * Prints a picture with its caption, and advances `number`. If gnuplot fails, prints nothing and
 * keeps the first such error in `without`.
 */
void page_figure(FILE *page, const struct page_figure *figure, unsigned *number,
    struct ss_error *without) SS_NONNULL();

#endif
