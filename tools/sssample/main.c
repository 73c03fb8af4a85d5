/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Samples power or idle states once a second, for a study to keep next to its runs.
 * tools/experiments/energy and idle start this program.
 *
 *   files of the kernel, or a command --> sample_power.c, sample_idle.c
 *                                                  |
 *                                                  v
 *                                             sampled.c --> energy.csv, idle.csv
 */

#include <math.h>

#include "base/words.h"
#include "options/arguments.h"
#include "platform/program.h"
#include "sample_idle.h"
#include "sample_power.h"

/* --settle waits until power is at most this multiple of the given one, or for this time. */
#define SETTLED        1.02
#define SETTLE_SECONDS 120

struct options {
    const char *verb, *source, *output, *root, *cpu_list;
    int why_not, scope, help;
    double mean, settle;
    struct ss_option_store store;
};

static int take_word(
    void *config, const struct ss_argument *row, char *value, struct ss_error *error) {
    struct options *options = config;
    (void)row;
    if (!options->verb)
        options->verb = value;
    else if (!options->source && strcmp(options->verb, "energy") == 0)
        options->source = value;
    else
        return ss_error_fail(
            error, "unexpected argument '%s': see --help", ss_words_show(value).text);
    return 0;
}

#define AT(member) .offset = offsetof(struct options, member)

// clang-format off
static const struct ss_argument rows[] = {
    {'o', "FILE", {"output", SS_OPTION_TEXT, AT(output), .help = "write the samples to this file"}},
    {0, "DIR", {"energy-root", SS_OPTION_TEXT, AT(root), .initial = "/", .help = "for `energy`: look for /sys below this folder"}},
    {0, "DIR", {"root", SS_OPTION_TEXT, AT(root), .help = "for `idle`: look for /sys below this folder"}},
    {0, "LIST", {"cpus", SS_OPTION_TEXT, AT(cpu_list), .help = "for `idle`: sample only these CPUs, such as 0-3,8; default: all"}},
    {0, "SECONDS", {"mean", SS_OPTION_NUMBER, AT(mean), .min = "1", .max = "3600", .help = "for `energy`: print the mean power over this time, as `mean WATTS`, and exit"}},
    {0, "WATTS", {"settle", SS_OPTION_NUMBER, AT(settle), .help = "for `energy`: wait until the power of a second is at most 2 % above this, for at most 2 minutes, and exit"}},
    {0, NULL, {"scope", AT(scope), .help = "for `energy`: print the scope of the source, such as the CPU packages, and exit"}},
    {0, NULL, {"why-not", AT(why_not), .help = "print why there is nothing to sample; exit with status 1 if there is something"}},
    {'h', NULL, {"help", AT(help), .help = "print this help"}},
    SS_ARGUMENTS_WORDS(take_word),
};
// clang-format on

static void print_help(void) {
    printf("Usage: energy SOURCE --output FILE [OPTION]...\n"
           "       idle --output FILE [OPTION]...\n"
           "Samples once a second, until SIGTERM or SIGINT: `energy` samples power in watts;\n"
           "`idle`, how long CPUs were active and in each idle state, and their frequency.\n"
           "SOURCE is auto, rapl, hwmon, battery, or any command that prints watts. Prints\n"
           "the line `open` when FILE can be written to.\n\n");
    ss_arguments_print_help(stdout, rows);
}

static int require_output(const struct options *options, struct ss_error *error) {
    return options->output ? 0 : ss_error_fail(error, "--output is missing: see --help");
}

/* Takes samples. With --why-not, only sets the status to 1: sampling is possible. */
static int sample(const struct options *options, const struct sssample_source *source, int *status,
    struct ss_error *error) {
    if (options->why_not) {
        *status = 1;
        return 0;
    }
    return require_output(options, error) < 0 ? -1 : sssample_loop(source, options->output, error);
}

/* Reports why there is nothing to sample: as the answer to --why-not, otherwise as an error. */
static int refuse(const struct options *options, const char *reason, struct ss_error *error) {
    if (!options->why_not)
        return ss_error_fail(error, "%s", reason);
    puts(reason);
    return 0;
}

static int print_mean(
    const struct options *options, struct sssample_power *power, struct ss_error *error) {
    double watts = sssample_power_mean(power, (unsigned)options->mean);
    if (isnan(watts))
        return ss_error_set(
            error, 1, "%s reported no power in %.0f s", options->source, options->mean);
    printf("mean %.10g\n", watts);
    return 0;
}

static int sample_power(const struct options *options, int *status, struct ss_error *error) {
    struct sssample_power power;
    char reason[256];
    if (!options->source || !*options->source)
        return ss_error_fail(error, "SOURCE is missing: see --help");
    snprintf(reason, sizeof reason, "there is no source of power (%.200s)", options->source);
    bool found = sssample_power_find(&power, options->source, options->root);
    const struct sssample_source source = sssample_power_source(&power);
    int result = 0;
    if (found && options->scope)
        puts(power.scope);
    else if (found && options->mean > 0)
        result = print_mean(options, &power, error);
    else if (found && options->settle > 0)
        sssample_power_await(&power, SETTLED * options->settle, SETTLE_SECONDS);
    else
        result = found ? sample(options, &source, status, error) : refuse(options, reason, error);
    sssample_power_free(&power);
    return result;
}

static int sample_idle(const struct options *options, int *status, struct ss_error *error) {
    struct sssample_idle idle;
    struct ss_cpus cpus;
    char reason[4200], root[4096];
    if (options->cpu_list && ss_cpus_parse(options->cpu_list, &cpus, error) < 0)
        return ss_error_wrap(error, "--cpus");
    snprintf(root, sizeof root, "%s", strcmp(options->root, "/") == 0 ? "" : options->root);
    snprintf(reason, sizeof reason, "no CPU has idle states below %s/sys/devices/system/cpu", root);
    bool found = sssample_idle_find(&idle, root, options->cpu_list ? &cpus : NULL);
    const struct sssample_source source = sssample_idle_source(&idle);
    int result = found ? sample(options, &source, status, error) : refuse(options, reason, error);
    sssample_idle_free(&idle);
    return result;
}

static int run(char **argv, int *status, struct ss_error *error) {
    struct options options = {0};
    int result = ss_arguments_parse(rows, &options, &options.store, argv, NULL, error);
    if (result == 0 && options.help)
        print_help();
    else if (result == 0 && options.verb && strcmp(options.verb, "energy") == 0)
        result = sample_power(&options, status, error);
    else if (result == 0 && options.verb && strcmp(options.verb, "idle") == 0)
        result = sample_idle(&options, status, error);
    else if (result == 0)
        result = ss_error_fail(error, "energy or idle is required: see --help");
    ss_option_store_free(&options.store);
    return result;
}

int main(int argc, char **argv) {
    return ss_program_main(argc > 1 ? argv[1] : "showstopper-sample", run, argv);
}
