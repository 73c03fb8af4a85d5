/* SPDX-License-Identifier: Apache-2.0 */
#include "option_value.h"

#include <showstopper/stairs.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "base/owned.h"
#include "base/suggest.h"
#include "base/units.h"
#include "base/words.h"
#include "platform/platform.h"

/* Shorter times in `m` were probably meant in minutes, as showstopper --warmup warns. */
#define SENSIBLE (500 * SS_MILLISECOND)

/* Bounds of the length of a round, as in the dithering averageq. */
#define ROUND_MIN SS_MILLISECOND
#define ROUND_MAX (3600 * SS_SECOND)

struct type;

/* Where a value goes, and what it must be. */
struct output {
    FILE *stream;
    const struct ssbatch_option_value *value;
    const struct type *type;
};

/* Writes a value, or an item of one that is a list. */
typedef int printer(const struct output *output, const char *text, struct ss_error *error);

struct type {
    const char *name;
    printer *print;
    bool is_list;
    bool is_positive;
    ss_time sensible; /* a shorter time in `m` was probably meant in minutes */
};

static bool is_decimal(const char *text) {
    size_t whole = strspn(text, "0123456789");
    if (whole == 0)
        return false;
    text += whole;
    if (*text != '.')
        return !*text;
    return text[1] && !text[1 + strspn(text + 1, "0123456789")];
}

/* Writes a number without leading zeros, after which shells and gawk read octal digits. */
static void put_decimal(FILE *stream, const char *text) {
    while (text[0] == '0' && text[1] >= '0' && text[1] <= '9')
        text++;
    fprintf(stream, "%s", text);
}

/*
 * Reads a time with a unit. Warns if it is in `m` and shorter than is sensible: the user probably
 * meant minutes.
 */
static int read_time(
    const struct output *output, const char *text, ss_time *time, struct ss_error *error) {
    struct ss_units_doubt doubt;
    if (ss_units_time_sensible(text, output->type->sensible, time, &doubt, error) < 0)
        return -1;
    if (*doubt.text)
        fprintf(stderr, "%s: warning: --%s: %s\n", output->value->program, output->value->option,
            doubt.text);
    return 0;
}

static int check_positive(const struct output *output, double number, const char *text,
    const char *what, struct ss_error *error) {
    if (!output->type->is_positive || number > 0)
        return 0;
    return ss_error_fail(error, "'%s' is not a %s above 0", ss_words_show(text).text, what);
}

/* Writes a time in seconds. A number without a unit is in seconds. */
static int print_time(const struct output *output, const char *text, struct ss_error *error) {
    ss_time time;
    if (is_decimal(text)) {
        put_decimal(output->stream, text);
        return check_positive(output, strtod(text, NULL), text, "time", error);
    }
    if (read_time(output, text, &time, error) < 0)
        return -1;
    fprintf(output->stream, "%.10g", ss_time_seconds(time));
    return check_positive(output, ss_time_seconds(time), text, "time", error);
}

static int print_round(const struct output *output, const char *text, struct ss_error *error) {
    char shown[64];
    ss_time time;
    if (read_time(output, text, &time, error) < 0)
        return -1;
    if (time < ROUND_MIN)
        return ss_error_fail(error, "'%s' is too short: use at least 1m", ss_words_show(text).text);
    if (time > ROUND_MAX)
        return ss_error_fail(error, "'%s' is too long: use at most 1h", ss_words_show(text).text);
    ss_units_print_time(shown, sizeof shown, time);
    fprintf(output->stream, "%s", shown);
    return 0;
}

static int read_percent(const char *text, double *percent, struct ss_error *error) {
    struct ss_cpus cpus;
    ss_platform_affinity(&cpus);
    if (ss_units_load_option(text, ss_cpus_count(&cpus), percent, error) < 0)
        return -1;
    *percent *= 100;
    return 0;
}

/* Writes a load in percent. 15 digits are as many as decimals keep exactly: 1/3 is not rounded. */
static int print_load(const struct output *output, const char *text, struct ss_error *error) {
    double percent;
    if (read_percent(text, &percent, error) < 0)
        return -1;
    fprintf(output->stream, "%.15g", percent);
    return check_positive(output, percent, text, "load", error);
}

static int print_whole(const struct output *output, const char *text, struct ss_error *error) {
    if (!*text || text[strspn(text, "0123456789")])
        return ss_error_fail(
            error, "'%s' is not a whole number: use one such as 180", ss_words_show(text).text);
    if (output->type->is_positive && !text[strspn(text, "0")])
        return ss_error_fail(error, "'%s' is too small: use at least 1", ss_words_show(text).text);
    put_decimal(output->stream, text);
    return 0;
}

static int print_percent(const struct output *output, const char *text, struct ss_error *error) {
    SS_OWNED(free) char *number = strndup(text, strcspn(text, "%"));
    if (!number)
        return ss_error_memory(error);
    const char *rest = text + strlen(number);
    if (!is_decimal(number) || (*rest && rest[1]))
        return ss_error_fail(
            error, "'%s' is not a valid number: use one such as 180", ss_words_show(text).text);
    put_decimal(output->stream, number);
    return 0;
}

/* Writes the number of CPUs in a list. All of them must be available. */
static int print_cpus(const struct output *output, const char *text, struct ss_error *error) {
    struct ss_cpus cpus, available;
    if (ss_cpus_parse(text, &cpus, error) < 0)
        return -1;
    ss_platform_affinity(&available);
    uint32_t outside = ss_cpus_first_outside(&cpus, &available);
    if (outside < SS_CPUS_MAX) {
        char list[256];
        ss_cpus_print(list, sizeof list, &available);
        return ss_error_fail(error, "CPU %u is not available here; available: %s", outside, list);
    }
    fprintf(output->stream, "%u", ss_cpus_count(&cpus));
    return 0;
}

/* Writes both sets of "A/B", the number of CPUs in each, and the first CPU in both, or -. */
static int print_sets(const struct output *output, const char *text, struct ss_error *error) {
    SS_OWNED(free) char *left = strdup(text);
    char *right = left ? strchr(left, '/') : NULL;
    struct ss_cpus sets[2], both;
    if (!left)
        return ss_error_memory(error);
    if (!right || strchr(right + 1, '/') || strchr(text, '\n'))
        return ss_error_fail(error, "'%s' is not two lists of CPUs: use two lists such as 0-3/4-7",
            ss_words_show(text).text);
    *right++ = '\0';
    if (ss_cpus_parse(left, &sets[0], error) < 0 || ss_cpus_parse(right, &sets[1], error) < 0)
        return -1;
    fprintf(output->stream, "%s %s %u %u ", left, right, ss_cpus_count(&sets[0]),
        ss_cpus_count(&sets[1]));
    both = sets[0];
    ss_cpus_keep(&both, &sets[1]);
    struct ss_cpus none = {0};
    uint32_t shared = ss_cpus_first_outside(&both, &none);
    if (shared < SS_CPUS_MAX)
        fprintf(output->stream, "%u", shared);
    else
        fputc('-', output->stream);
    return 0;
}

/* Splits "HIGH:LOW:STEP" in place. */
static int split_levels(char *text, char *parts[3]) {
    for (int i = 0; i < 3; i++) {
        char *colon = strchr(text, ':');
        if (text == colon || !*text || (colon != NULL) != (i < 2))
            return -1;
        parts[i] = text;
        if (colon)
            *colon = '\0';
        text = colon ? colon + 1 : NULL;
    }
    return 0;
}

/*
 * Writes the levels HIGH:LOW:STEP in percent, and the number of steps down and up again. Levels
 * without a percent sign are in percent, even below 2.
 */
static int print_stairs(const struct output *output, const char *text, struct ss_error *error) {
    SS_OWNED(free) char *levels = strdup(text);
    char *parts[3] = {NULL};
    double percents[3];
    struct ss_stairs stairs = {.symmetric = true};
    if (!levels)
        return ss_error_memory(error);
    if (split_levels(levels, parts) < 0)
        return ss_error_fail(error,
            "'%s' is not HIGH:LOW:STEP: use three loads, such as "
            "95%%:5%%:5%%",
            ss_words_show(text).text);
    bool bare = strtod(parts[0], NULL) >= 2 && !text[strspn(text, "0123456789:")];
    for (int i = 0; i < 3; i++) {
        if (bare)
            percents[i] = strtod(parts[i], NULL);
        else if (read_percent(parts[i], &percents[i], error) < 0)
            return -1;
    }
    if (percents[1] > percents[0] || !(percents[2] > 0))
        return ss_error_fail(
            error, "'%s': levels must go down by a step above 0", ss_words_show(text).text);
    if (ss_stairs_set(&stairs, percents[0], percents[1], percents[2], error) < 0)
        return -1;
    for (int i = 0; i < 3; i++)
        fprintf(output->stream, "%s%.15g", i > 0 ? ":" : "", percents[i]);
    fprintf(output->stream, " %llu", (unsigned long long)ss_stairs_count(&stairs));
    return 0;
}

void ssbatch_span_print(FILE *stream, ss_time time) {
    double seconds = ss_time_seconds(time);
    unsigned long long whole = (unsigned long long)(seconds + 0.5);
    if (whole < 60)
        fprintf(stream, "%.3g s", seconds);
    else if (whole < 3600)
        fprintf(stream, "%llu min %02llu s", whole / 60, whole % 60);
    else
        fprintf(stream, "%llu h %02llu min", whole / 3600, whole % 3600 / 60);
}

static int print_span(const struct output *output, const char *text, struct ss_error *error) {
    ss_time time;
    if (is_decimal(text))
        time = ss_time_from_double(strtod(text, NULL) * 1e9);
    else if (read_time(output, text, &time, error) < 0)
        return -1;
    ssbatch_span_print(output->stream, time);
    return 0;
}

/* Prints the items of a list, and skips empty ones. */
static int print_list(const struct output *output, const char *text, struct ss_error *error) {
    SS_OWNED(free) char **items = ss_words_split_list(text, NULL, error);
    bool any = false;
    if (!items)
        return -1;
    for (char **item = items; *item; item++) {
        if (!**item)
            continue;
        if (any)
            fputc(',', output->stream);
        any = true;
        if (output->type->print(output, *item, error) < 0)
            return -1;
    }
    return any ? 0 : ss_error_fail(error, "a value is required: see --help");
}

int ssbatch_option_value_print(
    FILE *stream, const struct ssbatch_option_value *value, struct ss_error *error) {
    static const struct type types[] = {
        {"time", print_time, .sensible = SENSIBLE},
        {"length", print_time, .is_positive = true, .sensible = SENSIBLE},
        {"duration", print_time, .is_positive = true}, /* seldom in minutes */
        {"round", print_round},
        {"rounds", print_round, .is_list = true},
        {"load", print_load},
        {"loads", print_load, .is_list = true, .is_positive = true},
        {"count", print_whole, .is_positive = true},
        {"whole", print_whole},
        {"percent", print_percent},
        {"cpus", print_cpus},
        {"sets", print_sets},
        {"stairs", print_stairs},
        {"span", print_span},
    };
    static const struct ss_suggest_names known = {"type", SS_SUGGEST_ROWS(types), NULL};
    int found = ss_suggest_find(&known, value->type, error);
    if (found < 0)
        return -1;
    const struct output output = {stream, value, &types[found]};
    printer *print = types[found].is_list ? print_list : types[found].print;
    if (print(&output, value->text, error) < 0)
        return ss_error_wrap(error, "--%s", value->option);
    fputc('\n', stream);
    return 0;
}
