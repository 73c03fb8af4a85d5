/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Helps the environments in tools/experiments/env with what scripts cannot do reliably: locks,
 * control groups, and ending processes without hitting others with the same pid.
 *
 *   hold --lock--> ENVIRONMENT --open --> container, or nothing --> open
 *                                                                    |  join, enter: commands in it
 *                                                                    v  signal, or close
 *   closed <-- ENVIRONMENT --clean <-- control groups <-- processes --+
 */

#include <unistd.h>

#include "base/suggest.h"
#include "base/units.h"
#include "base/words.h"
#include "limit_group.h"
#include "place_options.h"
#include "place_state.h"
#include "platform/platform.h"
#include "program.h"

#define PERIOD (100 * SS_MILLISECOND) /* period of quotas */

/* make PLACE: creates a control group with the given limits, or else one that can have a quota. */
static int make(
    const struct ssplace_options *options, struct ssplace *place, struct ss_error *error) {
    struct limit_group group;
    unsigned limits = options->cpu_list ? 1U << LIMIT_CPUS : 0;
    if (options->quota > 0 || !limits)
        limits |= 1U << LIMIT_QUOTA;

    if (limit_group_make_named(&group, limits, place->group, &options->roots, error) < 0)
        return -1;

    if (options->quota > 0 && limit_group_set_quota(&group, options->quota, PERIOD, error) < 0)
        return ss_error_wrap(error, "cannot set the quota");
    if (options->cpu_list && limit_group_set_cpus(&group, &options->cpus, error) < 0)
        return ss_error_wrap(error, "cannot set the CPUs to %s", options->cpu_list);
    return 0;
}

/*
 * why-not quota|cpus|memory: creates and removes a group with this limit. If that is impossible,
 * prints why; otherwise sets the status to 1.
 */
static int why_not(const struct ssplace_options *options, int *status, struct ss_error *error) {
    static const char *const names[LIMIT_KINDS] = {"quota", "cpus", "memory"};
    struct ss_error reason = {0};
    struct limit_group group;
    char probe[64];
    static const struct ss_suggest_names known = {"limit", SS_SUGGEST_ROWS(names)};

    int limit = ss_suggest_find(&known, options->words[0], error);
    if (limit < 0)
        return -1;

    snprintf(probe, sizeof probe, "showstopper-probe.%d", (int)getpid());
    if (limit_group_make_named(&group, 1U << limit, probe, &options->roots, &reason) < 0)
        puts(reason.message);
    else
        *status = 1;

    if (named_group_remove(probe, SS_SECOND, &options->roots) < 0)
        return ss_error_fail(error, "cannot remove the control group %s", probe);
    return 0;
}

/* settings: prints these limits as lines of an LXC configuration. */
static int print_settings(const struct ssplace_options *options, struct ss_error *error) {
    struct limit_setting settings[LIMIT_QUOTA_SETTINGS];
    int cpus = limit_group_version(LIMIT_CPUS, &options->roots);
    int quota = limit_group_version(LIMIT_QUOTA, &options->roots);

    if ((options->cpu_list && cpus == 0) || (options->quota > 0 && quota == 0))
        return ss_error_fail(error, "no control group hierarchy has the controller %s",
            options->cpu_list && cpus == 0 ? "cpuset" : "cpu");

    if (options->cpu_list)
        printf("cgroup%s.cpuset.cpus = %s\n", cpus == 2 ? "2" : "", options->cpu_list);

    size_t count = options->quota > 0
                       ? limit_group_quota_settings(settings, quota == 2, options->quota, PERIOD)
                       : 0;
    for (size_t i = 0; i < count; i++)
        printf("cgroup%s.%s = %s\n", quota == 2 ? "2" : "", settings[i].file, settings[i].value);
    return 0;
}

static int join(
    const struct ssplace_options *options, struct ssplace *place, struct ss_error *error) {
    uint64_t pid;
    struct ss_error ignored = {0};
    if (ss_units_count(options->words[1], &pid, &ignored) < 0 || pid < 1 || pid > INT32_MAX)
        return ss_error_fail(error, "'%s' is not a pid", ss_words_show(options->words[1]).text);
    return ssplace_join(place, (pid_t)pid, error);
}

/* Closes all places even if one of them fails. Reports the first error. */
static int close_places(struct ssplace_options *options, struct ss_error *error) {
    struct ssplace place;
    int result = 0;
    for (size_t i = 0; i < options->word_count; i++) {
        if (ssplace_init(&place, options->words[i], &options->roots, error) < 0 ||
            ssplace_close(&place, options->command[0], error) < 0)
            result = -1;
        ssplace_free(&place);
    }
    return result;
}

/* Carries out a command for one place. */
static int run_verb(
    struct ssplace_options *options, struct ssplace *place, int *status, struct ss_error *error) {
    if (strcmp(options->verb, "hold") == 0)
        return ssplace_hold(place, options->command, error);
    if (strcmp(options->verb, "make") == 0)
        return make(options, place, error);
    if (strcmp(options->verb, "join") == 0)
        return join(options, place, error);
    if (strcmp(options->verb, "group") == 0)
        return ssplace_print_group(place, error);
    return ssplace_enter(place, options->command, options->instance, status, error);
}

static int carry_out(struct ssplace_options *options, int *status, struct ss_error *error) {
    struct ssplace place;

    if (strcmp(options->verb, "why-not") == 0)
        return why_not(options, status, error);
    if (strcmp(options->verb, "settings") == 0)
        return print_settings(options, error);

    if (ss_platform_check_proc(error) < 0)
        return -1;
    if (strcmp(options->verb, "close") == 0)
        return close_places(options, error);

    int result = ssplace_init(&place, options->words[0], &options->roots, error);
    if (result == 0)
        result = run_verb(options, &place, status, error);
    ssplace_free(&place);
    return result;
}

static int run(char **argv, int *status, struct ss_error *error) {
    struct ssplace_options options;
    int result = ssplace_options_parse(&options, argv, error);
    if (result == 0 && !ss_program_print_requested("showstopper-place", &options.store,
                           options.help, options.version, ssplace_options_print_help))
        result = carry_out(&options, status, error);
    if (result < 0 && error->status == SS_ERROR_FAILED)
        error->status = 1; /* required by tools/experiments/env/README.md */
    ss_option_store_free(&options.store);
    return result;
}

int main(int argc, char **argv) {
    return ss_program_main("showstopper-place", run, argc, argv);
}
