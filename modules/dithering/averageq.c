/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>

#include <showstopper/dithering.h>

#include "limits.h"
#include "phase.h"

struct config {
    ss_time tau;
    ss_time min;
    const char *phase;
    double jitter;
};

/* The memory of an executor, zeroed at the beginning of a run. */
struct memory {
    ss_time since;     /* start of the run of control that the other fields belong to */
    double carried[2]; /* nanoseconds owed to each state, indexed by enum ss_state */
    double round;      /* length of this round, nanoseconds */
    uint64_t random;   /* state of the random number generator */
    bool stop_is_next;
};

static const struct ss_option options[] = {
    SS_OPTION("tau", TIME, tau, .initial = "107ms", .scales = 1, .min = "1ms", .max = "1h",
        .help = "the mean length of a round, one run and one stop; refused if stopping and "
                "continuing alone would take more than a quarter of the CPU time"),
    LIMITS_OPTION_MIN,
    PHASE_OPTION,
    SS_OPTION("jitter", LOAD, jitter, .initial = "0", .max = "0.9",
        .help =
            "random change of the length of each round, as a fraction of tau; each executor draws "
            "its own, so that their phases become independent"),
    SS_OPTION_END,
};

static int prepare(struct ss_self *self, struct ss_error *error) {
    const struct config *config = self->config;
    if (limits_check_round(self, "tau", config->tau, 2, error) < 0 ||
        limits_check_state("min", config->min, error) < 0)
        return -1;
    /* Otherwise both halves of a round could be too short, and rounds would be merged. */
    if (config->min <= config->tau / 2)
        return phase_prepare(self, config->phase, error);
    return ss_error_fail(error,
        "min=%gms is more than half of tau=%gms, so no state would be long enough: use a smaller "
        "min",
        (double)config->min / 1e6, (double)config->tau / 1e6);
}

static double draw_round(struct memory *memory, const struct config *config) {
    double tau = (double)config->tau;
    if (config->jitter <= 0)
        return tau;
    return tau * (1 + config->jitter * (2 * ss_random_next(&memory->random) - 1));
}

/*
 * Plans the next half of a round. Returns false if that half is too short; its time is then carried
 * over.
 */
static bool plan_half(struct memory *memory, const struct config *config, double duty,
    struct ss_planned_state *plan) {
    enum ss_state state = memory->stop_is_next ? SS_STATE_STOPPED : SS_STATE_RUNNING;
    double share = state == SS_STATE_RUNNING ? duty : 1 - duty;
    double *carried = &memory->carried[state];

    if (state == SS_STATE_RUNNING)
        memory->round = draw_round(memory, config);
    *carried += share * memory->round;
    memory->stop_is_next = !memory->stop_is_next;

    /* Rounds to the nearest nanosecond, and carries the remainder as well. */
    ss_time length = ss_time_from_double(*carried + 0.5);
    if (length < config->min)
        return false;

    *carried -= (double)length;
    *plan = (struct ss_planned_state){.state = state, .length = length};
    return true;
}

/*
 * Runs for D_n tau, then stops for (1 - D_n+1) tau: each half is planned with the duty at its
 * beginning. A half that is skipped takes no time, so the half after it begins now and has the same
 * duty.
 */
static void next(const struct ss_self *self, const struct ss_dithering_input *input,
    struct ss_planned_state *plan) {
    const struct config *config = self->config;
    struct memory *memory = self->own;
    if (memory->since != input->moment.since)
        *memory = (struct memory){.since = input->moment.since, .random = phase_random_seed(self)};
    while (!plan_half(memory, config, input->duty, plan)) {
    }
}

static ss_time round_length(const struct ss_self *self) {
    const struct config *config = self->config;
    return config->tau;
}

static ss_time phase(const struct ss_self *self) {
    return phase_offset(self, round_length(self));
}

SS_MODULE_EXPORT const struct ss_dithering_module showstopper_module = {
    .head =
        {
            SS_MODULE_HEAD(dithering, DITHERING),
            .name = "averageq",
            .summary = "rounds of one run and one stop, of equal length on average",
            .options = options,
            .config_size = sizeof(struct config),
            .executor_memory = sizeof(struct memory),
            .prepare = prepare,
            .release = phase_release,
        },
    .next = next,
    .round_length = round_length,
    .phase = phase,
    .settling = 1.5, /* each half is planned whole; with less, the load swings around the target */
};
