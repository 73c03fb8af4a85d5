/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_options.h"

#include "base/units.h"
#include "base/words.h"
#include "options/arguments.h"

static int set_action(
    void *config, const struct ss_argument *row, char *text, struct ss_error *error) {
    static const char *const names[] = {[SSTRACE_CHECK] = "check",
        [SSTRACE_DUMP] = "dump",
        [SSTRACE_STAT] = "stat",
        [SSTRACE_PLOT] = "plot"};
    struct sstrace_request *request = config;
    enum sstrace_action action = SSTRACE_CHECK;
    (void)text;
    while (strcmp(names[action], row->option.name) != 0)
        action++;
    if (request->action != SSTRACE_COMPILE && request->action != action)
        return ss_error_fail(
            error, "--%s is also given: choose one of the two", names[request->action]);
    request->action = action;
    return 0;
}

static int add_file(
    void *config, const struct ss_argument *row, char *word, struct ss_error *error) {
    struct sstrace_request *request = config;
    (void)row, (void)error;
    request->files[request->file_count++] = word;
    return 0;
}

/* Parses a time in the syntax of traces. */
static int take_time(struct sstrace_request *request, const struct ss_argument *row,
    const char *text, ss_time *time, struct ss_error *error) {
    ss_time sensible;
    struct ss_units_doubt doubt = {""};
    char warning[256];
    if (ss_units_time(row->option.sensible, &sensible, error) != 0 ||
        ss_units_time_sensible(text, sensible, time, &doubt, error) != 0)
        return -1;
    snprintf(warning, sizeof warning, "--%s: %s", row->option.name, doubt.text);
    if (*doubt.text)
        ss_option_store_warn(request->store, warning);
    return 0;
}

static struct sstrace_transform *add_transform(
    struct sstrace_request *request, enum sstrace_transform_kind kind, struct ss_error *error) {
    if (request->transform_count == SSTRACE_TRANSFORMS_MAX) {
        ss_error_fail(error, "too many transformations (at most %d): run sstrace twice",
            SSTRACE_TRANSFORMS_MAX);
        return NULL;
    }
    struct sstrace_transform *added = &request->transforms[request->transform_count++];
    *added = (struct sstrace_transform){.kind = kind};
    return added;
}

static int add_factor(
    void *config, const struct ss_argument *row, char *text, struct ss_error *error) {
    bool times = strcmp(row->option.name, "scale") == 0;
    struct sstrace_transform *added =
        add_transform(config, times ? SSTRACE_SCALE : SSTRACE_LOAD_SCALE, error);
    if (!added || ss_units_number(text, &added->factor, error) != 0)
        return -1;
    if (times && !(added->factor > 0))
        return ss_error_fail(error, "'%s' must be more than 0", text);
    return 0;
}

static int add_offset(
    void *config, const struct ss_argument *row, char *text, struct ss_error *error) {
    bool earlier = *text == '-';
    struct sstrace_transform *added =
        add_transform(config, earlier ? SSTRACE_CLIP : SSTRACE_LATER, error);
    if (!added)
        return -1;
    text += earlier || *text == '+';
    if (take_time(config, row, text, &added->from, error) != 0)
        return -1;
    added->to = SS_TIME_NEVER;
    return 0;
}

/* Splits "A,B" in place and returns B; NULL with the error set if there is no comma. */
static char *split(char *text, const struct ss_argument *row, struct ss_error *error) {
    char *comma = strchr(text, ',');
    if (!comma) {
        ss_error_fail(error, "'%s' is not %s", ss_words_show(text).text, row->value);
        return NULL;
    }
    *comma = '\0';
    return comma + 1;
}

static int add_clip(
    void *config, const struct ss_argument *row, char *text, struct ss_error *error) {
    struct sstrace_transform *added = add_transform(config, SSTRACE_CLIP, error);
    char *second = added ? split(text, row, error) : NULL;
    if (!second)
        return -1;
    if (take_time(config, row, text, &added->from, error) != 0 ||
        take_time(config, row, second, &added->to, error) != 0)
        return -1;
    if (added->to <= added->from)
        return ss_error_fail(
            error, "%s is not after %s: write the earlier time first", second, text);
    return 0;
}

static int add_clamp(
    void *config, const struct ss_argument *row, char *text, struct ss_error *error) {
    struct sstrace_transform *added = add_transform(config, SSTRACE_LOAD_CLAMP, error);
    char *second = added ? split(text, row, error) : NULL;
    if (!second)
        return -1;
    if (ss_units_load(text, 0, &added->min, error) != 0 ||
        ss_units_load(second, 0, &added->max, error) != 0)
        return -1;
    if (added->max < added->min)
        return ss_error_fail(
            error, "%s is less than %s: write the smaller load first", second, text);
    return 0;
}

static int add_repeat(
    void *config, const struct ss_argument *row, char *text, struct ss_error *error) {
    (void)row;
    struct sstrace_transform *added = add_transform(config, SSTRACE_REPEAT, error);
    if (!added || ss_units_count(text, &added->count, error) != 0)
        return -1;
    if (added->count == 0)
        return ss_error_fail(error, "the count must be more than 0");
    return 0;
}

static int add_resample(
    void *config, const struct ss_argument *row, char *text, struct ss_error *error) {
    struct sstrace_transform *added = add_transform(config, SSTRACE_RESAMPLE, error);
    if (!added || take_time(config, row, text, &added->step, error) != 0)
        return -1;
    if (added->step == 0)
        return ss_error_fail(error, "the time must be more than 0");
    return 0;
}

static int add_steps(
    void *config, const struct ss_argument *row, char *text, struct ss_error *error) {
    (void)row, (void)text;
    return add_transform(config, SSTRACE_STEPS, error) ? 0 : -1;
}

static int set_generator(
    void *config, const struct ss_argument *row, char *text, struct ss_error *error) {
    struct sstrace_generation *generation = &((struct sstrace_request *)config)->generation;
    if (generation->generator)
        return ss_error_fail(error,
            "--%s is also given: use one generator; --offset and pipes join several traces",
            generation->generator->name);
    generation->generator = sstrace_generator_find(row->option.name);
    generation->text = text;
    return 0;
}

#define AT(member)       .offset = offsetof(struct sstrace_request, member)
#define COUNT_AT(member) SS_OPTION_COUNT_AT(struct sstrace_request, member)

// clang-format off
static const struct ss_argument rows[] = {
    {0, NULL, {"dump", .help = "write the text"}, .take = set_action,
        .heading = "Instead of the compiled form:"},
    {0, NULL, {"check", .help = "write nothing; exit with status 0 if the trace is valid"}, .take = set_action},
    {0, NULL, {"stat", .help = "print length, number of records, and mean (weighted by time), "
        "smallest and largest load, without free sections"}, .take = set_action},
    {0, NULL, {"plot", .help = "draw the trace: on the terminal or, with -o, as FILE.svg or .png"},
        .take = set_action},
    {'o', "FILE", {"output", SS_OPTION_TEXT, AT(output),
        .help = "write to FILE, whole or not at all"}},
    {0, "DIR", {"split", SS_OPTION_TEXT, AT(split),
        .help = "make a folder with a trace of each machine of a table"}},

    {0, "F", {"scale", .help = "multiply times: 1/3 plays three times faster"}, .take = add_factor,
        .heading = "\nChanges, made in the order in which they are given:"},
    {0, "TIME", {"offset", .sensible = "500m",
        .help = "delay the trace; -TIME: cut off its beginning"},
        .take = add_offset},
    {0, "FROM,TO", {"clip", .sensible = "500m", .help = "keep the part between two times"},
        .take = add_clip},
    {0, "N", {"repeat", .help = "repeat the trace N times"}, .take = add_repeat},
    {0, "F", {"load-scale", .help = "multiply loads"}, .take = add_factor},
    {0, "MIN,MAX", {"load-clamp", .help = "limit loads to this range"}, .take = add_clamp},
    {0, "TIME", {"resample", .sensible = "100m",
        .help = "replace the trace with steps of this length, each at the mean load"},
        .take = add_resample},
    {0, NULL, {"steps", .help = "hold each load until the next record"}, .take = add_steps},

    {0, "LOAD,...", {"constant", .help = "one load all the time"}, .take = set_generator,
        .heading = "\nMake a trace instead of reading one (more about each below):"},
    {0, "MEAN,...", {"sine", .help = "a sine wave about a mean load"}, .take = set_generator},
    {0, "FROM:TO:STEP:HOLD,...", {"staircase", .help = "level after level, each held for a time"},
        .take = set_generator},
    {0, NULL, {"symmetric", AT(generation.symmetric), .help = "with --staircase: from the highest level down to the lowest and back up"}},
    {0, "SEED,...", {"random", .help = "evenly spread random loads"}, .take = set_generator},
    {0, "SEED,...", {"bursts", .help = "short bursts at random times"}, .take = set_generator},

    {0, "FORMAT", {"from", SS_OPTION_TEXT, AT(import.format),
        .help = "a format below; not needed if the file identifies it"},
        .heading = "\nRead measurements (several files are read one after the other):"},
    {0, "NAME", {"select", SS_OPTION_TEXT, AT(import.select),
        .help = "the machine, CPU or series, if there are several"}, .may_be_empty = true},
    {0, "WHAT", {"gaps", SS_OPTION_CHOICE, AT(import.gaps), .choices = "keep fill refuse",
        .help = "if samples are missing, hold the load (the default), draw a straight line, or "
                "fail"}},
    {0, "TIME", {"every", SS_OPTION_TIME, AT(import.every), .min = "1n", .max = "20000d",
        .sensible = "100m", .help = "the interval of samples without times"}},
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
        .help = "the character between columns of csv"}},
    {0, "UNIT", {"time-unit", SS_OPTION_TEXT, AT(import.time_unit),
        .help = "the unit of times in csv: s, ms, us, ns, min or h"}},

    {'h', NULL, {"help", AT(help), .help = "print this help"}, .heading = ""},
    {0, NULL, {"version", AT(version), .help = "print the version"}},
    SS_ARGUMENTS_WORDS(add_file),
};
// clang-format on

static int check(const struct sstrace_request *request, struct ss_error *error) {
    if (request->help || request->version)
        return 0;
    if (request->generation.generator && request->file_count > 0)
        return ss_error_fail(error, "unexpected argument '%s': --%s generates the trace",
            ss_words_show(request->files[0]).text, request->generation.generator->name);
    if (request->generation.symmetric &&
        (!request->generation.generator ||
            strcmp(request->generation.generator->name, "staircase") != 0))
        return ss_error_fail(error, "--symmetric requires --staircase");
    if (request->output && (request->action == SSTRACE_CHECK || request->action == SSTRACE_STAT))
        return ss_error_fail(
            error, "-o cannot be combined with --check or --stat, which write no trace or drawing");
    if (!request->split)
        return 0;
    if (request->action != SSTRACE_COMPILE && request->action != SSTRACE_DUMP)
        return ss_error_fail(error, "--split writes traces: it cannot be combined with --check, "
                                    "--stat or --plot");
    if (request->output || request->import.select || request->generation.generator)
        return ss_error_fail(error, "--split cannot be combined with -o, --select or a generator");
    return 0;
}

int sstrace_request_parse(char **argv, struct sstrace_request *request,
    struct ss_option_store *store, struct ss_error *error) {
    *request = (struct sstrace_request){.files = argv + 1, .store = store};
    if (ss_arguments_parse(rows, request, store, argv, NULL, error) < 0)
        return -1;
    return check(request, error);
}

void sstrace_options_print(FILE *stream) {
    ss_arguments_print_help(stream, rows);
}
