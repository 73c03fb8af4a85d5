/* SPDX-License-Identifier: Apache-2.0 */
#include "page.h"

#include <math.h>
#include <string.h>

#include "base/owned.h"
#include "energy_plots.h"
#include "html_page.h"
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

/* More sentences than this are folded. */
#define SENTENCES_OPEN_MAX 8

static void print_head(FILE *page, const struct ssreport_report *report) {
    char runs[128], title[160], heading[160];
    size_t count = (size_t)snprintf(
        runs, sizeof runs, "%zu run%s", report->run_count, report->run_count == 1 ? "" : "s");
    if (report->response_count > 0)
        snprintf(runs + count, sizeof runs - count, " and %zu of requests", report->response_count);
    snprintf(title, sizeof title, "Showstopper: %s", runs);
    snprintf(heading, sizeof heading, "%s reported", runs);
    page_begin(page, title, heading);
}

static void print_plots(FILE *page, const struct ssreport_run *run, bool first_only,
    unsigned *number, struct ss_error *without) {
    fputs("<div class=\"plots\">\n", page);
    for (const struct ssreport_plot *plot = ssreport_plots;
         plot->caption && !(first_only && plot > ssreport_plots); plot++) {
        SS_OWNED(fclose)
        FILE *script = without->status || !plot->is_there(run) ? NULL : tmpfile();
        if (!script)
            continue;
        plot->write(script, run);
        page_figure(page, &(struct page_figure){script, plot->caption, NULL}, number, without);
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
    page_note(page, NULL, text);
}

static void print_run(FILE *page, const struct ssreport_report *report,
    const struct ssreport_run *run, unsigned *number, struct ss_error *without) {
    fputs("<section>\n<h2>", page);
    ssreport_html_text(page, ssreport_record_title(&run->record));
    fputs("</h2>\n<p><code>", page);
    ssreport_html_text(page, run->record.command ? run->record.command : "command not known");
    fputs("</code></p>\n", page);
    if (*run->record.notes.text)
        page_note(page, NULL, run->record.notes.text);
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
    page_sheet(page, &report->sheets[SSREPORT_COMPARISON]);
    page_sheet(page, &report->sheets[SSREPORT_UNMATCHED]);
    if (ssreport_sheet_rows(&report->sheets[SSREPORT_RATIOS]) <= RATIOS_MAX)
        page_sheet(page, &report->sheets[SSREPORT_RATIOS]);
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
    page_sheet(page, &report->sheets[SSREPORT_CONSTANT_LOAD]);
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
    page_sheet(page, &report->sheets[SSREPORT_METHODS_DEVIATION]);
    fputs("</section>\n", page);
}

static void print_prediction(FILE *page, const struct ssreport_report *report) {
    if (ssreport_sheet_rows(&report->sheets[SSREPORT_PREDICTION]) == 0)
        return;
    fputs("<section>\n<h2>Prediction</h2>\n<p>The trace: <code>", page);
    ssreport_html_text(
        page, report->sheets[SSREPORT_PREDICTION].cells[SSREPORT_PREDICTION_TRACE].text);
    fputs("</code></p>\n", page);
    page_sheet(page, &report->sheets[SSREPORT_PREDICTION]);
    fputs("</section>\n", page);
}

static void print_replay(FILE *page, const struct ssreport_report *report) {
    if (ssreport_sheet_rows(&report->sheets[SSREPORT_REPLAY]) == 0)
        return;
    fprintf(page, "<section>\n<h2>Replay at several speeds</h2>\n%s", published);
    for (size_t i = 0; i < report->run_count; i++) {
        const struct ssreport_run *run = &report->runs[i];
        if (run->speed > 0 && *run->record.notes.text)
            page_note(page, ssreport_record_title(&run->record), run->record.notes.text);
    }
    page_sheet(page, &report->sheets[SSREPORT_REPLAY]);
    fputs("</section>\n", page);
}

static void print_requests(
    FILE *page, const struct ssreport_report *report, unsigned *number, struct ss_error *without) {
    if (report->response_count == 0)
        return;
    fputs("<section>\n<h2>Requests</h2>\n", page);
    for (size_t i = 0; i < report->response_count; i++) {
        if (*report->responses[i].notes.text)
            page_note(page, report->responses[i].title, report->responses[i].notes.text);
    }
    page_sheet(page, &report->sheets[SSREPORT_REQUESTS_CAPACITY]);
    ssreport_responses_plots_print(
        page, report, report->response_count > PICTURED_MAX, number, without);
    page_sheet(page, &report->sheets[SSREPORT_REQUESTS_RATES]);
    page_sheet(page, &report->sheets[SSREPORT_REQUESTS]);
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
    page_sheet(page, &report->sheets[SSREPORT_ENERGY]);
    ssreport_energy_plots_print(page, report, number, without);
    fputs("</section>\n", page);
}

/* Printed only if anything was counted: few machines permit it. */
static void print_counters(FILE *page, const struct ssreport_report *report) {
    if (ssreport_sheet_rows(&report->sheets[SSREPORT_COUNTERS_RUNS]) == 0)
        return;
    fputs("<section>\n<h2>Counters</h2>\n", page);
    page_sheet(page, &report->sheets[SSREPORT_COUNTERS_RUNS]);
    fputs("</section>\n", page);
}

static void print_sentences(FILE *page, const struct ssreport_report *report, bool general) {
    page_findings_begin(page);
    for (size_t i = 0; i < ssreport_sheet_rows(&report->sheets[SSREPORT_FINDINGS]); i++) {
        struct ssreport_finding finding = ssreport_finding_at(report, i);
        if (finding.is_general == general)
            page_finding(page, finding.sentence);
    }
    page_findings_end(page);
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
    page_sheet(page, &report->sheets[SSREPORT_CHANGES]);
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
        page_picture(page, script, ++*number, "throughput of all pairs", without);
        fputs("</div></figure>\n", page);
        fclose(script);
    }
}

/* Closes the script. */
static void print_pair_picture(FILE *page, FILE *script, bool drawn, unsigned *number,
    const char *what, struct ss_error *without) {
    if (drawn)
        page_figure(page, &(struct page_figure){script, what, NULL}, number, without);
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
    page_sheet(page, &report->sheets[SSREPORT_INTERFERENCE]);
    page_sheet(page, &report->sheets[SSREPORT_WHOLE_SYSTEM]);
    fputs(published, page);
    page_sheet(page, &report->sheets[SSREPORT_INTERFERENCE_PUBLISHED]);
    fputs("</section>\n", page);
}

static void print_environments(FILE *page, const struct ssreport_report *report) {
    if (ssreport_sheet_rows(&report->sheets[SSREPORT_ENVIRONMENTS]) == 0)
        return;
    fputs("<section>\n<h2>Environments</h2>\n", page);
    page_sheet(page, &report->sheets[SSREPORT_ENVIRONMENTS]);
    fputs("</section>\n", page);
}

static void print_published(FILE *page, const struct ssreport_report *report) {
    if (ssreport_sheet_rows(&report->sheets[SSREPORT_PUBLISHED]) == 0)
        return;
    fprintf(page, "<section>\n<h2>Published figures</h2>\n%s", published);
    page_sheet(page, &report->sheets[SSREPORT_PUBLISHED]);
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
        page_note(page, report->failures[i].name, report->failures[i].why);
    if (*report->notes.text)
        page_note(page, NULL, report->notes.text);
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
    page_sheet(page, &report->sheets[SSREPORT_RUNS]);
    page_sheet(page, &report->sheets[SSREPORT_CPUS]);
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
        page_note(page, "There are no pictures", without->message);
    print_published(page, report);
    print_empty(page, report);
    page_end(page, "ssreport");
}
