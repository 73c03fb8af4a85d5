/* SPDX-License-Identifier: Apache-2.0 */
#include "request.h"

#include <getopt.h>

#include "base/nearest.h"
#include "base/units.h"
#include "base/words.h"
#include "options/option.h"

/* What is done with an option's argument. */
typedef int handler(struct sstrace_request *, const char *name, char *text, struct ss_error *);

struct word {
    const char *name;
    int argument; /* as getopt_long() names it */
    handler *handle;
};

static int bad(struct ss_error *error, const char *name) {
    return ss_error_wrap(error, "--%s", name);
}

static int set_action(
    struct sstrace_request *request, const char *name, char *text, struct ss_error *error) {
    static const char *const names[] = {[SSTRACE_CHECK] = "check",
        [SSTRACE_DUMP] = "dump",
        [SSTRACE_STAT] = "stat",
        [SSTRACE_PLOT] = "plot",
        [SSTRACE_HELP] = "help",
        [SSTRACE_VERSION] = "version"};
    (void)text;
    int action = SSTRACE_CHECK;
    while (strcmp(names[action], name) != 0)
        action++;
    if (request->action >= SSTRACE_HELP)
        return 0;
    if (request->action != SSTRACE_COMPILE && action < SSTRACE_HELP &&
        (int)request->action != action)
        return ss_error_fail(
            error, "--%s and --%s: choose one of them", names[request->action], name);
    request->action = (enum sstrace_action)action;
    return 0;
}

static int set_output(
    struct sstrace_request *request, const char *name, char *text, struct ss_error *error) {
    request->output = text;
    return *text ? 0 : ss_error_fail(error, "--%s is empty: name a file", name);
}

/* A time such as those that traces are made of. Of `row`, the name and `sensible` are set. */
static int take_time(struct sstrace_request *request, const char *text, ss_time *time,
    struct ss_option row, struct ss_error *error) {
    char label[64];
    snprintf(label, sizeof label, "--%s", row.name);
    row.name = label;
    row.type = SS_OPTION_TIME;
    return ss_option_set(&row, text, time, request->store, error);
}

/* ---- transformations ---- */

static struct sstrace_transform *add_transform(
    struct sstrace_request *request, enum sstrace_transform_kind kind, struct ss_error *error) {
    if (request->transform_count == SSTRACE_TRANSFORMS_MAX) {
        ss_error_fail(
            error, "more than %d transformations: make two calls of it", SSTRACE_TRANSFORMS_MAX);
        return NULL;
    }
    struct sstrace_transform *added = &request->transforms[request->transform_count++];
    *added = (struct sstrace_transform){.kind = kind};
    return added;
}

static int add_factor(
    struct sstrace_request *request, const char *name, char *text, struct ss_error *error) {
    bool times = strcmp(name, "scale") == 0;
    struct sstrace_transform *added =
        add_transform(request, times ? SSTRACE_SCALE : SSTRACE_LOAD_SCALE, error);
    if (!added || ss_units_number(text, &added->factor, error) != 0)
        return bad(error, name);
    if (times && !(added->factor > 0))
        return ss_error_fail(error, "--%s: '%s' must be more than 0", name, text);
    return 0;
}

static int add_offset(
    struct sstrace_request *request, const char *name, char *text, struct ss_error *error) {
    bool earlier = *text == '-';
    struct sstrace_transform *added =
        add_transform(request, earlier ? SSTRACE_CLIP : SSTRACE_LATER, error);
    if (!added)
        return bad(error, name);
    struct ss_option row = {.name = name, .sensible = "500m"};
    text += earlier || *text == '+';
    if (take_time(request, text, &added->from, row, error) != 0)
        return -1;
    added->to = SS_TIME_NEVER;
    return 0;
}

/* Cuts "A,B" in two; NULL: it is not that. */
static char *split(char *text, const char *name, const char *form, struct ss_error *error) {
    char *comma = strchr(text, ',');
    if (!comma) {
        ss_error_fail(error, "--%s: '%s' is not %s", name, ss_words_show(text).text, form);
        return NULL;
    }
    *comma = '\0';
    return comma + 1;
}

static int add_clip(
    struct sstrace_request *request, const char *name, char *text, struct ss_error *error) {
    struct sstrace_transform *added = add_transform(request, SSTRACE_CLIP, error);
    char *second = added ? split(text, name, "FROM,TO", error) : NULL;
    if (!second)
        return -1;
    struct ss_option row = {.name = name, .sensible = "500m"};
    if (take_time(request, text, &added->from, row, error) != 0 ||
        take_time(request, second, &added->to, row, error) != 0)
        return -1;
    if (added->to <= added->from)
        return ss_error_fail(error, "--%s: %s is not behind %s", name, second, text);
    return 0;
}

static int add_clamp(
    struct sstrace_request *request, const char *name, char *text, struct ss_error *error) {
    struct sstrace_transform *added = add_transform(request, SSTRACE_LOAD_CLAMP, error);
    char *second = added ? split(text, name, "MIN,MAX", error) : NULL;
    if (!second)
        return -1;
    if (ss_units_load(text, &added->min, error) != 0 ||
        ss_units_load(second, &added->max, error) != 0)
        return bad(error, name);
    if (added->max < added->min)
        return ss_error_fail(error, "--%s: %s is less than %s", name, second, text);
    return 0;
}

static int add_repeat(
    struct sstrace_request *request, const char *name, char *text, struct ss_error *error) {
    struct sstrace_transform *added = add_transform(request, SSTRACE_REPEAT, error);
    if (!added || ss_units_count(text, &added->count, error) != 0)
        return bad(error, name);
    if (added->count == 0)
        return ss_error_fail(error, "--%s: 0 times leaves no trace", name);
    return 0;
}

static int add_resample(
    struct sstrace_request *request, const char *name, char *text, struct ss_error *error) {
    struct sstrace_transform *added = add_transform(request, SSTRACE_RESAMPLE, error);
    if (!added)
        return bad(error, name);
    struct ss_option row = {.name = name, .sensible = "100m"};
    if (take_time(request, text, &added->step, row, error) != 0)
        return -1;
    if (added->step == 0)
        return ss_error_fail(error, "--%s: the time must be more than 0", name);
    return 0;
}

static int add_steps(
    struct sstrace_request *request, const char *name, char *text, struct ss_error *error) {
    (void)name;
    (void)text;
    return add_transform(request, SSTRACE_STEPS, error) ? 0 : -1;
}

/* ---- generators ---- */

static int set_generator(
    struct sstrace_request *request, const char *name, char *text, struct ss_error *error) {
    if (request->generation.generator)
        return ss_error_fail(error,
            "--%s and --%s: a trace is made by one of them; --offset and pipes join several",
            request->generation.generator->name, name);
    request->generation.generator = sstrace_generator_find(name);
    request->generation.text = text;
    return 0;
}

static int set_symmetric(
    struct sstrace_request *request, const char *name, char *text, struct ss_error *error) {
    (void)name;
    (void)text;
    (void)error;
    request->generation.symmetric = true;
    return 0;
}

/* ---- import ---- */

static const struct ss_option import_options[] = {
#define OPTION(id, kind, place, ...)                                                               \
    {                                                                                              \
        .name = id, .type = SS_OPTION_##kind,                                                      \
        .offset = offsetof(struct sstrace_import_options, place), __VA_ARGS__                      \
    }
    OPTION("from", TEXT, format),
    OPTION("select", TEXT, select),
    OPTION("time-column", TEXT, time_column),
    OPTION("load-column", TEXT, load_column),
    OPTION("idle-column", TEXT, idle_column),
    OPTION("series-column", TEXT, series_column),
    OPTION("separator", TEXT, separator),
    OPTION("time-unit", TEXT, time_unit),
    OPTION("every", TIME, every, .min = "1n", .max = "20000d", .sensible = "100m"),
    OPTION("unit", CHOICE, unit, .choices = "default percent fraction cores"),
    OPTION("cpus", COUNT, cpus, .min = "1", .max = "1000000"),
    OPTION("gaps", CHOICE, gaps, .choices = "keep fill refuse"),
    SS_OPTION_END,
#undef OPTION
};

static int set_import(
    struct sstrace_request *request, const char *name, char *text, struct ss_error *error) {
    const struct ss_option *row = import_options;
    while (strcmp(row->name, name) != 0)
        row++;
    char label[64];
    snprintf(label, sizeof label, "--%s", name);
    struct ss_option dashed = *row;
    dashed.name = label;
    return ss_option_set(&dashed, text, &request->import, request->store, error);
}

/* ---- all of them ---- */

static const struct word words[] = {
    {"check", no_argument, set_action},
    {"dump", no_argument, set_action},
    {"stat", no_argument, set_action},
    {"plot", no_argument, set_action},
    {"help", no_argument, set_action},
    {"version", no_argument, set_action},
    {"output", required_argument, set_output},
    {"scale", required_argument, add_factor},
    {"offset", required_argument, add_offset},
    {"clip", required_argument, add_clip},
    {"repeat", required_argument, add_repeat},
    {"load-scale", required_argument, add_factor},
    {"load-clamp", required_argument, add_clamp},
    {"resample", required_argument, add_resample},
    {"steps", no_argument, add_steps},
    {"constant", required_argument, set_generator},
    {"sine", required_argument, set_generator},
    {"staircase", required_argument, set_generator},
    {"random", required_argument, set_generator},
    {"bursts", required_argument, set_generator},
    {"symmetric", no_argument, set_symmetric},
    {"from", required_argument, set_import},
    {"select", required_argument, set_import},
    {"time-column", required_argument, set_import},
    {"load-column", required_argument, set_import},
    {"idle-column", required_argument, set_import},
    {"series-column", required_argument, set_import},
    {"separator", required_argument, set_import},
    {"time-unit", required_argument, set_import},
    {"every", required_argument, set_import},
    {"unit", required_argument, set_import},
    {"cpus", required_argument, set_import},
    {"gaps", required_argument, set_import},
};

#define WORDS (sizeof words / sizeof *words)

/* Behind every letter. */
#define FIRST 256

/* `word` is where getopt stands, which for one of several letters together is not yet behind it. */
static int bad_option(const char *word, int option, struct ss_error *error) {
    if (option == ':')
        return ss_error_fail(
            error, "%s needs an argument: see sstrace --help", ss_words_show(word).text);
    if (optopt >= FIRST)
        return ss_error_fail(error, "--%s takes no argument", words[optopt - FIRST].name);
    if (optopt > 0)
        return ss_error_fail(error, "unknown option '-%c': see sstrace --help", optopt);
    const char *names[WORDS];
    for (size_t i = 0; i < WORDS; i++)
        names[i] = words[i].name;
    struct ss_nearest_names known = {"option", names, WORDS, "see sstrace --help"};
    return ss_nearest_refuse(&known, word, error);
}

static int check(const struct sstrace_request *request, struct ss_error *error) {
    if (request->action >= SSTRACE_HELP)
        return 0;
    if (request->generation.generator && request->file_count > 0)
        return ss_error_fail(error, "'%s' is too much: --%s makes the trace, no file is read",
            ss_words_show(request->files[0]).text, request->generation.generator->name);
    if (request->generation.symmetric &&
        (!request->generation.generator ||
            strcmp(request->generation.generator->name, "staircase") != 0))
        return ss_error_fail(error, "--symmetric goes with --staircase");
    if (request->output && (request->action == SSTRACE_CHECK || request->action == SSTRACE_STAT))
        return ss_error_fail(
            error, "-o takes a trace or a drawing, which --check and --stat do not make");
    return 0;
}

int sstrace_request_parse(int argc, char **argv, struct sstrace_request *request,
    struct ss_option_store *store, struct ss_error *error) {
    struct option options[WORDS + 1] = {0};
    for (int i = 0; i < (int)WORDS; i++)
        options[i] = (struct option){words[i].name, words[i].argument, NULL, FIRST + i};
    *request = (struct sstrace_request){.store = store};
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, ":o:", options, NULL)) != -1;) {
        const struct word *word = NULL;
        if (option == 'o' && set_output(request, "output", optarg, error) != 0)
            return -1;
        if (option >= FIRST)
            word = &words[option - FIRST];
        else if (option != 'o')
            return bad_option(argv[optind - 1], option, error);
        if (word && word->handle(request, word->name, optarg, error) != 0)
            return -1;
    }
    request->files = argv + optind;
    request->file_count = argc - optind;
    return check(request, error);
}
