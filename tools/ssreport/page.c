/* SPDX-License-Identifier: Apache-2.0 */
#include "page.h"

#include <math.h>
#include <string.h>

#include "base/version.h"
#include "energy_plots.h"
#include "interference_tables.h"
#include "methods.h"
#include "pair_findings.h"
#include "pair_plots.h"
#include "picture.h"
#include "predict.h"
#include "ratio_tables.h"
#include "responses_plots.h"
#include "run_plots.h"

/* With more runs each has the first of its pictures only, over time: each picture is 20 kB. */
#define PICTURED_MAX 40

/* More ratios than this are left to their file. */
#define RATIOS_MAX 200

/* Tables with more rows than this are folded, and so are more sentences. */
#define ROWS_OPEN_MAX      24
#define SENTENCES_OPEN_MAX 8

const char ssreport_page_style[] =
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
    "table.shaded td{text-align:center;min-width:3.5rem;white-space:nowrap}\n"
    "table.shaded th{min-width:4rem;max-width:9rem;overflow-wrap:break-word}\n"
    "table.shaded th[scope=col]{text-align:center}\n"
    "th[scope=row]{text-align:left;position:sticky;left:0;background:#fff}\n"
    "table.shaded .far{outline:2px dashed #a33;outline-offset:-2px}\n"
    "table.shaded td>div{padding:.1rem .3rem}\n"
    ".tables{display:flex;flex-wrap:wrap;gap:0 2rem}.tables>.wide{max-width:100%}\n"
    ".findings li{margin:.3rem 0;overflow-wrap:anywhere}\n"
    "details{margin:.8rem 0}summary{cursor:pointer;font-weight:600;overflow-wrap:anywhere}\n";

static void print_head(FILE *page, const struct ssreport_report *report) {
    char of_requests[64] = "";
    if (report->response_count > 0)
        snprintf(of_requests, sizeof of_requests, " and %zu of requests", report->response_count);
    fprintf(page,
        "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n"
        "<meta charset=\"utf-8\"/>\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
        "<title>Showstopper: %zu run%s%s</title>\n<style>\n%s</style>\n</head>\n<body>\n"
        "<h1>%zu run%s%s reported</h1>\n",
        report->run_count, report->run_count == 1 ? "" : "s", of_requests, ssreport_page_style,
        report->run_count, report->run_count == 1 ? "" : "s", of_requests);
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

/* Long tables are folded, so that a page of hundreds of runs stays readable. */
static void print_folded(FILE *page, const struct ssreport_sheet *sheet) {
    size_t rows = ssreport_sheet_rows(sheet);
    if (rows > ROWS_OPEN_MAX) {
        fputs("<details><summary>", page);
        ssreport_html_text(page, sheet->title);
        fprintf(page, ": %zu rows</summary>\n", rows);
    }
    print_sheet(page, sheet);
    if (rows > ROWS_OPEN_MAX)
        fputs("</details>\n", page);
}

static void print_plots(FILE *page, const struct ssreport_run *run, bool first_only,
    unsigned *number, struct ss_error *without) {
    fputs("<div class=\"plots\">\n", page);
    for (const struct ssreport_plot *plot = ssreport_plots;
         plot->caption && !(first_only && plot > ssreport_plots); plot++) {
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

/* Whether a table has a row of a run; power of both sides stands with the background. */
static bool has_rows(const struct ssreport_sheet *sheet, const struct ssreport_run *run) {
    for (size_t i = 0; i < ssreport_sheet_rows(sheet); i++) {
        if (strcmp(sheet->cells[i * sheet->column_count].text, run->record.name) == 0)
            return true;
    }
    return false;
}

static void print_disturbed(FILE *page, double others) {
    char text[160];
    if (!ssreport_others_disturb(others))
        return;
    snprintf(text, sizeof text,
        "disturbed: other processes used %.1f %% of the machine during this run", 100 * others);
    print_note(page, NULL, text);
}

static void print_run(FILE *page, const struct ssreport_report *report,
    const struct ssreport_run *run, unsigned *number, struct ss_error *without) {
    fputs("<section>\n<h2>", page);
    ssreport_html_text(page, ssreport_record_title(&run->record));
    fputs("</h2>\n<p><code>", page);
    ssreport_html_text(page, run->record.command ? run->record.command : "command not known");
    fputs("</code></p>\n", page);
    if (*run->record.notes.text)
        print_note(page, NULL, run->record.notes.text);
    print_disturbed(page, run->others);
    print_plots(page, run, report->run_count > PICTURED_MAX, number, without);
    if (run->steps.count > 1)
        ssreport_sheet_print_html(page, &report->sheets[SSREPORT_STEPS], run->record.name);
    if (run->steps.count > 1 && has_rows(&report->sheets[SSREPORT_ENERGY_STEPS], run))
        ssreport_sheet_print_html(page, &report->sheets[SSREPORT_ENERGY_STEPS], run->record.name);
    if (run->record.counters.count > 0)
        ssreport_sheet_print_html(page, &report->sheets[SSREPORT_COUNTERS_STEPS], run->record.name);
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
        print_plots(page, together, false, number, without);
        ssreport_sheet_print_html(page, &report->sheets[SSREPORT_FITS], together->record.name);
        fputs("</section>\n", page);
    }
}

static void print_comparison(FILE *page, const struct ssreport_report *report) {
    if (!report->compares)
        return;
    fputs("<section>\n<h2>", page);
    ssreport_html_text(page, ssreport_report_set_name(report, 0));
    fputs(" / ", page);
    ssreport_html_text(page, ssreport_report_set_name(report, 1));
    fputs("</h2>\n", page);
    ssreport_heat_print(page, report);
    print_folded(page, &report->sheets[SSREPORT_COMPARISON]);
    print_folded(page, &report->sheets[SSREPORT_UNMATCHED]);
    if (ssreport_sheet_rows(&report->sheets[SSREPORT_RATIOS]) <= RATIOS_MAX)
        print_folded(page, &report->sheets[SSREPORT_RATIOS]);
    else
        fputs("<p>Each ratio by itself is in <code>ratios.csv</code>.</p>\n", page);
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

static void print_methods(
    FILE *page, const struct ssreport_report *report, unsigned *number, struct ss_error *without) {
    if (ssreport_sheet_rows(&report->sheets[SSREPORT_METHODS]) == 0)
        return;
    fputs(
        "<section>\n<h2>Methods</h2>\n<p>The baseline is <code>nbench</code> (as many uncontrolled "
        "instances as the target has CPUs), <code>nbench-fit</code> (as many as give the load) or "
        "<code>1cdc</code> (one instance with a constant duty cycle), whichever covers the wider "
        "range of loads. <code>cdc</code> is a constant duty cycle of all instances, without "
        "feedback. The baseline is interpolated between "
        "its targets, and nothing is said of loads beyond them.</p>\n",
        page);
    ssreport_methods_print(page, report, number, without);
    print_sheet(page, &report->sheets[SSREPORT_METHODS_DEVIATION]);
    fputs("</section>\n", page);
}

static void print_prediction(FILE *page, const struct ssreport_report *report) {
    if (ssreport_sheet_rows(&report->sheets[SSREPORT_PREDICTION]) == 0)
        return;
    fputs("<section>\n<h2>Prediction</h2>\n<p>The trace: <code>", page);
    ssreport_html_text(
        page, report->sheets[SSREPORT_PREDICTION].cells[SSREPORT_PREDICTION_TRACE].text);
    fputs("</code></p>\n", page);
    print_sheet(page, &report->sheets[SSREPORT_PREDICTION]);
    fputs("</section>\n", page);
}

static void print_replay(FILE *page, const struct ssreport_report *report) {
    if (ssreport_sheet_rows(&report->sheets[SSREPORT_REPLAY]) == 0)
        return;
    fprintf(page, "<section>\n<h2>Replay at several speeds</h2>\n%s", published);
    for (size_t i = 0; i < report->run_count; i++) {
        const struct ssreport_run *run = &report->runs[i];
        if (run->speed > 0 && *run->record.notes.text)
            print_note(page, ssreport_record_title(&run->record), run->record.notes.text);
    }
    print_sheet(page, &report->sheets[SSREPORT_REPLAY]);
    fputs("</section>\n", page);
}

static void print_requests(
    FILE *page, const struct ssreport_report *report, unsigned *number, struct ss_error *without) {
    if (report->response_count == 0)
        return;
    fputs("<section>\n<h2>Requests</h2>\n", page);
    for (size_t i = 0; i < report->response_count; i++) {
        if (*report->responses[i].notes.text)
            print_note(page, report->responses[i].title, report->responses[i].notes.text);
    }
    print_sheet(page, &report->sheets[SSREPORT_REQUESTS_CAPACITY]);
    ssreport_responses_plots_print(
        page, report, report->response_count > PICTURED_MAX, number, without);
    print_folded(page, &report->sheets[SSREPORT_REQUESTS_RATES]);
    print_folded(page, &report->sheets[SSREPORT_REQUESTS]);
    fputs("</section>\n", page);
}

/* Where power was not sampled, a note says so. */
static void print_energy(
    FILE *page, const struct ssreport_report *report, unsigned *number, struct ss_error *without) {
    if (report->run_count == 0)
        return;
    if (!ssreport_report_has_energy(report)) {
        fputs("<p>Energy: no power was recorded beside these runs.</p>\n", page);
        return;
    }
    fputs("<section>\n<h2>Energy</h2>\n", page);
    print_folded(page, &report->sheets[SSREPORT_ENERGY]);
    ssreport_energy_plots_print(page, report, number, without);
    fputs("</section>\n", page);
}

/* Printed only if anything was counted: few machines permit it. */
static void print_counters(FILE *page, const struct ssreport_report *report) {
    if (ssreport_sheet_rows(&report->sheets[SSREPORT_COUNTERS_RUNS]) == 0)
        return;
    fputs("<section>\n<h2>Counters</h2>\n", page);
    print_folded(page, &report->sheets[SSREPORT_COUNTERS_RUNS]);
    fputs("</section>\n", page);
}

/* No line begins with a percent sign. */
static void print_sentence(FILE *page, const char *text) {
    const char *at;
    while ((at = strstr(text, " %")) != NULL) {
        ssreport_html_part(page, text, (size_t)(at - text));
        fputs("\u00a0%", page);
        text = at + 2;
    }
    ssreport_html_text(page, text);
}

static void print_sentences(FILE *page, const struct ssreport_report *report, bool general) {
    fputs("<ul class=\"findings\">\n", page);
    for (size_t i = 0; i < ssreport_sheet_rows(&report->sheets[SSREPORT_FINDINGS]); i++) {
        struct ssreport_finding finding = ssreport_finding_at(report, i);
        if (finding.is_general != general)
            continue;
        fputs("<li>", page);
        print_sentence(page, finding.sentence);
        fputs("</li>\n", page);
    }
    fputs("</ul>\n", page);
}

static void print_findings(FILE *page, const struct ssreport_report *report) {
    size_t rows = ssreport_sheet_rows(&report->sheets[SSREPORT_FINDINGS]), special = 0;
    if (rows == 0)
        return;
    for (size_t i = 0; i < rows; i++)
        special += !ssreport_finding_at(report, i).is_general;
    fputs("<section>\n<h2>Findings</h2>\n", page);
    print_sentences(page, report, true);
    if (special > 0) {
        fprintf(page, "<details%s><summary>Pair by pair: %zu findings</summary>\n",
            special <= SENTENCES_OPEN_MAX ? " open=\"open\"" : "", special);
        print_sentences(page, report, false);
        fputs("</details>\n", page);
    }
    if (report->pair_count > 0)
        fprintf(page,
            "<p><small>In brackets: the %g %% confidence interval of what is said. Unless runs or "
            "rounds are counted, it is for the scatter of steps within runs, not between "
            "runs.</small></p>\n",
            100 * report->settings.confidence);
    print_folded(page, &report->sheets[SSREPORT_CHANGES]);
    fputs("</section>\n", page);
}

/* The environment, and what is named behind it. */
static void print_caption(FILE *page, const char *element, const struct ssreport_pair *pair,
    const char *first, const char *second) {
    fprintf(page, "<%s>", element);
    ssreport_html_text(page, pair->environment);
    fputs(pair->foreground->set > 0 ? ", second set: " : ": ", page);
    ssreport_html_text(page, first);
    if (second) {
        fputs(" beside ", page);
        ssreport_html_text(page, second);
    }
    fprintf(page, "</%s>\n", element);
}

static void print_matrices(
    FILE *page, const struct ssreport_report *report, unsigned *number, struct ss_error *without) {
    if (!without->status)
        fputs(
            "<p>In each field: the foreground's throughput, in percent of the most that it has in "
            "any, against the background's load. Foregrounds by row, backgrounds by column.</p>\n",
            page);
    for (size_t i = 0; i < report->pair_count && !without->status; i++) {
        const struct ssreport_pair *pair = &report->pairs[i];
        FILE *script =
            ssreport_pair_is_first(report, i, SSREPORT_PAIR_ENVIRONMENT) ? tmpfile() : NULL;
        if (!script)
            continue;
        unsigned width = ssreport_plot_matrix(script, report, pair);
        fputs("<figure class=\"wide\">", page);
        print_caption(page, "figcaption", pair, "all pairs", NULL);
        fprintf(
            page, "<div style=\"min-width:%upx;max-width:%upx\">\n", width * 3 / 4, width * 5 / 4);
        ssreport_picture(page, script, ++*number, "throughput of all pairs", without);
        fputs("</div></figure>\n", page);
        fclose(script);
    }
}

/* Closes the script. */
static void print_pair_picture(FILE *page, FILE *script, bool drawn, unsigned *number,
    const char *what, struct ss_error *without) {
    if (drawn) {
        fprintf(page, "<figure><figcaption>%s</figcaption>\n", what);
        ssreport_picture(page, script, ++*number, what, without);
        fputs("</figure>\n", page);
    }
    fclose(script);
}

static void print_pair(FILE *page, const struct ssreport_report *report,
    const struct ssreport_pair *pair, unsigned *number, struct ss_error *without) {
    bool is_one_program = strcmp(pair->program, pair->background_program) == 0;
    fputs("<details>", page);
    print_caption(page, "summary", pair, pair->program, pair->background_program);
    fputs("<div class=\"plots\">\n", page);
    FILE *script = without->status ? NULL : tmpfile();
    if (script) {
        print_pair_picture(page, script, ssreport_plot_sides(script, report, pair), number,
            "Throughput of both sides against the background's load; \u25b2 going up, \u25bd going "
            "down",
            without);
    }
    script = without->status || !is_one_program ? NULL : tmpfile();
    if (script) {
        print_pair_picture(page, script, ssreport_plot_whole_system(script, report, pair), number,
            "Throughput of both sides together; \u25b2 going up, \u25bd going down", without);
    }
    fputs("</div></details>\n", page);
}

static void print_pairs(
    FILE *page, const struct ssreport_report *report, unsigned *number, struct ss_error *without) {
    const unsigned what = SSREPORT_PAIR_ENVIRONMENT | SSREPORT_PAIR_PROGRAMS;
    for (size_t i = 0; i < report->pair_count; i++) {
        if (!without->status && ssreport_pair_is_first(report, i, what))
            print_pair(page, report, &report->pairs[i], number, without);
    }
}

static void print_interference(
    FILE *page, const struct ssreport_report *report, unsigned *number, struct ss_error *without) {
    if (ssreport_sheet_rows(&report->sheets[SSREPORT_INTERFERENCE]) == 0)
        return;
    fputs("<section>\n<h2>Interference</h2>\n", page);
    ssreport_shades_print(page, report);
    print_matrices(page, report, number, without);
    print_pairs(page, report, number, without);
    print_folded(page, &report->sheets[SSREPORT_INTERFERENCE]);
    print_folded(page, &report->sheets[SSREPORT_WHOLE_SYSTEM]);
    fputs(published, page);
    print_folded(page, &report->sheets[SSREPORT_INTERFERENCE_PUBLISHED]);
    fputs("</section>\n", page);
}

static void print_environments(FILE *page, const struct ssreport_report *report) {
    if (ssreport_sheet_rows(&report->sheets[SSREPORT_ENVIRONMENTS]) == 0)
        return;
    fputs("<section>\n<h2>Environments</h2>\n", page);
    print_folded(page, &report->sheets[SSREPORT_ENVIRONMENTS]);
    fputs("</section>\n", page);
}

static void print_published(FILE *page, const struct ssreport_report *report) {
    if (ssreport_sheet_rows(&report->sheets[SSREPORT_PUBLISHED]) == 0)
        return;
    fprintf(page, "<section>\n<h2>Published figures</h2>\n%s", published);
    print_sheet(page, &report->sheets[SSREPORT_PUBLISHED]);
    fputs("</section>\n", page);
}

static void print_empty(FILE *page, const struct ssreport_report *report) {
    char names[1000];
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
    print_findings(page, report);
    print_requests(page, report, &number, without);
    print_constant_load(page, report);
    print_methods(page, report, &number, without);
    print_prediction(page, report);
    print_replay(page, report);
    print_together(page, report, &number, without);
    print_comparison(page, report);
    print_interference(page, report, &number, without);
    print_environments(page, report);
    print_energy(page, report, &number, without);
    print_counters(page, report);
    print_folded(page, &report->sheets[SSREPORT_RUNS]);
    print_folded(page, &report->sheets[SSREPORT_CPUS]);
    if (report->run_count > PICTURED_MAX)
        fprintf(page,
            "<p>In reports of more than %d runs each has its load over time only: give "
            "<code>ssreport</code> fewer runs for all of their pictures.</p>\n",
            PICTURED_MAX);
    bool folds = report->run_count > PICTURED_MAX;
    if (folds)
        fprintf(page, "<details><summary>Run by run: %zu runs</summary>\n", report->run_count);
    for (size_t i = 0; i < report->run_count; i++)
        print_run(page, report, &report->runs[i], &number, without);
    if (folds)
        fputs("</details>\n", page);
    if (without->status)
        print_note(page, "There are no pictures", without->message);
    print_published(page, report);
    print_empty(page, report);
    fprintf(page, "<p><small>ssreport %s</small></p>\n</body>\n</html>\n", ss_version());
}
