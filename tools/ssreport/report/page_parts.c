/* SPDX-License-Identifier: Apache-2.0 */
#include "page_parts.h"

#include <string.h>

#include "html_page.h"
#include "palette.h"
#include "picture.h"

void ssreport_page_open(struct ssreport_page *page, const char *heading) {
    fputs("<section>\n<h2>", page->stream);
    table_html_text(page->stream, heading);
    fputs("</h2>\n", page->stream);
}

void ssreport_page_close(struct ssreport_page *page) {
    fputs("</section>\n", page->stream);
}

void ssreport_page_section(
    struct ssreport_page *page, const struct table_sheet *sheet, const char *heading) {
    if (table_rows(sheet) == 0)
        return;
    ssreport_page_open(page, heading);
    page_sheet(page->stream, sheet);
    ssreport_page_close(page);
}

void ssreport_page_published(struct ssreport_page *page) {
    fputs(
        "<p>Published figures are those of other programs on another machine.</p>\n", page->stream);
}

FILE *ssreport_page_script(const struct ssreport_page *page) {
    return page->without.status ? NULL : tmpfile();
}

void ssreport_page_figure(
    struct ssreport_page *page, FILE *script, bool drawn, const char *caption) {
    if (drawn)
        page_figure(page->stream, &(struct page_figure){script, caption, NULL}, &page->pictures,
            &page->without);
    fclose(script);
}

const char *ssreport_placement_color(const char *placement) {
    static const struct {
        const char *placement, *color;
    } known[] = {{"per-chip", PLOT_BLUE}, {"per-core", PLOT_ORANGE}, {"per-thread", PLOT_GREEN},
        {"neutral", PLOT_PURPLE}, {"quota", PLOT_INK}, {"sets", PLOT_SKY}, {"free", PLOT_AMBER}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].placement, placement) == 0)
            return known[i].color;
    }
    return NULL;
}
