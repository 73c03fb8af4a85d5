/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_SAMPLES_H
#define SSTRACE_SAMPLES_H

/* Makes a trace of measurements: chooses the series, finds gaps, holds each load for its time. */

#include <showstopper/contract.h>

#include "input.h"
#include "trace/record.h"

enum sstrace_gaps {
    SSTRACE_GAPS_KEEP, /* the time passes at the load before */
    SSTRACE_GAPS_FILL, /* in a straight line to the load behind */
    SSTRACE_GAPS_REFUSE,
};

enum sstrace_unit {
    SSTRACE_UNIT_DEFAULT, /* the format's own */
    SSTRACE_UNIT_PERCENT,
    SSTRACE_UNIT_FRACTION,
    SSTRACE_UNIT_CORES, /* 100 is one CPU: --cpus says how many there are */
};

/* Options on measurements. NULL and 0 if not given. */
struct sstrace_import_options {
    const char *format;
    const char *select;      /* which series */
    const char *time_column; /* by name or by number from 1 */
    const char *load_column;
    const char *idle_column; /* the load is what this one leaves of 100 */
    const char *series_column;
    const char *separator; /* one character, or "tab" */
    const char *time_unit; /* of times that are bare numbers: s, ms, us, ns */
    ss_time every;         /* from one sample to the next where there are no times */
    enum sstrace_unit unit;
    uint32_t cpus;
    enum sstrace_gaps gaps;
};

/* The meaning of a sample's time. */
enum sstrace_stamp {
    SSTRACE_STAMP_SPAN,  /* it was measured from `from` to `to` */
    SSTRACE_STAMP_BEGIN, /* at `to` it began; it ended when the next one began */
    SSTRACE_STAMP_END,   /* at `to` it ended; it began when the one before ended */
};

struct sstrace_sample {
    int64_t from, to; /* ns from any fixed point; `from` only of a SPAN */
    double load;      /* from 0 to 1; NaN for a gap */
};

/* Sets of names in little room. */
struct sstrace_names {
    uint64_t *hashes;
    size_t count, capacity;
};

struct sstrace_samples {
    const struct sstrace_import_options *options;
    struct ss_trace_sink *sink;
    enum sstrace_stamp stamp; /* set by the importer before the first sample */
    bool adds_up; /* set by the importer: samples of one span are parts of one load (SPAN only) */

    /* The rest is its own. */
    struct sstrace_names names;
    char first_names[256]; /* some of them, for the message */
    uint64_t first;        /* hash of the first name */
    bool any;              /* something was given to the sink */
    bool has_base;
    int64_t base;  /* the first time that was seen; all others count from it */
    bool has_held; /* `held` waits for its end, or for more of the same span */
    bool broken;   /* no connection to the sample before */
    struct sstrace_sample held;
    uint64_t held_line, line; /* where `held` stood, and where the one stands that is passed on */
    int64_t origin;           /* the time that is the trace's zero */
    int64_t reached;          /* up to where the sink knows */
    double load;              /* what it was there */
    int64_t usual;            /* ns from one sample to the next; 0: not known */
    int64_t before;           /* the distance that was learned from last */
    uint64_t used;            /* samples */
    uint64_t gaps, late, bad;
};

SS_NONNULL()
void sstrace_samples_open(struct sstrace_samples *samples,
    const struct sstrace_import_options *options, struct ss_trace_sink *sink);

/*
 * Notes that there is a series of that name; whether its samples are wanted. To be asked for every
 * row, before more of it is read. Where nothing was selected the first series is taken, and the end
 * fails if there were others: it says how many.
 */
SS_NONNULL()
bool sstrace_samples_wants(struct sstrace_samples *samples, const char *series);

/*
 * The next sample of the wanted series, read from the line where `input` stands. Loads up to
 * 1.01 are 1; more, or less than 0, is refused. A sample that goes backward in time is left out
 * and counted. `column` (from 1) is where the load stands, for messages.
 */
SS_NONNULL()
int sstrace_samples_add(struct sstrace_samples *samples, struct sstrace_input *input, size_t column,
    const struct sstrace_sample *sample);

/* The machine was off or the tool was started anew: what follows has no connection to what was. */
SS_NONNULL()
void sstrace_samples_break(struct sstrace_samples *samples);

/*
 * After the last one. Fails without samples and if a choice was missing; prints to standard
 * error what was left out and which gaps there were.
 */
SS_NONNULL()
int sstrace_samples_end(struct sstrace_samples *samples, struct sstrace_input *input);

SS_NONNULL()
void sstrace_samples_close(struct sstrace_samples *samples);

#endif
