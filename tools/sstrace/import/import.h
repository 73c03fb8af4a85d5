/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_IMPORT_H
#define SSTRACE_IMPORT_H

/* Output of monitoring tools, as traces. */

#include "samples.h"

/* Which options of the command line mean something there; --gaps does everywhere. */
enum {
    SSTRACE_TAKES_SELECT = 1,
    SSTRACE_TAKES_EVERY = 2,
    SSTRACE_TAKES_UNIT = 4,
    SSTRACE_TAKES_CPUS = 8,
    SSTRACE_TAKES_COLUMNS = 16, /* and the separator, and the unit of times */
};

struct sstrace_format {
    const char *name;
    const char *summary; /* one line of help, without a full stop */
    unsigned takes;

    /* Whether input that begins like that is certainly of this format. NULL if that is never
     * certain. */
    bool (*detect)(const char *head);

    /*
     * Reads all of `input` and adds its samples. It calls neither sstrace_samples_open(), nor
     * _end() nor _close(); it may be called again with the next file. Messages are those of
     * sstrace_input_blame(), status 2.
     */
    int (*import)(const struct sstrace_format *format, struct sstrace_input *input,
        struct sstrace_samples *samples);

    const void *layout; /* what the importer needs to know of it, if it serves several */
};

/* All there are in this program; the list ends with NULL. */
extern const struct sstrace_format *const sstrace_formats[];

extern const struct sstrace_format sstrace_format_csv, sstrace_format_sadf,
    sstrace_format_google_2011, sstrace_format_azure, sstrace_format_alibaba_2017,
    sstrace_format_alibaba_2018, sstrace_format_bitbrains, sstrace_format_ssload,
    sstrace_format_collectd;
extern const struct sstrace_format sstrace_format_sadf_json, sstrace_format_mpstat_json,
    sstrace_format_prometheus, sstrace_format_ssload_json;
extern const struct sstrace_format sstrace_format_vmstat, sstrace_format_planetlab,
    sstrace_format_levels, sstrace_format_krash;

#endif
