/* SPDX-License-Identifier: Apache-2.0 */
#include "picture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "frame.h"
#include "gnuplot.h"
#include "palette.h"
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
    {" font-family=\"sans-serif\"", ""}, /* use the font of the page */
    {"\"black\"", "\"currentColor\""},
    {"\"white\"", "\"var(--paper)\""},
    {"'white'", "'var(--paper)'"},
};

/* Replaces a color of the palette, such as "rgb(0, 114, 178)", with a variable for dark schemes. */
static size_t change_color(FILE *page, const char *at) {
    unsigned parts[3];
    char start[40];
    int length = 0;
    if (strncmp(at, "rgb(", 4) != 0)
        return 0;
    /* sscanf() would look for the end of the whole picture. */
    snprintf(start, sizeof start, "%.*s", (int)sizeof start - 1, at);
    if (sscanf(start, "rgb( %3u , %3u , %3u )%n", &parts[0], &parts[1], &parts[2], &length) != 3 ||
        length == 0)
        return 0;
    const struct plot_color *color = plot_color_find(parts);
    if (!color)
        return 0;
    fprintf(page, "var(--%s)", color->name);
    return (size_t)length;
}

static size_t change(FILE *page, const char *at, unsigned number) {
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        size_t length = strlen(changes[i].from);
        if (strncmp(at, changes[i].from, length) != 0)
            continue;
        const char *mark = strstr(changes[i].to, "%u");
        if (mark)
            fprintf(page, "%.*s%u%s", (int)(mark - changes[i].to), changes[i].to, number, mark + 2);
        else
            fputs(changes[i].to, page);
        return length;
    }
    return change_color(page, at);
}

/* Scales the picture so that its text is at most as large as the page's. */
static void write_size(FILE *page, const char *svg) {
    double width;
    const char *box = strstr(svg, "viewBox=\"");
    if (box && sscanf(box, "viewBox=\"%*f %*f %lf", &width) == 1)
        fprintf(page, "\" style=\"max-width:%.4grem", width / PLOT_TEXT_SIZE);
}

int page_picture_embed(FILE *page, const char *svg, unsigned number, const char *what) {
    /* Skip the XML declarations at the beginning. */
    const char *at = strstr(svg, "<svg");
    if (!at || !strstr(at, "</svg>"))
        return -1;
    fputs("<svg role=\"img\" aria-label=\"", page);
    table_html_text(page, what);
    write_size(page, at);
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

int page_picture(
    FILE *page, FILE *script, unsigned number, const char *what, struct ss_error *error) {
    SS_OWNED(fclose) FILE *file = tmpfile();
    if (!file)
        return ss_error_fail(
            error, "cannot create a temporary file for a picture: %s", strerror(errno));
    int result = plot_run(script, file, error);
    SS_OWNED(free) char *svg = result == 0 ? read_all(file) : NULL;
    if (result == 0 && (!svg || page_picture_embed(page, svg, number, what) < 0))
        result = ss_error_fail(error, "gnuplot did not write an SVG picture");
    return result;
}

void page_figure(
    FILE *page, const struct page_figure *figure, unsigned *number, struct ss_error *without) {
    SS_OWNED(free) char *svg = NULL;
    size_t size;
    if (without->status)
        return;
    FILE *drawn = open_memstream(&svg, &size);
    if (!drawn) {
        ss_error_memory(without);
        return;
    }
    int result = page_picture(drawn, figure->script, ++*number, figure->caption, without);
    if (fclose(drawn) != 0 || result < 0)
        return;
    fputs("<figure><figcaption>", page);
    table_html_text(page, figure->caption);
    if (figure->explanation)
        fprintf(page, "<div class=\"how\">%s</div>", figure->explanation);
    fprintf(page, "</figcaption>\n%s</figure>\n", svg);
}
