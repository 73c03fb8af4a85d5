/* SPDX-License-Identifier: Apache-2.0 */
#include "html_page.h"

#include <string.h>

#include "base/version.h"
#include "palette.h"

/*
 * Font sizes are 1.5, 1.2, 1 and 0.875 rem; tables and pictures have the smallest. A picture is
 * scaled so that rows of two or three fill the page and its text has this size or 1 rem, on a
 * narrow screen a smaller one. Small tables are beside the last picture. A caption is as wide as
 * its table, but not wider than the screen. A wider table scrolls in its box, whose edges are
 * shaded where columns are hidden, because phones show no scroll bar.
 */
static const char style[] =
    "body{margin:0 auto;max-width:110rem;padding:1rem;background:var(--paper);color:var(--ink);"
    "font:1rem/1.45 system-ui,sans-serif}\n"
    "h1{font-size:1.5rem}h2{font-size:1.2rem;margin:2.2rem 0 .4rem;"
    "border-top:1px solid var(--grid);padding-top:1rem;overflow-wrap:anywhere}\n"
    "p,ul{max-width:60rem}\n"
    "code{overflow-wrap:anywhere;font-size:.875rem}\n"
    ".answer{font-size:1.2rem}\n"
    ".note{background:var(--note);border-left:4px solid var(--amber);padding:.4rem .7rem;"
    "overflow-wrap:anywhere}\n"
    ".plots{display:flex;flex-wrap:wrap;gap:1rem 2rem;align-items:flex-start}"
    ".plots>*{max-width:100%;min-width:0}.plots>figure{flex:0 1 40rem}"
    "@media(min-width:72rem){.plots>figure{flex-basis:calc(50% - 1rem)}}"
    "@media(min-width:108rem){.plots>figure{flex-basis:calc((100% - 4rem)/3)}}"
    ".plots>figure.wide{flex:0 1 auto}.plots>.wide{margin:0}\n"
    "figure{margin:0;overflow-x:auto}figcaption{font-weight:600;font-size:1rem;"
    "overflow-wrap:anywhere}.how{font-weight:400;font-size:.875rem}\n"
    "svg{display:block;width:100%;min-width:20rem;height:auto;color:var(--ink)}\n"
    ".wide{overflow-x:auto;margin:.8rem 0;background:"
    "linear-gradient(90deg,var(--paper) 60%,transparent) 0 0/2rem 100% no-repeat local,"
    "linear-gradient(270deg,var(--paper) 60%,transparent) 100% 0/2rem 100% no-repeat local,"
    "linear-gradient(90deg,var(--axis),transparent) 0 0/.5rem 100% no-repeat,"
    "linear-gradient(270deg,var(--axis),transparent) 100% 0/.5rem 100% no-repeat}\n"
    "table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums}\n"
    "td.text:first-child{min-width:8rem}\n"
    "caption{text-align:left;font-weight:600;font-size:1rem;padding-bottom:.2rem;"
    "min-width:min(18rem,calc(100vw - 2rem));max-width:calc(100vw - 2rem)}\n"
    "th,td{padding:.2rem .55rem;text-align:right;border-bottom:1px solid var(--grid);"
    "vertical-align:bottom}\n"
    "th{font-weight:600;line-height:1.25;max-width:7rem}.text{text-align:left}"
    "td.text{min-width:5rem;max-width:20rem;overflow-wrap:break-word}\n"
    "tr.doubtful td,tr.invalid td{background:var(--note)}\n"
    "tr.invalid td:first-child{border-left:4px solid var(--orange)}\n"
    "table.shaded td{text-align:center;min-width:3.5rem;white-space:nowrap}\n"
    "table.shaded [style]{color:" PLOT_INK "}\n"
    "table.shaded th{min-width:4rem;max-width:9rem;overflow-wrap:break-word}\n"
    "table.shaded th[scope=col]{text-align:center}\n"
    "th[scope=row]{text-align:left;position:sticky;left:0;background:var(--paper)}\n"
    "table.shaded .far{outline:2px dashed var(--orange);outline-offset:-2px}\n"
    "table.shaded td>div{padding:.1rem .3rem}\n"
    ".tables{display:flex;flex-wrap:wrap;gap:0 2rem}.tables>.wide{max-width:100%}\n"
    ".beside{display:grid;gap:0 2rem;align-items:start;grid-template-columns:"
    "repeat(auto-fit,minmax(min(100%,35rem),1fr))}\n"
    ".beside figure{margin:0 0 1.2rem}.beside h2:first-child{margin-top:0;border:0;padding:0}\n"
    ".findings{margin:.4rem 0 1.2rem;padding-left:1.2rem}\n"
    ".findings li{margin:.3rem 0;overflow-wrap:anywhere}\n"
    "details{margin:.8rem 0}summary{cursor:pointer;font-weight:600;overflow-wrap:anywhere}\n";

static void print_colors(FILE *page, bool dark) {
    fprintf(page, ":root{--paper:%s;--note:%s", dark ? PLOT_PAPER_DARK : PLOT_PAPER_LIGHT,
        dark ? "#37301d" : "#fff6e0");
    for (const struct plot_color *color = plot_palette; color->name; color++)
        fprintf(page, ";--%s:%s", color->name, dark ? color->dark : color->light);
    fputs("}\n", page);
}

void page_begin(FILE *page, const char *title, const char *heading) {
    fputs("<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n"
          "<meta charset=\"utf-8\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>",
        page);
    table_html_text(page, title);
    fputs("</title>\n<style>\n:root{color-scheme:light dark}\n", page);
    print_colors(page, false);
    fputs("@media (prefers-color-scheme:dark){", page);
    print_colors(page, true);
    fprintf(page, "}\n%s</style>\n</head>\n<body>\n<h1>", style);
    table_html_text(page, heading);
    fputs("</h1>\n", page);
}

void page_end(FILE *page, const char *program) {
    fprintf(page, "<p><small>%s %s</small></p>\n</body>\n</html>\n", program, ss_version());
}

void page_answer(FILE *page, const char *sentence) {
    fputs("<p class=\"answer\">", page);
    table_html_text(page, sentence);
    fputs("</p>\n", page);
}

void page_note(FILE *page, const char *name, const char *text) {
    fputs("<p class=\"note\">", page);
    if (name) {
        fputs("<b>", page);
        table_html_text(page, name);
        fputs("</b>: ", page);
    }
    table_html_text(page, text);
    fputs("</p>\n", page);
}

void page_fold(FILE *page, const char *title, size_t count, const char *of) {
    fputs("<details><summary>", page);
    table_html_text(page, title);
    fprintf(page, ": %zu %s</summary>\n", count, of);
}

void page_unfold(FILE *page) {
    fputs("</details>\n", page);
}

void page_sheet(FILE *page, const struct table_sheet *sheet) {
    size_t rows = table_rows(sheet);
    if (rows == 0)
        return;
    if (rows > PAGE_ROWS_OPEN_MAX)
        page_fold(page, sheet->title, rows, "rows");
    table_print_html(page, sheet, NULL);
    if (rows > PAGE_ROWS_OPEN_MAX)
        page_unfold(page);
}

void page_findings_begin(FILE *page) {
    fputs("<ul class=\"findings\">\n", page);
}

void page_finding(FILE *page, const char *sentence) {
    fputs("<li>", page);
    table_html_sentence(page, sentence);
    fputs("</li>\n", page);
}

void page_findings_end(FILE *page) {
    fputs("</ul>\n", page);
}
