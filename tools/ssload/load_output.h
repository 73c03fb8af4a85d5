/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSLOAD_REPORT_H
#define SSLOAD_REPORT_H

#include "load_options.h"
#include "load_table.h"
#include "measure/load_sample.h"

/* Sums of one CPU or of all. */
struct ssload_sums {
    struct ss_load_span span;
    double seconds;
    double pressure;         /* times seconds */
    double pressure_seconds; /* in which it was known */
    double target;
    double error;
    uint64_t targets; /* samples that count for these two */
};

/* Where samples go, and what they come to. */
struct ssload_report {
    const struct ssload_request *request;
    FILE *stream;
    const char *name; /* of the stream, for messages */
    enum ssload_format format;
    struct ssload_table table;
    struct ssload_sums *sums; /* by CPU, those of all first */
    size_t cpus;              /* one more than the highest number that came */
    bool was_free;            /* the last sample ended in a `free` stretch */
};

int ssload_report_open(
    struct ssload_report *report, const struct ssload_request *request, struct ss_error *error);

/* Prints the heading. */
void ssload_report_begin(struct ssload_report *report);

/* The row of one CPU or of all, and what it adds to the averages. */
void ssload_report_add(struct ssload_report *report, const struct ss_load_sample *sample,
    const struct ss_load_span *span, double seconds);

/* The averages, and why load and load_ticks differ, if they do. */
void ssload_report_end(struct ssload_report *report);

/* After all rows of a sample: they are seen at once. -1 with errno when they could not be written.
 */
int ssload_report_flush(struct ssload_report *report);

/* The same for what is still to be written. */
int ssload_report_close(struct ssload_report *report);

#endif
