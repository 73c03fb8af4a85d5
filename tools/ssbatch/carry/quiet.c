/* SPDX-License-Identifier: Apache-2.0 */
#include "quiet.h"

#include <math.h>

struct ssbatch_use ssbatch_use_read(
    const struct ssbatch_spawner *spawner, const struct ssbatch_stage *stage) {
    struct ssbatch_use use = {.at = spawner->now(spawner->context)};
    for (; stage; stage = stage->outer)
        use.own += ssbatch_stage_cpu_time(stage);
    use.machine = spawner->machine_time(spawner->context);
    return use;
}

double ssbatch_use_by_others(const struct ssbatch_spawner *spawner,
    const struct ssbatch_use *before, const struct ssbatch_use *after) {
    ss_time elapsed = ss_time_since(after->at, before->at);
    if (before->machine == SS_TIME_NEVER || after->machine == SS_TIME_NEVER || elapsed == 0 ||
        spawner->cpus <= 0)
        return NAN;
    double used = (double)ss_time_since(after->machine, before->machine);
    double own = (double)ss_time_since(after->own, before->own);
    return fmin(fmax((used - own) / ((double)elapsed * spawner->cpus), 0), 1);
}

int ssbatch_quiet_await(const struct ssbatch_quiet *quiet, struct ssbatch_spawner *spawner,
    const struct ssbatch_stage *stage, double *waited) {
    struct ssbatch_use begin = ssbatch_use_read(spawner, stage), before = begin;
    char text[128];
    int signal = 0;

    for (bool said = false;; said = true) {
        ss_time end = before.at + SS_SECOND;
        while (!signal && spawner->now(spawner->context) < end)
            signal = spawner->wait(spawner->context, end);
        struct ssbatch_use after = ssbatch_use_read(spawner, stage);
        double others = ssbatch_use_by_others(spawner, &before, &after);
        double seconds = ss_time_seconds(ss_time_since(before.at, begin.at));

        if (signal || !(others > quiet->below)) {
            *waited += seconds;
            snprintf(text, sizeof text, "the machine is quiet after %.0f s", seconds);
            if (said && !signal)
                quiet->say(quiet->context, text);
            return signal;
        }
        snprintf(text, sizeof text,
            "waiting until other processes use at most %.3g %% of the machine; now %.3g %%",
            100 * quiet->below, 100 * others);
        if (!said)
            quiet->say(quiet->context, text);
        before = after;
    }
}
