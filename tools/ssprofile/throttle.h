/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_THROTTLE_H
#define SSPROFILE_THROTTLE_H

/*
 * Throttles slow benchmarks down. A new throttle needs a kind and a choice here, and a row in
 * throttle.c. If showstopper or ssactuate implements it, it needs words in
 * ssprofile_throttle_words(), otherwise an action in benchmark_run.c. print_description() in
 * measure.c lists the throttles that have a period or a quantum.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/time.h>

enum ssprofile_throttle_kind {
    SSPROFILE_NO_THROTTLE,
    SSPROFILE_DUTY,      /* showstopper in an open loop */
    SSPROFILE_LOAD,      /* showstopper in a closed loop */
    SSPROFILE_QUOTA,     /* the CPU quota of a control group */
    SSPROFILE_FREQUENCY, /* the frequency of all CPUs, set by ssactuate */
    SSPROFILE_THROTTLES,
};

/* Names of the kinds from SSPROFILE_DUTY on, in their order. */
#define SSPROFILE_THROTTLE_CHOICES "duty load quota frequency"

struct ssprofile_throttle {
    enum ssprofile_throttle_kind kind;
    double setting;   /* 0 to 1; SSPROFILE_FREQUENCY: fraction of the highest, or 0 if
                         `frequency` was given */
    double frequency; /* Hz, for SSPROFILE_FREQUENCY; 0 if not yet known */
    const char *root; /* root of the machine's files, for SSPROFILE_FREQUENCY; NULL for / */
    ss_time period;   /* for SSPROFILE_QUOTA */
    ss_time quantum;  /* length of one run and one stop, for SSPROFILE_DUTY and SSPROFILE_LOAD */
};

/* Parses "without", "duty=40%" or "frequency=1.4GHz". Leaves period and quantum unchanged. */
SS_MUST_USE SS_NONNULL(1, 2) int ssprofile_throttle_parse(
    struct ssprofile_throttle *throttle, const char *text, struct ss_error *error);

/*
 * Chooses the available frequency nearest to the setting, or computes the setting of a given
 * frequency. Fails if the machine does not have the frequency. Leaves other kinds unchanged.
 */
SS_MUST_USE SS_NONNULL() int ssprofile_throttle_resolve(
    struct ssprofile_throttle *throttle, uint32_t cpu, struct ss_error *error);

/* The frequencies that can be set, in Hz. */
struct ssprofile_levels {
    double lowest, highest;
    double table[64]; /* the available ones, if the kernel lists them */
    size_t count;
};

/* Reads the levels of a CPU of this machine, or of that below `root`. Fails if it has none. */
SS_MUST_USE SS_NONNULL(1, 4) int ssprofile_levels_read(
    struct ssprofile_levels *levels, const char *root, uint32_t cpu, struct ss_error *error);

/*
 * Prints the name of a throttle in results.csv: "without", "quota-4000", or "frequency-1400" (MHz).
 */
SS_NONNULL() void ssprofile_throttle_name(char name[32], const struct ssprofile_throttle *throttle);

#define SSPROFILE_THROTTLE_WORDS_MAX 32

/*
 * Sets the words to put before the benchmark: showstopper or ssactuate with options. Returns their
 * number, 0 if the throttle needs neither. The words are valid until the next call.
 */
SS_MUST_USE SS_NONNULL() size_t ssprofile_throttle_words(const struct ssprofile_throttle *throttle,
    uint32_t cpu, const char *words[SSPROFILE_THROTTLE_WORDS_MAX]);

#endif
