/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Describes the machine, or samples its power or idle states once a second, for records and for the
 * scripts of the experiments:
 *
 *   /proc, /sys               --> document/, topology/ --> JSON
 *   /proc, /sys, or a command --> sample/              --> energy.csv, idle.csv
 */

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/timex.h>

#include "base/whole_file.h"
#include "base/words.h"
#include "options/arguments.h"
#include "platform_document.h"
#include "program.h"
#include "sample_idle.h"
#include "sample_power.h"
#ifdef SSPLATFORM_HAS_TOPOLOGY
#include "topology_document.h"
#endif

/* --settle waits until power is at most this multiple of its argument, up to SETTLE_SECONDS. */
#define SETTLED_FACTOR 1.02
#define SETTLE_SECONDS 120

/*
 * The kernel increases its estimate of the clock's error up to this value while nothing corrects
 * the clock. STA_UNSYNC proves nothing: programs also set it to keep the kernel from updating the
 * hardware clock.
 */
#define BOUND_UNKNOWN 16000000 /* microseconds */

struct request {
    const char *verb, *source; /* NULL if not given */
    char **words;              /* verb and source */
    const char *root, *output, *cpu_list;
    int sets; /* enum topology_division; -1 if not given */
    int why_not, scope, help, version;
    double mean, settle;
    struct ss_option_store store;
};

#define AT(member) .offset = offsetof(struct request, member)

// clang-format off
static const struct ss_argument rows[] = {
    {0, "DIR", {"root", SS_OPTION_TEXT, AT(root),
                .help = "describe or sample the machine whose /proc and /sys are in DIR"}},
    {'o', "FILE", {"output", SS_OPTION_TEXT, AT(output),
                   .help = "write to FILE; a description replaces it only on success"}},
    {0, "PLACEMENT", {"sets", SS_OPTION_CHOICE, AT(sets), .choices = "per-chip per-core per-thread",
                      .help = "print two disjoint sets with equal numbers of CPUs instead, as A/B"},
        .only_with = "root"},
    {0, "LIST", {"cpus", SS_OPTION_TEXT, AT(cpu_list),
                 .help = "for `idle`: sample only these CPUs, such as 0-3,8; default: all"}},
    {0, "SECONDS", {"mean", SS_OPTION_NUMBER, AT(mean), .min = "1", .max = "3600",
                    .help = "for `energy`: print the mean power over this time, as `mean WATTS`, and exit"}},
    {0, "WATTS", {"settle", SS_OPTION_NUMBER, AT(settle),
                  .help = "for `energy`: wait until the power of a second is at most 2 % above this, for at most 2 minutes, and exit"}},
    {0, NULL, {"scope", AT(scope),
               .help = "for `energy`: print the scope of the source, such as the CPU packages, and exit"}},
    {0, NULL, {"why-not", AT(why_not),
               .help = "for `energy` and `idle`: print why there is nothing to sample; exit with status 1 if there is something"}},
    SS_ARGUMENTS_HELP_AT(struct request),
    SS_ARGUMENTS_WORDS_AT(struct request, words, 2),
};
// clang-format on

static void print_help(void) {
    printf("Usage: showstopper-platform [OPTION]...\n"
           "       showstopper-platform energy SOURCE --output FILE [OPTION]...\n"
           "       showstopper-platform idle --output FILE [OPTION]...\n"
           "       showstopper-platform clock\n"
           "Describes this machine as one JSON object: kernel, CPUs, caches, frequencies,\n"
           "idle states, virtual machine or container, and the part of it that may be used.\n"
           "`energy` and `idle` sample once a second, until SIGTERM or SIGINT: power in\n"
           "watts; how long CPUs were active and in each idle state, and their frequency.\n"
           "SOURCE is auto, rapl, hwmon, battery, or any command that prints watts. `clock`\n"
           "prints by how many seconds the clock may be off; status 1 if nothing\n"
           "synchronizes it.\n\n");
    ss_arguments_print_help(stdout, rows);
}

#ifdef SSPLATFORM_HAS_TOPOLOGY
static ssplatform_topology_writer *const write_topology = ssplatform_write_topology;

static int print_sets(const struct request *request, struct ss_error *error) {
    return ssplatform_write_sets(
        stdout, request->root, (enum topology_division)request->sets, error);
}
#else
static ssplatform_topology_writer *const write_topology = NULL;

static int print_sets(const struct request *request, struct ss_error *error) {
    (void)request;
    return ss_error_fail(error, "--sets: this program was built without hwloc");
}
#endif

static int write_file(const struct request *request, struct ss_error *error) {
    struct ss_whole_file file;
    if (ss_whole_file_begin(&file, request->output, error) < 0)
        return -1;

    if (ssplatform_report(file.stream, request->root, write_topology, error) == 0)
        return ss_whole_file_end(&file, request->output, error);

    ss_whole_file_abandon(&file);
    return -1;
}

/* Describes the machine, or prints sets. Sets the status to 1 if there are no two sets. */
static int describe(const struct request *request, int *status, struct ss_error *error) {
    if (request->sets >= 0) {
        int result = print_sets(request, error);
        *status = result > 0;
        return result < 0 ? -1 : 0;
    }
    return request->output ? write_file(request, error)
                           : ssplatform_report(stdout, request->root, write_topology, error);
}

/* Takes samples. With --why-not, only sets the status to 1, because sampling is possible. */
static int sample(const struct request *request, const struct sample_source *source, int *status,
    struct ss_error *error) {
    if (request->why_not) {
        *status = 1;
        return 0;
    }
    if (!request->output)
        return ss_error_fail(error, "--output is missing: see --help");
    return sample_loop(source, request->output, error);
}

/* Reports why there is nothing to sample: as the answer to --why-not, otherwise as an error. */
static int refuse(const struct request *request, const char *reason, struct ss_error *error) {
    if (!request->why_not)
        return ss_error_fail(error, "%s", reason);
    puts(reason);
    return 0;
}

static int print_mean(
    const struct request *request, struct sample_power *power, struct ss_error *error) {
    double watts = sample_power_mean(power, (unsigned)request->mean);
    if (isnan(watts))
        return ss_error_set(
            error, 1, "%s reported no power in %.0f s", request->source, request->mean);
    printf("mean %.10g\n", watts);
    return 0;
}

static int sample_energy(const struct request *request, int *status, struct ss_error *error) {
    struct sample_power power;
    char reason[256];
    if (!request->source || !*request->source)
        return ss_error_fail(error, "SOURCE is missing: see --help");
    snprintf(reason, sizeof reason, "there is no source of power (%s)",
        ss_words_show(request->source).text);

    bool found = sample_power_find(&power, request->source, request->root ? request->root : "/");
    const struct sample_source source = sample_power_source(&power);
    int result = 0;
    if (!found)
        result = refuse(request, reason, error);
    else if (request->scope)
        puts(power.scope);
    else if (request->mean > 0)
        result = print_mean(request, &power, error);
    else if (request->settle > 0)
        sample_power_await(&power, SETTLED_FACTOR * request->settle, SETTLE_SECONDS);
    else
        result = sample(request, &source, status, error);

    sample_power_free(&power);
    return result;
}

static int sample_states(const struct request *request, int *status, struct ss_error *error) {
    struct sample_idle idle;
    struct ss_cpus cpus;
    if (request->cpu_list && ss_cpus_parse(request->cpu_list, &cpus, error) < 0)
        return ss_error_wrap(error, "--cpus");

    int result = sample_idle_find(&idle, request->root, request->cpu_list ? &cpus : NULL, error);
    const struct sample_source source = sample_idle_source(&idle);
    if (result == 0)
        result = idle.cpu_count > 0
                     ? sample(request, &source, status, error)
                     : refuse(request, "no CPU has idle states in /sys/devices/system/cpu", error);

    sample_idle_free(&idle);
    return result;
}

/* Prints the kernel's bound on the clock's error in seconds. Sets the status to 1 if unknown. */
static int print_clock(const struct request *request, int *status, struct ss_error *error) {
    struct timex state = {.modes = 0}; /* read only */
    (void)request;
    if (adjtimex(&state) < 0)
        return ss_error_fail(error, "cannot read the state of the clock: %m");

    *status = state.maxerror < BOUND_UNKNOWN ? 0 : 1;
    if (*status == 0)
        printf("%.6f\n", (double)state.maxerror / 1e6);
    return 0;
}

static const struct verb {
    const char *name;
    int (*run)(const struct request *request, int *status, struct ss_error *error);
} verbs[] = {{"energy", sample_energy}, {"idle", sample_states}, {"clock", print_clock}};

#define VERBS (sizeof verbs / sizeof *verbs)

static const struct verb *find_verb(const char *name) {
    for (size_t i = 0; name && i < VERBS; i++) {
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    }
    return NULL;
}

static int execute(struct request *request, int *status, struct ss_error *error) {
    request->verb = request->words[0];
    request->source = request->verb ? request->words[1] : NULL;

    const struct verb *verb = find_verb(request->verb);

    if (!request->verb) {
        if (request->cpu_list || request->why_not || request->scope || request->mean > 0 ||
            request->settle > 0)
            return ss_error_fail(error, "--cpus, --mean, --settle, --scope and --why-not require "
                                        "the command energy or idle");
        return describe(request, status, error);
    }

    if (!verb)
        return ss_error_fail(error, "unexpected argument '%s': use energy, idle or clock",
            ss_words_show(request->verb).text);
    if (request->source && verb->run != sample_energy)
        return ss_error_fail(
            error, "unexpected argument '%s': see --help", ss_words_show(request->source).text);

    return verb->run(request, status, error);
}

static int run(char **argv, int *status, struct ss_error *error) {
    struct request request = {.sets = -1};
    int result = ss_arguments_parse(rows, &request, &request.store, argv, NULL, error);
    if (result == 0 && !ss_program_print_requested("showstopper-platform", &request.store,
                           request.help, request.version, print_help))
        result = execute(&request, status, error);
    ss_option_store_free(&request.store);
    return result;
}

int main(int argc, char **argv) {
    const struct verb *verb = argc > 1 ? find_verb(argv[1]) : NULL;
    return ss_program_main(verb ? verb->name : "showstopper-platform", run, argc, argv);
}
