/* SPDX-License-Identifier: Apache-2.0 */
#include "queue_throttle.h"

#include <inttypes.h>
#include <stdlib.h>

#include <showstopper/random.h>

#include "trial.h"

/* Makes the phase independent of arrival times, which have the same seed. */
#define PHASE_SALT UINT64_C(0x7068617365)

/* The sampling interval of the trial's monitor, which is long because the samples are not used. */
#define INTERVAL (3600 * SS_SECOND)

static int open_trial(
    struct trial *trial, const struct queue_throttle_options *throttle, struct ss_error *error) {
    char duty[32], tau[32];
    snprintf(duty, sizeof duty, "%.15f", throttle->duty);
    snprintf(tau, sizeof tau, "tau=%" PRIu64 "n", throttle->tau);
    struct trial_options options = {
        .cpus = throttle->servers,
        .instances = throttle->servers,
        .width = 1,
        .modules = {"constant", "realtime", "fixed", "even", "averageq"},
        .options = {[SS_KIND_TRACE] = duty, [SS_KIND_DITHERING] = tau},
        .window = SS_WINDOW_DEFAULT,
        .interval = INTERVAL,
        .seed = throttle->seed,
    };
    return trial_open(trial, &options, error);
}

/*
 * Skips to a phase that depends on the seed, after at least one round: executors start at random
 * points within their first round, so that round differs from later ones.
 */
static int skip_to_phase(struct queue_throttle *throttle,
    const struct queue_throttle_options *options, struct ss_error *error) {
    double phase = 1 + ss_random(options->seed + PHASE_SALT, 0);
    ss_time length = ss_time_from_double(phase * (double)options->tau);
    if (trial_advance(throttle->trial, length, error) < 0)
        return -1;
    throttle->zero = throttle->trial->now;
    return 0;
}

int queue_throttle_open(struct queue_throttle *throttle,
    const struct queue_throttle_options *options, struct ss_error *error) {
    *throttle = (struct queue_throttle){0};
    if (options->duty >= 1)
        return 0;
    struct trial *trial = calloc(1, sizeof *trial);
    if (!trial)
        return ss_error_memory(error);
    if (open_trial(trial, options, error) < 0) {
        free(trial);
        return -1;
    }
    throttle->trial = trial;
    return skip_to_phase(throttle, options, error);
}

void queue_throttle_close(struct queue_throttle *throttle) {
    if (throttle->trial)
        trial_close(throttle->trial);
    free(throttle->trial);
}

ss_time queue_throttle_next(const struct queue_throttle *throttle) {
    if (!throttle->trial)
        return SS_TIME_NEVER;
    return ss_time_since(trial_next(throttle->trial), throttle->zero);
}

int queue_throttle_wake(struct queue_throttle *throttle, struct ss_error *error) {
    return trial_wake(throttle->trial, error);
}

bool queue_throttle_lets_run(const struct queue_throttle *throttle, uint32_t server) {
    return !throttle->trial || throttle->trial->steppers[server].state == SS_STATE_RUNNING;
}
