/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_PROFILE_OUTPUT_H
#define SSPROFILE_PROFILE_OUTPUT_H

/* Prints findings, sheets and pictures as text, CSV, JSON and a page. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "sheet.h"
#include "warnings.h"

/* The layout of profile.json, and of the results as JSON. */
#define SSPROFILE_SCHEMA 1

void ssprofile_print_text(FILE *stream, const struct table_sheet *sheet);

/* Prints findings, each after a dash, in lines of at most 79 columns. */
SS_NONNULL()
void ssprofile_print_findings(FILE *stream, const struct table_sheet *findings);

/* A script for gnuplot. */
struct ssprofile_picture {
    char caption[300];
    const char *explanation; /* printed after the caption */
    FILE *script;
    bool is_tall; /* shown next to the findings, if there is room */
};

#define SSPROFILE_PICTURES_MAX 128

/* All pictures. Zeroed: no pictures. */
struct ssprofile_pictures {
    struct ssprofile_picture items[SSPROFILE_PICTURES_MAX];
    size_t count;
    int failure; /* errno if a script cannot be created, which ssprofile_write() reports */
};

/*
 * Adds a picture and returns its empty script; NULL if there are too many or a temporary file
 * cannot be created.
 */
SS_FORMAT(4, 5)
FILE *ssprofile_pictures_add(struct ssprofile_pictures *pictures, bool is_tall,
    const char *explanation, const char *caption, ...);
void ssprofile_pictures_free(struct ssprofile_pictures *pictures);

struct ssprofile_output {
    const char *folder;
    const char *name; /* name of the files, such as "compare" */
    const char *title;
    const char *base; /* NULL if absent */
    struct table_sheet *sheets;
    size_t count;
    const struct table_sheet *findings;
    const struct ssprofile_pictures *pictures; /* NULL if absent */
    const struct ssprofile_warnings *warnings; /* NULL if absent */
};

/*
 * Makes a folder and writes a CSV file for each sheet that has rows, NAME.json with all sheets, and
 * NAME.html. The page begins with the findings. If pictures cannot be drawn, the page and a line on
 * standard error say why.
 */
int ssprofile_write(const struct ssprofile_output *output, struct ss_error *error);

#endif
