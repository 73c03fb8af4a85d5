/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <ctype.h>
#include <string.h>

#include <showstopper/letter.h>

#include "base/number.h"

/* Writes one character as JSON and moves `at` past it. Returns the end of the output. */
static char *quote_character(char *to, const unsigned char **at) {
    int length = ss_letter_length((const char *)*at);

    if (**at == '"' || **at == '\\') {
        *to++ = '\\';
        *to++ = (char)**at;
    } else if (length == 0) {
        to = stpcpy(to, "\\ufffd"); /* a command line may hold any bytes */
    } else if (ss_letter_is_control((const char *)*at)) {
        to += sprintf(to, "\\u%04x", length == 2 ? (*at)[1] : **at);
    } else {
        to = mempcpy(to, *at, (size_t)length);
    }

    *at += length ? length : 1;
    return to;
}

char *ss_json_quote(char *to, const char *end, const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    *to++ = '"';
    while (*at && end - to > SS_JSON_CHARACTER_SIZE)
        to = quote_character(to, &at);
    *to++ = '"';
    return to;
}

static void put_text(FILE *stream, const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    fputc('"', stream);
    while (*at) {
        char letter[SS_JSON_CHARACTER_SIZE];
        fwrite(letter, 1, (size_t)(quote_character(letter, &at) - letter), stream);
    }
    fputc('"', stream);
}

static void begin_value(struct ss_json *json, const char *name) {
    if (json->needs_comma)
        fputc(',', json->stream);
    if (json->depth > 0)
        fprintf(json->stream, "\n%*s", 2 * json->depth, "");
    if (name) {
        put_text(json->stream, name);
        fputs(": ", json->stream);
    }
    json->needs_comma = true;
}

void ss_json_open(struct ss_json *json, const char *name, char bracket) {
    begin_value(json, name);
    fputc(bracket, json->stream);
    json->depth++;
    json->needs_comma = false;
}

void ss_json_close(struct ss_json *json, char bracket) {
    json->depth--;
    if (json->needs_comma)
        fprintf(json->stream, "\n%*s", 2 * json->depth, "");
    fputc(bracket, json->stream);
    json->needs_comma = true;
    if (json->depth == 0)
        fputc('\n', json->stream);
}

void ss_json_text(struct ss_json *json, const char *name, const char *text) {
    begin_value(json, name);
    if (text)
        put_text(json->stream, text);
    else
        fputs("null", json->stream);
}

void ss_json_bool(struct ss_json *json, const char *name, bool value) {
    begin_value(json, name);
    fputs(value ? "true" : "false", json->stream);
}

void ss_json_number(struct ss_json *json, const char *name, double number) {
    char text[SS_NUMBER_SIZE];
    ss_number_put(text, number);
    ss_json_digits(json, name, text);
}

void ss_json_digits(struct ss_json *json, const char *name, const char *digits) {
    bool is_number = isdigit((unsigned char)digits[*digits == '-']);
    begin_value(json, name);
    fputs(is_number ? digits : "null", json->stream);
}
