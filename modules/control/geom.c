/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include <showstopper/control.h>

/* Values for D_prev, in the order of the option's words. */
enum previous {
    PREVIOUS_OWN,    /* this executor's output, before averaging */
    PREVIOUS_GLOBAL, /* the average that this executor used */
};

/* The smallest duty and load in the formula, as a fraction of the target. */
#define FLOOR 0.01

struct config {
    uint64_t peers;
    int previous; /* enum previous */
};

struct memory {
    ss_time last; /* this executor's last update */
    double duty;  /* its output at that update */
    bool started;
};

static const struct ss_option options[] = {
    SS_OPTION("peers", COUNT, peers, .initial = "3", .max = "255",
        .help = "the number of other executors whose outputs this executor averages with its own"),
    SS_OPTION("previous", CHOICE, previous, .initial = "own", .choices = "own global",
        .help = "which duty to scale: the own output or, as published, the average with others"),
    SS_OPTION_END,
};

/*
 * Returns D = D_prev L* / L. A duty of 0 would stay 0, and a load near 0 would raise any duty to 1,
 * so both count as at least the floor. The floor is relative to the target, so that the formula
 * stays exact for small targets.
 */
static double follow(double duty, double target, double load) {
    double min = FLOOR * target;
    if (!(min > 0))
        return 0;
    return fmin(fmax(duty, min) * target / fmax(load, min), 1);
}

static double update(const struct ss_self *self, const struct ss_control_input *input) {
    const struct config *config = self->config;
    struct memory *memory = self->own;
    bool fresh = !memory->started || memory->last < input->moment.since;
    bool global = config->previous == PREVIOUS_GLOBAL && !isnan(input->previous);
    double previous = global ? input->previous : memory->duty;
    double duty = fresh ? input->target : follow(previous, input->target, input->load);
    *memory = (struct memory){.last = input->moment.now, .duty = duty, .started = true};
    return duty;
}

static uint32_t get_peers(const struct ss_self *self) {
    const struct config *config = self->config;
    return (uint32_t)config->peers;
}

SS_MODULE_EXPORT const struct ss_control_module showstopper_module = {
    .head =
        {
            SS_MODULE_HEAD(control, CONTROL),
            .name = "geom",
            .summary = "scales the duty by target over load",
            .options = options,
            .config_size = sizeof(struct config),
            .executor_memory = sizeof(struct memory),
        },
    .update = update,
    .peers = get_peers,
};
