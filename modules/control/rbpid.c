/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include <showstopper/control.h>

enum bounds {
    BOUNDS_DUTY,
    BOUNDS_NONE,
};

enum start {
    START_TARGET,
    START_ZERO,
};

struct config {
    uint64_t peers;
    double ke;
    double ki;  /* per second */
    int bounds; /* enum bounds */
    int start;  /* enum start */
};

struct memory {
    ss_time last;    /* this executor's last update */
    double integral; /* ki I, a duty; from 0 to 1 with bounds=duty */
    bool started;
};

static const struct ss_option options[] = {
    SS_OPTION("peers", COUNT, peers, .initial = "2", .max = "255",
        .help = "the number of other executors whose outputs this executor averages with its own"),
    SS_OPTION("ke", NUMBER, ke, .initial = "1", .min = "0", .max = "1000",
        .help = "the weight of the current error"),
    SS_OPTION("ki", NUMBER, ki, .initial = "1", .min = "0", .max = "1000",
        .help = "the weight of past errors, summed over seconds"),
    SS_OPTION("bounds", CHOICE, bounds, .initial = "duty", .choices = "duty none",
        .help = "duty: the sum of past errors is limited to duties from 0 to 1, and does not "
                "change while the output is beyond them; none: no limits, as published"),
    SS_OPTION("start", CHOICE, start, .initial = "target", .choices = "target 0",
        .help = "the duty that the sum of past errors amounts to at first"),
    SS_OPTION_END,
};

static double clamp(double value) {
    return fmin(fmax(value, 0), 1);
}

/*
 * With bounds, the integral stops while the output is outside [0, 1]: otherwise the excess would
 * have to be undone before the output could return. The bounds apply to ki I, so that the integral
 * term can reach any duty for any ki.
 */
static void integrate(
    struct memory *memory, const struct config *config, double error, double seconds) {
    double integral = memory->integral + config->ki * error * seconds;
    double output = config->ke * error + memory->integral;
    if (config->bounds == BOUNDS_NONE)
        memory->integral = integral;
    else if (output >= 0 && output <= 1)
        memory->integral = clamp(integral);
}

/* Returns D = ke e + ki I, limited to [0, 1], where e = L* - L and I is the sum of e dt. */
static double update(const struct ss_self *self, const struct ss_control_input *input) {
    const struct config *config = self->config;
    struct memory *memory = self->own;

    if (!memory->started || memory->last < input->moment.since) {
        /* From 0, the mean of a short run would be several percent off. */
        *memory = (struct memory){
            .last = input->moment.now,
            .integral = config->start == START_ZERO ? 0 : input->target,
            .started = true,
        };
    }

    double error = input->target - input->load;
    integrate(
        memory, config, error, ss_time_seconds(ss_time_since(input->moment.now, memory->last)));
    memory->last = input->moment.now;

    return clamp(config->ke * error + memory->integral);
}

static uint32_t get_peers(const struct ss_self *self) {
    const struct config *config = self->config;
    return (uint32_t)config->peers;
}

SS_MODULE_EXPORT const struct ss_control_module showstopper_module = {
    .head =
        {
            SS_MODULE_HEAD(control, CONTROL),
            .name = "rbpid",
            .summary = "proportional-integral control",
            .options = options,
            .config_size = sizeof(struct config),
            .executor_memory = sizeof(struct memory),
        },
    .update = update,
    .peers = get_peers,
};
