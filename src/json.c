/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <math.h>
#include <stdlib.h>

static void put_text(FILE *stream, const char *text) {
    fputc('"', stream);
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if (*at == '"' || *at == '\\')
            fprintf(stream, "\\%c", *at);
        else if (*at < 0x20 || *at == 0x7f)
            fprintf(stream, "\\u%04x", *at);
        else
            fputc(*at, stream);
    }
    fputc('"', stream);
}

static void begin(struct ss_json *json, const char *name) {
    if (json->follows)
        fputc(',', json->stream);
    if (json->depth > 0)
        fprintf(json->stream, "\n%*s", 2 * json->depth, "");
    if (name) {
        put_text(json->stream, name);
        fputs(": ", json->stream);
    }
    json->follows = true;
}

void ss_json_open(struct ss_json *json, const char *name, char bracket) {
    begin(json, name);
    fputc(bracket, json->stream);
    json->depth++;
    json->follows = false;
}

void ss_json_close(struct ss_json *json, char bracket) {
    json->depth--;
    if (json->follows)
        fprintf(json->stream, "\n%*s", 2 * json->depth, "");
    fputc(bracket, json->stream);
    json->follows = true;
    if (json->depth == 0)
        fputc('\n', json->stream);
}

void ss_json_text(struct ss_json *json, const char *name, const char *text) {
    begin(json, name);
    if (text)
        put_text(json->stream, text);
    else
        fputs("null", json->stream);
}

void ss_json_number(struct ss_json *json, const char *name, double number) {
    begin(json, name);
    if (!isfinite(number)) {
        fputs("null", json->stream);
        return;
    }
    /* The shortest text that reads back as the same number. */
    char text[40];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    fputs(text, json->stream);
}
