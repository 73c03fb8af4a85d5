/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>

#include <showstopper/dithering.h>

#include "limits.h"
#include "phase.h"

struct config {
    ss_time quantum;
    const char *phase;
};

struct memory {
    ss_time since; /* start of the run of control that `owed` belongs to */
    double owed;   /* quanta of running still owed, from -0.5 to 0.5 */
};

static const struct ss_option options[] = {
    SS_OPTION("quantum", TIME, quantum, .initial = "13ms", .scales = 1, .min = "1ms", .max = "1h",
        .help = "the quantum: every state lasts a multiple of it; refused if stopping and "
                "continuing alone would take more than a quarter of the CPU time"),
    PHASE_OPTION,
    SS_OPTION_END,
};

static int prepare(struct ss_self *self, struct ss_error *error) {
    const struct config *config = self->config;
    /* At a duty of one half the state changes after every quantum. */
    if (limits_check_round(self, "quantum", config->quantum, 1, error) < 0)
        return -1;
    return phase_prepare(self, config->phase, error);
}

/*
 * Returns whether to run for the next quantum, by a first-order sigma-delta modulator: the rounding
 * error is carried to the next quantum.
 */
static bool takes_quantum(struct memory *memory, double duty) {
    memory->owed += duty;
    bool run = memory->owed >= 0.5;
    if (run)
        memory->owed -= 1;
    return run;
}

static void next(const struct ss_self *self, const struct ss_dithering_input *input,
    struct ss_planned_state *plan) {
    const struct config *config = self->config;
    struct memory *memory = self->own;
    if (memory->since != input->moment.since)
        *memory = (struct memory){.since = input->moment.since};
    *plan = (struct ss_planned_state){
        .state = takes_quantum(memory, input->duty) ? SS_STATE_RUNNING : SS_STATE_STOPPED,
        .length = config->quantum,
    };
}

static ss_time round_length(const struct ss_self *self) {
    const struct config *config = self->config;
    return config->quantum;
}

static ss_time phase(const struct ss_self *self) {
    return phase_offset(self, round_length(self));
}

SS_MODULE_EXPORT const struct ss_dithering_module showstopper_module = {
    .head =
        {
            SS_MODULE_HEAD(dithering, DITHERING),
            .name = "fixedq",
            .summary = "approximates the duty by whole quanta",
            .options = options,
            .config_size = sizeof(struct config),
            .executor_memory = sizeof(struct memory),
            .prepare = prepare,
            .release = phase_release,
        },
    .next = next,
    .round_length = round_length,
    .phase = phase,
};
