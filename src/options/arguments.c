/* SPDX-License-Identifier: Apache-2.0 */
#include "options/arguments.h"

#include "base/suggest.h"
#include "base/version.h"
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
    ss_suggest_refuse(
        &(struct ss_suggest_names){"option", names, count, "see --help"}, word, error);
    return NULL;
}

/* The position of the parser. */
struct cursor {
    char **at; /* the current word */
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
        return ss_error_fail(cursor->error, "--%s requires %s: write --%s %s", name,
            row->second ? "two values" : "a value", name, row->value);
    if (row->option.type == SS_OPTION_TEXT && !*value && !row->may_be_empty)
        return ss_error_fail(cursor->error, "--%s is empty: write --%s %s", name, name, row->value);
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

static int take_letters(struct cursor *cursor, const struct ss_argument *rows, char *letters) {
    for (; *letters; letters++) {
        const struct ss_argument *row = find_letter(rows, *letters, cursor->error);
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

static int take_name(struct cursor *cursor, const struct ss_argument *rows, char *word) {
    size_t length = strcspn(word, "=");
    const struct ss_argument *row = find_name(rows, word, length, cursor->error);
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

int ss_arguments_parse(const struct ss_argument *rows, void *config, struct ss_option_store *store,
    char **argv, char ***rest, struct ss_error *error) {
    struct cursor cursor = {argv, config, store, error};
    const struct ss_argument *words = last_row(rows);
    bool marked = false;
    if (set_defaults(rows, config, store, error) < 0)
        return -1;
    for (cursor.at = argv[0] ? argv + 1 : argv; *cursor.at; cursor.at++) {
        char *word = *cursor.at;
        bool is_option = !marked && word[0] == '-' && word[1] != '\0';
        if (!is_option && !words->take)
            break;
        if (is_option && strcmp(word, "--") == 0) {
            marked = true;
            continue;
        }
        int status = !is_option       ? words->take(config, words, word, error)
                     : word[1] == '-' ? take_name(&cursor, rows, word + 2)
                                      : take_letters(&cursor, rows, word + 1);
        if (status < 0)
            return -1;
    }
    if (rest)
        *rest = cursor.at;
    else if (*cursor.at)
        return ss_error_fail(
            error, "unexpected argument '%s': see --help", ss_words_show(*cursor.at).text);
    return 0;
}

void ss_arguments_print_help(FILE *stream, const struct ss_argument *rows) {
    for (; rows->option.name; rows++) {
        const struct ss_option *option = &rows->option;
        char letter[] = {'-', rows->letter, ',', '\0'};
        char left[96];
        char text[512];
        if (rows->heading)
            fprintf(stream, "%s\n", rows->heading);
        int length = snprintf(left, sizeof left, "  %-3s --%s%s%s", rows->letter ? letter : "",
            option->name, rows->value ? " " : "", rows->value ? rows->value : "");
        fprintf(stream, "%-*s", HELP_MARGIN, left);
        if (length >= HELP_MARGIN)
            fprintf(stream, "\n%*s", HELP_MARGIN, "");
        snprintf(text, sizeof text, "%s%s%s%s%s", option->help, option->choices ? "; one of: " : "",
            option->choices ? option->choices : "", option->initial ? "; default " : "",
            option->initial ? option->initial : "");
        ss_option_print_wrapped(stream, HELP_MARGIN, text);
    }
}

bool ss_arguments_answer(const char *program, const struct ss_option_store *store, int help,
    int version, void (*print_help)(void)) {
    if (store)
        ss_option_store_print_warnings(stderr, program, store);
    if (help)
        print_help();
    else if (version)
        printf("%s %s\n", program, ss_version());
    return help || version;
}
