/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSLOAD_LOAD_TABLE_H
#define SSLOAD_LOAD_TABLE_H

#include "measure/load_sample.h"

/* A value of a sample: a column of the table, and a metric. */
struct ssload_column {
    const char *name;    /* as in samples.csv */
    const char *heading; /* at most six characters */
    const char *help;    /* of the metric */
    size_t offset;       /* of a double in struct ss_load_sample */
    int rank;            /* in a narrow window, columns of the lowest rank are omitted first */
};

/* Columns of this rank are shown even without room. */
#define SSLOAD_FIXED 9

enum {
    SSLOAD_TARGET,
    SSLOAD_LOAD,
    SSLOAD_ERROR,
    SSLOAD_TICKS,
    SSLOAD_USER,
    SSLOAD_SYSTEM,
    SSLOAD_IRQ,
    SSLOAD_STEAL,
    SSLOAD_IOWAIT,
    SSLOAD_IDLE,
    SSLOAD_PRESSURE,
    SSLOAD_COLUMNS,
};

extern const struct ssload_column ssload_columns[SSLOAD_COLUMNS];

double ssload_column_value(const struct ssload_column *column, const struct ss_load_sample *sample);

/* A table of samples: the known columns that fit next to a drawing. */
struct ssload_table {
    FILE *stream;
    bool unicode;
    bool target;       /* there is a target */
    bool per_cpu;      /* rows name their CPU */
    bool group;        /* rows describe a control group, which lacks some columns */
    bool pressure;     /* the pressure is known */
    int decimals;      /* number of decimals of seconds in the time */
    int screen;        /* lines of the terminal; 0: not a terminal, so only one heading */
    int lines;         /* number of lines since the heading; 0: a heading is due */
    unsigned shown;    /* a bit for each column that is shown */
    int time_width;    /* width of the time in characters */
    int drawing_width; /* width of the drawing; 0: no drawing */
};

void ssload_table_open(struct ssload_table *table, FILE *stream, ss_time interval);

/* Prints a row, after the heading if one is due. */
void ssload_table_print(struct ssload_table *table, const struct ss_load_sample *sample);

/* Prints a row of averages below all samples; `first` marks the first such row. */
void ssload_table_print_average(
    struct ssload_table *table, const struct ss_load_sample *sample, bool first);

#endif
