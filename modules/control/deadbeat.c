/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include <showstopper/control.h>
#include <showstopper/shared.h>

/*
 * Keeps an account of CPU time: what the target has granted since control began, minus what has
 * been used. The balance is paid back within a short horizon, in addition to the CPU time that the
 * target needs according to a model:
 *
 *     D = (L* P - b + E / H) / (N g)
 *
 * g is the number of CPUs that an instance uses while it may run, b the number used regardless of
 * the duty. Both are fitted during the run, by least squares over the recent past.
 */

/* A target that changes by more than this at once begins a new account. */
#define STEP 0.02

/* If more than this fraction of the CPUs is used, all of them count as busy. */
#define FULL_FRACTION 0.95

/*
 * The model learns only from intervals of at least this length, in nanoseconds, because run time
 * advances in ticks, and of a quarter of a round: in less, all CPUs may have been busy by chance.
 */
#define LEARN_INTERVAL 8e6

/* Factor by which the bound of the balance is larger while the target is within reach. */
#define DEBT_FACTOR 4

/*
 * Fraction of a quota's allowance per period that is added to the bound of the balance. A group may
 * use all of its allowance at once and then has to wait; a tighter bound would forget that excess.
 */
#define QUOTA_FRACTION 0.25

/* Throttling that lasts for this many periods of a quota counts as behavior of the workload. */
#define QUOTA_PERIODS 6

struct config {
    ss_time horizon; /* 0: the time in which a changed duty has its effect */
    ss_time memory;
};

/* Counters at the time of a reading. */
struct mark {
    ss_time time;
    double used;        /* CPU time, nanoseconds */
    uint64_t given;     /* permitted run time, see struct ss_permission */
    uint64_t throttled; /* nanoseconds */
};

struct model {
    struct mark last; /* the latest reading, to which all fields refer */
    struct mark fit;  /* the reading of the latest fit */
    uint64_t series;  /* see struct ss_account */
    double owed;      /* E, nanoseconds of CPU time */
    double target;    /* target at the latest reading */
    double capacity;  /* CPUs that made a load of 1 at that reading */
    double gain;      /* g: CPUs that an instance uses while it may run */
    double base;      /* b: CPUs used regardless of the duty */
    /* Means over the past of x (instances running), y (CPUs used) and their products. */
    double weight; /* nanoseconds */
    double x, y, xx, xy;
};

/* The model is published as is, word by word. */
#define MODEL_WORDS (sizeof(struct model) / sizeof(uint64_t))

_Static_assert(sizeof(double) == sizeof(uint64_t), "every member is a word");
_Static_assert(MODEL_WORDS <= SS_NOTICE_WORDS, "the model must fit in a notice");

struct run {
    struct ss_notice notice;
};

static const struct ss_option options[] = {
    SS_OPTION("horizon", TIME, horizon, .initial = "0", .max = "1h",
        .help = "the time within which a difference from the target is made up; 0: 0.6 rounds of "
                "dithering, or 1.5 with averageq"),
    SS_OPTION("memory", TIME, memory, .initial = "500ms", .min = "1ms",
        .help = "how much of the past the model of the workload covers"),
    SS_OPTION_END,
};

static double clamp(double value, double min, double max) {
    return fmin(fmax(value, min), max);
}

/* Adds an interval in which x instances ran on average and used y CPUs. */
static void add_interval(struct model *model, double x, double y, double elapsed, double memory) {
    double kept = model->weight * memory / (memory + elapsed);
    double share = elapsed / (kept + elapsed);
    model->weight = kept + elapsed;
    model->x += share * (x - model->x);
    model->y += share * (y - model->y);
    model->xx += share * (x * x - model->xx);
    model->xy += share * (x * y - model->xy);
}

/*
 * Fits the model by least squares, with a weak pull toward the previous result. While the same
 * number of instances runs all the time, only g x + b is known; the pull attributes a change to g
 * rather than b.
 */
static void fit(struct model *model, const struct ss_account *account) {
    const double pull_base = 0.03, pull_gain = 0.001, min = 0.02;
    double xx = model->xx + pull_gain * fmax(model->xx, 0.01);
    double xy = model->xy + pull_gain * fmax(model->xx, 0.01) * model->gain;
    double one = 1 + pull_base, y = model->y + pull_base * model->base;
    double determinant = xx * one - model->x * model->x;
    double base = (y * xx - xy * model->x) / determinant;
    model->base = clamp(base, 0, account->capacity);
    model->gain = clamp((xy - model->base * model->x) / xx, min, account->cpus);
}

/*
 * Returns whether a quota held the workload back for a part of an interval: then the used time says
 * little about what the workload uses while it may run. Over many periods it is representative,
 * because the quota holds the workload back in each of them: a group with 5 ms in each 10 ms uses
 * half a CPU.
 */
static bool is_throttled(
    const struct model *model, const struct mark *mark, const struct ss_account *account) {
    return mark->throttled != model->fit.throttled &&
           mark->time - model->fit.time < QUOTA_PERIODS * account->period;
}

/* Fits the model to the interval since the last fit, unless the CPUs were saturated. */
static void learn(
    struct model *model, const struct mark *mark, const struct ss_account *account, double memory) {
    double elapsed = (double)(mark->time - model->fit.time);
    double x = ss_permission_between(model->fit.given, mark->given) / elapsed;
    double y = (mark->used - model->fit.used) / elapsed;
    bool throttled = is_throttled(model, mark, account);
    bool full = y > FULL_FRACTION * account->cpus || throttled;

    model->fit = *mark;
    /*
     * All CPUs were busy, so more running instances would not have used more: the interval says
     * nothing about g.
     */
    if (full && model->base + model->gain * x > y)
        return;

    add_interval(model, x, y, elapsed, memory);
    fit(model, account);
}

struct limits {
    double owed;    /* bound of the balance on either side, nanoseconds of CPU time */
    double horizon; /* nanoseconds */
};

/* Returns the duty that the target requires; beyond [0, 1] the target is out of reach. */
static double compute_duty(const struct model *model, const struct ss_control_input *input,
    const struct limits *limits, double owed) {
    double wanted = input->target * input->account.capacity - model->base + owed / limits->horizon;
    return wanted / (input->place.count * model->gain);
}

/*
 * Bounds the debt, more tightly while the target is out of reach: otherwise a burst would pay all
 * of it back as soon as the target is within reach again.
 */
static double bound_debt(const struct model *model, const struct ss_control_input *input,
    const struct limits *limits, double owed) {
    double duty = compute_duty(model, input, limits, owed);
    double max = duty > 1 ? limits->owed : DEBT_FACTOR * limits->owed;
    double min = duty < 0 ? -limits->owed : -DEBT_FACTOR * limits->owed;
    return clamp(owed, min, max);
}

static void account_for(struct model *model, const struct ss_control_input *input,
    const struct mark *mark, const struct limits *limits) {
    double elapsed = (double)(mark->time - model->last.time);
    bool step = fabs(input->target - model->target) > STEP;
    double wanted = step ? model->target : (input->target + model->target) / 2;
    /* model->capacity, not the account's: a new limit of a group applies to later grants only. */
    model->owed += wanted * model->capacity * elapsed - (mark->used - model->last.used);
    model->owed = step ? 0 : bound_debt(model, input, limits, model->owed);
    model->last = *mark;
    model->target = input->target;
    model->capacity = input->account.capacity;
}

/*
 * Begins a new account. Keeps the model of an earlier run of control, which is a better start than
 * no model.
 */
static void begin(
    struct model *model, const struct ss_control_input *input, const struct mark *mark) {
    *model = (struct model){
        .last = *mark,
        .fit = *mark,
        .series = input->account.series,
        .target = input->target,
        .capacity = input->account.capacity,
        .gain = model->gain > 0 ? model->gain : 1,
        .base = model->base,
    };
}

/*
 * Returns the balance now: the balance at the latest reading plus an estimate for the time since.
 */
static double owed_now(const struct model *model, const struct ss_control_input *input) {
    double elapsed = (double)ss_time_since(input->moment.now, model->last.time);
    double given = ss_permission_between(model->last.given, input->permission.given);
    return model->owed + (input->target * input->account.capacity - model->base) * elapsed -
           model->gain * given;
}

/* Assumed length of a round if the dithering module has none. */
#define ROUND (100 * SS_MILLISECOND)

static double round_or_default(ss_time round) {
    return (double)(round ? round : ROUND);
}

/* Returns the horizon in nanoseconds: see showstopper-method(7), "Constants of control". */
static double compute_horizon(const struct config *config, const struct ss_rhythm *rhythm) {
    return config->horizon ? (double)config->horizon
                           : rhythm->settling * round_or_default(rhythm->round);
}

static double update(const struct ss_self *self, const struct ss_control_input *input) {
    const struct config *config = self->config;
    struct run *run = self->run;
    struct model *model = self->own; /* kept if the published one cannot be read */
    ss_notice_read(&run->notice, model, MODEL_WORDS);

    const struct ss_account *account = &input->account;
    double behind = (double)ss_time_since(input->moment.now, account->time);
    struct mark mark = {
        .time = account->time,
        .used = account->used,
        .throttled = account->throttled,
        .given = input->permission.given - (uint64_t)(behind * input->permission.running),
    };
    double round = round_or_default(input->rhythm.round);
    struct limits limits = {
        .owed = account->capacity * (10e6 + round / (4 * input->place.count) +
                                        QUOTA_FRACTION * (double)account->period),
        .horizon = compute_horizon(config, &input->rhythm),
    };
    if (model->last.time < input->moment.since || model->series != account->series) {
        begin(model, input, &mark);
        ss_notice_publish(&run->notice, model, MODEL_WORDS);
    } else if (mark.time > model->last.time) {
        account_for(model, input, &mark, &limits);
        if ((double)ss_time_since(mark.time, model->fit.time) >= fmax(LEARN_INTERVAL, round / 4))
            learn(model, &mark, account, (double)config->memory);
        ss_notice_publish(&run->notice, model, MODEL_WORDS);
    }
    double owed = bound_debt(model, input, &limits, owed_now(model, input));
    return clamp(compute_duty(model, input, &limits, owed), 0, 1);
}

static void describe(
    const struct ss_self *self, const struct ss_rhythm *rhythm, char *buffer, size_t size) {
    const struct config *config = self->config;
    if (config->horizon == 0)
        snprintf(buffer, size, "horizon is %g ms, %g rounds of %g ms",
            compute_horizon(config, rhythm) / 1e6, rhythm->settling,
            round_or_default(rhythm->round) / 1e6);
}

SS_MODULE_EXPORT const struct ss_control_module showstopper_module = {
    .head =
        {
            SS_MODULE_HEAD(control, CONTROL),
            .name = "deadbeat",
            .summary = "makes up differences in CPU time within a round",
            .options = options,
            .config_size = sizeof(struct config),
            .run_memory = sizeof(struct run),
            .executor_memory = sizeof(struct model),
            .describe = describe,
        },
    .keeps_account = true,
    .update = update,
};
