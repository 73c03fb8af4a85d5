/* SPDX-License-Identifier: Apache-2.0 */
#include "base/suggest.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/words.h"

#define LENGTH_MAX 64

/* Converts a letter to lower case. The result of tolower() would depend on the locale. */
static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Computes the Damerau-Levenshtein distance (optimal string alignment) row by row. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length) {
    size_t rows[3][LENGTH_MAX + 1];
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b_length; j++)
        above[j] = j;

    for (size_t i = 1; i <= a_length; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            char x = lower(a[i - 1]), y = lower(b[j - 1]);
            row[j] = smaller(above[j - 1] + (x != y), smaller(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && x == lower(b[j - 2]) && y == lower(a[i - 2]))
                row[j] = smaller(row[j], before[j - 2] + 1);
        }

        size_t *oldest = before;
        before = above;
        above = row;
        row = oldest;
    }

    return above[b_length];
}

static const char *name_of(const struct ss_suggest_names *names, size_t row) {
    return *(const char *const *)(const void *)((const char *)names->rows + row * names->size);
}

const char *ss_suggest(const struct ss_suggest_names *names, const char *word) {
    const char *nearest = NULL;
    size_t length = strlen(word), best = LENGTH_MAX + 1;
    if (length == 0 || length > LENGTH_MAX)
        return NULL;

    for (size_t i = 0; i < names->count; i++) {
        const char *name = name_of(names, i);
        size_t name_length = strlen(name);
        if (name_length > LENGTH_MAX)
            continue;
        size_t changes = distance(word, length, name, name_length);
        /* Up to about one letter in three may differ; beyond that it is another word. */
        size_t longer = length > name_length ? length : name_length;
        bool begins = length >= 3 && strncasecmp(word, name, length) == 0;
        if (changes < best && (changes * 3 <= longer + 1 || begins)) {
            best = changes;
            nearest = name;
        }
    }

    return nearest;
}

int ss_suggest_find(
    const struct ss_suggest_names *names, const char *word, struct ss_error *error) {
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(name_of(names, i), word) == 0)
            return (int)i;
    }
    return ss_suggest_refuse(names, word, error);
}

int ss_suggest_refuse(
    const struct ss_suggest_names *names, const char *word, struct ss_error *error) {
    const char *hint = names->hint;
    struct ss_words_shown shown = ss_words_show(word);
    size_t dashes = strspn(word, "-");
    const char *name = ss_suggest(names, word + dashes);
    char list[600] = "";

    for (size_t i = 0; i < names->count && !hint; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", name_of(names, i));
    }

    if (name)
        ss_error_fail(error, "unknown %s '%s': did you mean '%.*s%s'?%s%s", names->what, shown.text,
            (int)dashes, word, name, hint ? "" : " Available: ", list);
    else
        ss_error_fail(error, "unknown %s '%s'%s%s", names->what, shown.text,
            hint ? ": " : "; available: ", hint ? hint : list);
    return -1;
}
