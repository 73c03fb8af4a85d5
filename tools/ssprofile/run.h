/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_RUN_H
#define SSPROFILE_RUN_H

/* One benchmark, once, pinned to a CPU, under a throttle. */

#include <stdint.h>

#include <showstopper/time.h>

#include "battery.h"

enum ssprofile_throttle_kind {
    SSPROFILE_NO_THROTTLE,
    SSPROFILE_DUTY,  /* showstopper in an open loop */
    SSPROFILE_LOAD,  /* showstopper's control */
    SSPROFILE_QUOTA, /* the CPU quota of a control group */
};

struct ssprofile_throttle {
    enum ssprofile_throttle_kind kind;
    double setting; /* 0 to 1 */
    ss_time period; /* SSPROFILE_QUOTA */
};

#define SSPROFILE_PERIOD (10 * SS_MILLISECOND) /* the published one */

/* "duty=40%"; the period stays as it is. */
SS_NONNULL(1, 2)
int ssprofile_throttle_parse(
    struct ssprofile_throttle *throttle, const char *text, struct ss_error *error);

/* As results.csv names it: "without", "quota-4000". */
SS_NONNULL() void ssprofile_throttle_name(char name[32], const struct ssprofile_throttle *throttle);

struct ssprofile_runner {
    struct ssprofile_throttle throttle;
    uint32_t cpu;
    char bin[4096];   /* folder of our programs, which is put first into PATH */
    char group[4400]; /* control group of a quota; "": none */
};

/*
 * Makes the control group that a quota takes; from then on SIGINT, SIGTERM and SIGHUP end a
 * benchmark and let the process clear up. Close it in any case.
 */
SS_NONNULL(1) int ssprofile_runner_open(struct ssprofile_runner *runner, struct ss_error *error);
void ssprofile_runner_close(struct ssprofile_runner *runner);

/* Whether one of these signals has arrived; no benchmark is worth running then. */
bool ssprofile_is_interrupted(void);

/* Another setting of the same throttle. */
SS_NONNULL(1)
int ssprofile_runner_set(struct ssprofile_runner *runner, double setting, struct ss_error *error);

/* The result; -1: the benchmark could not be run, failed or printed no result. */
SS_NONNULL(1, 2, 3)
int ssprofile_run(const struct ssprofile_runner *runner, const struct ssprofile_task *task,
    double *result, struct ss_error *error);

/* What a command prints, without a throttle, up to 64 KiB: free() it. NULL: it failed. */
SS_NONNULL(1, 2)
char *ssprofile_run_output(
    const struct ssprofile_runner *runner, char *const *command, struct ss_error *error);

#endif
