/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include <showstopper/control.h>

/*
 * Holds the load of a service by the rate of its requests. Each request costs CPU time, so the
 * target needs the rate
 *
 *     r = (T P - b + E / H) / c
 *
 * with the target T, P CPUs, the CPUs b that the service uses without requests, and the cost c of a
 * request: the CPU time beyond b per ended request in the recent past. The account E holds what the
 * target has granted minus what has been used, and is made up within H.
 *
 * H is long, because random arrivals make the CPU time noisy. A control that made up for each
 * difference at once would make arrivals follow this noise: the load would be more even than that
 * of any real service at this rate, and its response times wrong.
 *
 * Before control, the core sends no request, then one at a time, then none again. b is what the
 * service uses in the first silence. The second one reveals whether the service keeps working after
 * it answers, or its CPU time is reported late: CPU time is then paired with answers that are
 * earlier by the mean delay.
 */

/* A target that changes by more than this at once begins a new account. */
#define STEP 0.02

/* Bound of E to either side, in seconds of the target's CPU time. */
#define OWED_MAX 0.5

/* c is measured over this many past requests, but at least MEMORY_MIN and at most MEMORY_MAX s. */
#define MEMORY_REQUESTS 200
#define MEMORY_MIN      0.9
#define MEMORY_MAX      5

/* After this many seconds without a request, CPU time is background and does not change c. */
#define IDLE_MAX 2

/* b counts as at most this fraction of the target: the first silence may have been unusual. */
#define BACKGROUND_MAX 0.9

struct config {
    ss_time horizon;
};

/* Number of latest readings whose count of ended requests is kept; limits `late`. */
#define INTERVALS 16

/* Ignore a smaller delay of the CPU time, in seconds: a service works until it answers. */
#define DELAY_MIN 0.05

/* Measurements before control. All times are seconds. */
struct calibration {
    double silence, background; /* length of the first silence, and CPU time used in it */
    double elapsed;             /* since the first silence ended */
    double used_by_time;        /* sum of CPU time times `elapsed` */
    double requests_by_time;    /* sum of ended requests times `elapsed` */
};

struct memory {
    bool started;
    ss_time time; /* of the last reading */
    uint64_t series;
    double used;               /* as of the last reading, seconds of CPU time */
    uint64_t ended[INTERVALS]; /* number of requests that had ended at the latest readings */
    uint64_t readings;
    struct calibration calibration;
    bool controlled;   /* requests are sent at a rate */
    uint32_t late;     /* delay of the CPU time, in readings */
    double background; /* b */
    double rate;       /* decided last; 0 until a request has ended */
    double target;     /* at the last reading */
    double owed;       /* E, seconds of CPU time */
    double cpu_time;   /* CPU time above the background in the recent past, seconds */
    double requests;   /* that ended in the recent past */
    double idle;       /* seconds since a request was sent or ended */
};

static const struct ss_option options[] = {
    SS_OPTION("horizon", TIME, horizon, .initial = "10s", .min = "1s", .max = "1h",
        .help = "the time within which a difference from the target is made up"),
    SS_OPTION_END,
};

static double clamp(double value, double min, double max) {
    return fmin(fmax(value, min), max);
}

/* One interval between two readings. */
struct interval {
    double seconds;
    double used;     /* seconds of CPU time */
    double requests; /* that ended */
};

static uint64_t ended_before(const struct memory *memory, uint32_t ago) {
    uint64_t last = memory->readings - 1;
    return memory->ended[(ago > last ? 0 : last - ago) % INTERVALS];
}

static void keep_reading(
    struct memory *memory, const struct ss_control_input *input, ss_time time) {
    memory->started = true;
    memory->time = time;
    memory->series = input->account.series;
    memory->used = input->account.used / 1e9;
    memory->ended[memory->readings++ % INTERVALS] = input->ended;
}

/* Sets the interval since the last reading. Returns false if that cannot be compared. */
static bool take_interval(const struct ss_self *self, const struct ss_control_input *input,
    double cpus, struct interval *interval) {
    const struct ss_account *account = &input->account;
    struct memory *memory = self->own;
    bool counted = account->capacity > 0; /* the feedback keeps an account */
    ss_time time = counted ? account->time : input->moment.now;
    bool known = memory->started && memory->series == account->series;
    double used = account->used / 1e9 - memory->used;

    interval->seconds = ss_time_seconds(ss_time_since(time, memory->time));
    keep_reading(memory, input, time);
    if (!known)
        return false;
    interval->used = counted ? used : input->load * cpus * interval->seconds;
    interval->requests =
        (double)(ended_before(memory, memory->late) - ended_before(memory, memory->late + 1));
    return true;
}

/* Measures the cost of a request, and how late its CPU time is reported, before control. */
static void measure_requests(struct memory *memory, const struct interval *interval) {
    struct calibration *found = &memory->calibration;
    double used = interval->used - memory->background * interval->seconds;
    double requests = (double)(ended_before(memory, 0) - ended_before(memory, 1));

    found->elapsed += interval->seconds;
    found->used_by_time += used * found->elapsed;
    found->requests_by_time += requests * found->elapsed;
    memory->cpu_time += used;
    memory->requests += requests;
    double late =
        found->used_by_time / memory->cpu_time - found->requests_by_time / memory->requests;
    memory->late = 0;
    if (memory->cpu_time > 0 && memory->requests > 0 && late > DELAY_MIN)
        memory->late = (uint32_t)fmin(late / interval->seconds + 0.5, INTERVALS - 2);
}

/* Updates the cost of a request by an interval at this rate. */
static void measure_cost(struct memory *memory, const struct interval *interval, double rate) {
    double length = MEMORY_MAX;
    bool active = rate > 0 || interval->requests > 0;
    memory->idle = active ? 0 : memory->idle + interval->seconds;
    if (memory->idle > IDLE_MAX)
        return;
    if (rate > 0)
        length = clamp(MEMORY_REQUESTS / rate, MEMORY_MIN, MEMORY_MAX);
    double kept = exp(-interval->seconds / length);
    double used = interval->used - memory->background * interval->seconds;
    memory->cpu_time = kept * memory->cpu_time + used;
    memory->requests = kept * memory->requests + interval->requests;
}

static void keep_account(
    struct memory *memory, double target, double cpus, const struct interval *interval) {
    double bound = OWED_MAX * target * cpus;
    double granted = memory->target * cpus * interval->seconds;
    memory->owed = clamp(memory->owed + granted - interval->used, -bound, bound);
    if (!memory->controlled || fabs(target - memory->target) > STEP)
        memory->owed = 0;
    memory->target = target;
}

/* Measures b in the first silence. */
static void measure_background(struct memory *memory, const struct interval *interval) {
    struct calibration *found = &memory->calibration;
    found->background += interval->used;
    found->silence += interval->seconds;
    memory->background = found->background / found->silence;
}

static double update(const struct ss_self *self, const struct ss_control_input *input) {
    const struct config *config = self->config;
    struct memory *memory = self->own;
    double cpus = input->account.capacity > 0 ? input->account.capacity : self->cpus;
    struct interval interval;
    if (!take_interval(self, input, cpus, &interval))
        return memory->rate;
    if (isnan(input->previous)) {
        measure_background(memory, &interval);
        return 0;
    }

    memory->controlled = memory->controlled || input->previous > 0;
    if (memory->controlled)
        measure_cost(memory, &interval, input->previous);
    else
        measure_requests(memory, &interval);
    keep_account(memory, input->target, cpus, &interval);
    if (!(memory->requests > 0 && memory->cpu_time > 0))
        return memory->rate;

    double cost = memory->cpu_time / memory->requests, granted = input->target * cpus;
    double background = fmin(memory->background, BACKGROUND_MAX * granted);
    double wanted = granted - background + memory->owed / ss_time_seconds(config->horizon);
    memory->rate = fmax(wanted, 0) / cost;
    return memory->rate;
}

SS_MODULE_EXPORT const struct ss_control_module showstopper_module = {
    .head =
        {
            SS_MODULE_HEAD(control, CONTROL),
            .name = "served",
            .summary = "the rate of requests that a service needs for a load",
            .options = options,
            .config_size = sizeof(struct config),
            .executor_memory = sizeof(struct memory),
        },
    .output = SS_OUTPUT_RATE,
    .keeps_account = true,
    .update = update,
};
