/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "battery.h"
#include "benchmark_run.h"
#include "choice.h"
#include "commands.h"
#include "halves.h"
#include "options/arguments.h"
#include "origin.h"
#include "pictures.h"
#include "profile_output.h"
#include "published.h"
#include "ratio_findings.h"
#include "ratios.h"

#define SIDES_MAX 64

struct request {
    const char *output, *only, *class, *battery;
    double spread, within; /* in percent; negative: not given */
    int help, quiet, force, halves, all;
    char *words[SIDES_MAX]; /* the base and its targets */
    size_t count;
};

static int accept_profile(
    void *config, const struct ss_argument *row, char *word, struct ss_error *error) {
    struct request *request = config;
    (void)row;
    if (request->count == SIDES_MAX)
        return ss_error_fail(error, "too many profiles (at most %d): compare fewer", SIDES_MAX);
    request->words[request->count++] = word;
    return 0;
}

#define AT(member) .offset = offsetof(struct request, member)

// clang-format off
static const struct ss_argument rows[] = {
    {'o', "DIR", {"output", SS_OPTION_TEXT, AT(output),
        .help = "write every table to this folder as CSV, all of them as compare.json, and compare.html"}},
    {0, "NAME|FILE", {"battery", SS_OPTION_TEXT, AT(battery),
        .help = "compare only benchmarks of this battery, by name and class, and report the missing ones"}},
    {0, "LIST", {"benchmarks", SS_OPTION_TEXT, AT(only),
        .help = "compare only benchmarks with these names: shell patterns, separated by commas"}},
    {0, "NAME", {"class", SS_OPTION_TEXT, AT(class), .help = "compare only this class"}},
    {0, "PERCENT", {"spread", SS_OPTION_PERCENT, AT(spread),
        .help = "leave out benchmarks whose repetitions spread by more than this; default: 2% between folders of ssprofile measure, no limit for other tables"}},
    {0, "PERCENT", {"within", SS_OPTION_PERCENT, AT(within), .max = "100",
        .help = "say how many ratios of throttled targets differ from 1 by at most this, and name the others"}},
    {0, NULL, {"all", AT(all),
        .help = "a target that is a folder stands for all throttles that were measured there"}},
    {0, NULL, {"halves", AT(halves),
        .help = "compare the even repetitions of one profile with its odd ones, which shows the effect of chance alone"}},
    {0, NULL, {"force", AT(force),
        .help = "compare results of different versions of the benchmarks"}},
    {'q', NULL, {"quiet", AT(quiet), .help = "print nothing on standard output"}},
    {'h', NULL, {"help", AT(help), .help = "print this help"}},
    SS_ARGUMENTS_WORDS(accept_profile),
};
// clang-format on

static void print_help(void) {
    printf("Usage: ssprofile compare [OPTION]... BASE TARGET [TARGET]...\n"
           "       ssprofile compare [OPTION]... --halves PROFILE\n"
           "Prints how much faster each target is than the base, benchmark by benchmark. A\n"
           "ratio above 1 means that the target is faster. BASE and TARGET are a folder\n"
           "that ssprofile measure made or a table of results; FILE:MACHINE[:LIMITS] names\n"
           "one machine of several in a file.\n\n");
    ss_arguments_print_help(stdout, rows);
}

enum { RANGES, PUBLISHED, REDUCTIONS, LEFT_OUT, RATIOS, SHEETS };

static const struct table_column ratio_columns[] = {{"target", "Target"},
    {"benchmark", "Benchmark"}, {"class", "Class"}, {"ratio", "Ratio", 4}, {"log_ratio", NULL},
    {"base_repetitions", "Base reps", 0}, {"target_repetitions", "Reps", 0},
    {"base_spread_percent", "Base spread, %", 2}, {"target_spread_percent", "Spread, %", 2}};

static const struct table_column range_columns[] = {{"target", "Target"},
    {"benchmarks", "Benchmarks", 0}, {"least", "Least", 4}, {"most", "Most", 4},
    {"length", "Length", 4}, {"median", "Median", 4}, {"mean", "Mean", 4},
    {"geometric_mean", "Geometric mean", 4}, {"most_to_least", "Most/least", 4},
    {"variation_percent", "Variation, %", 2}, {"coverage_percent", "Coverage, %", 1}};

static const struct table_column reduction_columns[] = {{"plain", "Plain"},
    {"throttled", "Throttled"}, {"benchmarks", "Benchmarks", 0},
    {"reduction", "Range shorter by", 4}, {"factor", "Common factor", 4},
    {"relative", "Relative spread", 4}, {"factor_share_percent", "Factor's share, %", 1},
    {"most_to_least_before", "Most/least before", 4}, {"most_to_least_after", "After", 4}};

static const struct table_column left_out_columns[] = {{"target", "Target"},
    {"benchmark", "Benchmark"}, {"class", "Class"}, {"why", "Why"},
    {"base_spread_percent", "Base spread, %", 2}, {"target_spread_percent", "Spread, %", 2}};

static const struct table_column published_columns[] = {{"base", "Base"}, {"target", "Target"},
    {"limits", "Limits"}, {"benchmarks", "Benchmarks", 0}, {"least", "Least", 2},
    {"most", "Most", 2}, {"length", "Length", 2}, {"median", "Median", 2}, {"mean", "Mean", 2},
    {"applications", "Applications", 0}, {"inside", "Inside", 0}};

static void fill_ratios(
    struct table_sheet *sheet, const char *target, const struct ssprofile_ratios *ratios) {
    for (size_t i = 0; i < ratios->count; i++) {
        const struct ssprofile_ratio *ratio = &ratios->items[i];
        TABLE_ROW(sheet, CELL("target", target), CELL("benchmark", ratio->name),
            CELL("class", ratio->class), CELL("ratio", ratio->ratio), CELL("log_ratio", ratio->log),
            CELL("base_repetitions", ratio->repetitions[0]),
            CELL("target_repetitions", ratio->repetitions[1]),
            CELL("base_spread_percent", 100 * ratio->spread[0]),
            CELL("target_spread_percent", 100 * ratio->spread[1]));
    }
}

static void fill_range(
    struct table_sheet *sheet, const char *target, const struct ssprofile_figures *figures) {
    TABLE_ROW(sheet, CELL("target", target), CELL("benchmarks", figures->count),
        CELL("least", figures->least), CELL("most", figures->most), CELL("length", figures->length),
        CELL("median", figures->median), CELL("mean", figures->mean),
        CELL("geometric_mean", figures->geometric), CELL("most_to_least", figures->most_to_least),
        CELL("variation_percent", 100 * figures->variation),
        CELL("coverage_percent", 100 * ssprofile_coverage_of(figures->count)));
}

static void fill_left_out(
    struct table_sheet *sheet, const char *target, const struct ssprofile_ratios *ratios) {
    for (size_t i = 0; i < ratios->left_out_count; i++) {
        const struct ssprofile_left_out *left_out = &ratios->left_out[i];
        TABLE_ROW(sheet, CELL("target", target), CELL("benchmark", left_out->name),
            CELL("class", left_out->class), CELL("why", left_out->why),
            CELL("base_spread_percent", 100 * left_out->spread[0]),
            CELL("target_spread_percent", 100 * left_out->spread[1]));
    }
}

struct side {
    struct ssprofile_choice choice;
    struct ssprofile_results results;
    const struct ssprofile_profile *profile;
    struct ssprofile_ratios ratios; /* ratios of the target to the base */
    struct ssprofile_series series; /* `ratios` with their figures */
    bool is_paired;                 /* compared with its plain or throttled counterpart */
    struct ssprofile_origin origin;
    char name[600];
};

struct comparison {
    struct side sides[SIDES_MAX];
    size_t count;
    struct ssprofile_results halves; /* the base and the target made from a single profile */
    char whole[600];                 /* the name of that profile */
    char published_title[200];
    struct table_sheet sheets[SHEETS], findings;
    struct ssprofile_warnings warnings;
    struct ssprofile_pictures pictures;
    struct ssprofile_battery battery;
};

/*
 * Keeps only benchmarks that both have, because others would change the range. Both lists point to
 * names in the base's profile, in its order; so names are compared by address, and each search
 * begins after the last match.
 */
static int keep_common(struct ssprofile_ratios *kept, const struct ssprofile_ratios *from,
    const struct ssprofile_ratios *other) {
    *kept = (struct ssprofile_ratios){calloc(from->count + 1, sizeof *kept->items), 0, from->count};
    if (!kept->items)
        return -1;
    for (size_t i = 0, next = 0; i < from->count; i++) {
        for (size_t j = next; j < other->count; j++) {
            if (from->items[i].name == other->items[j].name) {
                kept->items[kept->count++] = from->items[i];
                next = j + 1;
                break;
            }
        }
    }
    return 0;
}

static int fill_reduction(
    struct comparison *comparison, struct side *plain, struct side *throttled) {
    struct ssprofile_ratios both[2] = {{0}};
    struct table_sheet *sheet = &comparison->sheets[REDUCTIONS];
    if (keep_common(&both[0], &plain->ratios, &throttled->ratios) < 0 ||
        keep_common(&both[1], &throttled->ratios, &plain->ratios) < 0) {
        ssprofile_ratios_free(&both[0]);
        return -1;
    }
    if (both[0].count > 1) {
        struct ssprofile_series series[2] = {plain->series, throttled->series};
        for (int i = 0; i < 2; i++) {
            series[i].ratios = &both[i];
            series[i].figures = ssprofile_ratios_figures(&both[i]);
        }
        struct ssprofile_reduction reduction =
            ssprofile_reduction_of(&series[0].figures, &series[1].figures);
        TABLE_ROW(sheet, CELL("plain", plain->name), CELL("throttled", throttled->name),
            CELL("benchmarks", both[0].count), CELL("reduction", reduction.reduction),
            CELL("factor", reduction.factor), CELL("relative", reduction.relative),
            CELL("factor_share_percent", 100 * reduction.share),
            CELL("most_to_least_before", series[0].figures.most_to_least),
            CELL("most_to_least_after", series[1].figures.most_to_least));
        ssprofile_say_reduction(&comparison->findings, &series[0], &series[1]);
        plain->is_paired = throttled->is_paired = true;
    }
    ssprofile_ratios_free(&both[0]);
    ssprofile_ratios_free(&both[1]);
    return 0;
}

/* Compares each throttled target with the plain one of the same machine. */
static int fill_reductions(struct comparison *comparison) {
    for (size_t i = 1; i < comparison->count; i++) {
        struct side *plain = &comparison->sides[i];
        if (strcmp(plain->profile->limits, SSPROFILE_WITHOUT) != 0)
            continue;
        for (size_t j = 1; j < comparison->count; j++) {
            struct side *other = &comparison->sides[j];
            if (strcmp(other->profile->limits, SSPROFILE_WITHOUT) != 0 &&
                strcmp(other->profile->machine, plain->profile->machine) == 0 &&
                fill_reduction(comparison, plain, other) < 0)
                return -1;
        }
    }
    return 0;
}

static void name_side(struct side *side) {
    snprintf(side->name, sizeof side->name, "%.290s:%.290s", side->profile->machine,
        side->profile->limits);
}

/* Reads a side. A file that several sides name is read once, because it may be a pipe. */
static int read_side(struct comparison *comparison, const char *word, struct ss_error *error) {
    if (comparison->count == SIDES_MAX)
        return ss_error_fail(error, "at most %d profiles can be compared", SIDES_MAX);
    struct side *side = &comparison->sides[comparison->count++];
    const struct ssprofile_results *results = NULL;
    if (ssprofile_choose(&side->choice, word, error) < 0)
        return -1;
    for (struct side *other = comparison->sides; other < side && !results; other++)
        results = strcmp(other->choice.path, side->choice.path) == 0 ? &other->results : NULL;
    if (!results) {
        results = &side->results;
        if (ssprofile_results_read(&side->results, side->choice.path, error) < 0)
            return -1;
        ssprofile_warnings_append(&comparison->warnings, &side->results.warnings);
    }
    side->profile = ssprofile_results_find(results, &side->choice, error);
    if (!side->profile)
        return -1;
    name_side(side);
    return 0;
}

static bool has_one_machine(const struct ssprofile_results *results) {
    for (size_t i = 1; i < results->count; i++) {
        if (strcmp(results->profiles[i].machine, results->profiles[0].machine) != 0)
            return false;
    }
    return results->count > 0;
}

/*
 * Reads all profiles of a machine, the unthrottled one first, or only the one that the word names.
 */
static int read_sides(struct comparison *comparison, const char *word, struct ss_error *error) {
    struct ssprofile_choice choice;
    struct ssprofile_results results = {0};
    char name[5300];
    if (ssprofile_choose(&choice, word, error) < 0)
        return -1;
    if (*choice.machine)
        return read_side(comparison, word, error);
    int result = ssprofile_results_read(&results, choice.path, error);
    if (result == 0 && !has_one_machine(&results))
        result = read_side(comparison, word, error); /* fails, and names the machines */
    for (int throttled = 0; throttled < 2 && has_one_machine(&results); throttled++) {
        for (size_t i = 0; result == 0 && i < results.count; i++) {
            const struct ssprofile_profile *profile = &results.profiles[i];
            snprintf(name, sizeof name, "%.4000s:%.600s:%.600s", word, profile->machine,
                profile->limits);
            if ((strcmp(profile->limits, SSPROFILE_WITHOUT) != 0) == throttled)
                result = read_side(comparison, name, error);
        }
    }
    ssprofile_results_free(&results);
    return result;
}

/* Predictions distinguish targets by name. */
static int check_target_names(const struct comparison *comparison, struct ss_error *error) {
    for (size_t i = 1; i < comparison->count; i++) {
        for (size_t j = 1; j < i; j++) {
            if (strcmp(comparison->sides[i].name, comparison->sides[j].name) == 0)
                return ss_error_fail(error,
                    "two targets are named %s: measure each under its own name with ssprofile "
                    "measure --machine",
                    comparison->sides[i].name);
        }
    }
    return 0;
}

/* With fewer repetitions than this, a half spreads by chance as widely as an unstable benchmark. */
#define HALF_MIN 5

/* Makes two sides of one profile, which is split in halves. */
static int split_in_halves(struct comparison *comparison, struct ss_error *error) {
    struct side *base = &comparison->sides[0], *target = &comparison->sides[1];
    if (ssprofile_halves_make(&comparison->halves, base->profile, error) < 0)
        return -1;
    size_t least = ssprofile_halves_least(&comparison->halves);
    if (least < HALF_MIN)
        ssprofile_warn(&comparison->warnings,
            "a half has only %zu repetition%s of a benchmark, so its interval is wide: measure at "
            "least %d",
            least, least == 1 ? "" : "s", 2 * HALF_MIN);
    strcpy(comparison->whole, base->name);
    target->origin = base->origin;
    comparison->count = 2;
    for (int i = 0; i < 2; i++) {
        struct side *side = &comparison->sides[i];
        side->profile = &comparison->halves.profiles[i];
        name_side(side);
    }
    return 0;
}

static void fill_side(
    struct comparison *comparison, struct side *side, const struct request *request) {
    side->series =
        (struct ssprofile_series){side->profile->machine, side->profile->limits, &side->ratios,
            ssprofile_ratios_figures(&side->ratios), ssprofile_coverage_of(side->ratios.count)};
    if (request->halves)
        ssprofile_say_chance(&comparison->findings, &side->series, comparison->whole);
    else
        ssprofile_say_range(&comparison->findings, &side->series, comparison->sides[0].name);
    if (request->halves || side->ratios.left_out_count > 0)
        ssprofile_say_left_out(&comparison->findings, &side->series);
    if (request->within >= 0 && strcmp(side->profile->limits, SSPROFILE_WITHOUT) != 0)
        ssprofile_say_within(&comparison->findings, &side->series, request->within / 100);
    fill_ratios(&comparison->sheets[RATIOS], side->name, &side->ratios);
    fill_range(&comparison->sheets[RANGES], side->name, &side->series.figures);
    fill_left_out(&comparison->sheets[LEFT_OUT], side->name, &side->ratios);
}

/* Draws all targets of a machine, in one histogram and one plot of dots. */
static void draw_machine(struct comparison *comparison, const char *machine) {
    struct ssprofile_series series[SIDES_MAX];
    size_t count = 0;
    for (size_t i = 1; i < comparison->count; i++) {
        if (strcmp(comparison->sides[i].profile->machine, machine) == 0)
            series[count++] = comparison->sides[i].series;
    }
    FILE *script = ssprofile_pictures_add(&comparison->pictures, false,
        "Shaded: the range. Dashed: as fast as the base.",
        "%.100s: number of benchmarks by ratio, in bins of %g", machine,
        ssprofile_histogram_bin(series, count));
    if (script)
        ssprofile_draw_histogram(script, series, count);
    script = ssprofile_pictures_add(&comparison->pictures, true,
        ssprofile_dots_are_logarithmic(series, count)
            ? "Shaded: the range. Dashed: as fast as the base. The axis is logarithmic: one factor "
              "moves all points equally far."
            : "Shaded: the range. Dashed: as fast as the base.",
        "%.100s: ratio of each benchmark", machine);
    if (script)
        ssprofile_draw_dots(script, series, count);
}

static void draw_machines(struct comparison *comparison) {
    for (size_t i = 1; i < comparison->count; i++) {
        const char *machine = comparison->sides[i].profile->machine;
        bool is_first = true;
        for (size_t j = 1; j < i; j++)
            is_first &= strcmp(comparison->sides[j].profile->machine, machine) != 0;
        if (is_first)
            draw_machine(comparison, machine);
    }
}

/* Explains the short name of each throttle once. */
static void explain_limits(struct comparison *comparison) {
    for (size_t i = 0; i < comparison->count; i++) {
        const char *limits = comparison->sides[i].profile->limits;
        char meaning[64];
        size_t first = 0;
        while (strcmp(comparison->sides[first].profile->limits, limits) != 0)
            first++;
        ssprofile_throttle_explain(meaning, limits);
        if (first == i && *meaning)
            ssprofile_say(&comparison->findings, "%s: %s.", limits, meaning);
    }
}

/* Returns the spread above which a benchmark is unstable; INFINITY for tables of other programs. */
static double bound_of(
    const struct comparison *comparison, const struct side *side, const struct request *request) {
    if (request->spread >= 0)
        return request->spread / 100;
    return comparison->sides[0].origin.measured && side->origin.measured ? SSPROFILE_SPREAD_MAX
                                                                         : INFINITY;
}

/* Adds ranges published for this battery. */
static void fill_published(struct comparison *comparison) {
    struct published published = {0};
    struct ssreport_notes notes = {0};
    struct table_sheet *sheet = &comparison->sheets[PUBLISHED];
    char folder[4200];
    published_folder(folder, sizeof folder);
    published_read(&published, folder, "ssprofile", &notes);
    if (*notes.text)
        ssprofile_warn(&comparison->warnings, "%s/%s", folder, notes.text);
    const struct published_table *table = published_find_table(&published, "variability");
    if (table)
        snprintf(comparison->published_title, sizeof comparison->published_title,
            "Published ranges (%s)", table->source);
    for (size_t i = 0; table && i < published.cell_count; i++) {
        const struct published_cell *cell = &published.cells[i];
        if (strcmp(cell->column, published.cells[0].column) == 0)
            TABLE_ROW(sheet, CELL("base", cell->keys[0]), CELL("target", cell->keys[1]),
                CELL("limits", cell->keys[2]));
        for (size_t j = 0; j < sheet->column_count; j++) {
            if (strcmp(cell->column, sheet->columns[j].name) == 0)
                TABLE_CELLS(sheet, CELL(cell->column, published_number(cell)));
        }
    }
    published_free(&published);
}

static int check_origin(const struct comparison *comparison, struct side *side,
    const struct request *request, struct ss_error *error) {
    side->origin = ssprofile_origin_of(side->choice.path);
    return request->force ? 0
                          : ssprofile_origin_check(&comparison->sides[0].origin, &side->origin,
                                side->choice.path, error);
}

static int compare_profiles(
    struct comparison *comparison, const struct request *request, struct ss_error *error) {
    struct ssprofile_matching matching = {.only = request->only, .class = request->class};
    if (request->battery) {
        char path[4300];
        ssprofile_battery_find(path, sizeof path, request->battery);
        if (ssprofile_battery_read(&comparison->battery, path, error) < 0)
            return -1;
        matching.battery = &comparison->battery;
        if (strcmp(request->battery, "stress-ng") == 0)
            fill_published(comparison);
    }
    for (size_t i = 0; i < request->count; i++) {
        size_t side = comparison->count;
        int read = request->all && i > 0 ? read_sides(comparison, request->words[i], error)
                                         : read_side(comparison, request->words[i], error);
        for (; read == 0 && side < comparison->count; side++)
            read = check_origin(comparison, &comparison->sides[side], request, error);
        if (read < 0)
            return -1;
    }
    if (request->all && check_target_names(comparison, error) < 0)
        return -1;
    if (request->halves && split_in_halves(comparison, error) < 0)
        return -1;
    for (size_t i = 1; i < comparison->count; i++) {
        struct side *side = &comparison->sides[i];
        matching.unstable = bound_of(comparison, side, request);
        const struct ssprofile_profile *both[2] = {comparison->sides[0].profile, side->profile};
        if (ssprofile_ratios_make(&side->ratios, both, &matching, &comparison->warnings, error) < 0)
            return -1;
        fill_side(comparison, side, request);
    }
    if (fill_reductions(comparison) < 0)
        return ss_error_memory(error);
    explain_limits(comparison);
    for (size_t i = 1; i < comparison->count && !request->halves; i++) {
        const struct side *side = &comparison->sides[i];
        if (!side->is_paired && strcmp(side->profile->limits, SSPROFILE_WITHOUT) == 0)
            ssprofile_say_limit(&comparison->findings, &comparison->sides[i].series);
    }
    return 0;
}

static void print_all(const struct comparison *comparison) {
    printf("Base: %s\n", comparison->sides[0].name);
    ssprofile_print_findings(stdout, &comparison->findings);
    for (int i = 0; i < SHEETS; i++)
        ssprofile_print_text(stdout, &comparison->sheets[i]);
}

static int write_files(
    struct comparison *comparison, const struct request *request, struct ss_error *error) {
    draw_machines(comparison);
    return ssprofile_write(
        &(struct ssprofile_output){.folder = request->output,
            .name = "compare",
            .title = request->halves ? "One profile against itself" : "Profiles compared",
            .base = comparison->sides[0].name,
            .sheets = comparison->sheets,
            .count = SHEETS,
            .findings = &comparison->findings,
            .pictures = &comparison->pictures,
            .warnings = &comparison->warnings},
        error);
}

static int check_words(const struct request *request, struct ss_error *error) {
    if (request->halves && request->count != 1)
        return ss_error_fail(error, "--halves requires exactly one profile: see --help");
    if (request->halves && request->all)
        return ss_error_fail(error,
            "--all cannot be combined with --halves, which has no target: remove one of them");
    if (!request->halves && request->count < 2)
        return ss_error_fail(error, "name a base and at least one target: see --help");
    return 0;
}

int ssprofile_compare(char **argv, struct ss_error *error) {
    struct request request = {.spread = -1, .within = -1};
    struct ss_option_store store = {0};
    SS_OWNED(free) struct comparison *comparison = calloc(1, sizeof *comparison);
    if (!comparison)
        return ss_error_memory(error);
    comparison->sheets[RATIOS] = TABLE_SHEET("ratios", "Ratios", ratio_columns);
    comparison->sheets[RANGES] = TABLE_SHEET("ranges", "Ranges", range_columns);
    comparison->sheets[PUBLISHED] =
        TABLE_SHEET("published", comparison->published_title, published_columns);
    comparison->sheets[LEFT_OUT] = TABLE_SHEET("left_out", "Left out", left_out_columns);
    comparison->sheets[REDUCTIONS] =
        TABLE_SHEET("reductions", "Why ranges are shorter", reduction_columns);
    comparison->findings = SSPROFILE_FINDINGS();
    int result = ss_arguments_parse(rows, &request, &store, argv, NULL, error);
    if (result == 0 && request.help)
        print_help();
    else if (result == 0 && (result = check_words(&request, error)) == 0)
        result = compare_profiles(comparison, &request, error);
    ssprofile_warnings_print(&comparison->warnings);
    if (result == 0 && request.output && !request.help)
        result = write_files(comparison, &request, error);
    if (result == 0 && !request.quiet && !request.help)
        print_all(comparison);
    for (int i = 0; i < SHEETS; i++)
        table_free(&comparison->sheets[i]);
    for (size_t i = 0; i < comparison->count; i++) {
        ssprofile_ratios_free(&comparison->sides[i].ratios);
        ssprofile_results_free(&comparison->sides[i].results);
    }
    ssprofile_results_free(&comparison->halves);
    table_free(&comparison->findings);
    ssprofile_pictures_free(&comparison->pictures);
    ssprofile_battery_free(&comparison->battery);
    ssprofile_warnings_free(&comparison->warnings);
    ss_option_store_free(&store);
    return result;
}
