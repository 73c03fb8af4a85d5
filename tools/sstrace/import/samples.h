/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_SAMPLES_H
#define SSTRACE_SAMPLES_H

/*
 * Turns measurements into a trace: selects the series, finds gaps, and holds each load for its
 * time.
 */

#include <showstopper/contract.h>

#include "input.h"
#include "names.h"
#include "stamp.h"
#include "trace/record.h"

enum sstrace_gaps {
    SSTRACE_GAPS_KEEP, /* holds the previous load */
    SSTRACE_GAPS_FILL, /* draws a straight line to the next load */
    SSTRACE_GAPS_REFUSE,
};

enum sstrace_unit {
    SSTRACE_UNIT_DEFAULT, /* the unit of the format */
    SSTRACE_UNIT_PERCENT,
    SSTRACE_UNIT_FRACTION,
    SSTRACE_UNIT_CORES, /* 100 per CPU; a load of 1 is 100 times --cpus */
};

struct sstrace_samples;

/* Receives all series of a table, each as a trace of its own. Embedded in its owner. */
struct sstrace_split {
    /* Returns the samples of a series, new ones for a new name; NULL if memory is exhausted. */
    struct sstrace_samples *(*find)(struct sstrace_split *split, const char *series);

    /* Called once, after the last file. */
    int (*end)(struct sstrace_split *split, struct text_input *input);
};

/* Options for measurements. NULL or 0 if they are not given. */
struct sstrace_import_options {
    const char *format;
    const char *select;      /* the selected series */
    const char *time_column; /* column by name or by number, from 1 */
    const char *load_column;
    const char *idle_column; /* column of idle time; the load is 100 minus this column */
    const char *series_column;
    const char *separator; /* one character, or "tab" */
    const char *time_unit; /* unit of numeric times, see sstrace_stamp_unit() */
    ss_time every;         /* interval of samples without times */
    enum sstrace_unit unit;
    uint64_t cpus;
    enum sstrace_gaps gaps;
    struct sstrace_split *split; /* NULL to select one series */
};

/* The meaning of the time of a sample. */
enum sstrace_stamp {
    SSTRACE_STAMP_SPAN,  /* measured from `from` to `to` */
    SSTRACE_STAMP_BEGIN, /* began at `to`, and ended when the next one began */
    SSTRACE_STAMP_END,   /* ended at `to`, and began when the previous one ended */
};

struct sstrace_sample {
    int64_t from, to; /* ns from any fixed point; only a SPAN has `from` */
    double load;      /* from 0 to 1; NaN for a gap */
};

/* The moment from which a file counts its times. Unknown if zeroed. */
struct sstrace_origin {
    bool known;
    int64_t at; /* ns since 1970, or 0 if the file has no date */
};

struct sstrace_samples {
    const struct sstrace_import_options *options;
    struct ss_trace_sink *sink;
    enum sstrace_stamp stamp; /* set by the importer before the first sample */
    bool adds_up;             /* set by the importer: samples of the same span add up (SPAN only) */
    bool takes_unit;          /* the format supports --unit */

    /* State of an importer that reads times of day, or a table without times: */
    uint64_t files;             /* number of the file being read */
    uint64_t file;              /* number of the last file with a row of the series */
    struct sstrace_clock clock; /* times of day of the series in that file */
    int64_t now;                /* without times: end of the samples of the series so far, ns */

    /* Private: */
    struct sstrace_samples *current; /* with `split`: the series of the current row */
    bool named;                      /* with `split`: a row has named its series */
    struct sstrace_names names;
    char first_names[256]; /* the first few names, for messages */
    bool any;              /* a record was passed to the sink */
    bool has_base;
    int64_t base;  /* the first time; all others count from it */
    bool has_held; /* `held` waits for its end, or for more of the same span */
    bool broken;   /* the next sample does not continue the previous one */
    bool has_row;
    int64_t row_time; /* time of the previous row, even if its load is unknown (not SPAN) */
    struct sstrace_sample held;
    uint64_t held_line, line; /* number of the line of `held`, and of the line of the sample being
                                 added */
    int64_t origin;           /* time at which the trace begins */
    int64_t reached;          /* end of the last sample given to the sink */
    double load;              /* load of that sample */
    int64_t usual_interval;   /* usual interval, ns; 0 if unknown */
    bool repeated;            /* two intervals in a row were like that */
    int64_t last_interval;    /* previous interval, ns */
    uint64_t used;            /* number of samples used */
    uint64_t gaps, late, bad;
    uint64_t limited;           /* sums above 100 %, which became 100 % */
    bool undated;               /* a file has no date */
    int64_t latest;             /* latest time of a sample */
    uint64_t offered, in_order; /* samples of this file; those that do not go backward in time */
};

/* Samples that are counted and reported at the end. */
struct sstrace_problem {
    size_t count; /* offset of a uint64_t in struct sstrace_samples */
    const char *text;
};

#define SSTRACE_PROBLEMS 3

extern const struct sstrace_problem sstrace_problems[SSTRACE_PROBLEMS];

SS_NONNULL()
static inline uint64_t sstrace_problem_count(
    const struct sstrace_problem *problem, const struct sstrace_samples *samples) {
    return *(const uint64_t *)(const void *)((const char *)samples + problem->count);
}

SS_NONNULL()
void sstrace_samples_open(struct sstrace_samples *samples,
    const struct sstrace_import_options *options, struct ss_trace_sink *sink);

/*
 * Records the name of a series, and returns whether the series is selected. Call this for every row
 * before reading more of it. Without --select the first series is used, and sstrace_samples_end()
 * fails if there were others. With `split`, every series is selected.
 */
SS_NONNULL() bool sstrace_samples_select(struct sstrace_samples *samples, const char *series);

/*
 * Adds a sample of the selected series, read from the current line of `input`. Loads up to 1.01
 * become 1; larger or negative loads are refused. A sample that goes backward in time is skipped
 * and counted. With `adds_up`, a sum above 1.01 becomes 1 and is counted. `column`, from 1, is the
 * column of the load, for messages.
 */
SS_NONNULL()
int sstrace_samples_add(struct sstrace_samples *samples, struct text_input *input, size_t column,
    const struct sstrace_sample *sample);

/*
 * Records whether the current file has a date, before its first sample is added. Fails if it is not
 * the only file and one of them has no date, because the time between them is then unknown.
 */
SS_NONNULL()
int sstrace_samples_date(struct sstrace_samples *samples, struct text_input *input, bool is_dated);

/*
 * Turns a time since the start of the file into a time that continues from file to file. The first
 * call for a file determines its origin from `date`, the date of the same moment in ns since 1970,
 * or NULL. Fails like sstrace_samples_date(), or if the time is out of range.
 */
SS_NONNULL(1, 2, 3, 5)
int sstrace_samples_place(struct sstrace_samples *samples, struct text_input *input,
    struct sstrace_origin *origin, const int64_t *date, int64_t *time);

/* Separates later samples from earlier ones. Call this if the machine or the tool was restarted. */
SS_NONNULL() void sstrace_samples_break(struct sstrace_samples *samples);

/*
 * Ends a file. Fails if it has samples, but all of them go backward in time, because the file would
 * change nothing.
 */
SS_NONNULL()
int sstrace_samples_end_file(struct sstrace_samples *samples, struct text_input *input);

/*
 * Ends one series of a split table: adds the sample that waits for its end. `usual` (ns, 0 if
 * unknown) is the length of samples if the series itself does not show it.
 */
SS_NONNULL()
int sstrace_samples_flush(struct sstrace_samples *samples, struct text_input *input, int64_t usual);

/*
 * Ends the trace. Call this after the last sample. Fails if there are no samples, or several series
 * without --select; warns about skipped samples.
 */
SS_NONNULL() int sstrace_samples_end(struct sstrace_samples *samples, struct text_input *input);

SS_NONNULL() void sstrace_samples_close(struct sstrace_samples *samples);

#endif
