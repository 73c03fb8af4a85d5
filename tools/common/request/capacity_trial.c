/* SPDX-License-Identifier: Apache-2.0 */
#include "capacity_trial.h"

/* A trial is abandoned if its figure exceeds the limit by this factor. */
#define HOPELESS 2

_Static_assert(
    SSREQUEST_TRIAL_PERIODS ==
        SSREQUEST_TRIAL_WARMUP + SSREQUEST_TRIAL_STAGE * ((1 << SSREQUEST_TRIAL_STAGES) - 1),
    "each stage is twice as long as the one before");

void ssrequest_trial_witness(void *context, const struct ssrequest_one *one,
    enum ssrequest_fate fate, const struct ssrequest_ended *ended) {
    struct ssrequest_trial_watch *watch = context;
    (void)one;
    if (fate == SSREQUEST_ENDED)
        ssrequest_steady_add(
            &watch->steady, ss_time_seconds(ss_time_since(ended->finished, ended->due)));
}

static void begin_stage(struct ssrequest_trial_watch *watch) {
    watch->stage++;
    watch->stage_begin = watch->periods;
    watch->steady = (struct ssrequest_steady){0};
    ssrequest_tally_clear(watch->tally);
}

static unsigned stage_length(const struct ssrequest_trial_watch *watch) {
    return watch->stage == 0 ? SSREQUEST_TRIAL_WARMUP : SSREQUEST_TRIAL_STAGE << (watch->stage - 1);
}

double ssrequest_trial_measured(const struct ssrequest_trial_watch *watch) {
    return ss_time_seconds(watch->period * (watch->periods - watch->stage_begin));
}

/* Returns whether enough requests have failed that waiting cannot change the result. */
static bool has_failures(const struct ssrequest_tally *tally) {
    double ended = (double)(tally->sent - tally->unfinished + tally->refused);
    return (double)tally->outcomes[SSREQUEST_SUCCESS] < SSREQUEST_SUCCESSES_MIN * ended;
}

static bool is_enough(struct ssrequest_trial_watch *watch) {
    double figure = ssrequest_criterion_figure(watch->criterion, watch->tally);
    double limit = ss_time_seconds(watch->criterion->limit);
    watch->is_steady = ssrequest_steady_is_reached(&watch->steady, ssrequest_trial_measured(watch));
    return watch->is_steady || has_failures(watch->tally) || figure > HOPELESS * limit ||
           (figure > limit && ssrequest_steady_rises(&watch->steady)) ||
           watch->stage == SSREQUEST_TRIAL_STAGES;
}

bool ssrequest_trial_step(struct ssrequest_trial_watch *watch) {
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
