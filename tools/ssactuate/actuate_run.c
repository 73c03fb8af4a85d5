/* SPDX-License-Identifier: Apache-2.0 */
#include "actuate_run.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/whole_file.h"
#include "child.h"
#include "copies.h"
#include "place.h"
#include "run_record.h"
#include "undoing.h"

/* How often to look for threads to bind, and to sample the frequency, in milliseconds. */
#define INTERVAL 20

struct run {
    const struct ssactuate_options *options;
    struct ssactuate_machine machine;
    struct ssactuate_plan plan;
    struct ssactuate_place place;
    struct ssactuate_undoing undoing;
    struct ss_signals signals;
    struct ss_scheduling *scheduling;
    struct ssactuate_binding binding;
    char *const *words;  /* words to execute */
    char **throttled;    /* owned; NULL without `duty` */
    struct stat program; /* identifies the showstopper binary; set with `duty` */
    struct ssactuate_child child;
    struct ssactuate_copies copies; /* replace `child` with the knob `instances` */
    struct ssactuate_record record;
    struct ssactuate_limits limits; /* for the record */
    int signals_received;           /* number of signals that end the run */
    struct ssactuate_end last;
    bool warned; /* that threads share CPUs */
};

/*
 * Prepends showstopper and its options to the command. The empty placeholder keeps showstopper from
 * replacing % in the command. Returns NULL if memory is exhausted.
 */
static char **throttle_words(const struct run *run, const char *program) {
    static char duty[32], round[64];
    const char *const before[] = {program, "-q", "--progress", "never", "-n", "1", "-p", "", "-l",
        duty, "-f", "exact", "-d", "stagger", "-D", round, "-c", "fixed", "--"};
    size_t count = 0, own = sizeof before / sizeof *before;
    char *const *command = run->options->command;
    while (command[count])
        count++;
    char **words = calloc(own + count + 1, sizeof *words);
    if (!words)
        return NULL;
    snprintf(duty, sizeof duty, "%.8f", run->plan.duty);
    snprintf(round, sizeof round, "%lluu,jitter=0",
        (unsigned long long)(run->plan.tau / SS_MICROSECOND));
    memcpy(words, before, sizeof before);
    memcpy(words + own, command, count * sizeof *words);
    return words;
}

/* Prepares the words to execute: with `duty`, showstopper executes the command. */
static int make_words(struct run *run, struct ss_error *error) {
    static char program[4096];
    run->words = run->options->command;
    if (run->plan.duty == 0)
        return 0;
    if (!ssactuate_find_showstopper(program) || stat(program, &run->program) < 0)
        return ss_error_fail(error, "duty: showstopper is not installed any more");
    run->throttled = throttle_words(run, program);
    run->words = run->throttled;
    return run->words ? 0 : ss_error_memory(error);
}

static int check_control(const struct run *run, struct ss_error *error) {
    if (run->options->control && run->plan.instances == 0)
        return ss_error_fail(error, "--control requires `instances`");
    return 0;
}

/* Starts to measure the frequency when the first copy has started. */
static void note_first(void *context, pid_t pid) {
    struct run *run = context;
    if (run->options->record && !run->record.machine)
        ssactuate_record_open(&run->record, &run->machine, pid);
}

/* Prepares the copies. The keeper must end them if this process is killed. */
static int prepare_copies(struct run *run, struct ss_error *error) {
    struct ssactuate_copies *copies = &run->copies;
    if (run->plan.instances == 0)
        return 0;
    copies->command = run->words;
    copies->url = run->plan.instance_url;
    copies->control = run->options->control;
    copies->forked = note_first;
    copies->context = run;
    ssactuate_copies_want(copies, run->plan.instances);
    run->undoing.orphaned = ssactuate_copies_end_orphaned;
    run->undoing.context = copies;
    return ssactuate_copies_open(copies, error);
}

/* Plans the run. This changes nothing. */
static int plan_run(struct run *run, struct ss_error *error) {
    struct ssactuate_place *place = &run->place;
    if (ssactuate_plan_make(&run->plan, &run->machine, run->options->words, error) < 0 ||
        check_control(run, error) < 0)
        return -1;
    unsigned limits = ssactuate_place_limits(&run->machine, &run->plan);
    return ssactuate_place_choose(place, &run->machine, &run->plan, error) < 0
               ? -1
               : ssactuate_place_find(place, &run->machine, limits, "ssactuate", error);
}

static int turn(struct run *run, struct ss_error *error) {
    struct ssactuate_place *place = &run->place;
    struct ssactuate_changes changes = {.plan = &run->plan};
    if (plan_run(run, error) < 0 || make_words(run, error) < 0)
        return -1;
    changes.groups[0] = place->has_group ? &place->group : NULL;
    if (ssactuate_undoing_open(&run->undoing, &changes, run->machine.root, error) < 0 ||
        ssactuate_place_make(place, error) < 0 ||
        ssactuate_place_limit(place, &run->plan, error) < 0 || prepare_copies(run, error) < 0 ||
        ssactuate_undoing_keep(&run->undoing, error) < 0)
        return -1;
    run->copies.spared = &run->undoing.keeper.pid;
    if (run->options->record)
        ssactuate_limits_read(&run->limits, place, &run->plan);
    return ssactuate_undoing_set(&run->undoing, &run->plan, error);
}

static struct ssactuate_child child_of(const struct run *run) {
    return (struct ssactuate_child){
        .words = run->words,
        .group = run->place.has_group ? &run->place.group : NULL,
        .mask = run->place.masked ? &run->place.mask : NULL,
        .signals = &run->signals,
        .scheduling = run->scheduling,
    };
}

static int start(struct run *run, struct ss_error *error) {
    run->child = child_of(run);
    if (ssactuate_child_fork(&run->child, error) < 0)
        return -1;
    if (run->options->record)
        ssactuate_record_open(&run->record, &run->machine, run->child.process.pid);
    return ssactuate_child_execute(&run->child, error);
}

static void reap(struct run *run) {
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        if (pid == run->child.process.pid)
            ssactuate_child_reaped(&run->child, status);
        ssactuate_copies_reaped(&run->copies, pid, status);
        ssactuate_undoing_reaped(&run->undoing, pid, status);
    }
}

/*
 * Passes a signal on to the command or to all copies. If `number` is 0, they have already received
 * it from the terminal.
 */
static void send_signal(struct run *run, int number) {
    if (run->plan.instances == 0 && number > 0)
        kill(run->child.process.pid, number);
    else if (run->plan.instances > 0 && number == SIGKILL)
        ssactuate_copies_kill(&run->copies);
    else if (run->plan.instances > 0)
        ssactuate_copies_end(&run->copies, number);
}

/*
 * Passes a signal on. The first one that ends the run restores all values at once, because the
 * command may take long to exit. The second one kills the command. If the command was just
 * started, the signal may have come from the terminal before: pass it on as well.
 */
static int take_signal(struct run *run, int number, bool started, struct ss_error *error) {
    if (number == SIGTSTP)
        ss_signals_suspend(&run->signals);
    if (!ssactuate_is_end(number) ||
        ssactuate_is_repeated(&run->last, number, run->signals.typed, ss_platform_now()))
        return 0;
    run->signals_received++;
    bool received = !started && ssactuate_is_from_terminal(&run->signals, number);
    send_signal(run, run->signals_received > 1 ? SIGKILL : received ? 0 : number);
    if (run->signals_received > 1 || !run->undoing.has_journal)
        return 0;
    return ssactuate_journal_restore_values(&run->undoing.journal, &ssactuate_restorer, error);
}

static void watch_threads(struct run *run) {
    if (!run->plan.each)
        return;
    ssactuate_child_bind(&run->binding, (const pid_t[]){run->undoing.keeper.pid, 0},
        run->throttled ? &run->program : NULL);
    ssactuate_child_warn_if_crowded(&run->binding, &run->warned);
}

static bool is_over(const struct run *run) {
    return run->plan.instances > 0 ? ssactuate_copies_are_over(&run->copies) : run->child.ended;
}

/* Returns how many milliseconds to wait for a signal; -1: forever. */
static int choose_timeout(const struct run *run) {
    if (run->plan.each || run->record.samples_files)
        return INTERVAL;
    return run->plan.instances > 0 ? ssactuate_copies_timeout(&run->copies) : -1;
}

/* Starts and ends copies. If one cannot be started, ends the others. */
static int advance_copies(struct run *run, struct ss_error *error) {
    if (run->plan.instances == 0 || ssactuate_copies_advance(&run->copies, error) == 0)
        return 0;
    ssactuate_copies_end(&run->copies, SIGTERM);
    return -1;
}

/* Waits for the end of the command. Returns -1 if a value could not be restored meanwhile. */
static int await_command(struct run *run, struct ss_error *error) {
    int result = 0;
    bool started = run->plan.instances == 0;
    for (reap(run); !is_over(run); reap(run)) {
        struct pollfd polls[] = {{.fd = run->signals.pipe[0], .events = POLLIN}};
        if (advance_copies(run, error) < 0)
            result = -1;
        started |= run->copies.fresh;
        run->copies.fresh = false;
        watch_threads(run);
        ssactuate_record_sample(&run->record);
        poll(polls, 1, started ? 0 : choose_timeout(run));
        for (int number; (number = ss_signals_next(&run->signals)) != 0;) {
            if (take_signal(run, number, started, error) < 0)
                result = -1;
        }
        started = false;
    }
    if (run->plan.instances > 0)
        ssactuate_copies_kill(&run->copies); /* descendants that outlived their copy */
    return result;
}

static int run_command(struct run *run, struct ss_error *error) {
    ss_platform_adopt_orphans();
    run->scheduling = ss_platform_scheduling_save();
    run->binding.cpus = &run->plan.cpus;
    if (!run->scheduling)
        return ss_error_memory(error);
    if (ssactuate_child_check_signals(&run->signals, error) < 0)
        return -1;
    if (run->plan.instances == 0 && start(run, error) < 0)
        return -1;
    run->copies.like = child_of(run);
    return await_command(run, error);
}

static int status_of(const struct run *run) {
    return run->plan.instances > 0 ? run->copies.status : run->child.status;
}

static int write_record(struct run *run, struct ss_error *error) {
    const struct ssactuate_result result = {
        .words = run->options->words,
        .command = run->options->command,
        .plan = &run->plan,
        .journal = run->undoing.has_journal ? &run->undoing.journal : NULL,
        .group = run->place.has_group ? &run->place.group : NULL,
        .limits = &run->limits,
        .masked = run->place.masked,
        .urls = run->copies.urls,
        .status = status_of(run),
    };
    return ssactuate_record_write(&run->record, run->options->record, &result, error);
}

/* Turns the knobs, runs the command, and writes the record. */
static int carry_out(struct run *run, struct ss_error *error) {
    const struct ssactuate_options *options = run->options;
    int result = 0;
    if (options->record && strcmp(options->record, "-") != 0)
        result = ss_whole_file_check(options->record, error);
    if (result == 0 && ss_signals_open(&run->signals) < 0)
        result = ss_error_fail(error, "cannot create a pipe: %s", strerror(errno));
    if (result == 0)
        result = turn(run, error);
    if (result == 0)
        result = run_command(run, error);
    return result == 0 && options->record ? write_record(run, error) : result;
}

int ssactuate_run(const struct ssactuate_options *options, int *status, struct ss_error *error) {
    struct run *run = calloc(1, sizeof *run);
    if (!run)
        return ss_error_memory(error);
    run->options = options;
    int result = ssactuate_machine_open(&run->machine, options->root, error);
    if (result == 0)
        result = options->check ? plan_run(run, error) : carry_out(run, error);
    if (ssactuate_undoing_finish(&run->undoing, error) < 0)
        result = -1;
    *status = status_of(run);
    ssactuate_copies_close(&run->copies);
    ssactuate_record_close(&run->record);
    ssactuate_limits_free(&run->limits);
    ssactuate_binding_free(&run->binding);
    ssactuate_plan_free(&run->plan);
    ssactuate_machine_close(&run->machine);
    free(run->scheduling);
    free(run->throttled);
    free(run);
    return result;
}

int ssactuate_restore(
    const struct ssactuate_options *options, int *status, struct ss_error *error) {
    struct ssactuate_state state;
    struct ssactuate_dead dead = {0};
    if (!ssactuate_state_has_folder(options->root)) {
        printf("nothing to restore: without XDG_RUNTIME_DIR this user has no journal\n");
        return 0;
    }
    int result = ssactuate_state_open(&state, options->root, error);
    if (result == 0)
        result = ssactuate_restore_dead(&state, &ssactuate_restorer, NULL, &dead, error);
    ssactuate_state_close(&state);
    if (dead.restored > 0)
        printf("restored the changes of %zu killed run%s\n", dead.restored,
            dead.restored == 1 ? "" : "s");
    if (dead.outdated > 0)
        printf("nothing to restore for %zu run%s: the machine has rebooted since\n", dead.outdated,
            dead.outdated == 1 ? "" : "s");
    if (dead.living > 0)
        printf("%zu run%s still in progress\n", dead.living, dead.living == 1 ? " is" : "s are");
    if (result == 0 && dead.restored + dead.outdated + dead.living == 0)
        printf("nothing to restore\n");
    (void)status;
    return result;
}
