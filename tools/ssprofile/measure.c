/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/json.h"
#include "base/owned.h"
#include "base/whole_file.h"
#include "base/words.h"
#include "commands.h"
#include "options/arguments.h"
#include "platform/platform.h"
#include "ratios.h"
#include "run.h"

#define REPETITIONS_LEAST 3  /* before a spread says something */
#define REPETITIONS_MOST  50 /* with --until-spread */

struct request {
    const char *battery, *under, *machine, *folder;
    uint64_t cpu, repetitions;
    double until, unstable; /* percent; not above 0: not given */
    ss_time period;
    int help, quiet;
};

static int take_folder(
    void *config, const struct ss_argument *row, char *word, struct ss_error *error) {
    struct request *request = config;
    (void)row;
    if (request->folder)
        return ss_error_fail(error, "%s: there is a folder already: %s", word, request->folder);
    request->folder = word;
    return 0;
}

#define AT(member) .offset = offsetof(struct request, member)

// clang-format off
static const struct ss_argument rows[] = {
    {0, "NAME|FILE", {"battery", SS_OPTION_TEXT, AT(battery), .initial = "own",
        .help = "what is measured: own, stress-ng, or a file"}},
    {0, "CPU", {"cpu", SS_OPTION_COUNT, AT(cpu), .initial = "0", .max = "8191",
        .help = "measure on this CPU"}},
    {0, "N", {"repetitions", SS_OPTION_COUNT, AT(repetitions), .initial = "5", .min = "1",
        .max = "1000", .help = "run every benchmark so often"}},
    {0, "PERCENT", {"until-spread", SS_OPTION_PERCENT, AT(until),
        .help = "run every benchmark until its repetitions spread by no more, 3 to 50 times"}},
    {0, "PERCENT", {"unstable", SS_OPTION_PERCENT, AT(unstable), .initial = "2",
        .help = "name benchmarks as unstable whose repetitions spread by more"}},
    {0, "THROTTLE", {"under", SS_OPTION_TEXT, AT(under),
        .help = "measure under a throttle: duty=40%, load=40% or quota=40%"}},
    {0, "TIME", {"period", SS_OPTION_TIME, AT(period), .initial = "10m", .min = "1m", .max = "1s",
        .help = "the period of a quota"}},
    {0, "NAME", {"machine", SS_OPTION_TEXT, AT(machine),
        .help = "the machine's name in the results; without it, its host name"}},
    {'q', NULL, {"quiet", AT(quiet), .help = "print no progress"}},
    {'h', NULL, {"help", AT(help), .help = "print this help"}},
    SS_ARGUMENTS_WORDS(take_folder),
};
// clang-format on

static void print_help(void) {
    printf(
        "Usage: ssprofile measure [OPTION]... DIR\n"
        "Runs a battery of benchmarks on one CPU of this machine, which should be idle, and keeps\n"
        "the results in DIR/results.csv. The same command goes on where an interrupted one "
        "was.\n\n");
    ss_arguments_print_help(stdout, rows);
}

struct measurement {
    const struct request *request;
    struct ssprofile_battery battery;
    struct ssprofile_runner runner;
    struct ssprofile_results results;        /* what is there already */
    const struct ssprofile_profile *profile; /* NULL: nothing */
    char machine[256], limits[32], results_path[4300];
    bool *failed; /* by task: it cannot be run here */
    size_t done, planned;
    ss_time begin;
};

/* ---- what was measured already ---- */

static void path_of(char path[4300], const struct request *request, const char *name) {
    snprintf(path, 4300, "%.4000s/%s", request->folder, name);
}

static int read_results(struct measurement *measurement, struct ss_error *error) {
    struct ssprofile_choice choice = {.path = "results.csv"};
    ssprofile_results_free(&measurement->results);
    measurement->profile = NULL;
    struct stat status;
    struct ss_error none = {0};
    static const char heading[] =
        "machine,limits,benchmark,lower_is_better,class,repetition,result\n";
    if (stat(measurement->results_path, &status) < 0 ||
        status.st_size <= (off_t)(sizeof heading - 1))
        return 0;
    if (ssprofile_results_read(&measurement->results, measurement->results_path, error) < 0)
        return -1;
    snprintf(choice.machine, sizeof choice.machine, "%s", measurement->machine);
    snprintf(choice.limits, sizeof choice.limits, "%s", measurement->limits);
    measurement->profile = ssprofile_results_find(&measurement->results, &choice, &none);
    return 0;
}

/* A row that was being written when the process ended has no end: it is cut off. */
static int mend_results(const struct measurement *measurement, struct ss_error *error) {
    SS_OWNED(close) int file = open(measurement->results_path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    off_t size = file < 0 ? -1 : lseek(file, 0, SEEK_END);
    char byte;
    if (size < 0)
        return ss_error_fail(error, "%s: %s", measurement->results_path, strerror(errno));
    while (size > 0 && pread(file, &byte, 1, size - 1) == 1 && byte != '\n')
        size--;
    if (ftruncate(file, size) < 0)
        return ss_error_fail(error, "%s: %s", measurement->results_path, strerror(errno));
    static const char heading[] =
        "machine,limits,benchmark,lower_is_better,class,repetition,result\n";
    if (size == 0 && pwrite(file, heading, sizeof heading - 1, 0) < 0)
        return ss_error_fail(error, "%s: %s", measurement->results_path, strerror(errno));
    return 0;
}

static const struct ssprofile_benchmark *find_done(
    const struct measurement *measurement, const struct ssprofile_task *task) {
    return measurement->profile
               ? ssprofile_profile_find(measurement->profile, task->name, task->class)
               : NULL;
}

static bool is_done(const struct ssprofile_benchmark *benchmark, unsigned repetition) {
    char label[16];
    snprintf(label, sizeof label, "%u", repetition);
    for (size_t i = 0; benchmark && i < benchmark->count; i++) {
        if (strcmp(benchmark->repetitions[i].label, label) == 0)
            return true;
    }
    return false;
}

static int append(const struct measurement *measurement, const struct ssprofile_task *task,
    unsigned repetition, double result) {
    SS_OWNED(free) char *row = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&row, &size);
    if (!stream)
        return -1;
    ss_words_quote_csv(stream, measurement->machine);
    fprintf(stream, ",%s,", measurement->limits);
    ss_words_quote_csv(stream, task->name);
    fprintf(stream, ",%s,", task->lower ? "true" : "false");
    ss_words_quote_csv(stream, task->class);
    fprintf(stream, ",%u,%.12g\n", repetition, result);
    if (fclose(stream) != 0)
        return -1;
    SS_OWNED(close) int file = open(measurement->results_path, O_WRONLY | O_APPEND | O_CLOEXEC);
    return file < 0 || write(file, row, size) != (ssize_t)size || fsync(file) < 0 ? -1 : 0;
}

/* ---- what describes it ---- */

/* Writes a file of the folder, or refuses to go on if it says something else already. */
static int keep(
    const struct request *request, const char *name, const char *text, struct ss_error *error) {
    char path[4300];
    path_of(path, request, name);
    SS_OWNED(fclose) FILE *old = fopen(path, "re");
    SS_OWNED(free) char *there = NULL;
    size_t size = 0;
    if (old && getdelim(&there, &size, '\0', old) >= 0) {
        return strcmp(there, text) == 0
                   ? 0
                   : ss_error_fail(error,
                         "%s: it was measured otherwise: use another folder, or remove this one",
                         path);
    }
    struct ss_whole_file file;
    if (ss_whole_file_open(&file, path) < 0)
        return ss_error_fail(error, "%s: %s", path, strerror(errno));
    fputs(text, file.stream);
    return ss_whole_file_commit(&file) < 0 ? ss_error_fail(error, "%s: %s", path, strerror(errno))
                                           : 0;
}

static int keep_description(struct measurement *measurement, struct ss_error *error) {
    const struct request *request = measurement->request;
    SS_OWNED(free) char *version = NULL, *text = NULL;
    char path[4300];
    size_t size = 0;
    if (measurement->battery.version) {
        version = ssprofile_run_output(&measurement->runner, measurement->battery.version, error);
        if (!version)
            return ss_error_wrap(error, "the version command of the battery");
        version[strcspn(version, "\n")] = '\0';
    }
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        return ss_error_memory(error);
    struct ss_json json = {.stream = stream};
    ss_json_open(&json, NULL, '{');
    ss_json_text(&json, "machine", measurement->machine);
    ss_json_text(&json, "battery", request->battery);
    ss_json_text(&json, "version", version);
    ss_json_text(&json, "limits", measurement->limits);
    ss_json_number(&json, "cpu", (double)request->cpu);
    ss_json_number(&json, "quota_period_seconds",
        measurement->runner.throttle.kind == SSPROFILE_QUOTA ? ss_time_seconds(request->period)
                                                             : NAN);
    ss_json_close(&json, '}');
    fputc('\n', stream);
    if (fclose(stream) != 0)
        return ss_error_memory(error);
    if (keep(request, "profile.json", text, error) < 0 ||
        keep(request, "battery.txt", measurement->battery.text, error) < 0 ||
        (version && keep(request, "version.txt", version, error) < 0))
        return -1;
    path_of(path, request, "platform.json");
    char program[] = "showstopper-platform", option[] = "-o";
    char *describe[] = {program, option, path, NULL};
    struct ss_error why = {0};
    if (access(path, F_OK) < 0)
        free(ssprofile_run_output(&measurement->runner, describe, &why));
    if (why.status)
        fprintf(stderr, "ssprofile: warning: no platform.json: %s\n", why.message);
    return 0;
}

static void warn_of_quota(void) {
    struct ss_quota quota = {0};
    ss_platform_quota_read(NULL, &quota);
    if (quota.cpus > 0)
        fprintf(stderr,
            "ssprofile: warning: a control group holds this process to %.3g CPUs: what is "
            "profiled is that quota\n",
            quota.cpus);
}

/* ---- the runs ---- */

static void tell_progress(struct measurement *measurement, const struct ssprofile_task *task,
    unsigned repetition, double result) {
    double spent = ss_time_seconds(ss_time_since(ss_platform_now(), measurement->begin));
    size_t left =
        measurement->planned > measurement->done ? measurement->planned - measurement->done : 0;
    measurement->done++;
    if (!measurement->request->quiet)
        fprintf(stderr, "%zu/%zu %s %u: %.6g %s, %.0f s left\n", measurement->done,
            measurement->planned, task->name, repetition, result, task->unit,
            spent / (double)measurement->done * (double)(left > 0 ? left - 1 : 0));
}

static bool wants(const struct measurement *measurement, size_t at, unsigned repetition) {
    const struct request *request = measurement->request;
    const struct ssprofile_benchmark *benchmark =
        find_done(measurement, &measurement->battery.tasks[at]);
    if (measurement->failed[at] || is_done(benchmark, repetition))
        return false;
    if (!(request->until > 0))
        return true;
    return repetition <= REPETITIONS_LEAST || !benchmark ||
           !(ssprofile_spread(benchmark) <= request->until / 100);
}

/* The order is another one in each repetition, so that a drift of the machine does not always meet
   the same benchmarks; it depends on the repetition alone. */
static void shuffle(size_t *order, size_t count, unsigned repetition) {
    uint64_t random = repetition;
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t i = count; i > 1; i--) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        size_t other = (size_t)((random >> 33) % i), kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
}

static int run_repetition(
    struct measurement *measurement, size_t *order, unsigned repetition, struct ss_error *error) {
    size_t count = measurement->battery.count;
    if (read_results(measurement, error) < 0)
        return -1;
    shuffle(order, count, repetition);
    for (size_t i = 0; i < count; i++) {
        const struct ssprofile_task *task = &measurement->battery.tasks[order[i]];
        struct ss_error why = {0};
        double result;
        if (!wants(measurement, order[i], repetition))
            continue;
        if (ssprofile_run(&measurement->runner, task, &result, &why) < 0) {
            if (ssprofile_is_interrupted())
                return ss_error_fail(error, "%s; the same command goes on from here", why.message);
            measurement->failed[order[i]] = true;
            fprintf(stderr, "ssprofile: warning: %s is left out: %s\n", task->name, why.message);
            continue;
        }
        if (append(measurement, task, repetition, result) < 0)
            return ss_error_fail(error, "%s: %s", measurement->results_path, strerror(errno));
        tell_progress(measurement, task, repetition, result);
    }
    return 0;
}

static int run_all(struct measurement *measurement, struct ss_error *error) {
    const struct request *request = measurement->request;
    size_t count = measurement->battery.count;
    unsigned most = request->until > 0 ? REPETITIONS_MOST : (unsigned)request->repetitions;
    SS_OWNED(free) size_t *order = calloc(count, sizeof *order);
    measurement->failed = calloc(count, sizeof *measurement->failed);
    if (!order || !measurement->failed)
        return ss_error_memory(error);
    if (mend_results(measurement, error) < 0 || read_results(measurement, error) < 0)
        return -1;
    for (unsigned repetition = 1; repetition <= most; repetition++) {
        for (size_t i = 0; i < count; i++)
            measurement->planned +=
                !is_done(find_done(measurement, &measurement->battery.tasks[i]), repetition) &&
                (!(request->until > 0) || repetition <= REPETITIONS_LEAST);
    }
    measurement->begin = ss_platform_now();
    for (unsigned repetition = 1; repetition <= most; repetition++) {
        if (run_repetition(measurement, order, repetition, error) < 0)
            return -1;
    }
    return read_results(measurement, error);
}

static int conclude(const struct measurement *measurement, struct ss_error *error) {
    if (!measurement->profile)
        return ss_error_fail(error, "no benchmark has given a result");
    size_t unstable = 0;
    double limit = measurement->request->until > 0 ? measurement->request->until
                                                   : measurement->request->unstable;
    for (size_t i = 0; i < measurement->profile->count; i++) {
        const struct ssprofile_benchmark *benchmark = &measurement->profile->benchmarks[i];
        double spread = 100 * ssprofile_spread(benchmark);
        unstable += spread > limit;
        if (spread > limit)
            fprintf(stderr,
                "ssprofile: warning: %s is unstable: its repetitions spread by %.2f%%\n",
                benchmark->name, spread);
    }
    printf("%zu of %zu benchmarks measured, %zu unstable\n", measurement->profile->count,
        measurement->battery.count, unstable);
    return 0;
}

static int measure(struct measurement *measurement, struct ss_error *error) {
    const struct request *request = measurement->request;
    char path[4300];
    struct utsname names;
    ssprofile_battery_find(path, sizeof path, request->battery);
    if (ssprofile_battery_read(&measurement->battery, path, error) < 0)
        return -1;
    measurement->runner.throttle.period = request->period;
    measurement->runner.cpu = (uint32_t)request->cpu;
    if (request->under &&
        ssprofile_throttle_parse(&measurement->runner.throttle, request->under, error) < 0)
        return ss_error_wrap(error, "--under");
    uname(&names);
    snprintf(measurement->machine, sizeof measurement->machine, "%s",
        request->machine ? request->machine : names.nodename);
    ssprofile_throttle_name(measurement->limits, &measurement->runner.throttle);
    path_of(measurement->results_path, request, "results.csv");
    if (mkdir(request->folder, 0777) < 0 && errno != EEXIST)
        return ss_error_fail(error, "%s: %s", request->folder, strerror(errno));
    warn_of_quota();
    if (ssprofile_runner_open(&measurement->runner, error) < 0 ||
        keep_description(measurement, error) < 0 || run_all(measurement, error) < 0)
        return -1;
    return conclude(measurement, error);
}

int ssprofile_measure(char **argv, struct ss_error *error) {
    struct request request = {0};
    struct ss_option_store store = {0};
    struct measurement measurement = {.request = &request};
    int result = ss_arguments_parse(rows, &request, &store, argv, NULL, error);
    if (result == 0 && request.help)
        print_help();
    else if (result == 0 && !request.folder)
        result = ss_error_fail(error, "name a folder for the results: see --help");
    else if (result == 0)
        result = measure(&measurement, error);
    ssprofile_runner_close(&measurement.runner);
    ssprofile_battery_free(&measurement.battery);
    ssprofile_results_free(&measurement.results);
    free(measurement.failed);
    ss_option_store_free(&store);
    return result;
}
