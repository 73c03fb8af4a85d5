/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSLOAD_LOAD_OUTPUT_H
#define SSLOAD_LOAD_OUTPUT_H

#include "load_options.h"
#include "measure/load_sample.h"

/* A table of samples: the known columns that fit next to a drawing. */
struct ssload_table {
    const struct ssload_request *request; /* for --target, --per-cpu and --cgroup */
    FILE *stream;
    bool unicode;
    bool pressure;     /* the pressure is known */
    int decimals;      /* number of decimals of seconds in the time */
    int screen_lines;  /* lines of the terminal; 0 if not a terminal, so only one heading */
    int lines;         /* number of lines since the heading; 0: a heading is due */
    unsigned shown;    /* a bit for each column that is shown */
    int time_width;    /* width of the time in characters */
    int drawing_width; /* width of the drawing; 0: no drawing */
};

/* Sums of one CPU, or of all CPUs together. */
struct ssload_sums {
    struct ss_load_span span;
    struct ss_load_sample last;
    double busy;     /* busy seconds of CPU time; never decreases, as idle times may */
    double capacity; /* available CPU time in seconds */
    double seconds;
    double pressure;         /* sum of pressure times seconds */
    double pressure_seconds; /* seconds in which the pressure was known */
    double target;
    double error;
    uint64_t targets; /* number of samples that count for `target` and `error` */
};

/* Prints samples and sums them up. */
struct ssload_report {
    const struct ssload_request *request;
    FILE *stream;
    const char *name; /* name of the stream, for messages */
    enum ssload_format format;
    struct ssload_table table;
    struct ssload_sums *sums; /* sums of all CPUs together, then of each CPU */
    size_t cpus;              /* one more than the highest CPU number so far */
    bool was_free;            /* the previous sample ended in a `free` section */
};

int ssload_report_open(
    struct ssload_report *report, const struct ssload_request *request, struct ss_error *error);

void ssload_report_begin(struct ssload_report *report);

/* Prints a row and adds the sample to the averages. */
void ssload_report_add(struct ssload_report *report, const struct ss_load_sample *sample,
    const struct ss_load_span *span, double seconds);

/* Prints the averages and, if load and load_ticks differ, why. */
void ssload_report_end(struct ssload_report *report);

/* Writes the latest sample to the file of --openmetrics, which is replaced as a whole. */
int ssload_report_write_metrics(const struct ssload_report *report, struct ss_error *error);

/* Flushes the rows of a sample. Returns -1 with errno set on failure. */
int ssload_report_flush(struct ssload_report *report);

/* Writes the remaining output and closes the file. Returns -1 with errno set on failure. */
int ssload_report_close(struct ssload_report *report);

#endif
