/* SPDX-License-Identifier: Apache-2.0 */
#include "page.h"

#include <math.h>

#include "base/version.h"
#include "picture.h"
#include "plots.h"
#include "shades.h"

/* With more runs their pictures are left out: too many to look at, and each is 20 kB. */
#define PICTURED_MOST 40

static const char style[] =
    ":root{color-scheme:light}\n"
    "body{margin:0 auto;max-width:80rem;padding:1rem;background:#fff;color:#222;"
    "font:1rem/1.45 system-ui,sans-serif}\n"
    "h1{font-size:1.5rem}h2{font-size:1.2rem;margin:2.2rem 0 .4rem;border-top:1px solid #ddd;"
    "padding-top:1rem;overflow-wrap:anywhere}\n"
    "code{overflow-wrap:anywhere;font-size:.9rem}\n"
    ".note{background:#fff6e0;border-left:4px solid #e0a500;padding:.4rem .7rem;"
    "overflow-wrap:anywhere}\n"
    ".plots{display:grid;gap:1rem;grid-template-columns:"
    "repeat(auto-fill,minmax(min(100%,34rem),1fr))}\n"
    "figure{margin:0;overflow-x:auto}figcaption{font-weight:600;font-size:.95rem}\n"
    "svg{display:block;width:100%;min-width:20rem;height:auto}\n"
    ".wide{overflow-x:auto;margin:.8rem 0}\n"
    "table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums}\n"
    "td.text:first-child{min-width:8rem}\n"
    "caption{white-space:nowrap;text-align:left;font-weight:600;font-size:.95rem;padding-bottom:."
    "2rem}\n"
    "th,td{padding:.2rem .55rem;text-align:right;border-bottom:1px solid #e4e4e4;"
    "vertical-align:bottom}\n"
    "th{font-weight:600;max-width:7rem}.text{text-align:left}td.text{min-width:5rem;max-width:"
    "20rem;"
    "overflow-wrap:break-word}\n"
    "table.shaded td{text-align:center;min-width:3.5rem}th[scope=row]{text-align:left}\n";

static void print_head(FILE *page, const struct ssreport_report *report) {
    fprintf(page,
        "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n"
        "<meta charset=\"utf-8\"/>\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
        "<title>Showstopper: %zu run%s</title>\n<style>\n%s</style>\n</head>\n<body>\n"
        "<h1>%zu run%s reported</h1>\n",
        report->run_count, report->run_count == 1 ? "" : "s", style, report->run_count,
        report->run_count == 1 ? "" : "s");
}

static void print_note(FILE *page, const char *name, const char *text) {
    fputs("<p class=\"note\">", page);
    if (name) {
        fputs("<b>", page);
        ssreport_html_text(page, name);
        fputs("</b>: ", page);
    }
    ssreport_html_text(page, text);
    fputs("</p>\n", page);
}

static void print_sheet(FILE *page, const struct ssreport_sheet *sheet) {
    if (ssreport_sheet_rows(sheet) > 0)
        ssreport_sheet_print_html(page, sheet, NULL);
}

static void print_plots(
    FILE *page, const struct ssreport_run *run, unsigned *number, struct ss_error *without) {
    fputs("<div class=\"plots\">\n", page);
    for (const struct ssreport_plot *plot = ssreport_plots; plot->caption; plot++) {
        FILE *script = without->status || !plot->is_there(run) ? NULL : tmpfile();
        if (!script)
            continue;
        plot->write(script, run);
        fprintf(page, "<figure><figcaption>%s</figcaption>\n", plot->caption);
        ssreport_picture(page, script, ++*number, plot->caption, without);
        fputs("</figure>\n", page);
        fclose(script);
    }
    fputs("</div>\n", page);
}

static void print_run(FILE *page, const struct ssreport_report *report,
    const struct ssreport_run *run, unsigned *number, struct ss_error *without) {
    fputs("<section>\n<h2>", page);
    ssreport_html_text(page, run->record.name);
    fputs("</h2>\n<p><code>", page);
    ssreport_html_text(page, run->record.command ? run->record.command : "command not known");
    fputs("</code></p>\n", page);
    if (*run->record.notes.text)
        print_note(page, NULL, run->record.notes.text);
    if (report->run_count <= PICTURED_MOST)
        print_plots(page, run, number, without);
    if (run->steps.count > 1)
        ssreport_sheet_print_html(page, &report->sheets[SSREPORT_STEPS], run->record.name);
    if (run->steps.count > 1 && run->energy.count > 0)
        ssreport_sheet_print_html(page, &report->sheets[SSREPORT_ENERGY_STEPS], run->record.name);
    if (run->record.has_iterations)
        ssreport_sheet_print_html(page, &report->sheets[SSREPORT_FITS], run->record.name);
    fputs("</section>\n", page);
}

/* The curves that runs make together. */
static void print_together(
    FILE *page, const struct ssreport_report *report, unsigned *number, struct ss_error *without) {
    for (size_t i = 0; i < report->together_count; i++) {
        const struct ssreport_run *together = &report->together[i];
        fputs("<section>\n<h2>", page);
        ssreport_html_text(page, together->record.name);
        fputs("</h2>\n", page);
        print_plots(page, together, number, without);
        ssreport_sheet_print_html(page, &report->sheets[SSREPORT_FITS], together->record.name);
        fputs("</section>\n", page);
    }
}

static void print_comparison(FILE *page, const struct ssreport_report *report) {
    if (!report->compares)
        return;
    fputs("<section>\n<h2>Both sets</h2>\n", page);
    print_sheet(page, &report->sheets[SSREPORT_COMPARISON]);
    print_sheet(page, &report->sheets[SSREPORT_RATIOS]);
    fputs("</section>\n", page);
}

static const char published[] = "<p>Published figures are those of other programs on another "
                                "machine.</p>\n";

static void print_constant_load(FILE *page, const struct ssreport_report *report) {
    if (ssreport_sheet_rows(&report->sheets[SSREPORT_CONSTANT_LOAD]) == 0)
        return;
    fprintf(page, "<section>\n<h2>Constant load</h2>\n%s", published);
    print_sheet(page, &report->sheets[SSREPORT_CONSTANT_LOAD]);
    fputs("</section>\n", page);
}

static void print_replay(FILE *page, const struct ssreport_report *report) {
    if (ssreport_sheet_rows(&report->sheets[SSREPORT_REPLAY]) == 0)
        return;
    fprintf(page, "<section>\n<h2>Replay at several speeds</h2>\n%s", published);
    for (size_t i = 0; i < report->run_count; i++) {
        const struct ssreport_run *run = &report->runs[i];
        if (run->speed > 0 && *run->record.notes.text)
            print_note(page, run->record.name, run->record.notes.text);
    }
    print_sheet(page, &report->sheets[SSREPORT_REPLAY]);
    fputs("</section>\n", page);
}

/* Where power was not sampled, a note says so. */
static void print_energy(FILE *page, const struct ssreport_report *report) {
    if (!ssreport_report_has_energy(report)) {
        fputs("<p>Energy: no power was recorded beside these runs.</p>\n", page);
        return;
    }
    fputs("<section>\n<h2>Energy</h2>\n", page);
    print_sheet(page, &report->sheets[SSREPORT_ENERGY]);
    fputs("</section>\n", page);
}

static void print_interference(FILE *page, const struct ssreport_report *report) {
    if (ssreport_sheet_rows(&report->sheets[SSREPORT_INTERFERENCE]) == 0)
        return;
    fputs("<section>\n<h2>Interference</h2>\n", page);
    ssreport_shades_print(page, &report->sheets[SSREPORT_INTERFERENCE]);
    print_sheet(page, &report->sheets[SSREPORT_INTERFERENCE]);
    print_sheet(page, &report->sheets[SSREPORT_WHOLE_SYSTEM]);
    fputs(published, page);
    print_sheet(page, &report->sheets[SSREPORT_INTERFERENCE_PUBLISHED]);
    fputs("</section>\n", page);
}

static void print_empty(FILE *page, const struct ssreport_report *report) {
    char names[500];
    ssreport_report_name_empty(report, names, sizeof names);
    if (*names)
        fprintf(page,
            "<p><small>Not written, as these records have nothing for them: %s</small></p>\n",
            names);
}

void ssreport_page_print(
    FILE *page, const struct ssreport_report *report, struct ss_error *without) {
    unsigned number = 0;
    print_head(page, report);
    for (size_t i = 0; i < report->failure_count; i++)
        print_note(page, report->failures[i].name, report->failures[i].why);
    if (*report->notes.text)
        print_note(page, NULL, report->notes.text);
    print_constant_load(page, report);
    print_replay(page, report);
    print_together(page, report, &number, without);
    print_comparison(page, report);
    print_interference(page, report);
    print_energy(page, report);
    print_sheet(page, &report->sheets[SSREPORT_RUNS]);
    if (report->run_count > PICTURED_MOST)
        fprintf(page,
            "<p>Single runs are drawn in reports of at most %d: give <code>ssreport</code> one of "
            "these.</p>\n",
            PICTURED_MOST);
    for (size_t i = 0; i < report->run_count; i++)
        print_run(page, report, &report->runs[i], &number, without);
    if (without->status)
        print_note(page, "There are no pictures", without->message);
    print_empty(page, report);
    fprintf(page, "<p><small>ssreport %s</small></p>\n</body>\n</html>\n", ss_version());
}
