/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include <showstopper/dithering.h>
#include <showstopper/shared.h>

#include "limits.h"

/*
 * Lengths in nanoseconds for a window of SS_WINDOW_DEFAULT. All but SLOT_SHORT and SLOT_MIN scale
 * with the window, so that the number of rounds in a window stays the same. TAU is the published
 * quantum. If many instances share few CPUs, rounds are longer: two executors that share a CPU then
 * begin SLOT apart, which costs less and makes the tick count more accurately. TAU_LONG limits the
 * length, because a change of the target has to wait for a round, unless the executors would then
 * begin less than SLOT_SHORT apart.
 *
 * Rounds are also longer, up to TAU_LONG, if stopping and continuing instances of many processes
 * takes more than COST_FRACTION of one CPU.
 */
#define TAU           107e6
#define TAU_LONG      285e6
#define SLOT          26.75e6
#define SLOT_SHORT    8.9e6
#define SLOT_MIN      2.2e6 /* minimum distance between two executors, for any number of CPUs */
#define COST_FRACTION 0.03
#define COST_SMALL    0.5e6 /* an instance that takes less has few processes, and does not count */

/*
 * Number of rounds in which all beginnings move back and forth once: ten plus the fractional part
 * of the golden ratio.
 */
#define WANDER_PERIOD 10.618033988749895

/*
 * A workload that uses more CPUs in one round than in the next gets too much or too little time,
 * and control needs about a round to compensate. Rounds are halved if the load would be uneven by
 * more than UNEVENNESS_MAX, as a mean square relative to the window, and doubled if it would stay
 * clearly below UNEVENNESS_MAX: see showstopper-method(7), "Constants of control".
 */
#define UNEVENNESS_MAX      7e-5
#define UNEVENNESS_FACTOR   16.0 /* fitted to simulations */
#define DOUBLING_FACTOR     5.0  /* factor by which unevenness grows if rounds are doubled */
#define COMPENSATION_ROUNDS 0.6  /* rounds after which control has compensated for a difference */
#define MEMORY              2e9  /* ns over which changes of the duty are averaged */
#define STEP                0.02 /* of the CPUs; a larger change of the target is learned anew */
#define LEARNING_WINDOWS    2    /* windows that learning takes */
#define HALVINGS_MAX        8

/* Minimum length of a halved round, in units of the resolution of the used CPU time. */
#define GRAINS_MIN 10

/*
 * Number of rounds in a block. Errors of readings, which the next round compensates for, mostly
 * cancel within a block.
 */
#define BLOCK_ROUNDS 4

struct config {
    ss_time tau; /* 0: derived from the machine */
    ss_time min;
    double jitter;
    ss_time unsteady;
};

/* The memory that all executors share. */
struct run {
    /* Mean squares of relative changes of the duty, both normalized to one round. */
    _Atomic uint64_t change;       /* from round to round */
    _Atomic uint64_t block_change; /* from block to block */
    _Atomic uint64_t cost;         /* mean CPU time to stop and continue an instance, nanoseconds */
    _Atomic int32_t halvings; /* how often the length of rounds has been halved; < 0: doubled */
};

/* The memory of an executor, zeroed at the beginning of a run. */
struct memory {
    ss_time since;         /* start of the run of control that the other fields belong to */
    uint64_t round;        /* number of the present round, counted from 1; 0 if none yet */
    ss_time end;           /* end of its running part; SS_TIME_NEVER: the whole round runs */
    double carried;        /* nanoseconds of running still owed */
    int64_t turns;         /* see count_turns() */
    int32_t halvings;      /* `halvings` for the present round */
    double target;         /* target in the previous round */
    double relative_duty;  /* duty of the previous round relative to its target; 0 if unknown */
    double block;          /* sum of these relative duties in the present block */
    uint32_t in_block;     /* number of rounds in `block` */
    double previous_block; /* `block` of the previous block; 0 if unknown */
    ss_time watch_from;    /* when to start observing: a while after control began or the target
                              stepped */
};

static const struct ss_option options[] = {
    SS_OPTION("tau", TIME, tau, .initial = "0", .max = "1h",
        .help = "the mean length of a round, one run and one stop; 0: 107ms for a window of 500ms, "
                "in proportion for others, and longer if many instances share few CPUs or have "
                "many processes; refused if stopping and continuing alone would take more than a "
                "quarter of the CPU time"),
    LIMITS_OPTION_MIN,
    SS_OPTION("jitter", NUMBER, jitter, .initial = "0.1", .max = "0.5",
        .help =
            "how far rounds are shifted, as a fraction of tau (of 107ms if that is shorter), so "
            "that rounds do not stay in step with the kernel's tick; 0 keeps tau exact"),
    SS_OPTION("unsteady", TIME, unsteady, .initial = "26ms", .max = "1h",
        .help = "with tau=0, halve rounds, down to this length, while the workload's use of CPUs "
                "changes so much from round to round that the load would be uneven; 0: never"),
    SS_OPTION_END,
};

struct pace {
    double tau;       /* nanoseconds */
    double amplitude; /* amplitude of the back and forth, nanoseconds */
};

static double compute_tau(double instances, double sharing, double scale) {
    double shortest = fmax(sharing * SLOT_SHORT, instances * SLOT_MIN);
    return fmax(scale * fmax(TAU, fmin(sharing * SLOT, TAU_LONG)), shortest);
}

static int32_t halvings_of(const struct ss_self *self) {
    struct run *run = self->run;
    return run ? atomic_load_explicit(&run->halvings, memory_order_relaxed) : 0;
}

/*
 * Chooses the length and the movement of rounds. An amplitude of a few milliseconds suffices
 * against the tick, so it does not grow for rounds longer than TAU.
 */
static struct pace choose_pace(const struct ss_self *self, uint32_t instances, int32_t halvings) {
    const struct config *config = self->config;
    double tau = (double)config->tau;
    if (config->tau == 0) {
        double scale = ss_self_window_scale(self);
        double usual = compute_tau(instances, (double)instances / self->cpus, scale);
        double half = ldexp(usual, -halvings);
        tau = halvings < 0 ? fmax(usual, fmin(half, scale * TAU_LONG)) : half;
    }
    return (struct pace){tau, config->jitter * fmin(tau, TAU)};
}

static double shortest_round(const struct pace *pace) {
    return pace->tau - 4 * pace->amplitude / WANDER_PERIOD;
}

static int check_lengths(struct ss_self *self, struct ss_error *error) {
    const struct config *config = self->config;

    if ((config->tau > 0 && limits_check_round(self, "tau", config->tau, 2, error) < 0) ||
        limits_check_state("min", config->min, error) < 0)
        return -1;

    /* Other instances may end, and rounds are shortest if a single one is left. */
    struct pace pace = choose_pace(self, 1, 0);
    if ((double)config->min <= shortest_round(&pace) / 2)
        return 0;

    return ss_error_fail(error,
        "min=%gms is more than half of the shortest round of tau=%gms, so no state would be long "
        "enough: use a smaller min",
        (double)config->min / 1e6, pace.tau / 1e6);
}

/*
 * Returns a triangle wave between -1 and 1 with the period WANDER_PERIOD. The executor has slept
 * before this decision, and its caches are cold: here and below, simple arithmetic saves
 * microseconds.
 */
static double wander(double at) {
    double turns = at / WANDER_PERIOD;
    double part = turns - (double)(int64_t)turns;
    return 4 * fabs(fabs(part) - 0.5) - 1;
}

/*
 * Returns when round `round` begins, relative to the beginning of the run of control: executor i of
 * n begins i/n of a round after the first. All beginnings move back and forth together, with a
 * period that is not commensurate with the round, so that neighbors keep their distance and no
 * beginning stays in step with the tick.
 */
static double begin_of(const struct pace *pace, const struct ss_place *place, int64_t round) {
    double at = (double)round + (double)place->rank / place->count;
    return at * pace->tau + pace->amplitude * wander(at);
}

/*
 * Returns the round at the time `at`. Being early by up to a millionth of a round plus a nanosecond
 * counts as on time.
 */
static int64_t round_at(const struct pace *pace, const struct ss_place *place, double at) {
    int64_t round = (int64_t)(at / pace->tau) - 2;
    while (begin_of(pace, place, round + 1) <= at + 1e-6 * pace->tau + 1)
        round++;
    return round;
}

/*
 * Returns n if the shorter state occurs in every n-th round. A state that is too short to be
 * enforced in every round occurs in every second or third one and is longer. The executors take
 * turns: if each waited until enough time was owed, all would switch at once, for a duty that was
 * requested long ago.
 */
static int64_t count_turns(
    const struct config *config, const struct pace *pace, double part, int64_t before) {
    /* In the shortest rounds, plus a margin for rounding. */
    double turns = (double)config->min / fmax(part * shortest_round(pace), 1) + 1e-6;
    int64_t needed = turns <= 1 ? 1 : (int64_t)turns + 1;
    /*
     * Hysteresis: otherwise every small change would make some executors switch while others do
     * not.
     */
    bool enough = before >= needed && (double)(before - 1) < 1.3 * turns;
    return enough ? before : needed;
}

/*
 * Returns how long to run in a round of length `all`, including the time owed from earlier rounds.
 */
static double plan_run(struct memory *memory, const struct config *config, const struct pace *pace,
    const struct ss_dithering_input *input, int64_t round, double all) {
    bool low = input->duty <= 0.5;
    /* `part`, `due` and `length` belong to the shorter state. */
    double part = low ? input->duty : 1 - input->duty;
    int64_t turns = memory->turns = count_turns(config, pace, part, memory->turns);
    double due = part * (turns == 1 ? all : (double)turns * pace->tau);

    if ((round + input->place.rank) % turns != 0)
        return low ? 0 : all;

    double length =
        fmin(due + (low ? memory->carried : -memory->carried), all - (double)config->min);
    if (length < (double)config->min)
        length = 0;
    memory->carried += low ? due - length : length - due;
    memory->carried = fmin(fmax(memory->carried, -all), all);

    return low ? length : all - length;
}

/*
 * Returns the end of the running part. A round that does not run, or runs all the time, gets no
 * computed end. Otherwise a beginning plus a length could differ from the next beginning in the
 * last bit, depending on whether the compiler fuses multiplications and additions, and leave a
 * state of a nanosecond.
 */
static ss_time end_of_run(ss_time since, double begin, double run, double all) {
    if (run <= 0)
        return since;
    return run >= all ? SS_TIME_NEVER : since + ss_time_from_double(begin + run + 0.5);
}

/*
 * Numbers rounds from 1: the first round may have begun before control did, and 0 means no round.
 */
static uint64_t number_of(int64_t round) {
    return (uint64_t)(round + 3);
}

/* Returns the fraction of one CPU that all executors together need for rounds of this length. */
static double compute_cost(
    const struct ss_self *self, const struct ss_dithering_input *input, double tau) {
    struct run *run = self->run;
    return input->place.count * ss_double_from_word(atomic_load(&run->cost)) / tau;
}

/*
 * Returns whether rounds may be half as long as in `pace`. With a quota they may not: in rounds no
 * longer than its period, throttling would decide how much CPU time is used. In rounds of only a
 * few steps of the counters, the error of one round would decide the next. If other instances end
 * and a single one is left, its rounds must still have room for two states of `min`.
 */
static bool may_halve(
    const struct ss_self *self, const struct ss_dithering_input *input, const struct pace *pace) {
    const struct config *config = self->config;
    const struct memory *memory = self->own;
    struct pace alone = choose_pace(self, 1, memory->halvings + 1);
    uint32_t instances = input->place.count;
    double min = fmax((double)instances / self->cpus * SLOT_SHORT, instances * SLOT_MIN);
    min = fmax(min, GRAINS_MIN * (double)input->grain);
    return input->quota_period == 0 && compute_cost(self, input, pace->tau / 2) <= COST_FRACTION &&
           pace->tau / 2 >= fmax(min, (double)config->unsteady) &&
           (double)config->min <= shortest_round(&alone) / 2;
}

/*
 * Returns how uneven the load would be, as a mean square. The formula matches simulations and
 * measurements with 1 to 12 instances of programs that change within a factor of two. The closer
 * the target to a full machine, the less the used time depends on the duty.
 */
static double compute_unevenness(
    const struct ss_self *self, const struct ss_dithering_input *input, double tau, double change) {
    double made_up = COMPENSATION_ROUNDS * tau / (double)self->window * input->target;
    return UNEVENNESS_FACTOR * (1 - input->target) / input->place.count * made_up * made_up *
           change;
}

/*
 * Moves a shared mean toward a new value. Executors do so one after another; if two of them write
 * at the same moment, only one round's share is lost.
 */
static double update_mean(_Atomic uint64_t *mean, double square, double part) {
    double change = ss_double_from_word(atomic_load(mean));
    change += fmin(part, 1) * (square - change);
    atomic_store(mean, ss_word_from_double(change));
    return change;
}

static double square_of_change(double now, double before) {
    double change = 2 * (now - before) / (now + before);
    return change * change / 2;
}

/*
 * Returns how much the workload changes. A wrong reading changes the duties of two rounds in
 * opposite directions, so little of it remains in the sum of a block. A workload that changes in
 * every round changes rounds and blocks alike, and one that changes rarely changes blocks more than
 * rounds. So the smaller of the two comes from the workload. `part` is the weight of a round.
 */
static double update_change(struct run *run, struct memory *memory, double relative, double part) {
    double change =
        update_mean(&run->change, square_of_change(relative, memory->relative_duty), part);
    memory->block += relative;
    if (++memory->in_block == BLOCK_ROUNDS) {
        if (memory->previous_block > 0)
            update_mean(&run->block_change,
                BLOCK_ROUNDS * square_of_change(memory->block, memory->previous_block),
                BLOCK_ROUNDS * part);
        memory->previous_block = memory->block;
        memory->block = memory->in_block = 0;
    }
    return fmin(change, ss_double_from_word(atomic_load(&run->block_change)));
}

static void forget_duties(struct memory *memory) {
    memory->relative_duty = memory->block = memory->previous_block = memory->in_block = 0;
}

/* Makes rounds longer if stopping and continuing the instances costs too much, or shorter again. */
static void limit_cost(
    const struct ss_self *self, const struct ss_dithering_input *input, const struct pace *pace) {
    const struct config *config = self->config;
    int32_t halvings = ((const struct memory *)self->own)->halvings;
    uint32_t count = input->place.count;
    struct run *run = self->run;

    if (config->tau > 0)
        return;

    double cost = (double)input->cost;
    update_mean(&run->cost, cost > COST_SMALL ? cost : 0, 1.0 / count);
    if (halvings_of(self) != halvings)
        return;

    if (compute_cost(self, input, pace->tau) > COST_FRACTION &&
        choose_pace(self, count, halvings - 1).tau > pace->tau)
        atomic_store(&run->halvings, halvings - 1);
    else if (halvings < 0 && compute_cost(self, input, choose_pace(self, count, halvings + 1).tau) <
                                 COST_FRACTION / 2)
        atomic_store(&run->halvings, halvings + 1);
}

static void watch_duty(
    const struct ss_self *self, const struct ss_dithering_input *input, const struct pace *pace) {
    const struct config *config = self->config;
    struct memory *memory = self->own;

    if (config->tau > 0 || config->unsteady == 0 || !(input->target > 0))
        return;

    if (fabs(input->target - memory->target) > STEP)
        memory->watch_from = input->moment.now + LEARNING_WINDOWS * self->window;
    memory->target = input->target;
    double relative = input->duty / input->target;
    if (input->moment.now < memory->watch_from || relative == 0) {
        forget_duties(memory);
        return;
    }
    if (memory->relative_duty == 0) {
        memory->relative_duty = relative;
        return;
    }

    double change =
        update_change(self->run, memory, relative, pace->tau / (input->place.count * MEMORY));
    memory->relative_duty = relative;
    double uneven = compute_unevenness(self, input, pace->tau, change);
    if (halvings_of(self) != memory->halvings)
        return;

    struct run *run = self->run;
    if (uneven > UNEVENNESS_MAX && memory->halvings < HALVINGS_MAX && may_halve(self, input, pace))
        atomic_store(&run->halvings, memory->halvings + 1);
    else if (memory->halvings > 0 && DOUBLING_FACTOR * uneven < UNEVENNESS_MAX / 2)
        atomic_store(&run->halvings, memory->halvings - 1);
}

/*
 * Adopts the length of rounds that another executor has found, at the end of this executor's round.
 * That may be in the middle of a round of the new length; the executor then runs its part of the
 * remaining time.
 */
static bool adopt_halvings(const struct ss_self *self, struct memory *memory) {
    int32_t halvings = halvings_of(self);
    bool changed = memory->halvings != halvings;
    memory->halvings = halvings;
    if (changed)
        forget_duties(memory);
    return changed;
}

/* Plans a round of one run and one stop, the run first. */
static void next(const struct ss_self *self, const struct ss_dithering_input *input,
    struct ss_planned_state *plan) {
    const struct config *config = self->config;
    struct memory *memory = self->own;
    ss_time since = input->moment.since;

    if (memory->since != since)
        *memory = (struct memory){.since = since, .halvings = halvings_of(self)};
    struct pace pace = choose_pace(self, input->place.count, memory->halvings);
    double at = (double)ss_time_since(input->moment.now, since);
    int64_t round = round_at(&pace, &input->place, at);
    double begin = begin_of(&pace, &input->place, round);
    double end = begin_of(&pace, &input->place, round + 1);
    if (memory->round != number_of(round)) {
        limit_cost(self, input, &pace);
        watch_duty(self, input, &pace);
        if (adopt_halvings(self, memory)) {
            pace = choose_pace(self, input->place.count, memory->halvings);
            round = round_at(&pace, &input->place, at);
            begin = at;
            end = begin_of(&pace, &input->place, round + 1);
        }
        memory->round = number_of(round);
        double run = plan_run(memory, config, &pace, input, round, end - begin);
        memory->end = end_of_run(since, begin, run, end - begin);
    }

    ss_time stop = since + ss_time_from_double(end + 0.5);
    bool runs = memory->end > input->moment.now;
    *plan = (struct ss_planned_state){
        .state = runs ? SS_STATE_RUNNING : SS_STATE_STOPPED,
        .length = (runs && memory->end < stop ? memory->end : stop) - input->moment.now,
    };
}

/* Returns true within a round, because its running part is decided at its beginning. */
static bool is_planned(const struct ss_self *self, const struct ss_dithering_input *input) {
    const struct memory *memory = self->own;
    struct pace pace = choose_pace(self, input->place.count, memory->halvings);
    double at = (double)ss_time_since(input->moment.now, input->moment.since);
    return memory->since == input->moment.since &&
           memory->round == number_of(round_at(&pace, &input->place, at));
}

static ss_time round_length(const struct ss_self *self) {
    return ss_time_from_double(choose_pace(self, self->instances, halvings_of(self)).tau);
}

static void describe(
    const struct ss_self *self, const struct ss_rhythm *rhythm, char *buffer, size_t size) {
    const struct config *config = self->config;
    char window[48] = "";
    if (self->window != SS_WINDOW_DEFAULT)
        snprintf(window, sizeof window, " and a window of %g ms", (double)self->window / 1e6);
    if (config->tau == 0)
        snprintf(buffer, size, "tau is %g ms, for %u instance%s on %u CPU%s%s",
            (double)rhythm->round / 1e6, self->instances, self->instances == 1 ? "" : "s",
            self->cpus, self->cpus == 1 ? "" : "s", window);
}

SS_MODULE_EXPORT const struct ss_dithering_module showstopper_module = {
    .head =
        {
            SS_MODULE_HEAD(dithering, DITHERING),
            .name = "stagger",
            .summary = "rounds of one run and one stop, begun at different times",
            .options = options,
            .config_size = sizeof(struct config),
            .run_memory = sizeof(struct run),
            .executor_memory = sizeof(struct memory),
            .prepare = check_lengths,
            .describe = describe,
        },
    .next = next,
    .round_length = round_length,
    .is_planned = is_planned,
};
