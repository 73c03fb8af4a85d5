/* SPDX-License-Identifier: Apache-2.0 */
#include "capacity_trial.h"

/* A trial is abandoned if its figure exceeds the limit by this factor. */
#define HOPELESS 2

_Static_assert(REQUEST_TRIAL_PERIODS ==
                   REQUEST_TRIAL_WARMUP + REQUEST_TRIAL_STAGE * ((1 << REQUEST_TRIAL_STAGES) - 1),
    "each stage is twice as long as the one before");

void request_trial_witness(void *context, const struct request_one *one, enum request_fate fate,
    const struct request_ended *ended) {
    struct request_trial_watch *watch = context;
    (void)one;
    if (fate == REQUEST_ENDED)
        request_steady_add(
            &watch->steady, ss_time_seconds(ss_time_since(ended->finished, ended->due)));
}

static void begin_stage(struct request_trial_watch *watch) {
    watch->stage++;
    watch->stage_begin = watch->periods;
    watch->steady = (struct request_steady){0};
    request_tally_clear(watch->tally);
}

static unsigned stage_length(const struct request_trial_watch *watch) {
    return watch->stage == 0 ? REQUEST_TRIAL_WARMUP : REQUEST_TRIAL_STAGE << (watch->stage - 1);
}

double request_trial_measured(const struct request_trial_watch *watch) {
    return ss_time_seconds(watch->period * (watch->periods - watch->stage_begin));
}

/* Returns whether enough requests have failed that waiting cannot change the result. */
static bool has_failures(const struct request_tally *tally) {
    double ended = (double)(tally->sent - tally->unfinished + tally->refused);
    return (double)tally->outcomes[REQUEST_SUCCESS] < REQUEST_SUCCESSES_MIN * ended;
}

static bool is_enough(struct request_trial_watch *watch) {
    double figure = request_criterion_figure(watch->criterion, watch->tally);
    double limit = ss_time_seconds(watch->criterion->limit);
    watch->is_steady = request_steady_is_reached(&watch->steady, request_trial_measured(watch));
    return watch->is_steady || has_failures(watch->tally) || figure > HOPELESS * limit ||
           (figure > limit && request_steady_rises(&watch->steady)) ||
           watch->stage == REQUEST_TRIAL_STAGES;
}

bool request_trial_step(struct request_trial_watch *watch) {
    if (watch->is_over)
        return false;
    watch->periods++;
    if (watch->periods < watch->stage_begin + stage_length(watch))
        return false;
    watch->is_over = watch->stage > 0 && is_enough(watch);
    if (!watch->is_over)
        begin_stage(watch);
    return watch->is_over;
}
