/* SPDX-License-Identifier: Apache-2.0 */
#include "load_options.h"

#include "base/paths.h"
#include "base/words.h"

#define AT(member)       .offset = offsetof(struct ssload_request, member)
#define COUNT_AT(member) SS_OPTION_COUNT_AT(struct ssload_request, member)

// clang-format off
static const struct ss_argument rows[] = {
    {'i', "TIME", {"interval", SS_OPTION_TIME, AT(interval), .initial = "500ms", .min = "10ms",
        .sensible = "20ms",
        .help = "time between samples"}},
    {'c', "COUNT", {"count", COUNT_AT(count), .min = "1",
        .help = "end after this many samples"}},
    {'d', "TIME", {"duration", SS_OPTION_TIME, AT(duration), .min = "10ms", .sensible = "500ms",
        .help = "end after this time"}},
    {0, "LIST", {"cpus", SS_OPTION_TEXT, AT(cpus),
        .help = "measure these CPUs: 0-3,8, or 0-14:2 for every second one; default: all that "
                "ssload is allowed to use"}},
    {0, NULL, {"per-cpu", AT(per_cpu), .help = "also print a row for each CPU"}, .excludes = "cgroup"},
    {0, "PATH", {"cgroup", SS_OPTION_TEXT, AT(group),
        .help = "measure a control group instead, as a fraction of its limit"}},
    {0, "FILE", {"target", SS_OPTION_TEXT, AT(target),
        .help = "compare the load with that of this trace, text or compiled"}},
    {'o', "FILE", {"output", SS_OPTION_TEXT, AT(output), .help = "write the samples to FILE; - is standard output"}},
    {0, "FORMAT", {"format", SS_OPTION_CHOICE, AT(format), .choices = "table csv json",
        .help = "default: a table on a terminal, otherwise csv"}},
    {0, "FILE", {"openmetrics", SS_OPTION_TEXT, AT(metrics),
        .help = "also write metrics to FILE as OpenMetrics text, replacing it at each sample"}},
    {'q', NULL, {"quiet", AT(quiet), .help = "print no averages or notes on standard error"}},
    SS_ARGUMENTS_HELP_AT(struct ssload_request),
    SS_ARGUMENTS_END,
};
// clang-format on

void ssload_request_print_help(void) {
    printf("Usage: ssload [OPTION]...\n"
           "       ssload [OPTION]... -- COMMAND [ARGUMENT]...\n"
           "Measures the CPU load until it is interrupted, or while COMMAND runs.\n\n");
    ss_arguments_print_help(stdout, rows);
    printf("\n"
           "A time has a unit: 500ms, 2s, 1min.\n"
           "load is 1 - (idle + iowait) / elapsed; load_ticks is busy ticks over all ticks,\n"
           "as mpstat, sar and top show it. The averages are printed below a table,\n"
           "otherwise on standard error.\n");
}

static int check_paths(const struct ssload_request *request, struct ss_error *error) {
    const struct ss_path paths[] = {
        {"--target", request->target, true},
        {"--output", request->output, false},
        {"--openmetrics", request->metrics, false},
    };
    return ss_paths_check(paths, sizeof paths / sizeof *paths, -1, error);
}

int ssload_request_parse(struct ssload_request *request, char **argv, struct ss_error *error) {
    char **rest;
    *request = (struct ssload_request){.duration = SS_TIME_NEVER, .format = SSLOAD_AUTO};

    if (ss_arguments_parse(rows, request, &request->store, argv, &rest, error) < 0)
        return -1;
    bool marked = rest > argv + 1 && strcmp(rest[-1], "--") == 0;
    if (request->help || request->version)
        return 0;

    if (*rest && !marked)
        return ss_error_fail(error,
            "unexpected argument '%s': put a command after --, as in ssload -- sleep 10; see "
            "--help",
            ss_words_show(*rest).text);
    if (marked && !*rest)
        return ss_error_fail(error, "-- requires a command: use ssload -- sleep 10");
    if (request->metrics && strcmp(request->metrics, "-") == 0)
        return ss_error_fail(
            error, "--openmetrics replaces its file at each sample: name a file, not -");

    if (request->output && strcmp(request->output, "-") == 0)
        request->output = NULL;
    request->command = *rest ? rest : NULL;
    return check_paths(request, error);
}
