/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSTRACE_TRACE_OPTIONS_H
#define SSTRACE_TRACE_OPTIONS_H

#include <showstopper/contract.h>

#include "generate.h"
#include "options/values.h"
#include "samples.h"
#include "stages.h"

struct sstrace_request {
    int check, dump, stat, plot; /* instead of compiling */
    int help, version;
    const char *output; /* NULL for standard output */
    const char *split;  /* a folder for the traces of all series; NULL to write one trace */
    char **files;       /* standard input if empty */
    int file_count;
    struct sstrace_generation generation; /* without a generator, a file is read */
    struct sstrace_import_options import; /* `format` is NULL to detect it */
    struct sstrace_transform transforms[SSTRACE_TRANSFORMS_MAX]; /* in the order of the command
                                                                    line, after that of --split */
    size_t transform_count;
    struct ss_option_store *store; /* holds texts and warnings */
};

/*
 * Parses the command line. The request points into `store` and `argv`; the files move to the front
 * of `argv`.
 */
SS_MUST_USE SS_NONNULL(1, 2, 3) int sstrace_request_parse(char **argv,
    struct sstrace_request *request, struct ss_option_store *store, struct ss_error *error);

void sstrace_help_print(void);

#endif
