/* SPDX-License-Identifier: Apache-2.0 */
#include "fields.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* Tries commas and then blanks last: they may be part of a number or a date. */
char text_guess_separator(const char *line) {
    static const char separators[] = ";\t|,";
    bool found[sizeof separators] = {false};
    bool quoted = false;

    for (; *line; line++) {
        const char *at = strchr(separators, *line);
        quoted ^= *line == '"';
        if (at && !quoted)
            found[at - separators] = true;
    }

    for (size_t i = 0; separators[i]; i++) {
        if (found[i])
            return separators[i];
    }

    return ' ';
}

static const char *skip_blanks(const char *at, char separator) {
    while (*at == ' ' || (*at == '\t' && separator != '\t'))
        at++;
    return at;
}

static const char *find_end(const struct text_walk *walk, const char *at) {
    if (walk->separator == ' ')
        return at + strcspn(at, " \t");
    const char *line_end = walk->input->text + walk->input->length;
    const char *end = memchr(at, walk->separator, (size_t)(line_end - at));
    return end ? end : line_end;
}

void text_walk_begin(struct text_walk *walk, struct text_input *input, char separator) {
    walk->input = input;
    walk->separator = separator;
    walk->at = input->text;
    /* Leading blanks do not separate fields. */
    if (separator == ' ')
        walk->at = skip_blanks(walk->at, ' ');
}

/* `end` is the separator after the field, or the end of the line. */
static void move_past(struct text_walk *walk, const char *end) {
    if (walk->separator == ' ')
        end = skip_blanks(end, ' ');
    if (!*end)
        walk->at = NULL;
    else
        walk->at = walk->separator == ' ' ? end : end + 1;
}

static int next_quoted(struct text_walk *walk, struct text_field *field) {
    const char *begin = field->text + 1, *at = begin;
    while (*at && (*at != '"' || at[1] == '"'))
        at += *at == '"' ? 2 : 1;
    if (!*at)
        return text_input_blame(walk->input, field->column,
            "unclosed quote: close it on the same line, and use \"\" for a quote inside");

    const char *end = skip_blanks(at + 1, walk->separator);
    bool is_separated = walk->separator == ' ' ? end > at + 1 : *end == walk->separator;
    if (*end && !is_separated)
        return text_input_blame(walk->input, (size_t)(end - walk->input->text) + 1,
            "a closing quote must be followed by a separator");

    field->text = begin;
    field->length = (size_t)(at - begin);
    field->column++;
    move_past(walk, end);
    return 1;
}

int text_walk_next(struct text_walk *walk, struct text_field *field) {
    if (!walk->at)
        return 0;

    field->text = skip_blanks(walk->at, walk->separator);
    field->column = (size_t)(field->text - walk->input->text) + 1;
    if (*field->text == '"')
        return next_quoted(walk, field);

    const char *end = find_end(walk, field->text);
    move_past(walk, end);
    while (end > field->text && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    field->length = (size_t)(end - field->text);
    return 1;
}

void text_table_pick(struct text_table *table, size_t number, struct text_field *field) {
    size_t at = table->count++;
    for (; at > 0 && table->picks[at - 1].number > number; at--)
        table->picks[at] = table->picks[at - 1];
    table->picks[at] = (struct text_pick){number, field};
}

bool text_table_is_row(const struct text_input *input) {
    const char *text = input->text + strspn(input->text, " \t");
    return *text && *text != '#';
}

int text_walk_count(struct text_walk *walk, size_t *count) {
    *count = 0;
    if (!walk->at)
        return 0;

    const char *end = walk->input->text + walk->input->length;
    if (walk->separator == ' ' || memchr(walk->at, '"', (size_t)(end - walk->at))) {
        struct text_field field;
        int more;
        while ((more = text_walk_next(walk, &field)) > 0)
            ++*count;
        return more;
    }

    char separator = walk->separator;
    size_t separators = 0;
    for (const char *at = walk->at; at < end; at++)
        separators += *at == separator;
    *count = separators + 1;
    return 0;
}

/* Skips unused fields. Returns 1 if the field with this number exists, 0 if not, -1 on error. */
static int skip_to(struct text_walk *walk, size_t *passed, size_t number) {
    struct text_field field;
    int more = 1;
    while (*passed + 1 < number && (more = text_walk_next(walk, &field)) > 0)
        ++*passed;
    return more;
}

static int blame_count(struct text_table *table, size_t count, size_t expected) {
    return text_input_blame(table->input, table->input->length + 1,
        "the row has %zu field%s, but %zu are expected%s", count, count == 1 ? "" : "s", expected,
        count < expected ? " (is the file truncated?)" : "");
}

int text_table_split(struct text_table *table) {
    struct text_walk walk;
    size_t passed = 0, rest, number = 0;
    struct text_field field;

    text_walk_begin(&walk, table->input, table->separator);
    for (size_t i = 0; i < table->count; i++) {
        int more = 1;
        number = table->picks[i].number;
        if (passed < number) {
            more = skip_to(&walk, &passed, number);
            if (more > 0)
                more = text_walk_next(&walk, &field);
            passed += more > 0;
        }

        if (more < 0)
            return -1;
        if (more == 0)
            return blame_count(table, passed, table->columns ? table->columns : number);
        *table->picks[i].field = field;
    }

    if (text_walk_count(&walk, &rest) < 0)
        return -1;

    if (!table->columns)
        table->columns = passed + rest;
    return passed + rest == table->columns ? 1 : blame_count(table, passed + rest, table->columns);
}

int text_table_read_row(struct text_input *input) {
    int more;
    do
        more = text_input_read_line(input);
    while (more > 0 && !text_table_is_row(input));
    return more;
}

int text_table_next(struct text_table *table) {
    int more = text_table_read_row(table->input);
    return more > 0 ? text_table_split(table) : more;
}

bool text_field_is(const struct text_field *field, const char *word) {
    size_t length = strlen(word);
    return field->length == length && strncasecmp(field->text, word, length) == 0;
}

int text_field_name(
    const struct text_field *field, struct text_input *input, char name[TEXT_NAME_SIZE]) {
    if (field->length >= TEXT_NAME_SIZE)
        return text_input_blame(input, field->column,
            "the name is too long: %zu bytes (at most %d)", field->length, TEXT_NAME_SIZE - 1);

    size_t length = 0;
    for (size_t i = 0; i < field->length; i++) {
        name[length++] = field->text[i];
        /* A doubled quote, which occurs only inside quotes, is one quote. */
        if (field->text[i] == '"' && i + 1 < field->length && field->text[i + 1] == '"')
            i++;
    }

    name[length] = '\0';
    return 0;
}

static bool is_missing(const struct text_field *field) {
    static const char *const words[] = {"", "-", "nan", "na", "n/a", "null", "none"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (text_field_is(field, words[i]))
            return true;
    }
    return false;
}

/* Appends digits up to the first other character, and returns it. */
static const char *parse_digits(
    const char *at, const char *end, bool are_decimals, struct text_decimal *decimal) {
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        if (decimal->digits < UINT64_C(1000000000000000000)) {
            decimal->digits = decimal->digits * 10 + (uint64_t)(*at - '0');
            decimal->power -= are_decimals;
        } else {
            decimal->power += !are_decimals;
        }
    }
    return at;
}

bool text_decimal_parse(
    const char *text, size_t length, const char *marks, struct text_decimal *decimal) {
    const char *end = text + length;
    *decimal = (struct text_decimal){.negative = length > 0 && *text == '-'};
    text += decimal->negative || (length > 0 && *text == '+');

    const char *at = parse_digits(text, end, false, decimal);
    size_t digits = (size_t)(at - text);
    if (at < end && *at && strchr(marks, *at)) {
        const char *decimals = at + 1;
        at = parse_digits(decimals, end, true, decimal);
        digits += (size_t)(at - decimals);
    }
    if (digits == 0 || at == end || (*at != 'e' && *at != 'E'))
        return digits > 0 && at == end;

    struct text_decimal exponent = {.negative = ++at < end && *at == '-'};
    at += exponent.negative || (at < end && *at == '+');
    size_t left = (size_t)(end - at);
    if (left < 1 || left > 3 || parse_digits(at, end, false, &exponent) != end)
        return false;
    decimal->power += exponent.negative ? -(int)exponent.digits : (int)exponent.digits;
    return true;
}

/*
 * Returns the nearest double. In the first case both operands are exact, so the result is rounded
 * only once.
 */
static double value_of(const struct text_decimal *decimal) {
    static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    int power = decimal->power;

    if (decimal->digits <= UINT64_C(1) << 53 && power >= -22 && power <= 22)
        return power < 0 ? (double)decimal->digits / powers[-power]
                         : (double)decimal->digits * powers[power];

    /* Do not compute with long double: its precision depends on the architecture. */
    char text[40];
    snprintf(text, sizeof text, "%" PRIu64 "e%d", decimal->digits, power);
    return strtod(text, NULL);
}

bool text_field_number(const struct text_field *field, bool comma, double *value) {
    struct text_decimal decimal;
    if (text_decimal_parse(field->text, field->length, comma ? ".," : ".", &decimal)) {
        *value = decimal.negative ? -value_of(&decimal) : value_of(&decimal);
        return isfinite(*value);
    }
    *value = NAN;
    return is_missing(field);
}
