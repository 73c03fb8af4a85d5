/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "append_log.h"
#include "base/input_file.h"
#include "base/json.h"
#include "base/owned.h"
#include "base/paths.h"
#include "base/streams.h"
#include "base/units.h"
#include "base/walk.h"
#include "base/wallclock.h"
#include "base/whole_file.h"
#include "base/words.h"
#include "benchmark_run.h"
#include "commands.h"
#include "options/arguments.h"
#include "platform/platform.h"
#include "quote.h"
#include "results.h"
#include "spread.h"
#include "text_stream.h"

/* Version of the layout of profile.json. */
#define SCHEMA 1

#define REPETITIONS     5
#define REPETITIONS_MIN 3  /* repetitions before the spread decides */
#define REPETITIONS_MAX 50 /* maximum with --until-spread */
#define SETTINGS_MAX    16

struct request {
    const char *battery, *only, *under, *machine, *root, *folder;
    char **words; /* at most one, the folder */
    uint64_t cpu, repetitions;
    double until_spread, unstable, min_stable; /* percent; negative if not given */
    ss_time period, quantum, time;
    int idle_states, list, describe, help, quiet;
};

#define AT(member)       .offset = offsetof(struct request, member)
#define COUNT_AT(member) SS_OPTION_COUNT_AT(struct request, member)

// clang-format off
static const struct ss_argument rows[] = {
    {0, "NAME|FILE", {"battery", SS_OPTION_TEXT, AT(battery), .initial = "own",
        .help = "the battery to run: own, stress-ng, applications or a file"}},
    {0, "LIST", {"benchmarks", SS_OPTION_TEXT, AT(only), .initial = "all",
        .help = "measure only benchmarks with these names: shell patterns, separated by commas"}},
    {0, NULL, {"list", AT(list),
        .help = "print the benchmarks of the battery as CSV, and measure nothing"}},
    {0, NULL, {"describe", AT(describe),
        .help = "print the CPU, the version of the benchmarks and the settings of --under as JSON, and measure nothing"}},
    {0, "TIME", {"time", SS_OPTION_TIME, AT(time), .min = "10ms", .max = "1h",
        .help = "run each kernel of ssburn for this long; default: that of `ssburn kernel`"}},
    {0, "CPU", {"cpu", COUNT_AT(cpu), .max = "8191",
        .help = "measure on this CPU; default: the first one that may be used"}},
    {0, "N", {"repetitions", COUNT_AT(repetitions), .min = "1",
        .max = "1000", .help = "run every benchmark this many times; default: 5, without --until-spread"}},
    {0, "PERCENT", {"until-spread", SS_OPTION_PERCENT, AT(until_spread), .max = "100",
        .help = "run every benchmark until its repetitions spread by at most this much, 3 to 50 times"}, .excludes = "repetitions"},
    {0, "PERCENT", {"unstable", SS_OPTION_PERCENT, AT(unstable), .initial = "2",
        .help = "warn about benchmarks whose repetitions spread by more than this; the other commands use a limit of 2%"}},
    {0, "PERCENT", {"min-stable", SS_OPTION_PERCENT, AT(min_stable), .max = "100",
        .help = "fail at the end unless at least two benchmarks of the folder, and this fraction of them, are stable"}},
    {0, "LIST", {"under", SS_OPTION_TEXT, AT(under), .initial = "without",
        .help = "measure under this throttle: duty=40%, load=40%, quota=40%, frequency=1.4GHz or, as a fraction of the highest one, frequency=40%, or 'without' for none; several, separated by commas, all run in each repetition, in random order"}},
    {0, "TIME", {"period", SS_OPTION_TIME, AT(period), .initial = "10ms", .min = "1ms", .max = "1s",
        .help = "the period of a quota"}},
    {0, "TIME", {"quantum", SS_OPTION_TIME, AT(quantum), .initial = "50ms", .min = "2ms", .max = "10s",
        .help = "the length of a round, one run and one stop, of duty and load"}},
    {0, NULL, {"idle-states", AT(idle_states),
        .help = "leave idle states of CPUs as they are; by default CPUs are kept out of them, if " SSPROFILE_LATENCY_FILE " can be written"}},
    {0, "DIR", {"root", SS_OPTION_TEXT, AT(root),
        .help = "read and set the frequency of the machine whose /proc, /sys and /run are in DIR"}},
    {0, "NAME", {"machine", SS_OPTION_TEXT, AT(machine),
        .help = "the machine's name in the results; default: its host name"}},
    {'q', NULL, {"quiet", AT(quiet), .help = "print no progress"}},
    {'h', NULL, {"help", AT(help), .help = "print this help"}},
    SS_ARGUMENTS_WORDS_AT(struct request, words, 1),
};
// clang-format on

static void print_help(void) {
    printf("Usage: ssprofile measure [OPTION]... DIR\n"
           "       ssprofile measure --list|--describe [OPTION]...\n"
           "Runs a battery of benchmarks on one CPU of this machine, which should be idle,\n"
           "and keeps the results in DIR/results.csv. Repeat the command to resume an\n"
           "interrupted measurement.\n\n");
    ss_arguments_print_help(stdout, rows);
}

struct setting {
    struct ssprofile_throttle throttle;
    char limits[32];
    const struct ssprofile_profile *profile; /* results so far; NULL if absent */
};

/* A benchmark under a throttle. */
struct job {
    struct setting *setting;
    const struct ssprofile_task *task;
    bool failed; /* a run failed, so further repetitions are skipped */
};

struct measurement {
    const struct request *request;
    struct ssprofile_battery battery;
    struct ssprofile_runner runner;
    struct ssprofile_results results; /* all results so far */
    struct setting settings[SETTINGS_MAX];
    size_t setting_count;
    struct job *jobs;
    size_t count;
    char machine[256];
    struct ssprofile_append_log table, runs; /* logs of results.csv and runs.csv */
    size_t done, planned;
    ss_time begin;
};

static const char runs_heading[] =
    "order,limits,benchmark,class,repetition,begin,seconds,frequency_hz\n";

/* Returns the path of a file in the folder. free() the result; NULL with the error set. */
static char *path_of(const struct request *request, const char *name, struct ss_error *error) {
    return ss_words_format(error, "%s/%s", request->folder, name);
}

static int open_tables(struct measurement *measurement, struct ss_error *error) {
    SS_OWNED(free) char *results = path_of(measurement->request, "results.csv", error);
    SS_OWNED(free) char *runs = path_of(measurement->request, "runs.csv", error);

    if (!results || !runs ||
        ssprofile_append_log_open(&measurement->table, results, SSPROFILE_RESULTS_HEADING, error) <
            0)
        return -1;
    return ssprofile_append_log_open(&measurement->runs, runs, runs_heading, error);
}

static int read_results(struct measurement *measurement, struct ss_error *error) {
    ssprofile_results_free(&measurement->results);
    for (size_t i = 0; i < measurement->setting_count; i++)
        measurement->settings[i].profile = NULL;

    if (measurement->table.rows == 0)
        return 0;
    if (ssprofile_results_read(&measurement->results, measurement->table.path, error) < 0)
        return -1;

    for (size_t i = 0; i < measurement->setting_count; i++) {
        struct setting *setting = &measurement->settings[i];
        setting->profile =
            ssprofile_results_profile(&measurement->results, measurement->machine, setting->limits);
    }
    return 0;
}

static const struct ssprofile_benchmark *find_results(const struct job *job) {
    return job->setting->profile
               ? ssprofile_profile_find(job->setting->profile, job->task->name, job->task->class)
               : NULL;
}

static bool is_done(const struct job *job, unsigned repetition) {
    const struct ssprofile_benchmark *benchmark = find_results(job);
    char label[16];
    snprintf(label, sizeof label, "%u", repetition);

    for (size_t i = 0; benchmark && i < benchmark->count; i++) {
        if (strcmp(benchmark->repetitions[i].label, label) == 0)
            return true;
    }
    return false;
}

static int append_row(
    struct ssprofile_append_log *table, struct ss_text *text, struct ss_error *error) {
    SS_OWNED(free) char *row = ss_text_close(text, error);
    return row ? ssprofile_append_log_add(table, row, error) : -1;
}

static int add_result(struct measurement *measurement, const struct job *job, unsigned repetition,
    double result, struct ss_error *error) {
    struct ss_text row;
    if (ss_text_open(&row, error) < 0)
        return -1;

    quote_csv(row.stream, measurement->machine);
    fprintf(row.stream, ",%s,", job->setting->limits);
    quote_csv(row.stream, job->task->name);
    fprintf(row.stream, ",%s,", job->task->lower_is_better ? "true" : "false");
    quote_csv(row.stream, job->task->class);
    fprintf(row.stream, ",%u,%.12g\n", repetition, result);
    return append_row(&measurement->table, &row, error);
}

struct run {
    int64_t begin; /* nanoseconds since 1970 */
    double seconds, frequency;
};

static int add_run(struct measurement *measurement, const struct job *job, unsigned repetition,
    const struct run *run, struct ss_error *error) {
    struct ss_text row;
    char when[64];
    if (ss_text_open(&row, error) < 0)
        return -1;

    ss_wallclock_print(when, sizeof when, run->begin);
    fprintf(row.stream, "%zu,%s,", measurement->runs.rows + 1, job->setting->limits);
    quote_csv(row.stream, job->task->name);
    fputc(',', row.stream);
    quote_csv(row.stream, job->task->class);
    fprintf(row.stream, ",%u,%s,%.6f,", repetition, when, run->seconds);
    if (!isnan(run->frequency))
        fprintf(row.stream, "%.0f", run->frequency);
    fputc('\n', row.stream);

    return append_row(&measurement->runs, &row, error);
}

#define KEY_SIZE 64

/*
 * Names the first line in which `existing` differs: by its number or, in JSON, by the last key
 * before its end.
 */
static void name_difference(char name[KEY_SIZE], const char *text, const char *existing) {
    bool has_key = false;
    for (unsigned line = 1;; line++) {
        char key[KEY_SIZE - 2];
        int end = 0;
        size_t length = strcspn(text, "\n") + 1;

        if (sscanf(text, " \"%61[^\"]\":%n", key, &end) == 1 && end > 0)
            snprintf(name, KEY_SIZE, "\"%s\"", key);
        has_key |= end > 0;
        if (!has_key)
            snprintf(name, KEY_SIZE, "line %u", line);

        if (strncmp(text, existing, length) != 0)
            return;
        text += length;
        existing += length;
    }
}

/* Opens the folder of the results. `flags` is 0 or O_CREAT. */
static int open_folder(const struct request *request, int flags, struct ss_error *error) {
    struct ss_error why = {0};
    int folder = ss_walk_folder_path(request->folder, O_PATH | flags, &why);
    return folder < 0 ? ss_error_fail(error, "%s: %s", request->folder, why.message) : folder;
}

/*
 * Writes a file of the folder. Fails if the file exists with other content, unless there are no
 * results yet.
 */
static int keep_file(const struct measurement *measurement, const char *name, const char *text,
    struct ss_error *error) {
    char difference[KEY_SIZE];
    SS_OWNED(free) char *path = path_of(measurement->request, name, error);
    if (!path)
        return -1;

    SS_OWNED(fclose) FILE *old = ss_input_stream(AT_FDCWD, path, INT64_MAX, NULL);
    SS_OWNED(free) char *existing = NULL;
    size_t size = 0;
    bool exists = old && getdelim(&existing, &size, '\0', old) >= 0;

    if (exists && strcmp(existing, text) == 0)
        return 0;
    if (exists && measurement->table.rows > 0) {
        name_difference(difference, text, existing);
        return ss_error_fail(error,
            "%s: the folder has results measured with other options: %s differs: use another "
            "folder",
            path, difference);
    }

    struct ss_whole_file file;
    SS_OWNED(close) int folder = open_folder(measurement->request, 0, error);
    if (folder < 0)
        return -1;

    /* Nobody else may write to it: `calibrate` executes the commands of the battery. */
    if (ss_whole_file_open_below(&file, folder, name) < 0)
        return ss_paths_fail(path, error);
    fputs(text, file.stream);
    return ss_whole_file_commit(&file) < 0 ? ss_paths_fail(path, error) : 0;
}

static void print_description(
    const struct measurement *measurement, const char *version, FILE *stream) {
    const struct request *request = measurement->request;
    bool has_quota = false, has_rounds = false;
    struct ss_json json = {.stream = stream};
    struct ss_quota quota = {0};
    ss_platform_quota_read(NULL, &quota);

    ss_json_open(&json, NULL, '{');
    ss_json_number(&json, "schema", SCHEMA);
    ss_json_text(&json, "machine", measurement->machine);
    ss_json_text(&json, "battery", request->battery);
    ss_json_text(&json, "version", version);

    ss_json_open(&json, "limits", '[');
    for (size_t i = 0; i < measurement->setting_count; i++) {
        enum ssprofile_throttle_kind kind = measurement->settings[i].throttle.kind;
        ss_json_text(&json, NULL, measurement->settings[i].limits);
        has_quota |= kind == SSPROFILE_QUOTA;
        has_rounds |= kind == SSPROFILE_DUTY || kind == SSPROFILE_LOAD;
    }
    ss_json_close(&json, ']');

    ss_json_number(&json, "cpu", measurement->runner.cpu);
    ss_json_number(
        &json, "quota_period_seconds", has_quota ? ss_time_seconds(request->period) : NAN);
    ss_json_number(&json, "quantum_seconds", has_rounds ? ss_time_seconds(request->quantum) : NAN);
    ss_json_text(
        &json, "idle_states", measurement->runner.latency_file >= 0 ? "held off" : "as they are");
    ss_json_number(&json, "quota_around_cpus", quota.cpus > 0 ? quota.cpus : NAN);

    ss_json_close(&json, '}');
    fputc('\n', stream);
}

/*
 * Writes version.txt. If `version` is NULL and the folder has no results yet, removes the file,
 * which an earlier battery may have left.
 */
static int keep_version(
    const struct measurement *measurement, const char *version, struct ss_error *error) {
    if (version)
        return keep_file(measurement, "version.txt", version, error);
    if (measurement->table.rows > 0)
        return 0;

    SS_OWNED(close) int folder = open_folder(measurement->request, 0, error);
    if (folder < 0)
        return -1;
    return unlinkat(folder, "version.txt", 0) < 0 && errno != ENOENT
               ? ss_paths_fail("version.txt", error)
               : 0;
}

/* Fails after an interruption, and says how to resume. */
static int fail_interrupted(const struct ss_error *why, struct ss_error *error) {
    return ss_error_fail(error, "%s; run the same command again to resume", why->message);
}

/* Sets `version` to the first line that the version command prints, or NULL without one. */
static int read_version(
    const struct measurement *measurement, char **version, struct ss_error *error) {
    *version = NULL;
    if (!measurement->battery.version)
        return 0;

    *version = ssprofile_run_output(&measurement->runner, measurement->battery.version, error);
    if (!*version)
        return ss_error_wrap(error, "the version command of the battery");

    (*version)[strcspn(*version, "\n")] = '\0';
    return 0;
}

static int keep_description(struct measurement *measurement, struct ss_error *error) {
    SS_OWNED(free) char *version = NULL;
    SS_OWNED(free) char *path = path_of(measurement->request, "platform.json", error);
    struct ss_text description;
    if (!path || read_version(measurement, &version, error) < 0 ||
        ss_text_open(&description, error) < 0)
        return -1;

    print_description(measurement, version, description.stream);
    SS_OWNED(free) char *text = ss_text_close(&description, error);
    if (!text || keep_file(measurement, "profile.json", text, error) < 0 ||
        keep_file(measurement, "battery.txt", measurement->battery.text, error) < 0 ||
        keep_version(measurement, version, error) < 0)
        return -1;

    char program[] = "showstopper-platform", option[] = "-o";
    char *describe[] = {program, option, path, NULL};
    struct ss_error why = {0};
    if (access(path, F_OK) < 0)
        free(ssprofile_run_output(&measurement->runner, describe, &why));
    if (why.status && ssprofile_is_interrupted())
        return fail_interrupted(&why, error);
    if (why.status)
        fprintf(stderr, "ssprofile: warning: cannot write platform.json: %s\n", why.message);
    return 0;
}

static void print_progress(
    struct measurement *measurement, const struct job *job, unsigned repetition, double result) {
    double elapsed = ss_time_seconds(ss_time_since(ss_platform_now(), measurement->begin));
    size_t left =
        measurement->planned > measurement->done ? measurement->planned - measurement->done : 0;

    measurement->done++;
    if (measurement->request->quiet)
        return;

    fprintf(stderr, "%zu/%zu %s ", measurement->done, measurement->planned, job->task->name);
    if (measurement->setting_count > 1)
        fprintf(stderr, "%s ", job->setting->limits);
    fprintf(stderr, "%u: %.6g %s, %.0f s left\n", repetition, result, job->task->unit,
        elapsed / (double)measurement->done * (double)(left > 0 ? left - 1 : 0));
}

static bool is_due(
    const struct measurement *measurement, const struct job *job, unsigned repetition) {
    const struct request *request = measurement->request;
    if (job->failed || is_done(job, repetition))
        return false;

    const struct ssprofile_benchmark *benchmark = find_results(job);
    if (request->until_spread < 0)
        return true;
    return repetition <= REPETITIONS_MIN || !benchmark ||
           !(ssprofile_spread(benchmark) <= request->until_spread / 100);
}

static int run_job(
    struct measurement *measurement, struct job *job, unsigned repetition, struct ss_error *error) {
    struct ssprofile_outcome outcome;
    struct ss_error why = {0};
    struct run run = {.begin = ss_platform_wallclock()};
    ss_time begin = ss_platform_now();

    if (ssprofile_runner_set_throttle(&measurement->runner, &job->setting->throttle, error) < 0)
        return -1;
    if (ssprofile_run(&measurement->runner, job->task, &outcome, &why) < 0) {
        if (ssprofile_is_interrupted())
            return fail_interrupted(&why, error);
        job->failed = true;
        fprintf(stderr, "ssprofile: warning: skipping %s under %s in further repetitions: %s\n",
            job->task->name, job->setting->limits, why.message);
        return 0;
    }

    run.seconds = ss_time_seconds(ss_time_since(ss_platform_now(), begin));
    run.frequency = outcome.frequency;
    if (add_result(measurement, job, repetition, outcome.result, error) < 0 ||
        add_run(measurement, job, repetition, &run, error) < 0)
        return -1;

    print_progress(measurement, job, repetition, outcome.result);
    return 0;
}

static int run_repetition(
    struct measurement *measurement, size_t *order, unsigned repetition, struct ss_error *error) {
    if (read_results(measurement, error) < 0)
        return -1;

    ssprofile_shuffle(order, measurement->count, repetition);
    for (size_t i = 0; i < measurement->count; i++) {
        struct job *job = &measurement->jobs[order[i]];
        if (is_due(measurement, job, repetition) &&
            run_job(measurement, job, repetition, error) < 0)
            return -1;
    }
    return 0;
}

static int run_all(struct measurement *measurement, struct ss_error *error) {
    const struct request *request = measurement->request;
    unsigned requested = request->repetitions > 0 ? (unsigned)request->repetitions : REPETITIONS;
    unsigned max = request->until_spread >= 0 ? REPETITIONS_MAX : requested;

    SS_OWNED(free) size_t *order = calloc(measurement->count, sizeof *order);
    if (!order)
        return ss_error_memory(error);
    if (read_results(measurement, error) < 0)
        return -1;

    for (unsigned repetition = 1; repetition <= max; repetition++) {
        for (size_t i = 0; i < measurement->count; i++)
            measurement->planned += !is_done(&measurement->jobs[i], repetition) &&
                                    (request->until_spread < 0 || repetition <= REPETITIONS_MIN);
    }

    measurement->begin = ss_platform_now();
    for (unsigned repetition = 1; repetition <= max; repetition++) {
        if (run_repetition(measurement, order, repetition, error) < 0)
            return -1;
    }

    return read_results(measurement, error);
}

/* Warns about benchmarks that are unstable under this throttle, and returns their number. */
static size_t warn_of_unstable(
    const struct measurement *measurement, const struct setting *setting) {
    double limit = measurement->request->unstable;
    bool several = measurement->setting_count > 1;
    size_t unstable = 0;

    for (size_t i = 0; setting->profile && i < setting->profile->count; i++) {
        const struct ssprofile_benchmark *benchmark = &setting->profile->benchmarks[i];
        double spread = 100 * ssprofile_spread(benchmark);
        if (!(spread > limit))
            continue;

        unstable++;
        fprintf(stderr, "ssprofile: warning: %s%s%s is unstable: " SSPROFILE_UNCERTAIN_FORMAT "\n",
            benchmark->name, several ? " under " : "", several ? setting->limits : "", spread,
            benchmark->count);
    }

    return unstable;
}

/* Renames the results, so that the same command measures everything again. */
static int set_results_aside(const struct request *request, struct ss_error *error) {
    static const char *const names[][2] = {
        {"results.csv", "unstable-results.csv"}, {"runs.csv", "unstable-runs.csv"}};
    SS_OWNED(close) int folder = open_folder(request, 0, error);
    if (folder < 0)
        return -1;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (renameat(folder, names[i][0], folder, names[i][1]) < 0)
            return ss_paths_fail(names[i][1], error);
    }
    return 0;
}

/*
 * With --min-stable, fails if too few of the folder's benchmarks are stable, and renames the
 * results.
 */
static int check_stable(
    const struct request *request, size_t count, size_t unstable, struct ss_error *error) {
    size_t stable = count - unstable;
    bool too_few = stable < 2;

    if (request->min_stable < 0 ||
        (!too_few && 100 * (double)stable >= request->min_stable * (double)count))
        return 0;

    if (set_results_aside(request, error) < 0)
        return -1;
    if (too_few)

        return ss_error_fail(error,
            "%zu of %zu benchmarks are unstable, which leaves too few to compare: measure again on "
            "an idle machine, or allow more: --unstable 10%%",
            unstable, count);
    return ss_error_fail(error,
        "%zu of %zu benchmarks are unstable: measure again on an idle machine, or continue with "
        "the others: --min-stable 1%%",
        unstable, count);
}

static int print_summary(const struct measurement *measurement, struct ss_error *error) {
    size_t measured = 0;
    for (size_t i = 0; i < measurement->setting_count; i++) {
        const struct setting *setting = &measurement->settings[i];
        size_t count = 0, planned = measurement->count / measurement->setting_count;
        /* With --benchmarks, the folder may have others from an earlier call. */
        size_t all = setting->profile ? setting->profile->count : 0;

        for (size_t j = i * planned; j < (i + 1) * planned; j++)
            count += find_results(&measurement->jobs[j]) != NULL;
        size_t unstable = warn_of_unstable(measurement, setting);

        if (measurement->setting_count > 1)
            printf("%s: ", setting->limits);
        printf("%zu of %zu benchmarks measured, %zu", count, planned, unstable);
        if (all > count)
            printf(" of %zu in this folder", all);
        printf(" unstable\n");

        measured += count;
        if (count > 0 && check_stable(measurement->request, all, unstable, error) < 0)
            return -1;
    }

    return measured > 0 ? 0 : ss_error_fail(error, "no benchmark printed a result");
}

/* Parses a list of throttles such as "without,duty=40%". */
static int parse_throttles(struct measurement *measurement, struct ss_error *error) {
    const char *at = measurement->request->under;
    struct ss_words_part part;
    while (ss_words_next(&at, ',', &part)) {
        struct setting *setting = &measurement->settings[measurement->setting_count];
        char text[64];

        if (measurement->setting_count == SETTINGS_MAX)
            return ss_error_fail(error, "too many throttles (at most %d)", SETTINGS_MAX);
        snprintf(text, sizeof text, "%.*s", (int)(part.length < 63 ? part.length : 63), part.text);

        setting->throttle.period = measurement->request->period;
        setting->throttle.quantum = measurement->request->quantum;
        setting->throttle.root = measurement->request->root;
        if (ssprofile_throttle_parse(&setting->throttle, text, error) < 0 ||
            ssprofile_throttle_resolve(&setting->throttle, measurement->runner.cpu, error) < 0)
            return -1;

        ssprofile_throttle_name(setting->limits, &setting->throttle);
        for (size_t i = 0; i < measurement->setting_count; i++) {
            if (strcmp(measurement->settings[i].limits, setting->limits) == 0)
                return ss_error_fail(error, "%s is given twice: name each throttle once", text);
        }

        measurement->setting_count++;
    }

    return measurement->setting_count > 0
               ? 0
               : ss_error_fail(error, "--under: the list is empty: use KIND=PERCENT");
}

/* Returns the list of --benchmarks, or NULL for all benchmarks. */
static const char *patterns_of(const struct request *request) {
    return strcmp(request->only, "all") == 0 ? NULL : request->only;
}

/* Checks, before the measurement begins, that each pattern matches a benchmark. */
static int check_names(const struct measurement *measurement, struct ss_error *error) {
    const struct ssprofile_battery *battery = &measurement->battery;
    const char *at = patterns_of(measurement->request);
    struct ss_words_part part;
    while (at && ss_words_next(&at, ',', &part)) {
        char pattern[256];
        size_t i = 0;

        snprintf(pattern, sizeof pattern, "%.*s", (int)(part.length < 255 ? part.length : 255),
            part.text);

        while (i < battery->count && fnmatch(pattern, battery->tasks[i].name, 0) != 0)
            i++;
        if (i == battery->count)
            return ss_error_fail(error, "--benchmarks: the battery %s has no benchmark '%s'",
                measurement->request->battery, ss_words_show(pattern).text);
    }

    return 0;
}

static int make_jobs(struct measurement *measurement, struct ss_error *error) {
    const struct ssprofile_battery *battery = &measurement->battery;
    const char *patterns = patterns_of(measurement->request);

    measurement->jobs =
        calloc(battery->count * measurement->setting_count, sizeof *measurement->jobs);
    if (!measurement->jobs)
        return ss_error_memory(error);

    for (size_t i = 0; i < measurement->setting_count; i++) {
        for (size_t j = 0; j < battery->count; j++) {
            const struct ssprofile_task *task = &battery->tasks[j];
            if (ssprofile_is_chosen(patterns, task->name))
                measurement->jobs[measurement->count++] =
                    (struct job){&measurement->settings[i], task, false};
        }
    }

    return 0;
}

/* Reads the battery, and adds --time to its commands. */
static int read_battery(struct measurement *measurement, struct ss_error *error) {
    const struct request *request = measurement->request;
    char time[32];

    if (ssprofile_battery_find(&measurement->battery, request->battery, error) < 0)
        return -1;

    ss_units_print_time(time, sizeof time, request->time);
    return request->time > 0 ? ssprofile_battery_set_time(&measurement->battery, time, error) : 0;
}

static int list_battery(struct measurement *measurement, struct ss_error *error) {
    const struct ssprofile_battery *battery = &measurement->battery;
    const char *patterns = patterns_of(measurement->request);

    if (read_battery(measurement, error) < 0)
        return -1;

    printf("benchmark,class,lower_is_better\n");
    for (size_t i = 0; i < battery->count; i++) {
        const struct ssprofile_task *task = &battery->tasks[i];
        if (!ssprofile_is_chosen(patterns, task->name))
            continue;

        quote_csv(stdout, task->name);
        putchar(',');
        quote_csv(stdout, task->class);
        printf(",%s\n", task->lower_is_better ? "true" : "false");
    }

    return 0;
}

/* Reads the battery, and chooses the CPU and the throttles. */
static int choose_settings(struct measurement *measurement, struct ss_error *error) {
    if (read_battery(measurement, error) < 0 ||
        ssprofile_choose_cpu(measurement->request->cpu, &measurement->runner.cpu, error) < 0)
        return -1;
    return parse_throttles(measurement, error) < 0 ? ss_error_wrap(error, "--under") : 0;
}

/* Prints the frequency and the lowest one as null unless the throttle sets the frequency. */
static int print_setting(struct ss_json *json, const struct measurement *measurement,
    const struct setting *setting, struct ss_error *error) {
    const struct ssprofile_throttle *throttle = &setting->throttle;
    struct ssprofile_levels levels = {0};
    bool is_frequency = throttle->kind == SSPROFILE_FREQUENCY;

    if (is_frequency &&
        ssprofile_levels_read(&levels, throttle->root, measurement->runner.cpu, error) < 0)
        return -1;

    bool has_setting = throttle->kind != SSPROFILE_NO_THROTTLE;
    ss_json_open(json, NULL, '{');
    ss_json_text(json, "limits", setting->limits);
    ss_json_number(json, "setting", has_setting ? throttle->setting : NAN);
    ss_json_number(json, "frequency_hz", is_frequency ? throttle->frequency : NAN);
    ss_json_number(json, "lowest_hz", is_frequency ? levels.lowest : NAN);
    ss_json_close(json, '}');
    return 0;
}

/* Prints what `calibrate` needs to know before it measures. */
static int describe(struct measurement *measurement, struct ss_error *error) {
    struct ss_json json = {.stream = stdout};
    SS_OWNED(free) char *version = NULL;

    if (choose_settings(measurement, error) < 0 || read_version(measurement, &version, error) < 0)
        return -1;

    ss_json_open(&json, NULL, '{');
    ss_json_number(&json, "cpu", measurement->runner.cpu);
    ss_json_text(&json, "version", version);

    ss_json_open(&json, "settings", '[');
    for (size_t i = 0; i < measurement->setting_count; i++) {
        if (print_setting(&json, measurement, &measurement->settings[i], error) < 0)
            return -1;
    }

    ss_json_close(&json, ']');
    ss_json_close(&json, '}');
    return 0;
}

static int measure(struct measurement *measurement, struct ss_error *error) {
    const struct request *request = measurement->request;
    struct utsname names;

    if (request->repetitions == 1 && request->min_stable >= 0)
        return ss_error_fail(error,
            "--min-stable cannot judge single runs, which have no spread: use at least "
            "--repetitions 2");

    SS_OWNED(free)
    char *sys = ss_words_format(error, "%s/sys", request->root ? request->root : "");
    if (!sys)
        return -1;
    measurement->runner.sys = sys;
    if (choose_settings(measurement, error) < 0 || check_names(measurement, error) < 0 ||
        make_jobs(measurement, error) < 0)
        return -1;

    uname(&names);
    const char *machine = request->machine ? request->machine : names.nodename;
    const char *fault = strlen(machine) < sizeof measurement->machine
                            ? ssprofile_name_fault(machine)
                            : "is longer than 255 bytes";
    if (fault)
        return ss_error_fail(
            error, "invalid machine name '%s': it %s", ss_words_show(machine).text, fault);
    strcpy(measurement->machine, machine);

    SS_OWNED(close) int folder = open_folder(request, O_CREAT, error);
    SS_OWNED(close)
    int lock = folder < 0 ? -1 : ssprofile_append_log_lock(folder, request->folder, error);
    if (lock < 0)
        return -1;

    ssprofile_runner_open(&measurement->runner, request->idle_states);
    /* open_tables() comes first: the description depends on whether the folder has results. */
    bool failed = open_tables(measurement, error) < 0 || keep_description(measurement, error) < 0 ||
                  run_all(measurement, error) < 0;

    ssprofile_runner_close(&measurement->runner);
    ssprofile_append_log_close(&measurement->table);
    ssprofile_append_log_close(&measurement->runs);

    return failed ? -1 : print_summary(measurement, error);
}

static int execute(struct measurement *measurement, struct ss_error *error) {
    const struct request *request = measurement->request;
    if (request->help) {
        print_help();
        return 0;
    }
    if (request->list)
        return list_battery(measurement, error);
    if (request->describe)
        return describe(measurement, error);
    if (!request->folder)
        return ss_error_fail(error, "no folder for the results given: see --help");
    return measure(measurement, error);
}

int ssprofile_measure(char **argv, struct ss_error *error) {
    struct request request = {.cpu = SSPROFILE_ANY_CPU, .until_spread = -1, .min_stable = -1};
    struct ss_option_store store = {0};
    struct measurement measurement = {.request = &request};

    int result = ss_arguments_parse(rows, &request, &store, argv, NULL, error);
    if (result == 0) {
        request.folder = *request.words;
        result = execute(&measurement, error);
    }

    ssprofile_battery_free(&measurement.battery);
    ssprofile_results_free(&measurement.results);
    free(measurement.jobs);
    ss_option_store_free(&store);
    return result;
}
