/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSPROFILE_BENCHMARK_RUN_H
#define SSPROFILE_BENCHMARK_RUN_H

/* Runs one benchmark once, pinned to a CPU, under a throttle. */

#include <stdbool.h>
#include <stdint.h>

#include <showstopper/time.h>

#include "battery.h"
#include "limit_group.h"
#include "platform/platform.h"
#include "throttle.h"

struct ssprofile_runner {
    struct ssprofile_throttle throttle;
    uint32_t cpu;
    const char *sys;          /* /sys, for the CPU's frequency; NULL to not read it */
    bool has_frequency;       /* ssactuate can set it */
    struct limit_group group; /* control group for quotas, created on first use */
    int latency_file;         /* descriptor that keeps CPUs out of idle states; -1 if not open */
};

/* The file that keeps CPUs out of idle states while it is open. */
#define SSPROFILE_LATENCY_FILE "/dev/cpu_dma_latency"

/* Lets ssprofile_choose_cpu() choose. */
#define SSPROFILE_ANY_CPU UINT64_MAX

/*
 * Sets `cpu` to the requested CPU or, with SSPROFILE_ANY_CPU, to the first one that this process
 * may use. Fails unless benchmarks can be pinned to it.
 */
SS_NONNULL() int ssprofile_choose_cpu(uint64_t requested, uint32_t *cpu, struct ss_error *error);

/*
 * Opens a runner. From then on SIGINT, SIGTERM and, unless it is ignored, SIGHUP end the benchmark,
 * so that this process can clean up, and CPUs are kept out of idle states if possible, unless
 * `with_idle_states` is true. Close the runner afterwards.
 */
SS_NONNULL(1) void ssprofile_runner_open(struct ssprofile_runner *runner, bool with_idle_states);
void ssprofile_runner_close(struct ssprofile_runner *runner);

/* Returns whether SIGINT, SIGTERM or SIGHUP has arrived. */
bool ssprofile_is_interrupted(void);

/*
 * Sets the throttle of all later benchmarks. A quota creates a control group. Fails if this machine
 * does not support the throttle.
 */
SS_MUST_USE SS_NONNULL(1, 2) int ssprofile_runner_set_throttle(struct ssprofile_runner *runner,
    const struct ssprofile_throttle *throttle, struct ss_error *error);

struct ssprofile_outcome {
    double result;
    double frequency; /* frequency of the CPU during the run, in Hz; NaN if unknown */
};

/* Runs a benchmark. Returns -1 if it could not be run, if it failed, or if it printed no result. */
SS_MUST_USE SS_NONNULL(1, 2, 3) int ssprofile_run(const struct ssprofile_runner *runner,
    const struct ssprofile_task *task, struct ssprofile_outcome *outcome, struct ss_error *error);

/*
 * Runs a command without a throttle, on any CPU. Returns its output, up to 64 KiB, or NULL; free()
 * the result.
 */
SS_MUST_USE SS_NONNULL(1, 2) char *ssprofile_run_output(
    const struct ssprofile_runner *runner, char *const *command, struct ss_error *error);

#endif
