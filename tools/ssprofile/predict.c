/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/owned.h"
#include "commands.h"
#include "csv.h"
#include "options/arguments.h"
#include "pictures.h"
#include "profile_output.h"
#include "ratio_findings.h"
#include "ratios.h"
#include "statistics.h"

struct request {
    const char *output;
    const char *target; /* NULL: the table has only one target */
    double coverage;
    int help, quiet, list;
    char *words[2]; /* profile, applications */
    size_t count;
};

static int accept_table(
    void *config, const struct ss_argument *row, char *word, struct ss_error *error) {
    struct request *request = config;
    (void)row;
    if (request->count == 2)
        return ss_error_fail(
            error, "unexpected argument '%s': a profile and applications were already given", word);
    request->words[request->count++] = word;
    return 0;
}

#define AT(member) .offset = offsetof(struct request, member)

// clang-format off
static const struct ss_argument rows[] = {
    {'o', "DIR", {"output", SS_OPTION_TEXT, AT(output),
        .help = "write every table to this folder as CSV, all of them as predict.json, and predict.html"}},
    {0, "PART", {"coverage", SS_OPTION_LOAD, AT(coverage), .initial = "100%",
        .help = "verify against the narrowest interval that covers this much, or the widest one if none does"}},
    {0, "NAME", {"target", SS_OPTION_TEXT, AT(target),
        .help = "the target, as MACHINE:LIMITS, if the tables have several"}},
    {0, NULL, {"list", AT(list), .help = "print only the targets of PROFILE, one per line"}},
    {'q', NULL, {"quiet", AT(quiet), .help = "print nothing on standard output"}},
    {'h', NULL, {"help", AT(help), .help = "print this help"}},
    SS_ARGUMENTS_WORDS(accept_table),
};
// clang-format on

static void print_help(void) {
    printf("Usage: ssprofile predict [OPTION]... PROFILE [APPLICATIONS]\n"
           "Prints an interval for the ratio of one more benchmark of the same kind, with\n"
           "its probability. PROFILE and APPLICATIONS are ratios.csv of ssprofile compare,\n"
           "or the folder that has it; the number of applications within the interval is\n"
           "printed, too. Benchmarks of the profile itself are not applications.\n\n");
    ss_arguments_print_help(stdout, rows);
}

struct entry {
    char *benchmark, *class;
    double ratio;
};

struct table {
    const char *wanted; /* the requested target; NULL: any */
    bool lists;         /* print the target of each row, except if the row before has the same */
    char target[600];   /* target of the first row */
    bool several;       /* rows have different targets */
    bool without_memory;
    struct entry *items;
    size_t count, capacity;
    size_t of_profile; /* number of applications excluded because the profile has them */
};

static void free_entry(struct entry *entry) {
    free(entry->benchmark);
    free(entry->class);
}

/* Returns a copy of a field, which the caller frees; NULL if memory is exhausted. */
static char *copy_field(const struct sstrace_field *field) {
    char *text = strndup(field->text, field->length);
    if (text)
        sstrace_field_unquote(text);
    return text;
}

static bool add_entry(void *context, const struct sstrace_field *fields) {
    struct table *table = context;
    char target[600];
    double ratio;
    snprintf(target, sizeof target, "%.*s", (int)(fields[0].length < 599 ? fields[0].length : 599),
        fields[0].text);
    sstrace_field_unquote(target);
    if (table->wanted && strcmp(table->wanted, target) != 0)
        return true;
    if (!ssreport_csv_number(&fields[3], &ratio) || !(ratio > 0))
        return false;
    if (table->lists && strcmp(table->target, target) != 0)
        printf("%s\n", target);
    if (table->count == 0 || table->lists)
        strcpy(table->target, target);
    table->several |= strcmp(table->target, target) != 0;
    if (!SS_GROW(table->items, table->count + 1, table->capacity)) {
        table->without_memory = true;
        return false;
    }
    struct entry entry = {copy_field(&fields[1]), copy_field(&fields[2]), ratio};
    table->without_memory |= !entry.benchmark || !entry.class;
    if (table->without_memory)
        free_entry(&entry);
    else
        table->items[table->count++] = entry;
    return !table->without_memory;
}

static int read_table(struct table *table, const char *path, struct ss_error *error) {
    static const char *const columns[] = {"target", "benchmark", "class", "ratio", NULL};
    struct ssreport_notes notes = {0};
    char file[4300];
    struct stat status;
    bool is_folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    snprintf(file, sizeof file, "%.4200s%s", path, is_folder ? "/ratios.csv" : "");
    if (is_folder && access(file, F_OK) < 0)
        return ss_error_fail(error,
            "%s: no ratios.csv in this folder: name that table, or the folder that `ssprofile "
            "compare -o` wrote it to",
            path);
    struct ssreport_csv csv = {
        .name = file, .columns = columns, .take = add_entry, .context = table};
    if (ssreport_csv_read(NULL, &csv, &notes, error) < 0)
        return -1;
    if (*notes.text)
        fprintf(stderr, "ssprofile: warning: %s\n", notes.text);
    if (table->without_memory)
        return ss_error_memory(error);
    if (table->several && !table->lists)
        return ss_error_fail(error,
            "%s has several targets: choose one with --target MACHINE:LIMITS, such as %s", path,
            table->target);
    if (table->count == 0)
        return ss_error_fail(error, "%s has no ratio%s%s", path,
            table->wanted ? " of the target " : "", table->wanted ? table->wanted : "");
    return 0;
}

static void free_table(struct table *table) {
    for (size_t i = 0; i < table->count; i++)
        free_entry(&table->items[i]);
    free(table->items);
}

static int compare_entries(const void *first, const void *second) {
    const struct entry *a = first, *b = second;
    int names = strcmp(a->benchmark, b->benchmark);
    return names != 0 ? names : strcmp(a->class, b->class);
}

/*
 * Drops applications that are in the profile: benchmarks that determine the bounds cannot verify
 * them.
 */
static int leave_out_profile(
    struct table *applications, const struct table *profile, struct ss_error *error) {
    size_t kept = 0;
    SS_OWNED(free) struct entry *sorted = calloc(profile->count + 1, sizeof *sorted);
    if (!sorted)
        return ss_error_memory(error);
    memcpy(sorted, profile->items, profile->count * sizeof *sorted);
    qsort(sorted, profile->count, sizeof *sorted, compare_entries);
    for (size_t i = 0; i < applications->count; i++) {
        struct entry *entry = &applications->items[i];
        if (bsearch(entry, sorted, profile->count, sizeof *sorted, compare_entries))
            free_entry(entry);
        else
            applications->items[kept++] = *entry;
    }
    applications->of_profile = applications->count - kept;
    applications->count = kept;
    return 0;
}

enum { INTERVALS, VERIFICATION, SHEETS };

static const struct table_column interval_columns[] = {{"left_out", "Left out at each end", 0},
    {"low", "From", 4}, {"high", "To", 4}, {"coverage_percent", "Coverage, %", 1}};

static const struct table_column verification_columns[] = {{"application", "Application"},
    {"class", "Class"}, {"ratio", "Ratio", 4}, {"inside", "Inside"}};

/*
 * The coverage of the intervals to print: the widest one, and the narrowest ones that cover at
 * least these parts.
 */
static const double coverages[] = {1, 0.95, 0.9, 0.8, 0.5};

static void fill_intervals(struct table_sheet *sheet, const double *sorted, size_t count) {
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < sizeof coverages / sizeof *coverages; i++) {
        struct ssprofile_interval interval =
            ssprofile_interval_covering(sorted, count, coverages[i]);
        if (interval.left_out != last)
            TABLE_ROW(sheet, CELL("left_out", interval.left_out), CELL("low", interval.low),
                CELL("high", interval.high), CELL("coverage_percent", 100 * interval.coverage));
        last = interval.left_out;
    }
}

static bool is_inside(const struct ssprofile_interval *interval, double ratio) {
    return ratio >= interval->low && ratio <= interval->high;
}

static void say_benchmarks(struct table_sheet *findings, const struct table *table,
    const struct ssprofile_interval *interval) {
    char range[64];
    ssprofile_show_range(range, interval->low, interval->high);
    ssprofile_say(findings,
        "The ratio of one more benchmark of the same kind as the %zu of %s lies in %s with a "
        "probability of %.1f%%.",
        table->count, table->target, range, 100 * interval->coverage);
}

/*
 * Reports how many applications are within the interval, and names those outside as far as they
 * fit.
 */
static void say_applications(struct table_sheet *findings, const struct table *table,
    const struct ssprofile_interval *interval) {
    char outside[1200] = "";
    size_t inside = 0, used = 0, unnamed = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct entry *entry = &table->items[i];
        if (is_inside(interval, entry->ratio))
            inside++;
        else if (used < sizeof outside - 300)
            used += (size_t)snprintf(outside + used, sizeof outside - used, "%s %.200s %.5g",
                used > 0 ? "," : "; outside:", entry->benchmark, entry->ratio);
        else
            unnamed++;
    }
    if (unnamed > 0)
        snprintf(outside + used, sizeof outside - used, " and %zu more", unnamed);
    ssprofile_say(findings, "%zu of %zu applications lie within [%.4f, %.4f] (%.1f%% expected)%s.",
        inside, table->count, interval->low, interval->high, 100 * interval->coverage, outside);
}

static void print_all(const struct table_sheet *sheets, const struct table_sheet *findings) {
    ssprofile_print_findings(stdout, findings);
    for (int i = 0; i < SHEETS; i++)
        ssprofile_print_text(stdout, &sheets[i]);
}

static int copy_ratios(struct ssprofile_ratios *ratios, const struct table *table) {
    *ratios = (struct ssprofile_ratios){.items = calloc(table->count + 1, sizeof *ratios->items)};
    if (!ratios->items)
        return -1;
    for (size_t i = 0; i < table->count; i++)
        ratios->items[ratios->count++] = (struct ssprofile_ratio){.name = table->items[i].benchmark,
            .class = table->items[i].class,
            .ratio = table->items[i].ratio};
    return 0;
}

/* Draws benchmarks and applications, with the predicted interval. */
static int draw_tables(struct ssprofile_pictures *pictures, const struct table tables[2],
    const struct ssprofile_interval *interval) {
    struct ssprofile_ratios ratios[2] = {{0}};
    size_t count = tables[1].count > 0 ? 2 : 1;
    int result = 0;
    for (size_t i = 0; i < count && result == 0; i++)
        result = copy_ratios(&ratios[i], &tables[i]);
    FILE *script = NULL;
    if (result == 0)
        script = ssprofile_pictures_add(pictures, true,
            "Shaded: the interval of one more ratio, with its coverage. Dashed: as fast as the "
            "base.",
            "%.200s: ratio of each benchmark%s", tables[0].target,
            count > 1 ? " and application" : "");
    if (script) {
        struct ssprofile_series series[2] = {
            {.limits = "benchmarks", .ratios = &ratios[0], .coverage = interval->coverage},
            {.limits = "applications", .ratios = &ratios[1], .coverage = NAN}};
        series[0].figures = ssprofile_ratios_figures(&ratios[0]);
        series[0].figures.least = interval->low;
        series[0].figures.most = interval->high;
        series[1].figures = ssprofile_ratios_figures(&ratios[1]);
        ssprofile_draw_dots(script, series, count);
    }
    ssprofile_ratios_free(&ratios[0]);
    ssprofile_ratios_free(&ratios[1]);
    return result;
}

static int write_files(const struct request *request, struct table_sheet sheets[SHEETS],
    const struct table_sheet *findings, const struct table tables[2],
    const struct ssprofile_interval *interval, struct ss_error *error) {
    struct ssprofile_pictures pictures = {0};
    char title[700];
    snprintf(title, sizeof title, "Prediction for %s", tables[0].target);
    if (draw_tables(&pictures, tables, interval) < 0)
        return ss_error_memory(error);
    int result = ssprofile_write(&(struct ssprofile_output){.folder = request->output,
                                     .name = "predict",
                                     .title = title,
                                     .sheets = sheets,
                                     .count = SHEETS,
                                     .findings = findings,
                                     .pictures = &pictures},
        error);
    ssprofile_pictures_free(&pictures);
    return result;
}

/* Reads both tables, which must have the same target. */
static int read_tables(
    const struct request *request, struct table tables[2], struct ss_error *error) {
    tables[0].wanted = request->target;
    if (read_table(&tables[0], request->words[0], error) < 0)
        return -1;
    if (request->count == 1)
        return 0;
    tables[1].wanted = tables[0].target;
    if (read_table(&tables[1], request->words[1], error) < 0 ||
        leave_out_profile(&tables[1], &tables[0], error) < 0)
        return -1;
    if (tables[1].count == 0)
        return ss_error_fail(error, "%s has no applications: all of its benchmarks are in %s",
            request->words[1], request->words[0]);
    return 0;
}

static int list_targets(
    const struct request *request, struct table *table, struct ss_error *error) {
    table->lists = true;
    return read_table(table, request->words[0], error);
}

static int predict(const struct request *request, struct table tables[2], struct ss_error *error) {
    if (read_tables(request, tables, error) < 0)
        return -1;
    SS_OWNED(free) double *sorted = calloc(tables[0].count + 1, sizeof *sorted);
    if (!sorted)
        return ss_error_memory(error);
    for (size_t i = 0; i < tables[0].count; i++)
        sorted[i] = tables[0].items[i].ratio;
    ssreport_median_of(sorted, tables[0].count); /* sorts the ratios */
    struct table_sheet sheets[SHEETS] = {
        TABLE_SHEET("intervals", "One more benchmark of the same kind", interval_columns),
        TABLE_SHEET("verification", "Applications", verification_columns)};
    struct ssprofile_interval interval =
        ssprofile_interval_covering(sorted, tables[0].count, request->coverage);
    fill_intervals(&sheets[INTERVALS], sorted, tables[0].count);
    for (size_t i = 0; i < tables[1].count; i++) {
        const struct entry *entry = &tables[1].items[i];
        TABLE_ROW(&sheets[VERIFICATION], CELL("application", entry->benchmark),
            CELL("class", entry->class), CELL("ratio", entry->ratio),
            CELL("inside", is_inside(&interval, entry->ratio)));
    }
    struct table_sheet findings = SSPROFILE_FINDINGS();
    say_benchmarks(&findings, &tables[0], &interval);
    if (tables[1].count > 0)
        say_applications(&findings, &tables[1], &interval);
    if (tables[1].of_profile > 0)
        ssprofile_say(&findings,
            "The applications leave out %zu benchmark%s of the profile itself.",
            tables[1].of_profile, tables[1].of_profile == 1 ? "" : "s");
    ssprofile_say(&findings,
        "This holds for programs of the classes that the battery covers, and says nothing about "
        "others.");
    int result = 0;
    if (request->output)
        result = write_files(request, sheets, &findings, tables, &interval, error);
    if (result == 0 && !request->quiet)
        print_all(sheets, &findings);
    table_free(&findings);
    for (int i = 0; i < SHEETS; i++)
        table_free(&sheets[i]);
    return result;
}

int ssprofile_predict(char **argv, struct ss_error *error) {
    struct request request = {0};
    struct ss_option_store store = {0};
    struct table tables[2] = {{0}};
    int result = ss_arguments_parse(rows, &request, &store, argv, NULL, error);
    if (result == 0 && request.help)
        print_help();
    else if (result == 0 && request.count == 0)
        result = ss_error_fail(error, "name a table of ratios: see --help");
    else if (result == 0 && request.list && request.output)
        result = ss_error_fail(error, "--list writes no file: remove --output");
    else if (result == 0)
        result = request.list ? list_targets(&request, &tables[0], error)
                              : predict(&request, tables, error);
    free_table(&tables[0]);
    free_table(&tables[1]);
    ss_option_store_free(&store);
    return result;
}
