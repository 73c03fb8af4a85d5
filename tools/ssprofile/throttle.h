/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_THROTTLE_H
#define SSPROFILE_THROTTLE_H

/*
 * Throttles, which slow benchmarks. A new one needs a kind and a choice here, a row in throttle.c,
 * with words of ssprofile_throttle_words() if it is a run of showstopper or else an action in
 * benchmark_run.c, and its place in measure.c among those that have a period or a quantum.
 */

#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>
#include <showstopper/time.h>

enum ssprofile_throttle_kind {
    SSPROFILE_NO_THROTTLE,
    SSPROFILE_DUTY,  /* showstopper in an open loop */
    SSPROFILE_LOAD,  /* showstopper's control */
    SSPROFILE_QUOTA, /* the CPU quota of a control group */
    SSPROFILE_THROTTLES,
};

/* The choices of --throttle, in the order of the kinds from SSPROFILE_DUTY on. */
#define SSPROFILE_THROTTLE_CHOICES "duty load quota"

struct ssprofile_throttle {
    enum ssprofile_throttle_kind kind;
    double setting;  /* 0 to 1 */
    ss_time period;  /* SSPROFILE_QUOTA */
    ss_time quantum; /* SSPROFILE_DUTY and SSPROFILE_LOAD: length of one run and one stop */
};

/* Returns the name of a kind: "without", "duty" and so on. */
const char *ssprofile_throttle_kind_name(enum ssprofile_throttle_kind kind);

/* Parses "without" or "duty=40%"; does not change period and quantum. */
SS_NONNULL(1, 2)
int ssprofile_throttle_parse(
    struct ssprofile_throttle *throttle, const char *text, struct ss_error *error);

/* Prints the name in results.csv: "without", "quota-4000". */
SS_NONNULL() void ssprofile_throttle_name(char name[32], const struct ssprofile_throttle *throttle);

/* Explains such a name, as in "a quota of 40% of a CPU"; empty for other names. */
SS_NONNULL() void ssprofile_throttle_explain(char text[64], const char *name);

#define SSPROFILE_THROTTLE_WORDS 32

/*
 * Sets the words of a command line that precede the benchmark: showstopper and its options. Returns
 * their number, which is 0 for a throttle without showstopper. They are valid until the next call.
 */
SS_NONNULL()
size_t ssprofile_throttle_words(const struct ssprofile_throttle *throttle, uint32_t cpu,
    const char *words[SSPROFILE_THROTTLE_WORDS]);

#endif
