/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_THROTTLE_H
#define SSPROFILE_THROTTLE_H

/*
 * Throttles, which slow benchmarks down. A new throttle needs a kind and a choice here, and a row
 * in throttle.c. If it is a run of showstopper or ssactuate, it needs words in
 * ssprofile_throttle_words(), otherwise an action in benchmark_run.c. In measure.c it belongs to
 * the throttles that have a period or to those that have a quantum.
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
    SSPROFILE_LOAD,      /* showstopper's control */
    SSPROFILE_QUOTA,     /* the CPU quota of a control group */
    SSPROFILE_FREQUENCY, /* of all CPUs, by ssactuate */
    SSPROFILE_THROTTLES,
};

/* The choices of --throttle, in the order of the kinds from SSPROFILE_DUTY on. */
#define SSPROFILE_THROTTLE_CHOICES "duty load quota frequency"

struct ssprofile_throttle {
    enum ssprofile_throttle_kind kind;
    double setting;   /* 0 to 1; of SSPROFILE_FREQUENCY as a part of the highest frequency, or 0 if
                         `frequency` was given */
    double frequency; /* of SSPROFILE_FREQUENCY, in Hz; 0: not yet known */
    const char *root; /* for SSPROFILE_FREQUENCY: the machine's files; NULL: of this one */
    ss_time period;   /* for SSPROFILE_QUOTA */
    ss_time quantum;  /* for SSPROFILE_DUTY and SSPROFILE_LOAD: length of one run and one stop */
};

/* Returns the name of a kind: "without", "duty" and so on. */
const char *ssprofile_throttle_kind_name(enum ssprofile_throttle_kind kind);

/* Parses "without", "duty=40%" or "frequency=1.4GHz". Does not change period and quantum. */
SS_NONNULL(1, 2)
int ssprofile_throttle_parse(
    struct ssprofile_throttle *throttle, const char *text, struct ss_error *error);

/*
 * Chooses the frequency of the CPU that is nearest to the setting, or completes the setting of a
 * given frequency; `sys` is "/sys" or a copy of it. Fails if the machine has no such frequency.
 * Leaves other kinds alone.
 */
SS_MUST_USE SS_NONNULL(1, 2, 4) int ssprofile_throttle_resolve(
    struct ssprofile_throttle *throttle, const char *sys, uint32_t cpu, struct ss_error *error);

/*
 * Prints the name of a throttle as in results.csv: "without", "quota-4000", "frequency-1400" in
 * MHz.
 */
SS_NONNULL() void ssprofile_throttle_name(char name[32], const struct ssprofile_throttle *throttle);

/* Explains the name of a throttle, as in "a quota of 40% of a CPU"; empty for other names. */
SS_NONNULL() void ssprofile_throttle_explain(char text[64], const char *name);

/* Writes the throttle of such a name as for ssprofile_throttle_parse(). Returns false for others.
 */
SS_NONNULL() bool ssprofile_throttle_word(char text[64], const char *name);

/* Returns the setting of such a name, 0 to 1, or the frequency in MHz; NaN for other names. */
SS_NONNULL() double ssprofile_throttle_setting_of(const char *name);

#define SSPROFILE_THROTTLE_WORDS 32

/*
 * Sets the words of a command line that precede the benchmark: showstopper or ssactuate, and its
 * options. Returns their number, which is 0 for a throttle without either. The words are valid
 * until the next call.
 */
SS_NONNULL()
size_t ssprofile_throttle_words(const struct ssprofile_throttle *throttle, uint32_t cpu,
    const char *words[SSPROFILE_THROTTLE_WORDS]);

#endif
