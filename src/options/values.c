/* SPDX-License-Identifier: Apache-2.0 */
#include "options/values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "base/owned.h"
#include "base/suggest.h"
#include "base/units.h"
#include "base/words.h"

/* More options than any module has. Rows beyond this cannot be `required`. */
#define ROWS_MAX 64

void ss_option_store_free(struct ss_option_store *store) {
    for (size_t i = 0; i < store->count; i++)
        free(store->texts[i]);
    free(store->texts);
    for (size_t i = 0; i < store->warning_count; i++)
        free(store->warnings[i]);
    free(store->warnings);
    *store = (struct ss_option_store){0};
}

const char *ss_option_store_add(struct ss_option_store *store, const char *text) {
    if (!SS_GROW(store->texts, store->count + 1, store->room))
        return NULL;
    char *copy = strdup(text);
    if (copy)
        store->texts[store->count++] = copy;
    return copy;
}

void ss_option_store_warn(struct ss_option_store *store, const char *text) {
    for (size_t i = 0; i < store->warning_count; i++) {
        if (strcmp(store->warnings[i], text) == 0)
            return;
    }

    char *copy = SS_GROW(store->warnings, store->warning_count + 1, store->warning_room)
                     ? strdup(text)
                     : NULL;
    if (!copy)
        return;
    ss_letter_hide_controls(copy, '?'); /* it may quote a file */
    store->warnings[store->warning_count++] = copy;
}

void ss_option_store_label(struct ss_option_store *store, size_t first, const char *label) {
    for (size_t i = first; i < store->warning_count; i++) {
        char *labeled = NULL;
        if (asprintf(&labeled, "%s: %s", label, store->warnings[i]) < 0)
            continue;
        free(store->warnings[i]);
        store->warnings[i] = labeled;
    }
}

void ss_option_store_print_warnings(
    FILE *stream, const char *program, const struct ss_option_store *store) {
    for (size_t i = 0; i < store->warning_count; i++)
        fprintf(stream, "%s: warning: %s\n", program, store->warnings[i]);
}

struct quantity {
    double cpus;                     /* as in struct ss_option_store */
    double value;                    /* the value as a number, to be compared with the bounds */
    struct ss_units_warning warning; /* a warning about a valid value */
};

static int refuse_large(const struct ss_option *row, const char *text, struct ss_error *error) {
    return ss_error_fail(
        error, "'%s' is too large: use at most %s", ss_words_show(text).text, row->max);
}

static int read_double(enum ss_option_type type, const char *text, double cpus, double *value,
    struct ss_error *error) {
    if (type == SS_OPTION_LOAD)
        return ss_units_load_option(text, cpus, value, error);
    if (type == SS_OPTION_PERCENT)
        return ss_units_percent(text, value, error);
    return ss_units_number(text, value, error);
}

static int read_quantity(const struct ss_option *row, const char *text, void *place,
    struct quantity *quantity, struct ss_error *error) {
    double *value = &quantity->value;
    quantity->warning.text[0] = '\0';
    switch (row->type) {
    case SS_OPTION_TIME: {
        ss_time time, sensible = 0;
        if (row->sensible && ss_units_time(row->sensible, &sensible, error) < 0)
            return -1;
        if (ss_units_time_sensible(text, sensible, &time, &quantity->warning, error) < 0)
            return -1;
        *value = (double)time;
        if (place)
            *(ss_time *)place = time;
        return 0;
    }
    case SS_OPTION_COUNT: {
        uint64_t count;
        bool is_number = *text && !text[strspn(text, "0123456789")];
        /*
         * For numbers beyond 64 bits, ss_units_count() would name the largest number, not the row's
         * maximum.
         */
        if (row->max && is_number && ss_units_count(text, &count, NULL) < 0)
            return refuse_large(row, text, error);
        if (ss_units_count(text, &count, error) < 0)
            return -1;
        *value = (double)count;
        if (place)
            *(uint64_t *)place = count;
        return 0;
    }
    default:
        if (read_double(row->type, text, quantity->cpus, value, error) < 0)
            return -1;
        if (place)
            *(double *)place = *value;
        return 0;
    }
}

static int check_range(const struct ss_option *row, const char *text,
    const struct quantity *quantity, struct ss_error *error) {
    const char *warning = quantity->warning.text;
    struct quantity bound = {0};
    if (row->min && read_quantity(row, row->min, NULL, &bound, error) == 0 &&
        quantity->value < bound.value)
        return ss_error_fail(error, "'%s' is too small: use at least %s%s%s", text, row->min,
            *warning ? "; " : "", warning);
    if (row->max && read_quantity(row, row->max, NULL, &bound, error) == 0 &&
        quantity->value > bound.value)
        return refuse_large(row, text, error);
    return error && error->status ? -1 : 0;
}

/* Returns the position of a word in a list separated by spaces, or -1. */
static int find_choice(const char *choices, const char *word) {
    struct ss_words_part choice;
    for (int position = 0; ss_words_next(&choices, ' ', &choice); position++) {
        if (ss_words_is(&choice, word))
            return position;
    }
    return -1;
}

static void print_choice(char *buffer, size_t size, const char *choices, int position) {
    struct ss_words_part choice = {"", 0};
    while (position-- >= 0)
        ss_words_next(&choices, ' ', &choice);
    snprintf(buffer, size, "%.*s", (int)choice.length, choice.text);
}

int ss_option_set(const struct ss_option *row, const char *text, void *config,
    struct ss_option_store *store, struct ss_error *error) {
    struct quantity quantity = {.cpus = store ? store->cpus : 0};
    void *place = (char *)config + row->offset;
    int status = 0;

    if (row->type == SS_OPTION_TEXT || row->type == SS_OPTION_FILE) {
        *(const char **)place = ss_option_store_add(store, text);
        if (!*(const char **)place)
            status = ss_error_memory(error);
    } else if (row->type == SS_OPTION_CHOICE) {
        *(int *)place = find_choice(row->choices, text);
        if (*(int *)place < 0)
            status = ss_error_fail(error, "'%s' is not one of: %s", text, row->choices);
    } else if (read_quantity(row, text, place, &quantity, error) < 0 ||
               check_range(row, text, &quantity, error) < 0) {
        status = -1;
    }

    if (status < 0)
        return ss_error_wrap(error, "%s", row->name);
    if (store && *quantity.warning.text) {
        char warning[256];
        snprintf(warning, sizeof warning, "%s: %s", row->name, quantity.warning.text);
        ss_option_store_warn(store, warning);
    }
    return 0;
}

/* Sets the fields of rows that have a default. Some defaults scale with the window. */
static int set_defaults(const struct ss_option *rows, void *config, struct ss_option_store *store,
    struct ss_error *error) {
    for (const struct ss_option *row = rows; row && row->name; row++) {
        if (row->initial && ss_option_set(row, row->initial, config, store, error) < 0)
            return -1;
        ss_time *place = (ss_time *)(void *)((char *)config + row->offset);
        if (row->scales && store->scale > 0)
            *place = ss_time_from_double((double)*place * store->scale);
    }
    return 0;
}

static const struct ss_option *find_row(
    const struct ss_option *rows, const char *name, struct ss_error *error) {
    struct ss_suggest_names known = {"option", .rows = rows, .size = sizeof *rows};
    while (rows[known.count].name)
        known.count++;
    int found = ss_suggest_find(&known, name, error);
    return found < 0 ? NULL : &rows[found];
}

/* Sets every option to the value that means "not given". */
static void set_not_given(const struct ss_option *rows, void *config) {
    for (const struct ss_option *row = rows; row->name; row++) {
        void *place = (char *)config + row->offset;

        switch (row->type) {
        case SS_OPTION_TIME:
            *(ss_time *)place = SS_TIME_NEVER;
            break;
        case SS_OPTION_COUNT:
            *(uint64_t *)place = 0;
            break;
        case SS_OPTION_CHOICE:
            *(int *)place = -1;
            break;
        case SS_OPTION_TEXT:
        case SS_OPTION_FILE:
            *(const char **)place = NULL;
            break;
        default:
            *(double *)place = NAN;
        }
    }
}

int ss_option_parse_string(const struct ss_option *rows, const char *text, void *config,
    struct ss_option_store *store, struct ss_error *error) {
    static const struct ss_option no_rows[] = {SS_OPTION_END};
    if (!rows)
        rows = no_rows;

    set_not_given(rows, config);
    if (set_defaults(rows, config, store, error) < 0)
        return -1;
    if (text && !rows->name)
        return ss_error_fail(error, "this module has no options: leave out '%s'", text);

    bool given[ROWS_MAX] = {false};
    SS_OWNED(free) char **items = text ? ss_words_split_list(text, NULL, error) : NULL;
    if (text && !items)
        return -1;
    for (char **item = items; items && *item; item++) {
        char *value = *item;
        /* A path or a command may contain '=' itself, so only plain words count as names. */
        char *equals = value + strspn(value, "abcdefghijklmnopqrstuvwxyz-");
        bool named = equals > value && *equals == '=';
        const struct ss_option *row = rows;
        if (!named && item != items)
            return ss_error_fail(error,
                "'%s' has no name: use name=value (only the first option may omit its name)",
                value);
        if (named) {
            *equals = '\0';
            row = find_row(rows, value, error);
            value = equals + 1;
        }

        if (!row || ss_option_set(row, value, config, store, error) < 0)
            return -1;
        if (row - rows < ROWS_MAX)
            given[row - rows] = true;
    }

    for (int i = 0; rows[i].name && i < ROWS_MAX; i++) {
        if (rows[i].required && !given[i])
            return ss_error_fail(error, "%s is missing: %s", rows[i].name, rows[i].help);
    }
    return 0;
}

void ss_option_print_value(
    char *buffer, size_t size, const struct ss_option *row, const void *config) {
    const void *place = (const char *)config + row->offset;
    *buffer = '\0';
    switch (row->type) {
    case SS_OPTION_TIME:
        if (*(const ss_time *)place != SS_TIME_NEVER)
            ss_units_print_time(buffer, size, *(const ss_time *)place);
        break;
    case SS_OPTION_COUNT:
        snprintf(buffer, size, "%llu", (unsigned long long)*(const uint64_t *)place);
        break;
    case SS_OPTION_CHOICE:
        if (*(const int *)place >= 0)
            print_choice(buffer, size, row->choices, *(const int *)place);
        break;
    case SS_OPTION_TEXT:
    case SS_OPTION_FILE:
        if (*(const char *const *)place)
            snprintf(buffer, size, "%s", *(const char *const *)place);
        break;
    default:
        if (!isnan(*(const double *)place)) {
            char number[SS_NUMBER_PLAIN_SIZE];
            ss_number_put_plain(number, *(const double *)place);
            snprintf(buffer, size, "%s", number);
        }
    }
}

static const char *type_name(const struct ss_option *row) {
    static const char *const names[] = {
        [SS_OPTION_TIME] = "TIME",
        [SS_OPTION_LOAD] = "LOAD",
        [SS_OPTION_COUNT] = "COUNT",
        [SS_OPTION_NUMBER] = "NUMBER",
        [SS_OPTION_CHOICE] = "WORD",
        [SS_OPTION_TEXT] = "TEXT",
        [SS_OPTION_FILE] = "FILE",
        [SS_OPTION_PERCENT] = "PERCENT",
    };
    return names[row->type];
}

void ss_option_print_wrapped(FILE *stream, int margin, const char *text) {
    int width = 79 - margin;
    while (*text) {
        int length = (int)strlen(text);
        if (length > width) {
            length = width;
            /* Keep "58 %" together. */
            while (length > 0 && (text[length] != ' ' || text[length + 1] == '%'))
                length--;
            if (length == 0) /* a single word fills the line */
                length = (int)strcspn(text, " ");
        }

        fprintf(stream, "%.*s\n", length, text);
        text += length + (text[length] == ' ');
        if (*text)
            fprintf(stream, "%*s", margin, "");
    }
}

void ss_option_append(char *text, size_t size, const char *label, const char *value) {
    size_t used = strlen(text);
    if (value)
        snprintf(text + used, size - used, "%s%s", label, value);
}

void ss_option_print_help(FILE *stream, const struct ss_option *rows) {
    if (!rows || !rows->name) {
        fprintf(stream, "  no options\n");
        return;
    }

    for (const struct ss_option *row = rows; row->name; row++) {
        char text[1024];
        snprintf(text, sizeof text, "%s", row->help);
        ss_option_append(text, sizeof text, "; one of: ", row->choices);
        ss_option_append(text, sizeof text, "; at least ", row->min);
        ss_option_append(text, sizeof text, "; at most ", row->max);
        ss_option_append(text, sizeof text,
            row->scales ? "; default in proportion to --window, " : "; default ", row->initial);
        ss_option_append(text, sizeof text, "; ", row->required ? "required" : NULL);

        fprintf(stream, "  %s=%s%s\n      ", row->name, type_name(row),
            row == rows ? " (main option: may come first without its name)" : "");
        ss_option_print_wrapped(stream, 6, text);
    }
}
