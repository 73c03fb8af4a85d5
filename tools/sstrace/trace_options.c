/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_options.h"

#include "base/words.h"
#include "import.h"
#include "options/arguments.h"

static int add_file(
    void *config, const struct ss_argument *row, char *word, struct ss_error *error) {
    struct sstrace_request *request = config;
    (void)row, (void)error;
    request->files[request->file_count++] = word;
    return 0;
}

#define FIELD(type, member) type, .offset = SS_OPTION_OFFSET(type, struct sstrace_transform, member)

/* The transformations and their values, which are separated by a comma. */
static const struct transformation {
    const char *option;
    enum sstrace_transform_kind kind;
    struct ss_option first, second; /* members of the transform; `name` is NULL if unused */
} transformations[] = {
    {"scale", SSTRACE_SCALE, {"F", FIELD(SS_OPTION_NUMBER, factor)}, {0}},
    {"offset", SSTRACE_LATER, {"TIME", FIELD(SS_OPTION_TIME, from), .sensible = "500ms"}, {0}},
    {"clip", SSTRACE_CLIP, {"FROM", FIELD(SS_OPTION_TIME, from), .sensible = "500ms"},
        {"TO", FIELD(SS_OPTION_TIME, to), .sensible = "500ms"}},
    {"repeat", SSTRACE_REPEAT, {"N", FIELD(SS_OPTION_COUNT, count), .min = "1"}, {0}},
    {"load-scale", SSTRACE_LOAD_SCALE, {"F", FIELD(SS_OPTION_NUMBER, factor)}, {0}},
    {"load-clamp", SSTRACE_LOAD_CLAMP, {"MIN", FIELD(SS_OPTION_LOAD, min)},
        {"MAX", FIELD(SS_OPTION_LOAD, max)}},
    {"resample", SSTRACE_RESAMPLE,
        {"TIME", FIELD(SS_OPTION_TIME, step), .min = "1ns", .sensible = "100ms"}, {0}},
    {"steps", SSTRACE_STEPS, {0}, {0}},
};

static int check_values(const struct sstrace_transform *transform, struct ss_error *error) {
    if (transform->kind == SSTRACE_SCALE && !(transform->factor > 0))
        return ss_error_fail(error, "the factor must be above 0");
    if (transform->kind == SSTRACE_CLIP && transform->to <= transform->from)
        return ss_error_fail(error, "TO is not after FROM: put the earlier time first");
    if (transform->kind == SSTRACE_LOAD_CLAMP && transform->max < transform->min)
        return ss_error_fail(error, "MAX is less than MIN: put the smaller load first");
    return 0;
}

static int add_transform(
    void *config, const struct ss_argument *row, char *text, struct ss_error *error) {
    struct sstrace_request *request = config;
    const struct transformation *entry = transformations;
    while (strcmp(entry->option, row->option.name) != 0)
        entry++;

    if (request->transform_count == SSTRACE_TRANSFORMS_MAX - 1) /* --split adds one */
        return ss_error_fail(error, "too many transformations (at most %d): run sstrace twice",
            SSTRACE_TRANSFORMS_MAX - 1);

    struct sstrace_transform *added = &request->transforms[request->transform_count++];
    *added = (struct sstrace_transform){.kind = entry->kind, .to = SS_TIME_NEVER};
    if (entry->kind == SSTRACE_LATER && *text == '-')
        added->kind = SSTRACE_CLIP; /* cuts off the beginning */
    if (entry->kind == SSTRACE_LATER && (*text == '-' || *text == '+'))
        text++;

    char *second = entry->second.name ? strchr(text, ',') : NULL;
    if (entry->second.name && !second)
        return ss_error_fail(error, "'%s' is not %s", ss_words_show(text).text, row->value);
    if (second)
        *second++ = '\0';

    char label[32];
    size_t before = request->store->warning_count;
    if ((entry->first.name &&
            ss_option_set(&entry->first, text, added, request->store, error) != 0) ||
        (second && ss_option_set(&entry->second, second, added, request->store, error) != 0))
        return -1;
    snprintf(label, sizeof label, "--%s", entry->option);
    ss_option_store_label(request->store, before, label);

    return check_values(added, error);
}

static int set_generator(
    void *config, const struct ss_argument *row, char *text, struct ss_error *error) {
    struct sstrace_generation *generation = &((struct sstrace_request *)config)->generation;
    (void)error;
    generation->name = row->option.name;
    generation->text = text;
    return 0;
}

#define AT(member)       .offset = offsetof(struct sstrace_request, member)
#define COUNT_AT(member) SS_OPTION_COUNT_AT(struct sstrace_request, member)

// clang-format off
static const struct ss_argument rows[] = {
    {0, NULL, {"dump", AT(dump), .help = "write the text"}, .excludes = "check stat plot",
        .heading = "Instead of the compiled form:"},
    {0, NULL, {"check", AT(check), .help = "write nothing; exit with status 0 if the trace is valid"},
        .excludes = "stat plot output"},
    {0, NULL, {"stat", AT(stat), .help = "print length, number of records, and mean (weighted by time), "
        "smallest and largest load, without free sections"},
        .excludes = "plot output"},
    {0, NULL, {"plot", AT(plot), .help = "draw the trace: on the terminal or, with -o, as FILE.svg or .png"}},
    {'o', "FILE", {"output", SS_OPTION_TEXT, AT(output),
        .help = "write to FILE, whole or not at all"}},
    {0, "DIR", {"split", SS_OPTION_TEXT, AT(split),
        .help = "create a folder with a trace of each machine in a table"},
        .excludes = "check stat plot output select constant sine staircase random bursts"},

    {0, "F", {"scale", .help = "multiply times: 1/3 plays three times faster"}, .take = add_transform,
        .heading = "\nChanges, in the given order:"},
    {0, "TIME", {"offset", .help = "delay the trace; -TIME: cut off its beginning"},
        .take = add_transform},
    {0, "FROM,TO", {"clip", .help = "keep the part between two times"},
        .take = add_transform},
    {0, "N", {"repeat", .help = "repeat the trace N times"}, .take = add_transform},
    {0, "F", {"load-scale", .help = "multiply loads"}, .take = add_transform},
    {0, "MIN,MAX", {"load-clamp", .help = "limit loads to this range"}, .take = add_transform},
    {0, "TIME", {"resample", .help = "replace the trace with steps of this length, each at the mean load"},
        .take = add_transform},
    {0, NULL, {"steps", .help = "hold each load until the next record"}, .take = add_transform},

    {0, "LOAD,...", {"constant", .help = "one load all the time"}, .take = set_generator,
        .excludes = "sine staircase random bursts FILE",
        .heading = "\nGenerate a trace instead of reading one (details below):"},
    {0, "MEAN,...", {"sine", .help = "a sine wave about a mean load"}, .take = set_generator,
        .excludes = "staircase random bursts FILE"},
    {0, "FROM:TO:STEP:HOLD,...", {"staircase", .help = "a sequence of levels, each held for a time"},
        .take = set_generator, .excludes = "random bursts FILE"},
    {0, NULL, {"symmetric", AT(generation.symmetric), .help = "from the highest level down to the lowest and back up"},
        .needs = "staircase"},
    {0, "SEED,...", {"random", .help = "uniformly distributed random loads"}, .take = set_generator,
        .excludes = "bursts FILE"},
    {0, "SEED,...", {"bursts", .help = "short bursts at random times"}, .take = set_generator,
        .excludes = "FILE"},

    {0, "FORMAT", {"from", SS_OPTION_TEXT, AT(import.format),
        .help = "one of the formats below; not needed if the file identifies it"},
        .heading = "\nRead measurements (several files are read one after the other):"},
    {0, "NAME", {"select", SS_OPTION_TEXT, AT(import.select),
        .help = "the machine, CPU or series, if there are several"}, .may_be_empty = true},
    {0, "WHAT", {"gaps", SS_OPTION_CHOICE, AT(import.gaps), .choices = "keep fill refuse",
        .help = "if samples are missing, hold the load (the default), draw a straight line, or "
                "fail"}},
    {0, "TIME", {"every", SS_OPTION_TIME, AT(import.every), .min = "1ns", .max = "20000d",
        .sensible = "100ms", .help = "the interval of samples without times"}},
    {0, "UNIT", {"unit", SS_OPTION_CHOICE, AT(import.unit),
        .choices = "default percent fraction cores",
        .help = "the unit of the loads; cores: 100 is one of --cpus N"}},
    {0, "N", {"cpus", COUNT_AT(import.cpus), .min = "1", .max = "1000000",
        .help = "the number of CPUs: see --unit and the formats"}},
    {0, "C", {"time-column", SS_OPTION_TEXT, AT(import.time_column),
        .help = "the column of csv with the times: a name, or a number from 1"}},
    {0, "C", {"load-column", SS_OPTION_TEXT, AT(import.load_column),
        .help = "the column of the loads"}},
    {0, "C", {"idle-column", SS_OPTION_TEXT, AT(import.idle_column),
        .help = "the column of idle time, instead of loads"}},
    {0, "C", {"series-column", SS_OPTION_TEXT, AT(import.series_column),
        .help = "the column with the name of the series"}},
    {0, "C", {"separator", SS_OPTION_TEXT, AT(import.separator),
        .help = "the separator of columns in csv"}},
    {0, "UNIT", {"time-unit", SS_OPTION_TEXT, AT(import.time_unit),
        .help = "the unit of times in csv: s, ms, us, ns, min or h"}},

    {'h', NULL, {"help", AT(help), .help = "print this help"}, .heading = ""},
    {0, NULL, {"version", AT(version), .help = "print the version"}},
    SS_ARGUMENTS_WORDS(add_file),
};
// clang-format on

int sstrace_request_parse(char **argv, struct sstrace_request *request,
    struct ss_option_store *store, struct ss_error *error) {
    *request = (struct sstrace_request){.files = argv + 1, .store = store};
    return ss_arguments_parse(rows, request, store, argv, NULL, error);
}

static const char usage[] =
    "Usage: sstrace [OPTION]... [FILE]\n"
    "Compiles a load trace: reads text, a compiled trace or the output of a\n"
    "monitoring program from FILE or standard input, and writes the compiled form to\n"
    "standard output.\n"
    "\n"
    "A trace has one record per line, TIME LOAD, and comments after #. Times are 20s,\n"
    "107ms, 2min, 1/3s or +5s (after the previous record). Loads are between 0 and 1:\n"
    "60%, 0.6, 6/10; or the word free.\n"
    "\n";

void sstrace_help_print(void) {
    fputs(usage, stdout);
    ss_arguments_print_help(stdout, rows);
    printf("\nFormats:\n");
    for (size_t i = 0; sstrace_formats[i]; i++) {
        printf("  %-14s ", sstrace_formats[i]->name);
        ss_option_print_wrapped(stdout, 17, sstrace_formats[i]->summary);
    }
    printf("\n");
    sstrace_generators_print(stdout);
}
