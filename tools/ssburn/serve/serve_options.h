/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBURN_SERVE_OPTIONS_H
#define SSBURN_SERVE_OPTIONS_H

#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/time.h>

#include "options/values.h"

struct serve_options {
    int help, version;
    const char *listen;  /* a port, or the path of a Unix socket */
    const char *address; /* address of the port */
    ss_time work;        /* CPU time of a request */
    uint64_t units;      /* in units of burn_work.h; 0: derived from `work` */
    int spread;          /* enum serve_spread, of serve_spread.h */
    uint64_t seed;
    uint64_t memory; /* in bytes */
    uint64_t workers;
    uint64_t queue; /* length of the queue, in requests */
    uint64_t bytes; /* size of an answer, in bytes */
};

SS_MUST_USE SS_NONNULL(1, 2, 3) int serve_options_parse(struct serve_options *options,
    struct ss_option_store *store, char **argv, struct ss_error *error);
void serve_options_print_help(void);

#endif
