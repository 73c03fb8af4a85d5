/* SPDX-License-Identifier: Apache-2.0 */

/* Measures speed at several settings of a throttle. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "base/words.h"
#include "choice.h"
#include "commands.h"
#include "forwarded.h"
#include "options/arguments.h"
#include "pictures.h"
#include "profile_output.h"
#include "ratio_findings.h"
#include "ratios.h"
#include "statistics.h"
#include "throttle.h"

#define SETTINGS "10%,20%,30%,40%,50%,60%,70%,80%,90%,100%"

struct request {
    struct ssprofile_forwarded measure; /* options for measure */
    const char *settings, *battery, *folder;
    double spread; /* in percent; negative: not given */
    int throttle, help;
};

static int accept_folder(
    void *config, const struct ss_argument *row, char *word, struct ss_error *error) {
    struct request *request = config;
    (void)row;
    if (request->folder)
        return ss_error_fail(error, "unexpected argument '%s': the folder was already given, '%s'",
            word, request->folder);
    request->folder = word;
    return 0;
}

#define AT(member) .offset = offsetof(struct request, member)

// clang-format off
static const struct ss_argument rows[] = {
    {0, "KIND", {"throttle", SS_OPTION_CHOICE, AT(throttle), .choices = SSPROFILE_THROTTLE_CHOICES,
        .initial = "duty", .help = "how to slow down this machine"}},
    {0, "LIST", {"settings", SS_OPTION_TEXT, AT(settings), .initial = SETTINGS,
        .help = "settings of the throttle, separated by commas; at most 15"}},
    {0, "NAME|FILE", {"battery", SS_OPTION_TEXT, AT(battery), .initial = "own",
        .help = "the battery to run"}},
    {0, "PERCENT", {"spread", SS_OPTION_PERCENT, AT(spread),
        .help = "leave out benchmarks whose mean is more uncertain than this; default: 2%"}},
    SSPROFILE_FORWARDED(struct request, measure),
    {'h', NULL, {"help", AT(help), .help = "print this help"}},
    SS_ARGUMENTS_WORDS(accept_folder),
};
// clang-format on

static void print_help(void) {
    printf("Usage: ssprofile sweep [OPTION]... DIR\n"
           "Measures this machine under several settings of a throttle, and draws the speed\n"
           "of all benchmarks over the setting as box plots: DIR/sweep.html, sweep.csv and\n"
           "sweep.json. Repeat the command to resume an interrupted measurement.\n\n");
    ss_arguments_print_help(stdout, rows);
}

static const char *kind_of(const struct request *request) {
    return ssprofile_throttle_kind_name(
        (enum ssprofile_throttle_kind)(SSPROFILE_DUTY + request->throttle));
}

static const struct table_column columns[] = {{"limits", "Throttle"}, {"setting", "Setting", 4},
    {"benchmarks", "Benchmarks", 0}, {"least", "Least", 4}, {"lower_quartile", "Lower quartile", 4},
    {"median", "Median", 4}, {"upper_quartile", "Upper quartile", 4}, {"most", "Most", 4},
    {"median_to_setting", "Median/setting", 4}};

/* Adds the box of a setting: speeds of all benchmarks relative to those without a throttle. */
static int add_box(struct table_sheet *sheet, const struct ssprofile_ratios *ratios,
    const char *limits, struct ss_error *error) {
    double setting = ssprofile_throttle_setting_of(limits);
    SS_OWNED(free) double *values = calloc(ratios->count + 1, sizeof *values);
    if (!values)
        return ss_error_memory(error);
    for (size_t i = 0; i < ratios->count; i++)
        values[i] = ratios->items[i].ratio;
    double median = ssreport_quantile_of(values, ratios->count, 0.5);
    TABLE_ROW(sheet, CELL("limits", limits), CELL("setting", setting),
        CELL("benchmarks", ratios->count), CELL("least", values[0]),
        CELL("lower_quartile", ssreport_quantile_of(values, ratios->count, 0.25)),
        CELL("median", median),
        CELL("upper_quartile", ssreport_quantile_of(values, ratios->count, 0.75)),
        CELL("most", values[ratios->count - 1]),
        CELL("median_to_setting", setting <= 1 ? median / setting : NAN));
    return 0;
}

/* Returns the throttled profile with the next higher setting; NULL at the end. */
static const struct ssprofile_profile *find_next(
    const struct ssprofile_results *results, const struct ssprofile_profile *last) {
    double after = last ? ssprofile_throttle_setting_of(last->limits) : -1, least = INFINITY;
    const struct ssprofile_profile *next = NULL;
    for (size_t i = 0; i < results->count; i++) {
        double setting = ssprofile_throttle_setting_of(results->profiles[i].limits);
        if (!(setting > after) || setting >= least)
            continue;
        next = &results->profiles[i];
        least = setting;
    }
    return next;
}

/* Adds boxes for all throttled profiles of the machine. */
static int add_boxes(const struct request *request, const struct ssprofile_results *results,
    struct table_sheet *sheet, struct ss_error *error) {
    struct ssprofile_matching matching = {
        .unstable = request->spread >= 0 ? request->spread / 100 : SSPROFILE_SPREAD_MAX};
    const struct ssprofile_profile *plain = NULL;
    for (size_t i = 0; i < results->count; i++) {
        if (strcmp(results->profiles[i].limits, SSPROFILE_WITHOUT) == 0)
            plain = &results->profiles[i];
    }
    if (!plain)
        return ss_error_fail(error, "no benchmark ran without a throttle");
    for (const struct ssprofile_profile *next = NULL; (next = find_next(results, next));) {
        const struct ssprofile_profile *sides[2] = {plain, next};
        struct ssprofile_ratios ratios = {0};
        struct ssprofile_warnings warnings = {0};
        int result = ssprofile_ratios_make(&ratios, sides, &matching, &warnings, error);
        ssprofile_warnings_print(&warnings);
        if (result == 0)
            result = add_box(sheet, &ratios, next->limits, error);
        ssprofile_ratios_free(&ratios);
        ssprofile_warnings_free(&warnings);
        if (result < 0)
            return ss_error_wrap(error, "%s", next->limits);
    }
    return table_rows(sheet) > 0 ? 0 : ss_error_fail(error, "no benchmark ran under a throttle");
}

static double number_at(const struct table_sheet *sheet, size_t row, const char *name) {
    return table_cell_at(sheet, row, name)->number;
}

/* Reports where the median speed is farthest from the setting, and where benchmarks differ most. */
static void say_farthest(struct table_sheet *findings, const struct table_sheet *sheet) {
    size_t off = 0, wide = 0;
    for (size_t i = 0; i < table_rows(sheet); i++) {
        if (fabs(number_at(sheet, i, "median_to_setting") - 1) >
            fabs(number_at(sheet, off, "median_to_setting") - 1))
            off = i;
        if (number_at(sheet, i, "most") / number_at(sheet, i, "least") >
            number_at(sheet, wide, "most") / number_at(sheet, wide, "least"))
            wide = i;
    }
    if (isfinite(number_at(sheet, off, "median_to_setting")))
        ssprofile_say(findings,
            "The median speed is farthest from the setting under %s: %.4f times the setting.",
            table_cell_at(sheet, off, "limits")->text, number_at(sheet, off, "median_to_setting"));
    ssprofile_say(findings,
        "Benchmarks differ most under %s: relative speeds from %.4f to %.4f, with half of them "
        "between %.4f and %.4f.",
        table_cell_at(sheet, wide, "limits")->text, number_at(sheet, wide, "least"),
        number_at(sheet, wide, "most"), number_at(sheet, wide, "lower_quartile"),
        number_at(sheet, wide, "upper_quartile"));
}

static int report(
    const struct request *request, struct table_sheet *sheet, struct ss_error *error) {
    struct table_sheet findings = SSPROFILE_FINDINGS();
    struct ssprofile_pictures pictures = {0};
    const char *kind = kind_of(request);
    say_farthest(&findings, sheet);
    FILE *script = ssprofile_pictures_add(&pictures, false,
        "Boxes: half of the benchmarks, with their median. Whiskers: all of them. Dashed: as fast "
        "as the setting.",
        "Speed over the setting of %s", kind);
    if (script)
        ssprofile_draw_boxes(script, sheet, kind);
    int result = ssprofile_write(&(struct ssprofile_output){.folder = request->folder,
                                     .name = "sweep",
                                     .title = "Speed over setting",
                                     .sheets = sheet,
                                     .count = 1,
                                     .findings = &findings,
                                     .pictures = &pictures},
        error);
    if (result == 0) {
        ssprofile_print_findings(stdout, &findings);
        ssprofile_print_text(stdout, sheet);
    }
    ssprofile_pictures_free(&pictures);
    table_free(&findings);
    return result;
}

/* Writes "without,duty=10%,duty=20%". */
static int list_throttles(
    const struct request *request, char *text, size_t size, struct ss_error *error) {
    const char *at = request->settings, *kind = kind_of(request);
    struct ss_words_part part;
    size_t used = (size_t)snprintf(text, size, SSPROFILE_WITHOUT);
    while (ss_words_next(&at, ',', &part) && used < size)
        used += (size_t)snprintf(
            text + used, size - used, ",%s=%.*s", kind, (int)part.length, part.text);
    return used < size ? 0 : ss_error_fail(error, "--settings is too long: give fewer settings");
}

static int measure(const struct request *request, struct ss_error *error) {
    char under[1000];
    char *words[SSPROFILE_FORWARDED_WORDS + 8] = {
        (char *)"measure", (char *)"--battery", (char *)request->battery, (char *)"--under", under};
    if (list_throttles(request, under, sizeof under, error) < 0)
        return -1;
    size_t count = 5 + ssprofile_forward(&request->measure, words + 5);
    words[count] = (char *)request->folder;
    return ssprofile_measure(words, error);
}

static int sweep(const struct request *request, struct ss_error *error) {
    struct ssprofile_choice choice;
    struct ssprofile_results results = {0};
    struct table_sheet sheet = TABLE_SHEET("sweep", "Speed relative to that without", columns);
    int result = measure(request, error);
    if (result == 0)
        result = ssprofile_choose(&choice, request->folder, error);
    if (result == 0)
        result = ssprofile_results_read(&results, choice.path, error);
    if (result == 0)
        result = add_boxes(request, &results, &sheet, error);
    if (result == 0)
        result = report(request, &sheet, error);
    table_free(&sheet);
    ssprofile_results_free(&results);
    return result;
}

int ssprofile_sweep(char **argv, struct ss_error *error) {
    struct request request = {.spread = -1};
    struct ss_option_store store = {0};
    int result = ss_arguments_parse(rows, &request, &store, argv, NULL, error);
    if (result == 0 && request.help)
        print_help();
    else if (result == 0 && !request.folder)
        result = ss_error_fail(error, "no folder for the results is given: see --help");
    else if (result == 0)
        result = sweep(&request, error);
    ss_option_store_free(&store);
    return result;
}
