/* SPDX-License-Identifier: Apache-2.0 */
#include "quote.h"

#include <string.h>

bool quote_line_is_continued(const char *line) {
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
