/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSBURN_BURN_OPTIONS_H
#define SSBURN_BURN_OPTIONS_H

#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/time.h>

#include "burn.h"
#include "options/arguments.h"

struct burn_class {
    const char *name;
    int (*run)(struct burn *burn, struct ss_error *error);
    uint64_t threads; /* default of --threads; 0 for one per CPU that this process may use */
    uint64_t threads_max;
    const char *help;
};

struct options {
    int help, version;
    const struct burn_class *class;
    uint64_t threads;
    ss_time iteration;
    uint64_t work; /* in units; 0 to derive it from `iteration` */
    uint64_t iterations;
    uint64_t memory; /* in bytes */
};

SS_MUST_USE SS_NONNULL(1, 2) int options_parse(
    struct options *options, char **argv, struct ss_error *error);
void options_print_help(void);

/* Takes a number of bytes, such as 4096, 32K, 8M or 1G, within the bounds of the row. */
ss_argument_taker options_take_size;

#endif
