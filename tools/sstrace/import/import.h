/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_IMPORT_H
#define SSTRACE_IMPORT_H

#include "samples.h"

/* The options that a format supports, as bits. All formats support --gaps. */
enum {
    SSTRACE_TAKES_SELECT = 1,
    SSTRACE_TAKES_EVERY = 2,
    SSTRACE_TAKES_UNIT = 4,
    SSTRACE_TAKES_CPUS = 8,
    SSTRACE_TAKES_COLUMNS = 16, /* includes --separator and --time-unit */
    SSTRACE_TAKES_SPLIT = 32,
};

struct sstrace_format {
    const char *name;
    const char *summary; /* one line of help, without a full stop */
    unsigned takes;

    /*
     * How to recognize the format: text with which only this format begins, or a function that
     * returns whether input that begins with `head` is certainly in this format. Both are NULL if
     * --from is always required.
     */
    const char *begins;
    bool (*detect)(const char *head);

    /*
     * Reads all of `input` and adds its samples. Called once per file, between
     * sstrace_samples_open() and sstrace_samples_end(). Reports errors with text_input_blame().
     */
    int (*import)(const struct sstrace_format *format, struct text_input *input,
        struct sstrace_samples *samples);

    const void *layout; /* private data of an importer that serves several formats */
};

/* All formats, NULL-terminated. */
extern const struct sstrace_format *const sstrace_formats[];

extern const struct sstrace_format sstrace_format_csv, sstrace_format_sadf,
    sstrace_format_google_2011, sstrace_format_azure, sstrace_format_alibaba_2017,
    sstrace_format_alibaba_2018, sstrace_format_bitbrains, sstrace_format_ssload,
    sstrace_format_collectd, sstrace_format_google_2019, sstrace_format_alibaba_2021,
    sstrace_format_alibaba_2022;
extern const struct sstrace_format sstrace_format_sadf_json, sstrace_format_mpstat_json,
    sstrace_format_prometheus, sstrace_format_ssload_json;
extern const struct sstrace_format sstrace_format_vmstat, sstrace_format_planetlab,
    sstrace_format_levels, sstrace_format_krash;

#endif
