/* SPDX-License-Identifier: Apache-2.0 */
#include "options/arguments.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/owned.h"
#include "base/suggest.h"
#include "base/words.h"

#define NAMES_MAX   64
#define HELP_MARGIN 30

static const struct ss_argument *find_letter(
    const struct ss_argument *rows, char letter, struct ss_error *error) {
    for (; rows->option.name; rows++) {
        if (rows->letter == letter)
            return rows;
    }
    ss_error_fail(error, "unknown option '-%c': see --help", letter);
    return NULL;
}

static const struct ss_argument *find_name(
    const struct ss_argument *rows, const char *name, size_t length, struct ss_error *error) {
    const char *names[NAMES_MAX];
    size_t count = 0;
    for (; rows->option.name; rows++) {
        const char *known = rows->option.name;
        if (strlen(known) == length && strncmp(known, name, length) == 0)
            return rows;
        if (count < NAMES_MAX)
            names[count++] = known;
    }

    char word[64];
    snprintf(word, sizeof word, "--%.*s", (int)length, name);
    const struct ss_suggest_names known = {"option", names, count, sizeof *names, "see --help"};
    ss_suggest_refuse(&known, word, error);
    return NULL;
}

/* The position and the results of the parser. */
struct cursor {
    char **at;   /* the current word */
    char **list; /* start of the list of words that are not options */
    size_t count;
    const struct ss_argument *rows;
    bool *given;            /* whether each row was given */
    const char *first_word; /* first word that is not an option, or NULL */
    bool ends_at_dashes;
    void *config;
    struct ss_option_store *store;
    struct ss_error *error;
};

static char *next_word(struct cursor *cursor) {
    return cursor->at[1] ? *++cursor->at : NULL;
}

static int call_taker(struct cursor *cursor, const struct ss_argument *row, char *value) {
    if (row->take(cursor->config, row, value, cursor->error) < 0)
        return ss_error_wrap(cursor->error, "--%s", row->option.name);
    return 0;
}

/* Sets one option. `value` is the text joined to its name (--name=value, -n12), or NULL. */
static int set_option(struct cursor *cursor, const struct ss_argument *row, char *value) {
    const char *name = row->option.name;
    char *config = cursor->config;
    cursor->given[row - cursor->rows] = true;

    if (!row->value && value)
        return ss_error_fail(cursor->error, "--%s takes no value, but got '%s'", name, value);
    if (!row->value && row->take)
        return call_taker(cursor, row, NULL);
    if (!row->value) {
        *(int *)(config + row->option.offset) = 1;
        return 0;
    }

    value = value ? value : next_word(cursor);
    const char *second = value && row->second ? next_word(cursor) : "";
    if (!value || !second)
        return ss_error_fail(cursor->error, "--%s requires %s: use --%s %s", name,
            row->second ? "two values" : "a value", name, row->value);
    if (row->option.type == SS_OPTION_TEXT && !*value && !row->may_be_empty)
        return ss_error_fail(cursor->error, "--%s is empty: use --%s %s", name, name, row->value);

    if (row->take)
        return call_taker(cursor, row, value);
    if (row->second)
        *(const char **)(config + row->second) = second;

    struct ss_option dashed = row->option;
    char label[64];
    snprintf(label, sizeof label, "--%s", name);
    dashed.name = label;
    return ss_option_set(&dashed, value, config, cursor->store, cursor->error);
}

static int take_letters(struct cursor *cursor, char *letters) {
    for (; *letters; letters++) {
        const struct ss_argument *row = find_letter(cursor->rows, *letters, cursor->error);
        if (!row)
            return -1;
        bool joined = row->value && letters[1];
        if (set_option(cursor, row, joined ? letters + 1 : NULL) < 0)
            return -1;
        if (joined)
            break;
    }
    return 0;
}

static int take_name(struct cursor *cursor, char *word) {
    size_t length = strcspn(word, "=");
    const struct ss_argument *row = find_name(cursor->rows, word, length, cursor->error);
    return row ? set_option(cursor, row, word[length] ? word + length + 1 : NULL) : -1;
}

static int set_defaults(const struct ss_argument *rows, void *config, struct ss_option_store *store,
    struct ss_error *error) {
    for (; rows->option.name; rows++) {
        if (rows->option.initial &&
            ss_option_set(&rows->option, rows->option.initial, config, store, error) < 0)
            return -1;
    }
    return 0;
}

static const struct ss_argument *last_row(const struct ss_argument *rows) {
    while (rows->option.name)
        rows++;
    return rows;
}

static int refuse_word(const char *word, struct ss_error *error) {
    return ss_error_fail(error, "unexpected argument '%s': see --help", ss_words_show(word).text);
}

static int add_word(struct cursor *cursor, size_t limit, char *word) {
    if (cursor->count == limit)
        return refuse_word(word, cursor->error);
    cursor->list[cursor->count++] = word;
    return 0;
}

/*
 * Takes options, and words if the rows have a taker or a list for them. Otherwise stops at the
 * first word.
 */
static int take_words(struct cursor *cursor) {
    const struct ss_argument *words = last_row(cursor->rows);
    bool marked = false;

    for (; *cursor->at; cursor->at++) {
        char *word = *cursor->at;
        int status = 0;

        if (marked || word[0] != '-' || word[1] == '\0') {
            cursor->first_word = cursor->first_word ? cursor->first_word : word;
            if (words->second)
                status = add_word(cursor, words->option.offset, word);
            else if (!words->take)
                break;
            else
                status = words->take(cursor->config, words, word, cursor->error);
        } else if (strcmp(word, "--") == 0) {
            if (cursor->ends_at_dashes)
                break;
            marked = true;
        } else if (word[1] == '-') {
            status = take_name(cursor, word + 2);
        } else {
            status = take_letters(cursor, word + 1);
        }
        if (status < 0)
            return -1;
    }
    return 0;
}

/* A name in capitals means the words that are not options. */
static bool is_capital(const struct ss_words_part *name) {
    return isupper((unsigned char)*name->text);
}

/* Appends "LABEL--one, --two or three". */
static void append_names(char *text, size_t size, const char *label, const char *names) {
    struct ss_words_part name;

    while (ss_words_next(&names, ' ', &name) && name.length > 0) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s%.*s", label, is_capital(&name) ? "" : "--",
            (int)name.length, name.text);
        label = names && strchr(names, ' ') ? ", " : " or ";
    }
}

/* Returns whether one of the names was given; sets `found` to its row, or to NULL for a word. */
static bool find_given(
    const struct cursor *cursor, const char *names, const struct ss_argument **found) {
    struct ss_words_part name;

    while (ss_words_next(&names, ' ', &name)) {
        *found = NULL;
        if (!is_capital(&name))
            *found = find_name(cursor->rows, name.text, name.length, cursor->error);
        if (*found ? cursor->given[*found - cursor->rows] : is_capital(&name) && cursor->first_word)
            return true;
    }
    return false;
}

static int refuse_pair(
    const struct cursor *cursor, const struct ss_argument *row, const struct ss_argument *other) {
    const char *name = row->option.name;

    if (other)
        return ss_error_fail(cursor->error,
            "--%s cannot be combined with --%s: leave out one of the two", name,
            other->option.name);
    return ss_error_fail(cursor->error,
        "--%s cannot be combined with '%s': leave out one of the two", name,
        ss_words_show(cursor->first_word).text);
}

/*
 * Checks the conditions of an option that was given. Looks up the names in its lists even if it was
 * not given, to find misspelled ones.
 */
static int check_row(const struct cursor *cursor, const struct ss_argument *row) {
    const char *name = row->option.name;
    const struct ss_argument *other;
    char names[256] = "";
    bool needed = find_given(cursor, row->needs, &other);
    bool excluded = find_given(cursor, row->excludes, &other);

    if (!cursor->given[row - cursor->rows])
        return 0;
    append_names(names, sizeof names, "", row->needs);
    if (row->needs && !needed)
        return ss_error_fail(cursor->error, "--%s requires %s: add %s, or leave out --%s", name,
            names, strchr(row->needs, ' ') ? "one of them" : "it", name);
    if (excluded)
        return refuse_pair(cursor, row, other);
    if (row->only_with && cursor->first_word)
        return refuse_pair(cursor, row, NULL);
    for (other = cursor->rows; row->only_with && other->option.name; other++) {
        if (other != row && cursor->given[other - cursor->rows] &&
            !ss_words_has(row->only_with, ' ', other->option.name))
            return refuse_pair(cursor, row, other);
    }
    return 0;
}

static int check_rows(const struct cursor *cursor) {
    for (const struct ss_argument *row = cursor->rows; row->option.name; row++) {
        if (cursor->given[row - cursor->rows] &&
            ss_words_has("help version", ' ', row->option.name))
            return 0;
    }
    for (const struct ss_argument *row = cursor->rows; row->option.name; row++) {
        if (check_row(cursor, row) < 0)
            return -1;
    }
    return cursor->error && cursor->error->status ? -1 : 0;
}

int ss_arguments_parse(const struct ss_argument *rows, void *config, struct ss_option_store *store,
    char **argv, char ***rest, struct ss_error *error) {
    SS_OWNED(free) bool *given = calloc((size_t)(last_row(rows) - rows) + 1, sizeof *given);
    struct cursor cursor = {
        .at = argv[0] ? argv + 1 : argv,
        .list = argv[0] ? argv + 1 : argv,
        .rows = rows,
        .given = given,
        .ends_at_dashes = rest && last_row(rows)->second,
        .config = config,
        .store = store,
        .error = error,
    };

    if (!given)
        return ss_error_memory(error);
    if (set_defaults(rows, config, store, error) < 0 || take_words(&cursor) < 0)
        return -1;

    if (cursor.ends_at_dashes)
        *rest = *cursor.at ? cursor.at + 1 : NULL;
    else if (rest)
        *rest = cursor.at;
    else if (*cursor.at)
        return refuse_word(*cursor.at, error);

    if (last_row(rows)->second) {
        cursor.list[cursor.count] = NULL;
        *(char ***)((char *)config + last_row(rows)->second) = cursor.list;
    }
    return check_rows(&cursor);
}

void ss_arguments_print_help(FILE *stream, const struct ss_argument *rows) {
    for (; rows->option.name; rows++) {
        const struct ss_option *option = &rows->option;
        char letter[] = {'-', rows->letter, ',', '\0'};
        char left[96];
        char text[1024];

        if (rows->heading)
            fprintf(stream, "%s\n", rows->heading);
        int length = snprintf(left, sizeof left, "  %-3s --%s%s%s", rows->letter ? letter : "",
            option->name, rows->value ? " " : "", rows->value ? rows->value : "");
        fprintf(stream, "%-*s", HELP_MARGIN, left);
        if (length >= HELP_MARGIN)
            fprintf(stream, "\n%*s", HELP_MARGIN, "");

        snprintf(text, sizeof text, "%s", option->help);
        append_names(text, sizeof text, "; requires ", rows->needs);
        append_names(text, sizeof text, "; not with ", rows->excludes);
        if (rows->only_with)
            ss_option_append(text, sizeof text, "; not with other options", "");
        append_names(text, sizeof text, " except ", rows->only_with);
        ss_option_append(text, sizeof text, "; one of: ", option->choices);
        ss_option_append(text, sizeof text, "; default ", option->initial);
        ss_option_print_wrapped(stream, HELP_MARGIN, text);
    }
}
