/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpus.h"
#include "load.h"
#include "option.h"
#include "platform/platform.h"
#include "version.h"
#include "wallclock.h"

/* What a run of ssload was asked for. */
struct config {
    ss_time interval;
    uint64_t count;    /* 0: no end */
    ss_time duration;  /* SS_TIME_NEVER: no end */
    const char *cpus;
    struct ss_option_store store;
};

static const struct row {
    char letter;
    struct ss_option option;
} rows[] = {
    {'i', {.name = "interval", .type = SS_OPTION_TIME, .offset = offsetof(struct config, interval),
              .initial = "500m", .min = "10m", .help = "time between samples"}},
    {'c', {.name = "count", .type = SS_OPTION_COUNT, .offset = offsetof(struct config, count),
              .min = "1", .help = "end after so many samples"}},
    {'d', {.name = "duration", .type = SS_OPTION_TIME, .offset = offsetof(struct config, duration),
              .min = "10m", .help = "end after so long"}},
    {0, {.name = "cpus", .type = SS_OPTION_TEXT, .offset = offsetof(struct config, cpus),
            .help = "measure these CPUs, as 0-3,8; default: those that may be used"}},
};

#define ROWS (sizeof rows / sizeof *rows)

static volatile sig_atomic_t interrupted;

static void on_signal(int signal) {
    interrupted = signal;
}

static void print_help(void) {
    printf("Usage: ssload [OPTION]...\n"
           "Measures the CPU load and prints a line of CSV for each sample.\n\n");
    for (size_t i = 0; i < ROWS; i++) {
        char left[64];
        snprintf(left, sizeof left, "  %s%c%s--%s VALUE", rows[i].letter ? "-" : "",
            rows[i].letter ? rows[i].letter : ' ', rows[i].letter ? ", " : "   ",
            rows[i].option.name);
        printf("%-26s %s%s%s\n", left, rows[i].option.help,
            rows[i].option.initial ? "; default " : "",
            rows[i].option.initial ? rows[i].option.initial : "");
    }
    printf("  -h, --help               print this help\n"
           "      --version            print the version\n\n"
           "load is 1 - (idle + iowait) / elapsed; load_ticks is what mpstat, sar and top show.\n");
}

static const struct row *find_row(const char *word) {
    for (size_t i = 0; i < ROWS; i++) {
        char letter[] = {'-', rows[i].letter, '\0'};
        if ((rows[i].letter && strcmp(word, letter) == 0) ||
            (strncmp(word, "--", 2) == 0 && strcmp(word + 2, rows[i].option.name) == 0))
            return &rows[i];
    }
    return NULL;
}

static int parse(struct config *config, int argc, char **argv, struct ss_error *error) {
    *config = (struct config){.interval = 500 * SS_MILLISECOND, .duration = SS_TIME_NEVER};
    for (int i = 1; i < argc; i += 2) {
        const struct row *row = find_row(argv[i]);
        if (!row)
            return ss_error_set(error, SS_ERROR_FAILED, "there is no option %s: see --help",
                argv[i]);
        if (i + 1 == argc)
            return ss_error_set(error, SS_ERROR_FAILED, "%s wants a value", argv[i]);
        if (ss_option_set(&row->option, argv[i + 1], config, &config->store, error) < 0)
            return ss_error_wrap(error, "--%s", row->option.name);
    }
    return 0;
}

static int print_sample(ss_time started, const struct ss_counters *counters,
    const struct ss_load *load) {
    char time[64];
    int64_t since = (int64_t)(ss_platform_now() - counters->time);
    ss_wallclock_print(time, sizeof time, ss_platform_wallclock() - since);
    /* Target and error are empty: there is no trace to hold the load against. */
    printf("%s,%.3f,,%.6f,,", time, ss_time_seconds(counters->time - started), load->load);
    if (!isnan(load->load_ticks))
        printf("%.6f", load->load_ticks);
    putchar('\n');
    return fflush(stdout) == 0 ? 0 : -1;
}

/* Samples stand at absolute times: a late one is divided by its real length, none drifts. */
static int measure(const struct config *config, struct ss_counter_reader *reader,
    struct ss_error *error) {
    struct ss_counters last;
    int why = ss_platform_counters_read(reader, &last);
    ss_time started = last.time;
    ss_time end = ss_time_add(started, config->duration);
    ss_time next = started;
    _Atomic uint32_t word = 0;
    printf("time,elapsed_seconds,target,load,error,load_ticks\n");
    for (uint64_t taken = 0; why == 0 && (config->count == 0 || taken < config->count);) {
        next = ss_time_add(next, config->interval);
        if (next > end)
            break;
        while (!interrupted && ss_platform_now() < next)
            ss_platform_sleep(&word, 0, next);
        if (interrupted)
            break;
        struct ss_counters counters;
        struct ss_load load;
        why = ss_platform_counters_read(reader, &counters);
        if (why)
            break;
        if (ss_load_between(SS_SOURCE_SYSTEM, &last, &counters, &load)) {
            if (print_sample(started, &counters, &load) < 0)
                return ss_error_set(error, SS_ERROR_FAILED, "standard output: %s",
                    strerror(errno));
            taken++;
        }
        last = counters;
    }
    return why ? ss_error_set(error, SS_ERROR_FAILED, "%s: %s", reader->path, strerror(why)) : 0;
}

static int run(const struct config *config, struct ss_error *error) {
    struct ss_cpus cpus;
    struct ss_counter_reader reader;
    ss_platform_affinity(&cpus);
    if (config->cpus && ss_cpus_parse(config->cpus, &cpus, error) < 0)
        return ss_error_wrap(error, "--cpus");
    if (ss_platform_counters_open(&reader, SS_SOURCE_SYSTEM, NULL, &cpus, NULL, error) < 0)
        return -1;
    int status = measure(config, &reader, error);
    ss_platform_counters_close(&reader);
    return status;
}

int main(int argc, char **argv) {
    struct ss_error error = {0};
    struct config config;
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
        return print_help(), 0;
    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return printf("ssload %s\n", ss_version()), 0;
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (parse(&config, argc, argv, &error) < 0 || run(&config, &error) < 0)
        fprintf(stderr, "ssload: %s\n", error.message);
    ss_option_store_free(&config.store);
    return error.status;
}
