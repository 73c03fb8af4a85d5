/* SPDX-License-Identifier: Apache-2.0 */
#include "quote.h"

#include <string.h>

#include "base/words.h"

bool quote_is_continued(const char *line) {
    char quote = 0;                       /* the open quote; $ for $'...' */
    bool in_word = false, dollar = false; /* the last character is a $ that is not quoted */
    for (const char *at = line; *at; at++) {
        bool after_dollar = dollar;
        dollar = false;
        if (*at == '\\' && quote != '\'') {
            if (!at[1])
                return true;
            at++;
            in_word = true;
        } else if (quote) {
            if (*at == (quote == '$' ? '\'' : quote))
                quote = 0;
        } else if (*at == '#' && !in_word) {
            at += strcspn(at, "\n") - 1;
        } else if (*at == '\'' || *at == '"') {
            quote = *at == '\'' && after_dollar ? '$' : *at;
            in_word = true;
        } else {
            dollar = *at == '$';
            in_word = !strchr(" \t\r\n", *at);
        }
    }
    return false;
}

static bool is_control(char c) {
    return (unsigned char)c < 0x20 || c == 0x7f;
}

void quote_line(FILE *stream, const char *word) {
    const char *at = word;
    while (*at && !is_control(*at))
        at++;
    if (!*at) {
        ss_words_quote(stream, word);
        return;
    }
    fputs("$'", stream);
    for (; *word; word++) {
        if (is_control(*word))
            fprintf(stream, "\\%03o", (unsigned char)*word);
        else
            fprintf(stream, *word == '\'' || *word == '\\' ? "\\%c" : "%c", *word);
    }
    fputc('\'', stream);
}

void quote_csv(FILE *stream, const char *text) {
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, stream);
        return;
    }
    fputc('"', stream);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', stream);
        fputc(*text, stream);
    }
    fputc('"', stream);
}
