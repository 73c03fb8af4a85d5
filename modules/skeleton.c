/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A control module to start from. Copy this file to NAME.c, put your own name in the table at its
 * end and your own control law in update(), and build it; the public headers are all it needs:
 *
 *   cc -shared -fPIC $(pkg-config --cflags showstopper) -o NAME.so NAME.c
 *
 * Then use it by its path, which must contain a '/', or put it at DIR/control/NAME.so with DIR in
 * SHOWSTOPPER_MODULE_PATH and use its name:
 *
 *   showstopper --load 60% -c ./NAME.so -C gain=0.5 COMMAND...
 *   SHOWSTOPPER_MODULE_PATH=DIR showstopper --help-module control/NAME
 *
 * The other kinds (trace, feedback, space, dithering) differ only in their table and its functions,
 * which <showstopper/KIND.h> explains.
 *
 * The rules, for every kind:
 * - No static variables. State belongs in the memory whose size the table gives; it begins zeroed,
 *   and each executor has its own.
 * - No clock, no file, no thread: time and counters are arguments. So the same module runs in a
 *   real run, in the simulator sssim (faster than real time, and exact) and in a unit test.
 * - Functions on the timing path neither block nor allocate. Slow work belongs in prepare().
 */

#include <stdbool.h>
#include <stdio.h>

#include <showstopper/control.h>

/* The options. The core fills this in from the rows below; the fields are yours to choose. */
struct config {
    double gain;
    double start;
};

/*
 * One row per option: parsing, range check, help and the manual's table come from it. The first row
 * is the main option, which a user may write without its name: `-C 0.5` means `-C gain=0.5`.
 * Defaults and bounds are texts, as a user would write them.
 */
static const struct ss_option options[] = {
    SS_OPTION("gain", NUMBER, gain, .initial = "1", .min = "0", .max = "100",
        .help = "how fast the duty follows the error, per second"),
    SS_OPTION("start", LOAD, start, .initial = "50%", .help = "the duty at the start"),
    SS_OPTION_END,
};

/* The memory of an executor, kept from one update to the next. */
struct memory {
    ss_time last; /* the last update */
    double duty;  /* the result of that update */
    bool started;
};

/*
 * Optional: checks what the rows cannot, once and before anything runs. An error ends the program
 * with its message, so say what is wrong and how to fix it. Set up anything here that takes memory
 * or time, and store it in `self->prepared`; release() then frees it.
 */
static int prepare(struct ss_self *self, struct ss_error *error) {
    const struct config *config = self->config;
    if (config->gain == 0 && config->start == 0)
        return ss_error_fail(
            error, "gain and start are both 0, so nothing would ever run: raise one of them");
    return 0;
}

/*
 * The control law: returns the duty. `input->target` is the load to reach, `input->load` the load
 * now. This law integrates the error; replace it with your own.
 */
static double update(const struct ss_self *self, const struct ss_control_input *input) {
    const struct config *config = self->config;
    struct memory *memory = self->own;

    /*
     * `since` is the start of the current run of control. After a free section of the trace, or a
     * pause of the whole run, the last update is older and says nothing about the present.
     */
    if (!memory->started || memory->last < input->moment.since)
        *memory = (struct memory){
            .last = input->moment.now,
            .duty = config->start,
            .started = true,
        };

    /* Updates do not come at even intervals: always use the time that has passed. */
    double seconds = ss_time_seconds(ss_time_since(input->moment.now, memory->last));
    memory->last = input->moment.now;
    memory->duty += config->gain * (input->target - input->load) * seconds;

    /*
     * The core limits the result to [0, 1] with a warning. The module has to bound its own state.
     */
    if (memory->duty < 0)
        memory->duty = 0;
    if (memory->duty > 1)
        memory->duty = 1;
    return memory->duty;
}

/* Optional: returns how many other executors' latest outputs are averaged with this one's. */
static uint32_t peers(const struct ss_self *self) {
    (void)self;
    return 2;
}

/* Optional: writes a clause that --dry-run and records show next to the options. */
static void describe(
    const struct ss_self *self, const struct ss_rhythm *rhythm, char *buffer, size_t size) {
    const struct config *config = self->config;
    (void)rhythm;
    snprintf(buffer, size, "an error of 10 %% moves the duty by %g %% a second", 10 * config->gain);
}

/* The only symbol that a module exports. Functions that are left out get a default. */
SS_MODULE_EXPORT const struct ss_control_module showstopper_module = {
    .head =
        {
            SS_MODULE_HEAD(control, CONTROL),
            .name = "skeleton",
            .summary = "integrates the error; a starting point for your own modules",
            .options = options,
            .config_size = sizeof(struct config),
            .executor_memory = sizeof(struct memory),
            .prepare = prepare,
            .describe = describe,
        },
    .update = update,
    .peers = peers,
};
