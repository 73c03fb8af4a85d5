/* SPDX-License-Identifier: Apache-2.0 */
#include "base/words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <showstopper/letter.h>

struct splitter {
    const char *line;
    const char *at;  /* the next byte to read */
    char *out;       /* where to write the next byte */
    char open_quote; /* the quote that is not closed, or 0 */
    bool null;       /* an escape is a null byte, which no word can contain */
    size_t opened;   /* position of the opening quote or the escape in the line, from 1 */
};

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_blanks_and_comment(struct splitter *splitter) {
    for (;;) {
        while (is_blank(*splitter->at))
            splitter->at++;
        if (*splitter->at != '#')
            return;
        while (*splitter->at && *splitter->at != '\n')
            splitter->at++;
    }
}

/*
 * Takes the character after a backslash, at `at`. A final backslash is literal, as in a shell, and
 * so is one inside double quotes before a character that it does not escape.
 */
static void take_escaped(struct splitter *splitter, char quote) {
    char next = *splitter->at;
    if (!next || (quote && !strchr("\"\\$`\n", next))) {
        *splitter->out++ = '\\';
        return;
    }
    splitter->at++;
    if (next != '\n')
        *splitter->out++ = next;
}

static bool take_quoted(struct splitter *splitter) {
    const char *begin = splitter->at;
    char quote = *splitter->at++;

    while (*splitter->at && *splitter->at != quote) {
        char c = *splitter->at++;
        if (c == '\\' && quote == '"')
            take_escaped(splitter, quote);
        else
            *splitter->out++ = c;
    }

    if (!*splitter->at) {
        splitter->open_quote = quote;
        splitter->opened = (size_t)(begin - splitter->line) + 1;
        return false;
    }
    splitter->at++;
    return true;
}

/* Returns the value of a digit of any base up to 16, or 16. */
static int digit_value(char c) {
    if (isdigit((unsigned char)c))
        return c - '0';
    if (isxdigit((unsigned char)c))
        return tolower((unsigned char)c) - 'a' + 10;
    return 16;
}

/* Reads a number of at most `digits` digits. Returns -1 if there is no digit. */
static long take_digits(struct splitter *splitter, int base, int digits) {
    long number = -1;
    for (; digits > 0; digits--, splitter->at++) {
        int digit = digit_value(*splitter->at);
        if (digit >= base)
            break;
        number = (number < 0 ? 0 : number * base) + digit;
    }
    return number;
}

/* Writes a character in UTF-8, which is never longer than its escape. */
static void put_utf8(struct splitter *splitter, long c) {
    if (c < 0x80) {
        *splitter->out++ = (char)c;
        return;
    }

    int more = 1 + (c >= 0x800) + (c >= 0x10000); /* bytes after the first one */
    *splitter->out++ = (char)((0xff00 >> (more + 1) & 0xff) | c >> 6 * more);
    while (more-- > 0)
        *splitter->out++ = (char)(0x80 | (c >> 6 * more & 0x3f));
}

/*
 * Takes a numeric escape. Leaves it unchanged if bash does not know it. Returns false for the null
 * byte.
 */
static bool take_number_escape(struct splitter *splitter, char kind) {
    const char *begin = splitter->at;
    long number = -1;

    if (kind >= '0' && kind <= '7') {
        splitter->at--;
        number = take_digits(splitter, 8, 3) & 0xff;
    } else if (kind == 'x') {
        number = take_digits(splitter, 16, 2);
    } else if (kind == 'u' || kind == 'U') {
        number = take_digits(splitter, 16, kind == 'u' ? 4 : 8);
    }

    if (number < 0 || number > 0x10ffff) {
        splitter->at = begin;
        *splitter->out++ = '\\';
        *splitter->out++ = kind;
    } else if (kind == 'u' || kind == 'U') {
        put_utf8(splitter, number);
    } else {
        *splitter->out++ = (char)number;
    }

    return number != 0;
}

/* Takes the escape after a backslash in $'...'. Returns false for the null byte. */
static bool take_c_escape(struct splitter *splitter) {
    static const char letters[] = "abeEfnrtv\\'\"?", values[] = "\a\b\033\033\f\n\r\t\v\\'\"?";
    char kind = *splitter->at++;
    const char *found = strchr(letters, kind);
    if (!found)
        return take_number_escape(splitter, kind);
    *splitter->out++ = values[found - letters];
    return true;
}

/* Takes the string $'...' at `at`, as the %q of bash's printf prints it. */
static bool take_c_quoted(struct splitter *splitter) {
    const char *begin = splitter->at;
    for (splitter->at += 2; *splitter->at && *splitter->at != '\'';) {
        const char *at = splitter->at++;
        if (*at != '\\' || !*splitter->at) {
            *splitter->out++ = *at;
        } else if (!take_c_escape(splitter)) {
            splitter->null = true;
            splitter->opened = (size_t)(at - splitter->line) + 1;
            return false;
        }
    }

    if (!*splitter->at) {
        splitter->open_quote = '\'';
        splitter->opened = (size_t)(begin - splitter->line) + 2;
        return false;
    }
    splitter->at++;
    return true;
}

static bool take_word(struct splitter *splitter) {
    while (*splitter->at && !is_blank(*splitter->at)) {
        char c = *splitter->at;
        if (c == '$' && splitter->at[1] == '\'') {
            if (!take_c_quoted(splitter))
                return false;
            continue;
        }

        if (c == '\'' || c == '"') {
            if (!take_quoted(splitter))
                return false;
            continue;
        }

        splitter->at++;
        if (c == '\\')
            take_escaped(splitter, 0);
        else
            *splitter->out++ = c;
    }

    *splitter->out++ = '\0';
    return true;
}

static int split_error(const struct splitter *splitter, struct ss_error *error) {
    if (splitter->null)
        return ss_error_fail(error,
            "the escape at column %zu is a null byte, which no word can contain: remove it",
            splitter->opened);
    return ss_error_fail(error,
        "the quote %c at column %zu is not closed: close it, or use \\%c for the character itself",
        splitter->open_quote, splitter->opened, splitter->open_quote);
}

char **ss_words_split(const char *line, size_t *count, struct ss_error *error) {
    /* Every word but the last is followed by a blank, so there is room for its terminating 0. */
    size_t length = strlen(line), max = length / 2 + 1;
    char **words = malloc((max + 1) * sizeof *words + length + 1);
    if (!words) {
        ss_error_memory(error);
        return NULL;
    }

    struct splitter splitter = {.line = line, .at = line, .out = (char *)(words + max + 1)};
    size_t found = 0;
    for (skip_blanks_and_comment(&splitter); *splitter.at; skip_blanks_and_comment(&splitter)) {
        words[found++] = splitter.out;
        if (!take_word(&splitter)) {
            free(words);
            split_error(&splitter, error);
            return NULL;
        }
    }

    words[found] = NULL;
    if (count)
        *count = found;
    return words;
}

char **ss_words_split_list(const char *text, size_t *count, struct ss_error *error) {
    size_t max = 1;
    for (const char *at = text; *at; at++)
        max += *at == ',';
    char **items = malloc((max + 1) * sizeof *items + strlen(text) + 1);
    if (!items) {
        ss_error_memory(error);
        return NULL;
    }

    char *out = (char *)(items + max + 1);
    size_t found = 0;
    items[found++] = out;
    for (; *text; text++) {
        if (*text == ',') {
            *out++ = '\0';
            items[found++] = out;
            continue;
        }
        if (*text == '\\' && (text[1] == ',' || text[1] == '\\'))
            text++;
        *out++ = *text;
    }

    *out = '\0';
    items[found] = NULL;
    if (count)
        *count = found;
    return items;
}

bool ss_words_next(const char **at, char separator, struct ss_words_part *part) {
    if (!*at)
        return false;
    const char *end = strchrnul(*at, separator);
    *part = (struct ss_words_part){*at, (size_t)(end - *at)};
    *at = *end ? end + 1 : NULL;
    return true;
}

bool ss_words_is(const struct ss_words_part *part, const char *word) {
    return strncmp(word, part->text, part->length) == 0 && !word[part->length];
}

bool ss_words_has(const char *list, char separator, const char *word) {
    struct ss_words_part part;
    while (ss_words_next(&list, separator, &part)) {
        if (ss_words_is(&part, word))
            return true;
    }
    return false;
}

/* Returns whether a shell reads the word literally. A leading NAME=VALUE would be an assignment. */
static bool is_plain(const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "%+,-./:@_=";
    return *word && !word[strspn(word, plain)] && (*word == '-' || !strchr(word, '='));
}

/* Writes $'...' with the bytes of control characters in octal. */
static void quote_controls(FILE *stream, const char *word) {
    fputs("$'", stream);
    while (*word) {
        int length = ss_letter_length(word) ? ss_letter_length(word) : 1;
        bool is_control = ss_letter_is_control(word);
        for (; length > 0; length--, word++) {
            if (is_control)
                fprintf(stream, "\\%03o", (unsigned char)*word);
            else
                fprintf(stream, *word == '\'' || *word == '\\' ? "\\%c" : "%c", *word);
        }
    }
    fputc('\'', stream);
}

void ss_words_quote(FILE *stream, const char *word) {
    if (is_plain(word)) {
        fputs(word, stream);
        return;
    }
    if (ss_letter_has_controls(word)) {
        quote_controls(stream, word);
        return;
    }

    fputc('\'', stream);
    for (; *word; word++) {
        if (*word == '\'')
            fputs("'\\''", stream);
        else
            fputc(*word, stream);
    }
    fputc('\'', stream);
}

void ss_words_print(FILE *stream, const char *text) {
    while (*text) {
        int length = ss_letter_length(text) ? ss_letter_length(text) : 1;
        if (ss_letter_is_control(text))
            fputc('?', stream);
        else
            fwrite(text, 1, (size_t)length, stream);
        text += length;
    }
}

struct ss_words_shown ss_words_show(const char *text) {
    struct ss_words_shown shown;
    size_t room = sizeof shown.text - sizeof "...";
    size_t length = strnlen(text, sizeof shown.text);
    bool cut = length > room;

    if (cut) {
        length = room;
        /* Do not cut inside a UTF-8 character. */
        while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
            length--;
    }

    memcpy(shown.text, text, length);
    strcpy(shown.text + length, cut ? "..." : "");
    ss_letter_hide_controls(shown.text, ' ');
    return shown;
}

char *ss_words_format(struct ss_error *error, const char *format, ...) {
    char *text;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    if (!text)
        ss_error_memory(error);
    return text;
}
