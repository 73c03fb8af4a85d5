/* SPDX-License-Identifier: Apache-2.0 */
#include "heading.h"

#include <ctype.h>
#include <stdlib.h>

#include "stamp.h"

#define LIST_SIZE 300 /* size of a list of columns in a message */

/* A name reduced to letters and digits, in lower case: "CPU usage [%]" becomes "cpuusage". */
struct plain_name {
    char text[48];
};

/* Suffixes of the names of loads, and the units that they imply. */
static const struct ending {
    const char *name;
    enum sstrace_unit unit;
} endings[] = {
    {"percent", SSTRACE_UNIT_PERCENT},
    {"percentage", SSTRACE_UNIT_PERCENT},
    {"pct", SSTRACE_UNIT_PERCENT},
    {"fraction", SSTRACE_UNIT_FRACTION},
    {"ratio", SSTRACE_UNIT_FRACTION},
};

#define ENDINGS (sizeof endings / sizeof *endings)

/* Unambiguous names. If a column has any other name, the user must choose it with an option. */
static const char *const time_names[] = {"time", "timestamp", "datetime", "date", "epoch", "ts",
    "unixtime", "elapsed", "elapsedtime", "seconds", NULL};
static const char *const load_names[] = {"load", "cpu", "cpuload", "usage", "cpuusage", "util",
    "cpuutil", "utilization", "utilisation", "cpuutilization", "cpuutilisation", "busy", "cpubusy",
    "avgcpu", NULL};
static const char *const idle_names[] = {"idle", "cpuidle", "idl", NULL};
static const char *const series_names[] = {"machine", "machineid", "host", "hostname", "node", "vm",
    "vmid", "instance", "instanceid", "server", "serverid", "series", NULL};
static const char *const percent_names[] = {"percent", "percentage", "pct", NULL};

static struct plain_name make_plain(const struct text_field *field) {
    struct plain_name plain;
    size_t length = 0;
    for (size_t i = 0; i < field->length && length + 1 < sizeof plain.text; i++) {
        if (isalnum((unsigned char)field->text[i]))
            plain.text[length++] = (char)tolower((unsigned char)field->text[i]);
    }
    plain.text[length] = '\0';
    return plain;
}

/* Returns the suffix after `base`; NULL if the name does not begin with it. */
static const char *text_after(const char *text, const char *base) {
    size_t length = strlen(base);
    return strncmp(text, base, length) == 0 ? text + length : NULL;
}

static bool is_ending(const char *text, bool of_time) {
    if (of_time)
        return sstrace_stamp_unit(text) || strcmp(text, "utc") == 0 || strcmp(text, "local") == 0;
    for (size_t i = 0; i < ENDINGS; i++) {
        if (strcmp(text, endings[i].name) == 0)
            return true;
    }
    return false;
}

/* Returns the last word of a name: "ms" of "t [ms]". */
static struct plain_name last_word(const struct text_field *field) {
    size_t end = field->length, begin;
    while (end > 0 && !isalnum((unsigned char)field->text[end - 1]))
        end--;
    for (begin = end; begin > 0 && isalnum((unsigned char)field->text[begin - 1]); begin--) {
    }
    return make_plain(&(struct text_field){.text = field->text + begin, .length = end - begin});
}

/* Returns whether the column is named after a unit (not just its symbol), or is t with a unit. */
static bool means_unit_of_time(const struct text_field *field) {
    struct plain_name plain = make_plain(field), word = last_word(field);
    size_t before = strlen(plain.text) - strlen(word.text);
    return sstrace_stamp_unit(word.text) &&
           (before == 0 ? strlen(word.text) > 3 : before == 1 && *plain.text == 't');
}

static bool means(const struct text_field *field, enum sstrace_meaning meaning) {
    static const char *const *const names[] = {
        [SSTRACE_MEANS_TIME] = time_names,
        [SSTRACE_MEANS_LOAD] = load_names,
        [SSTRACE_MEANS_IDLE] = idle_names,
        [SSTRACE_MEANS_SERIES] = series_names,
        [SSTRACE_MEANS_PERCENT] = percent_names,
    };

    if (meaning == SSTRACE_MEANS_UNIT_OF_TIME)
        return means_unit_of_time(field);

    struct plain_name plain = make_plain(field);
    for (const char *const *name = names[meaning]; *name; name++) {
        const char *ending = text_after(plain.text, *name);
        if (ending && (!*ending || is_ending(ending, meaning == SSTRACE_MEANS_TIME)))
            return true;
    }
    return false;
}

/* Returns whether the field is a number or a time, not a name. */
static bool is_value(const struct text_field *field) {
    struct text_field plain = *field;
    struct sstrace_clock clock = {0};
    double number;
    int64_t time;
    if (plain.length > 1 && plain.text[plain.length - 1] == '%')
        plain.length--;
    return plain.length > 0 && (text_field_number(&plain, true, &number) ||
                                   sstrace_stamp_read(&clock, plain.text, plain.length, &time));
}

/* Parses the text as a column number. Returns 0 if it is not one. */
static size_t read_position(const char *text) {
    char *end;
    if (!text || *text < '1' || *text > '9')
        return 0;
    unsigned long value = strtoul(text, &end, 10);
    return *end ? 0 : value;
}

static bool is_requested(
    const struct text_field *field, const struct sstrace_import_options *options) {
    const char *const requested[] = {
        options->time_column, options->load_column, options->idle_column, options->series_column};
    for (size_t i = 0; i < sizeof requested / sizeof *requested; i++) {
        if (requested[i] && !read_position(requested[i]) && text_field_is(field, requested[i]))
            return true;
    }
    return false;
}

/* Counts the fields of the row and decides whether they are names. */
static int check_names(struct sstrace_heading *heading, struct text_input *input,
    const struct sstrace_import_options *options) {
    size_t load = read_position(options->load_column ? options->load_column : options->idle_column);
    bool any_value = false, requested = false, load_is_value = false;
    struct text_walk walk;
    struct text_field field;
    int more;

    text_walk_begin(&walk, input, heading->separator);
    for (heading->count = 0; (more = text_walk_next(&walk, &field)) > 0;) {
        bool value = is_value(&field);
        any_value |= value;
        requested |= is_requested(&field, options);
        if (++heading->count == load)
            load_is_value = value || field.length == 0;
    }

    heading->is_first_row =
        requested || (load > 0 && load <= heading->count ? !load_is_value : !any_value);
    return more;
}

int sstrace_heading_open(struct sstrace_heading *heading, struct text_input *input, char separator,
    const char *comment, const struct sstrace_import_options *options) {
    *heading = (struct sstrace_heading){.separator = separator};
    if (check_names(heading, input, options) != 0)
        return -1;

    const char *text = heading->is_first_row ? input->text : comment;
    if (!text)
        return 0;

    struct ss_error ignored = {0};
    heading->header = (struct text_input){.name = input->name, .error = &ignored};
    heading->header.text = strdup(text + (text == comment ? strspn(text, " \t#") : 0));
    if (!heading->header.text)
        return ss_error_memory(input->error);
    heading->header.length = strlen(heading->header.text);

    /* A comment with another number of fields is not a heading. */
    size_t count;
    struct text_walk walk;
    text_walk_begin(&walk, &heading->header, separator);
    text_walk_count(&walk, &count);
    if (!heading->is_first_row && count != heading->count)
        sstrace_heading_close(heading);
    heading->header.error = NULL;
    return 0;
}

void sstrace_heading_close(struct sstrace_heading *heading) {
    free(heading->header.text);
    heading->header.text = NULL;
}

/* Iterates over the names. Their quotes were checked when the heading was opened. */
static bool next_name(const struct sstrace_heading *heading, struct text_walk *walk,
    struct text_field *field, size_t *number) {
    if (!walk->input) {
        if (!heading->header.text)
            return false;
        text_walk_begin(walk, (struct text_input *)&heading->header, heading->separator);
    }
    ++*number;
    return text_walk_next(walk, field) > 0;
}

size_t sstrace_heading_number(const struct sstrace_heading *heading, const char *name) {
    struct text_walk walk = {0};
    struct text_field field;
    for (size_t number = 0; next_name(heading, &walk, &field, &number);) {
        if (text_field_is(&field, name))
            return number;
    }
    return 0;
}

int sstrace_heading_find(const struct sstrace_heading *heading, struct text_input *input,
    const char *name, size_t *number) {
    *number = sstrace_heading_number(heading, name);
    if (*number > 0)
        return 0;
    *number = read_position(name);
    if (*number > 0 && *number <= heading->count)
        return 0;
    char question[160];
    snprintf(question, sizeof question, "there is no column '%s'", ss_words_show(name).text);
    return sstrace_heading_refuse(heading, input, question);
}

struct sstrace_guess sstrace_heading_guess(
    const struct sstrace_heading *heading, enum sstrace_meaning meaning) {
    struct sstrace_guess guess = {0};
    struct text_walk walk = {0};
    struct text_field field;
    for (size_t number = 0; next_name(heading, &walk, &field, &number);) {
        if (means(&field, meaning) && guess.matches++ == 0)
            guess.number = number;
    }
    return guess;
}

static bool find_name(
    const struct sstrace_heading *heading, size_t number, struct text_field *field) {
    struct text_walk walk = {0};
    for (size_t at = 0; next_name(heading, &walk, field, &at);) {
        if (at == number)
            return true;
    }
    return false;
}

int sstrace_heading_refuse(
    const struct sstrace_heading *heading, struct text_input *input, const char *question) {
    char list[LIST_SIZE] = "";
    size_t used = 0;
    struct text_walk walk = {0};
    struct text_field field;

    for (size_t number = 0; next_name(heading, &walk, &field, &number);) {
        if (used + field.length + 8 >= sizeof list) {
            snprintf(list + used, sizeof list - used, ", ...");
            break;
        }
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.*s", used ? ", " : "",
            (int)field.length, field.text);
    }

    if (!heading->header.text)
        return text_input_blame(input, 1, "%s: the columns have no names, only numbers 1 to %zu",
            question, heading->count);
    return text_input_blame(input, 1, "%s: the columns are %s", question, list);
}

/*
 * Returns whether the name ends with the word or contains it as a separate word: "ratio" is in
 * "cpuratio" and "ratioOfTime", but not in "saturation".
 */
static bool has_word(const struct text_field *name, const char *word) {
    size_t length = strlen(word);
    const char *end = name->text + name->length;

    for (const char *at = name->text; (size_t)(end - at) >= length; at++) {
        const char *rest = at + length;
        if (strncasecmp(at, word, length) != 0)
            continue;

        bool begins = at == name->text || !isalpha((unsigned char)at[-1]) ||
                      (islower((unsigned char)at[-1]) && isupper((unsigned char)*at));
        bool ends = rest == end || !isalpha((unsigned char)*rest) ||
                    (islower((unsigned char)rest[-1]) && isupper((unsigned char)*rest));

        while (rest < end && !isalpha((unsigned char)*rest))
            rest++;
        if (rest == end || (begins && ends))
            return true;
    }

    return false;
}

enum sstrace_unit sstrace_heading_unit(const struct sstrace_heading *heading, size_t number) {
    struct text_field field;
    if (!find_name(heading, number, &field))
        return SSTRACE_UNIT_DEFAULT;
    if (memchr(field.text, '%', field.length))
        return SSTRACE_UNIT_PERCENT;
    for (size_t i = 0; i < ENDINGS; i++) {
        if (has_word(&field, endings[i].name))
            return endings[i].unit;
    }
    return SSTRACE_UNIT_DEFAULT;
}

int64_t sstrace_heading_time_unit(const struct sstrace_heading *heading, size_t number) {
    struct text_field field;
    if (!find_name(heading, number, &field))
        return 0;
    struct plain_name plain = make_plain(&field);
    for (const char *const *name = time_names; *name; name++) {
        const char *ending = text_after(plain.text, *name);
        int64_t unit = ending ? sstrace_stamp_unit(ending) : 0;
        if (unit)
            return unit;
    }
    return sstrace_stamp_unit(last_word(&field).text);
}
