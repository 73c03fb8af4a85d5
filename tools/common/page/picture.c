/* SPDX-License-Identifier: Apache-2.0 */
#include "picture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "gnuplot.h"
#include "sheet.h"

/* Replacements in gnuplot's output. `%u` is the picture's number. */
static const struct {
    const char *from, *to;
} changes[] = {
    {" id='", " id='p%u-"},
    {" id=\"", " id=\"p%u-"},
    {"href='#", "href='#p%u-"},
    {"href=\"#", "href=\"#p%u-"},
    {"url(#", "url(#p%u-"},
    {"<title>Gnuplot</title>", ""},
};

static size_t change(FILE *page, const char *at, unsigned number) {
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        size_t length = strlen(changes[i].from);
        if (strncmp(at, changes[i].from, length) != 0)
            continue;
        const char *mark = strstr(changes[i].to, "%u");
        if (mark)
            fprintf(page, "%.*s%u%s", (int)(mark - changes[i].to), changes[i].to, number, mark + 2);
        return length;
    }
    return 0;
}

int ssreport_picture_embed(FILE *page, const char *svg, unsigned number, const char *what) {
    /* Without what stands before it in a file of its own. */
    const char *at = strstr(svg, "<svg");
    if (!at || !strstr(at, "</svg>"))
        return -1;
    fputs("<svg role=\"img\" aria-label=\"", page);
    ssreport_html_text(page, what);
    fputc('"', page);
    for (at += 4; *at;) {
        size_t length = change(page, at, number);
        if (length == 0)
            fputc(*at, page);
        at += length > 0 ? length : 1;
    }
    return 0;
}

static char *read_all(FILE *stream) {
    long size = fseek(stream, 0, SEEK_END) == 0 ? ftell(stream) : -1;
    char *text = size >= 0 ? malloc((size_t)size + 1) : NULL;
    if (!text)
        return NULL;
    rewind(stream);
    text[fread(text, 1, (size_t)size, stream)] = '\0';
    return text;
}

int ssreport_picture(
    FILE *page, FILE *script, unsigned number, const char *what, struct ss_error *error) {
    SS_OWNED(fclose) FILE *file = tmpfile();
    if (!file)
        return ss_error_fail(error, "no temporary file for a picture: %s", strerror(errno));
    int result = sstrace_gnuplot_run(script, file, error);
    SS_OWNED(free) char *svg = result == 0 ? read_all(file) : NULL;
    if (result == 0 && (!svg || ssreport_picture_embed(page, svg, number, what) < 0))
        result = ss_error_fail(error, "gnuplot has drawn no SVG");
    return result;
}
