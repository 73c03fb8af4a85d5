/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "cpus.h"
#include "load.h"
#include "platform/platform.h"
#include "version.h"
#include "wallclock.h"

/* What a run of ssload was asked for. */
struct config {
    ss_time interval;
    uint64_t count;   /* 0: no end */
    ss_time duration; /* SS_TIME_NEVER: no end */
    const char *cpus;
    int help;
    int version;
    struct ss_option_store store;
};

#define AT(member) .offset = offsetof(struct config, member)

// clang-format off
static const struct ss_argument rows[] = {
    {'i', "TIME", {"interval", SS_OPTION_TIME, AT(interval), .initial = "500m", .min = "10m",
        .help = "time between samples"}},
    {'c', "COUNT", {"count", SS_OPTION_COUNT, AT(count), .min = "1",
        .help = "end after so many samples"}},
    {'d', "TIME", {"duration", SS_OPTION_TIME, AT(duration), .min = "10m",
        .help = "end after so long"}},
    {0, "LIST", {"cpus", SS_OPTION_TEXT, AT(cpus),
        .help = "measure these CPUs, as 0-3,8; default: those that may be used"}},
    {'h', NULL, {"help", AT(help), .help = "print this help"}},
    {0, NULL, {"version", AT(version), .help = "print the version"}},
    SS_ARGUMENTS_END,
};
// clang-format on

static volatile sig_atomic_t interrupted;

static void on_signal(int signal) {
    interrupted = signal;
}

static void print_help(void) {
    printf("Usage: ssload [OPTION]...\n"
           "Measures the CPU load and prints a line of CSV for each sample.\n\n");
    ss_arguments_print_help(stdout, rows);
    printf("\n"
           "load is 1 - (idle + iowait) / elapsed; load_ticks is what mpstat, sar and top\nshow.\n");
}

static int parse(struct config *config, char **argv, struct ss_error *error) {
    char **rest;
    *config = (struct config){.duration = SS_TIME_NEVER};
    if (ss_arguments_parse(rows, config, &config->store, argv, &rest, error) < 0)
        return -1;
    if (*rest)
        return ss_error_set(error, SS_ERROR_FAILED, "'%s' is no option: see --help", *rest);
    return 0;
}

static int print_sample(
    ss_time started, const struct ss_counters *counters, const struct ss_load *load) {
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
static int measure(
    const struct config *config, struct ss_counter_reader *reader, struct ss_error *error) {
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
                return ss_error_set(error, SS_ERROR_FAILED, "standard output: %s", strerror(errno));
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
    (void)argc;
    struct ss_error error = {0};
    struct config config;
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    int status = parse(&config, argv, &error);
    if (status == 0 && config.help)
        print_help();
    else if (status == 0 && config.version)
        printf("ssload %s\n", ss_version());
    else if (status == 0)
        status = run(&config, &error);
    if (fflush(stdout) != 0 && status == 0)
        status = ss_error_set(&error, SS_ERROR_FAILED, "standard output: %s", strerror(errno));
    if (status < 0)
        fprintf(stderr, "ssload: %s\n", error.message);
    ss_option_store_free(&config.store);
    return error.status;
}
