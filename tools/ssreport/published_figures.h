/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREPORT_PUBLISHED_H
#define SSREPORT_PUBLISHED_H

/* Figures that others have published, to stand beside ours: tables in a folder of their own. */

#include <stdbool.h>
#include <stddef.h>

#include <showstopper/contract.h>

#include "record_warnings.h"
#include "statistics.h"

enum ssreport_published_table {
    SSREPORT_PUBLISHED_MEAN_ERROR, /* of workload and target: percent, by method */
    SSREPORT_PUBLISHED_MSE,        /* the same: %^2 */
    SSREPORT_PUBLISHED_REPLAY,     /* of workload: the smallest and the largest MSE, by method */
    SSREPORT_PUBLISHED_KVM,        /* of placement and foreground: percent, by background */
    SSREPORT_PUBLISHED_LXC,
    SSREPORT_PUBLISHED_TABLES,
};

struct ssreport_published_cell {
    enum ssreport_published_table table;
    char keys[2][24]; /* of its row; the second may be empty */
    const char *column;
    char text[24];
};

struct ssreport_published {
    struct ssreport_published_cell *cells;
    size_t count, capacity;
};

/* The folder that belongs to the running program, or to where it was to be installed. */
SS_WRITES(1, 2) void ssreport_published_folder(char *folder, size_t size);

/* What can be read; `notes` says what cannot. */
void ssreport_published_read(
    struct ssreport_published *published, const char *folder, struct ssreport_notes *notes);

void ssreport_published_free(struct ssreport_published *published);

/*
 * A cell's number by its row and column; words may be ours: `serial` stands for what the tables
 * call fop, `pi-even` for pi_even. NaN: there is none. NULL is no word.
 */
double ssreport_published_number(const struct ssreport_published *published,
    enum ssreport_published_table table, const char *first, const char *second, const char *column);

/* What the file of a table is called, and whether a cell is a number of that table. */
const char *ssreport_published_file(enum ssreport_published_table table);
bool ssreport_published_is_value(
    const struct ssreport_published_cell *cell, enum ssreport_published_table table);

/* Whether it is only probable that the mean error belongs to that method. */
bool ssreport_published_is_probable(const struct ssreport_published *published,
    const char *workload, const char *target, const char *method);

/* Of the numbers of a table in rows with this first word. */
struct ssreport_range ssreport_published_range(const struct ssreport_published *published,
    enum ssreport_published_table table, const char *first);

#endif
