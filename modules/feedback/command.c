/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include <showstopper/feedback.h>

struct config {
    const char *command;
    ss_time period; /* 0: no blending */
};

/*
 * Each executor smooths the numbers itself: reading them costs nothing, and all executors read the
 * same ones.
 */
struct memory {
    ss_time time; /* time of the last number */
    double load;
    bool known;
};

static const struct ss_option options[] = {
    SS_OPTION("command", TEXT, command, .required = 1,
        .help = "command line of a program that prints the load, a number between 0 and 1, on each "
                "line"),
    SS_OPTION("period", TIME, period, .initial = "0",
        .help = "smooth the numbers over this time; 0 uses each as it is"),
    SS_OPTION_END,
};

static void request_source(const struct ss_self *self, struct ss_source_request *request) {
    const struct config *config = self->config;
    *request = (struct ss_source_request){.source = SS_SOURCE_SENSOR, .argument = config->command};
}

static bool wants_sample(const struct ss_self *self, const struct ss_moment *moment) {
    (void)self;
    (void)moment;
    return true;
}

static bool is_current(const struct memory *memory, const struct ss_moment *moment) {
    return memory->known && memory->time >= moment->since;
}

static void take_sample(const struct ss_self *self, const struct ss_moment *moment,
    const struct ss_counters *counters) {
    const struct config *config = self->config;
    struct memory *memory = self->own;

    if (isnan(counters->value)) {
        memory->known = false;
        return;
    }

    double load = fmin(fmax(counters->value, 0), 1);
    if (config->period > 0 && is_current(memory, moment)) {
        double period = (double)config->period;
        double elapsed = (double)ss_time_since(counters->time, memory->time);
        double weight = 1 - period / (period + elapsed);
        load = (1 - weight) * memory->load + weight * load;
    }

    *memory = (struct memory){.time = counters->time, .load = load, .known = true};
}

static bool get_estimate(const struct ss_self *self, const struct ss_moment *moment, double *load) {
    const struct memory *memory = self->own;
    if (!is_current(memory, moment))
        return false;
    *load = memory->load;
    return true;
}

SS_MODULE_EXPORT const struct ss_feedback_module showstopper_module = {
    .head =
        {
            SS_MODULE_HEAD(feedback, FEEDBACK),
            .name = "command",
            .summary = "the load that a program prints",
            .options = options,
            .config_size = sizeof(struct config),
            .executor_memory = sizeof(struct memory),
        },
    .source = request_source,
    .wants_sample = wants_sample,
    .sample = take_sample,
    .estimate = get_estimate,
};
