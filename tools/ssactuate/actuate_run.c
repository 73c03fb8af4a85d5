/* SPDX-License-Identifier: Apache-2.0 */
#include "actuate_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "run_record.h"
#include "session.h"

/* How often to sample the frequency. */
#define INTERVAL (20 * SS_MILLISECOND)

struct run {
    struct ssactuate_session session;
    char *showstopper;      /* path, owned; NULL without `duty` */
    char **throttled_words; /* owned; NULL without `duty` */
    struct stat program;    /* identifies the showstopper binary; set with `duty` */
    struct ssactuate_record record;
};

/*
 * Prepends showstopper and its options to the command. The empty placeholder keeps showstopper from
 * replacing % in the command. Returns NULL if memory is exhausted.
 */
static char **throttle_words(const struct run *run, const char *program) {
    static char duty[32], round[64];
    const char *const before[] = {program, "-q", "--progress", "never", "-n", "1", "-p", "", "-l",
        duty, "-f", "exact", "-d", "stagger", "-D", round, "-c", "fixed", "--"};
    char *const *command = run->session.options->command;
    size_t count = ss_words_count(command), own = sizeof before / sizeof *before;
    char **words = calloc(own + count + 1, sizeof *words);
    if (!words)
        return NULL;

    snprintf(duty, sizeof duty, "%.8f", run->session.plan.duty);
    snprintf(round, sizeof round, "%lluu,jitter=0",
        (unsigned long long)(run->session.plan.tau / SS_MICROSECOND));

    memcpy(words, before, sizeof before);
    memcpy(words + own, command, count * sizeof *words);
    return words;
}

/* With `duty`, runs the command through showstopper. */
static int make_words(struct run *run, struct ss_error *error) {
    if (run->session.plan.duty == 0)
        return 0;
    run->showstopper = ssactuate_find_showstopper();
    if (!run->showstopper || stat(run->showstopper, &run->program) < 0)
        return ss_error_fail(error, "duty: showstopper is no longer installed");

    run->throttled_words = throttle_words(run, run->showstopper);
    run->session.parties[0].words = run->throttled_words;
    run->session.unbound_program = &run->program;
    return run->throttled_words ? 0 : ss_error_memory(error);
}

/* Starts to measure the frequency before the command, or its first copy, is executed. */
static void start_measuring(void *context, pid_t pid) {
    struct run *run = context;
    if (run->session.options->record && !run->record.machine)
        ssactuate_record_open(&run->record, &run->session.machine, pid);
}

static ss_time wake(void *context, ss_time now) {
    struct run *run = context;
    ssactuate_record_sample(&run->record);
    return run->record.is_sampled ? now + INTERVAL : SS_TIME_NEVER;
}

/* Plans the run without changing anything. */
static int plan_run(struct run *run, struct ss_error *error) {
    static char *none[] = {NULL};
    struct ssactuate_session *session = &run->session;
    const struct ssactuate_options *options = session->options;
    struct ssactuate_party *party = &session->parties[0];
    party->words = options->command ? options->command : none;
    if (ssactuate_plan_make(
            &session->plan, &session->machine, (const char *const *)options->words, error) < 0)
        return -1;
    if (options->control && session->plan.instances == 0)
        return ss_error_fail(error, "--control requires `instances`");

    unsigned limits = ssactuate_place_limits(&session->machine, &session->plan);
    if (ssactuate_place_choose(&party->place, &session->machine, &session->plan, error) < 0)
        return -1;
    return ssactuate_session_find_places(session, limits, error);
}

/* Turns the knobs, runs the command, and writes the record. */
static int carry_out(struct run *run, struct ss_error *error) {
    struct ssactuate_session *session = &run->session;
    session->forked = start_measuring;
    session->wake = wake;
    session->context = run;
    if (plan_run(run, error) < 0 || make_words(run, error) < 0 ||
        ssactuate_session_keep(session, &session->plan, session->parties[0].words, error) < 0 ||
        ssactuate_session_apply(session, false, error) < 0 ||
        ssactuate_session_start(session, error) < 0 || ssactuate_session_watch(session, error) < 0)
        return -1;
    return session->options->record ? ssactuate_record_write(&run->record, session, error) : 0;
}

int ssactuate_run(const struct ssactuate_options *options, int *status, struct ss_error *error) {
    struct run *run = calloc(1, sizeof *run);
    if (!run)
        return ss_error_memory(error);

    int result = ssactuate_session_open(&run->session, options, error);
    if (result == 0)
        result = options->check ? plan_run(run, error) : carry_out(run, error);

    *status = ssactuate_session_status(&run->session);
    if (ssactuate_session_close(&run->session, error) < 0)
        result = -1;

    ssactuate_record_close(&run->record);
    free(run->showstopper);
    free(run->throttled_words);
    free(run);
    return result;
}

int ssactuate_restore(
    const struct ssactuate_options *options, int *status, struct ss_error *error) {
    struct ssactuate_state state;
    struct ssactuate_restore_counts dead = {0};
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
