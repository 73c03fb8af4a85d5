/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "commands.h"
#include "forms.h"
#include "options/arguments.h"
#include "origin.h"
#include "ratios.h"

#define SIDES_MOST 64
#define UNSTABLE   0.02 /* the default of ssprofile measure --unstable */

struct request {
    const char *output, *only, *class;
    double spread; /* percent; not above 0: not given */
    int help, quiet, force;
    char *words[SIDES_MOST]; /* the base and its targets */
    size_t count;
};

static int take_word(
    void *config, const struct ss_argument *row, char *word, struct ss_error *error) {
    struct request *request = config;
    (void)row;
    if (request->count == SIDES_MOST)
        return ss_error_fail(error, "at most %d profiles can be compared", SIDES_MOST);
    request->words[request->count++] = word;
    return 0;
}

#define AT(member) .offset = offsetof(struct request, member)

// clang-format off
static const struct ss_argument rows[] = {
    {'o', "DIR", {"output", SS_OPTION_TEXT, AT(output),
        .help = "write every table there as CSV, all of them as compare.json, and compare.html"}},
    {0, "LIST", {"benchmarks", SS_OPTION_TEXT, AT(only),
        .help = "compare only benchmarks with these names: patterns as of a shell, with commas "
                "between them"}},
    {0, "NAME", {"class", SS_OPTION_TEXT, AT(class), .help = "compare only this class"}},
    {0, "PERCENT", {"spread", SS_OPTION_PERCENT, AT(spread),
        .help = "leave out a benchmark whose repetitions spread by more than this instead of 2%; in "
                "tables that ssprofile measure has not made, none is without it"}},
    {0, NULL, {"force", AT(force),
        .help = "compare results of different versions of the benchmarks"}},
    {'q', NULL, {"quiet", AT(quiet), .help = "print no tables on standard output"}},
    {'h', NULL, {"help", AT(help), .help = "print this help"}},
    SS_ARGUMENTS_WORDS(take_word),
};
// clang-format on

static void print_help(void) {
    printf("Usage: ssprofile compare [OPTION]... BASE TARGET [TARGET]...\n"
           "Prints how much faster each target is than the base, benchmark by benchmark. A ratio\n"
           "above 1 means that the target is faster. BASE and TARGET are a folder that\n"
           "ssprofile measure has made or a table of results; FILE:MACHINE[:LIMITS] names one\n"
           "machine of several in a file.\n\n");
    ss_arguments_print_help(stdout, rows);
}

/* ---- sheets ---- */

enum { RATIOS, RANGES, HISTOGRAM, REDUCTIONS, SHEETS };

static const struct ssreport_column ratio_columns[] = {{"target", "Target"},
    {"benchmark", "Benchmark"}, {"class", "Class"}, {"ratio", "Ratio", 4}, {"log_ratio", NULL},
    {"base_repetitions", "Base reps", 0}, {"target_repetitions", "Reps", 0},
    {"base_spread_percent", "Base spread, %", 2}, {"target_spread_percent", "Spread, %", 2}};

static const struct ssreport_column range_columns[] = {{"target", "Target"},
    {"benchmarks", "Benchmarks", 0}, {"least", "Least", 4}, {"most", "Most", 4},
    {"length", "Length", 4}, {"median", "Median", 4}, {"mean", "Mean", 4},
    {"geometric_mean", "Geometric mean", 4}, {"most_to_least", "Most/least", 4},
    {"variation_percent", "Variation, %", 2}};

static const struct ssreport_column bin_columns[] = {{"target", "Target"}, {"above", "Above", 1},
    {"to", "Up to", 1}, {"benchmarks", "Benchmarks", 0}};

static const struct ssreport_column reduction_columns[] = {{"plain", "Plain"},
    {"throttled", "Throttled"}, {"benchmarks", "Benchmarks", 0},
    {"reduction", "Range shorter by", 4}, {"factor", "Common factor", 4},
    {"relative", "Relative spread", 4}, {"factor_share_percent", "Factor's share, %", 1}};

static void fill_ratios(
    struct ssreport_sheet *sheet, const char *target, const struct ssprofile_ratios *ratios) {
    for (size_t i = 0; i < ratios->count; i++) {
        const struct ssprofile_ratio *ratio = &ratios->items[i];
        SSREPORT_TEXTS(sheet, target, ratio->name, ratio->class);
        SSREPORT_NUMBERS(sheet, ratio->ratio, ratio->log, (double)ratio->repetitions[0],
            (double)ratio->repetitions[1], 100 * ratio->spread[0], 100 * ratio->spread[1]);
    }
}

static void fill_range(
    struct ssreport_sheet *sheet, const char *target, const struct ssprofile_figures *figures) {
    SSREPORT_TEXTS(sheet, target);
    SSREPORT_NUMBERS(sheet, (double)figures->count, figures->least, figures->most, figures->length,
        figures->median, figures->mean, figures->geometric, figures->most_to_least,
        100 * figures->variation);
}

/* Ratios are few, bins may be many: those without a ratio are left out. */
static int fill_histogram(
    struct ssreport_sheet *sheet, const char *target, const struct ssprofile_ratios *ratios) {
    SS_OWNED(free) double *sorted = calloc(ratios->count + 1, sizeof *sorted);
    if (!sorted)
        return -1;
    for (size_t i = 0; i < ratios->count; i++) {
        size_t at = i;
        for (; at > 0 && sorted[at - 1] > ratios->items[i].ratio; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = ratios->items[i].ratio;
    }
    for (size_t i = 0, next; i < ratios->count; i = next) {
        size_t bin = ssprofile_bin_of(sorted[i]);
        for (next = i; next < ratios->count && ssprofile_bin_of(sorted[next]) == bin;)
            next++;
        SSREPORT_TEXTS(sheet, target);
        SSREPORT_NUMBERS(sheet, ((double)bin - 1) * SSPROFILE_BIN, (double)bin * SSPROFILE_BIN,
            (double)(next - i));
    }
    return 0;
}

/* ---- what is compared ---- */

struct side {
    struct ssprofile_choice choice;
    struct ssprofile_results results;
    const struct ssprofile_profile *profile;
    struct ssprofile_ratios ratios; /* against the base */
    struct ssprofile_origin origin;
    char name[600];
};

struct comparison {
    struct side sides[SIDES_MOST];
    size_t count;
    struct ssreport_sheet sheets[SHEETS];
    struct ssprofile_warnings warnings;
};

/* Of what both have: benchmarks that only one of them has would change the range by themselves. */
static int keep_common(struct ssprofile_ratios *kept, const struct ssprofile_ratios *from,
    const struct ssprofile_ratios *other) {
    *kept = (struct ssprofile_ratios){calloc(from->count + 1, sizeof *kept->items), 0, from->count};
    if (!kept->items)
        return -1;
    for (size_t i = 0; i < from->count; i++) {
        for (size_t j = 0; j < other->count; j++) {
            if (strcmp(from->items[i].name, other->items[j].name) == 0 &&
                strcmp(from->items[i].class, other->items[j].class) == 0) {
                kept->items[kept->count++] = from->items[i];
                break;
            }
        }
    }
    return 0;
}

static int fill_reduction(
    struct comparison *comparison, const struct side *plain, const struct side *throttled) {
    struct ssprofile_ratios both[2] = {{0}};
    struct ssreport_sheet *sheet = &comparison->sheets[REDUCTIONS];
    if (keep_common(&both[0], &plain->ratios, &throttled->ratios) < 0 ||
        keep_common(&both[1], &throttled->ratios, &plain->ratios) < 0) {
        ssprofile_ratios_free(&both[0]);
        return -1;
    }
    if (both[0].count > 1) {
        struct ssprofile_figures figures[2] = {
            ssprofile_ratios_figures(&both[0]), ssprofile_ratios_figures(&both[1])};
        struct ssprofile_reduction reduction = ssprofile_reduction_of(&figures[0], &figures[1]);
        SSREPORT_TEXTS(sheet, plain->name, throttled->name);
        SSREPORT_NUMBERS(sheet, (double)both[0].count, reduction.reduction, reduction.factor,
            reduction.relative, 100 * reduction.share);
    }
    ssprofile_ratios_free(&both[0]);
    ssprofile_ratios_free(&both[1]);
    return 0;
}

/* A throttled target is set beside the plain one of the same machine. */
static int fill_reductions(struct comparison *comparison) {
    for (size_t i = 1; i < comparison->count; i++) {
        const struct side *plain = &comparison->sides[i];
        if (strcmp(plain->profile->limits, SSPROFILE_WITHOUT) != 0)
            continue;
        for (size_t j = 1; j < comparison->count; j++) {
            const struct side *other = &comparison->sides[j];
            if (strcmp(other->profile->limits, SSPROFILE_WITHOUT) != 0 &&
                strcmp(other->profile->machine, plain->profile->machine) == 0 &&
                fill_reduction(comparison, plain, other) < 0)
                return -1;
        }
    }
    return 0;
}

static void take_warnings(struct ssprofile_warnings *into, const struct ssprofile_warnings *from) {
    for (size_t i = 0; i < from->count; i++)
        ssprofile_warn(into, "%s", from->items[i]);
}

/* A file that several sides name is read for each, but its damage is told once. */
static int read_side(struct comparison *comparison, const char *word, struct ss_error *error) {
    struct side *side = &comparison->sides[comparison->count++];
    bool told = false;
    if (ssprofile_choose(&side->choice, word, error) < 0 ||
        ssprofile_results_read(&side->results, side->choice.path, error) < 0)
        return -1;
    for (struct side *other = comparison->sides; other < side; other++)
        told |= strcmp(other->choice.path, side->choice.path) == 0;
    if (!told)
        take_warnings(&comparison->warnings, &side->results.warnings);
    side->profile = ssprofile_results_find(&side->results, &side->choice, error);
    if (!side->profile)
        return -1;
    snprintf(side->name, sizeof side->name, "%.290s:%.290s", side->profile->machine,
        side->profile->limits);
    return 0;
}

static int fill(
    struct comparison *comparison, const struct request *request, struct ss_error *error) {
    struct ssprofile_matching matching = {.only = request->only,
        .class = request->class,
        .unstable = request->spread > 0 ? request->spread / 100 : INFINITY};
    for (size_t i = 0; i < request->count; i++) {
        if (read_side(comparison, request->words[i], error) < 0)
            return -1;
        struct side *side = &comparison->sides[i];
        side->origin = ssprofile_origin_of(side->choice.path);
        if (!request->force && ssprofile_origin_check(&comparison->sides[0].origin, &side->origin,
                                   side->choice.path, error) < 0)
            return -1;
    }
    for (size_t i = 1; i < comparison->count; i++) {
        struct side *side = &comparison->sides[i];
        /* What others have published is taken as it is. */
        if (!(request->spread > 0) && comparison->sides[0].origin.measured && side->origin.measured)
            matching.unstable = UNSTABLE;
        const struct ssprofile_profile *both[2] = {comparison->sides[0].profile, side->profile};
        if (ssprofile_ratios_make(&side->ratios, both, &matching, &comparison->warnings, error) < 0)
            return -1;
        struct ssprofile_figures figures = ssprofile_ratios_figures(&side->ratios);
        fill_ratios(&comparison->sheets[RATIOS], side->name, &side->ratios);
        fill_range(&comparison->sheets[RANGES], side->name, &figures);
        if (fill_histogram(&comparison->sheets[HISTOGRAM], side->name, &side->ratios) < 0)
            return ss_error_memory(error);
    }
    return fill_reductions(comparison) < 0 ? ss_error_memory(error) : 0;
}

static void print(const struct comparison *comparison) {
    printf("Base: %s\n", comparison->sides[0].name);
    for (int i = 0; i < SHEETS; i++)
        ssprofile_print_text(stdout, &comparison->sheets[i]);
    if (ssreport_sheet_rows(&comparison->sheets[REDUCTIONS]) > 0)
        printf("\nA range gets shorter by the common factor by which a throttle slows everything, "
               "times the\nchange of the relative spread, which one factor cannot change.\n");
}

int ssprofile_compare(char **argv, struct ss_error *error) {
    struct request request = {0};
    struct ss_option_store store = {0};
    SS_OWNED(free) struct comparison *comparison = calloc(1, sizeof *comparison);
    if (!comparison)
        return ss_error_memory(error);
    comparison->sheets[RATIOS] = SSREPORT_SHEET("ratios", "Ratios", ratio_columns);
    comparison->sheets[RANGES] = SSREPORT_SHEET("ranges", "Ranges", range_columns);
    comparison->sheets[HISTOGRAM] = SSREPORT_SHEET("histogram", "Histogram", bin_columns);
    comparison->sheets[REDUCTIONS] =
        SSREPORT_SHEET("reductions", "Why ranges are shorter", reduction_columns);
    int result = ss_arguments_parse(rows, &request, &store, argv, NULL, error);
    if (result == 0 && request.help)
        print_help();
    else if (result == 0 && request.count < 2)
        result = ss_error_fail(error, "name a base and at least one target: see --help");
    else if (result == 0)
        result = fill(comparison, &request, error);
    ssprofile_warnings_tell(&comparison->warnings);
    if (result == 0 && request.output && !request.help)
        result = ssprofile_write(
            &(struct ssprofile_output){request.output, "compare", "Profiles compared",
                comparison->sheets, SHEETS, comparison->warnings.items, comparison->warnings.count},
            error);
    if (result == 0 && !request.quiet && !request.help)
        print(comparison);
    for (int i = 0; i < SHEETS; i++)
        ssreport_sheet_free(&comparison->sheets[i]);
    for (size_t i = 0; i < comparison->count; i++) {
        ssprofile_ratios_free(&comparison->sides[i].ratios);
        ssprofile_results_free(&comparison->sides[i].results);
    }
    ssprofile_warnings_free(&comparison->warnings);
    ss_option_store_free(&store);
    return result;
}
