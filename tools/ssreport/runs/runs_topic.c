/* SPDX-License-Identifier: Apache-2.0 */
#include "runs_topic.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "base/words.h"
#include "findings.h"
#include "html_page.h"
#include "options/option.h"
#include "run_head.h"
#include "run_plots.h"
#include "runs_tables.h"

/* With more runs than this, the terminal does not show their steps. */
#define STEPS_OF_MAX 4

/* Maximum number of runs that a finding names. */
#define NAMED_MAX 4

/* The runs of a finding. Only the first NAMED_MAX are named. */
struct named {
    size_t count;
    char text[NAMED_MAX * 160];
};

SS_FORMAT(2, 3) static void name_run(struct named *named, const char *format, ...) {
    size_t used = strlen(named->text);
    va_list arguments;
    if (named->count++ >= NAMED_MAX)
        return;
    used +=
        (size_t)snprintf(named->text + used, sizeof named->text - used, "%s", used > 0 ? ", " : "");
    va_start(arguments, format);
    vsnprintf(named->text + used, sizeof named->text - used, format, arguments);
    va_end(arguments);
}

/* Writes ", and 3 more" for runs that are not named. */
static void count_unnamed(const struct named *named, char text[40]) {
    *text = '\0';
    if (named->count > NAMED_MAX)
        snprintf(text, 40, ", and %zu more", named->count - NAMED_MAX);
}

/* Adds a finding about runs of a study whose program ended early. */
static void find_early(struct ssreport_report *report) {
    struct named early = {0};
    char more[40];
    size_t runs = 0;
    for (size_t i = 0; i < report->run_count; i++) {
        const struct ssreport_run *run = &report->runs[i];
        runs += run->manifest > 0;
        if (run->manifest > 0 && ssreport_is_word(run->record.ended_by, "workloads") &&
            !ssreport_run_is_launch(run))
            name_run(&early, "%.120s (after %.1f s)", ssreport_record_title(&run->record),
                ssreport_record_end(&run->record));
    }
    count_unnamed(&early, more);
    if (early.count > 0)
        ssreport_findings_add(report, "early",
            "%zu of %zu runs ended early, because their programs ended: %s%s. Repeat these runs "
            "with --repeat, which starts a program again.",
            early.count, runs, early.text, more);
}

static void find_disturbed(struct ssreport_report *report) {
    struct named disturbed = {0};
    char more[40];
    size_t known = 0;
    for (size_t i = 0; i < report->run_count + report->response_count; i++) {
        bool is_run = i < report->run_count;
        size_t response = i - report->run_count;
        double others = is_run ? report->runs[i].others : report->responses[response].others;
        known += isfinite(others);
        if (ssreport_others_disturb(others))
            name_run(&disturbed, "%.120s (%.1f %%)",
                is_run ? ssreport_record_title(&report->runs[i].record)
                       : report->responses[response].title,
                100 * others);
    }
    count_unnamed(&disturbed, more);
    if (disturbed.count > 0)
        ssreport_findings_add(report, "others",
            "Other processes used more than %g %% of the machine during %zu of %zu runs: %s%s. "
            "These runs measured a disturbed machine: repeat them on a quiet one.",
            100 * SSREPORT_OTHERS_MAX, disturbed.count, known, disturbed.text, more);
}

static int build(struct ssreport_report *report, struct ss_error *error) {
    find_early(report);
    find_disturbed(report);
    return ssreport_runs_fill(report) < 0 ? ss_error_memory(error) : 0;
}

/* Returns the interval of the mean error (target minus load), in points. */
static struct ssreport_interval find_interval(
    const struct ssreport_record *record, double mean, double confidence) {
    SS_OWNED(free) double *errors = calloc(record->sample_count + 1, sizeof *errors);
    size_t used = 0;
    if (!errors)
        return (struct ssreport_interval){NAN, NAN};
    for (size_t i = 0; i < record->sample_count; i++) {
        const struct ssreport_sample *sample = &record->samples[i];
        if (sample->counted && isfinite(sample->target) && isfinite(sample->load))
            errors[used++] = 100 * (sample->target - sample->load);
    }
    return ssreport_mean_interval(
        mean, ssreport_series_sureness(errors, NULL, used, mean), confidence);
}

static void answer_one(const struct ssreport_report *report, const struct ssreport_run *run,
    struct ssreport_headline *headline) {
    const struct ssreport_figures *figures = &run->figures;
    double mean = figures->error_mean_percent, sign = mean < 0 ? -1 : 1;
    struct ssreport_interval interval =
        find_interval(&run->record, mean, report->settings.confidence);
    double ends[] = {sign * interval.low, sign * interval.high};
    char range[80] = "";
    if (isfinite(ends[0]) && isfinite(ends[1]))
        snprintf(
            range, sizeof range, " (%.3f to %.3f)", fmin(ends[0], ends[1]), fmax(ends[0], ends[1]));
    snprintf(headline->answer, sizeof headline->answer,
        "On average the load was %.3f points%s %s the target of %.2f %%, and within %.2f points of "
        "it in 95 %% of %zu samples.",
        fabs(mean), range, mean < 0 ? "above" : "below", 100 * figures->target_mean,
        figures->error_p95_percent, figures->samples);
}

static bool ask(const struct ssreport_report *report, struct ssreport_headline *headline) {
    const struct ssreport_run *only = NULL;
    size_t count = 0;
    double least = INFINITY, most = -INFINITY, squared = 0;
    for (size_t i = 0; i < report->run_count; i++) {
        const struct ssreport_run *run = &report->runs[i];
        if (run->figures.samples == 0 || !isfinite(run->figures.error_mean_percent))
            continue;
        only = run;
        count++;
        least = fmin(least, run->figures.error_mean_percent);
        most = fmax(most, run->figures.error_mean_percent);
        squared = fmax(squared, run->figures.error_mse_e4);
    }
    if (count == 0)
        return false;
    strcpy(headline->question, "How well was the load held?");
    if (count == 1)
        answer_one(report, only, headline);
    else
        snprintf(headline->answer, sizeof headline->answer,
            "In %zu runs the mean error (target minus load) was %+.3f to %+.3f points; the largest "
            "mean squared error is %.3g %%\u00b2.",
            count, least, most, squared);
    return true;
}

static void free_pooled(struct ssreport_report *report) {
    for (size_t i = 0; i < report->pooled_count; i++)
        ssreport_run_free(&report->pooled[i]);
    free(report->pooled);
}

/* Begins a box of pictures; tables that follow in it are beside the last picture if they fit. */
static void open_plots(
    struct ssreport_page *page, const struct ssreport_run *run, bool first_only) {
    fputs("<div class=\"plots\">\n", page->stream);
    for (const struct ssreport_plot *plot = ssreport_plots;
         plot->caption && !(first_only && plot > ssreport_plots); plot++) {
        FILE *script = plot->applies(run) ? ssreport_page_script(page) : NULL;
        if (!script)
            continue;
        plot->write(script, run);
        ssreport_page_figure(page, script, true, plot->caption);
    }
}

static void print_fit(struct ssreport_page *page, const struct ssreport_report *report,
    const struct ssreport_run *run) {
    table_print_html(page->stream, ssreport_table(report, "fits"), run->record.name);
}

static void print_run(struct ssreport_page *page, const struct ssreport_report *report,
    const struct ssreport_run *run) {
    char disturbed[160];
    ssreport_page_open(page, ssreport_record_title(&run->record));
    ssreport_run_head(page, run);
    if (*run->record.notes.text)
        page_note(page->stream, NULL, run->record.notes.text);
    snprintf(disturbed, sizeof disturbed,
        "disturbed: other processes used %.1f %% of the machine during this run",
        100 * run->others);
    if (ssreport_others_disturb(run->others))
        page_note(page->stream, NULL, disturbed);
    open_plots(page, run, report->run_count > SSREPORT_PICTURED_MAX);
    if (run->steps.count > 1)
        table_print_html(page->stream, ssreport_table(report, "steps"), run->record.name);
    for (size_t i = 0; page->topics[i]; i++) {
        if (page->topics[i]->run)
            page->topics[i]->run(page, report, run);
    }
    if (run->record.has_iterations)
        print_fit(page, report, run);
    fputs("</div>\n", page->stream);
    ssreport_page_close(page);
}

/* Runs of duet are many and short: their blocks are reported instead. */
static bool is_in_block(const struct ssreport_run *run) {
    return ssreport_is_word(run->experiment, "duet");
}

static void print_details(struct ssreport_page *page, const struct ssreport_report *report) {
    bool folds = report->run_count > SSREPORT_PICTURED_MAX && !is_in_block(&report->runs[0]);
    for (size_t i = 0; i < report->pooled_count; i++) {
        ssreport_page_open(page, report->pooled[i].record.name);
        open_plots(page, &report->pooled[i], false);
        print_fit(page, report, &report->pooled[i]);
        fputs("</div>\n", page->stream);
        ssreport_page_close(page);
    }
    page_sheet(page->stream, ssreport_table(report, "runs"));
    if (folds)
        fprintf(page->stream,
            "<p>In a report of more than %d runs, each run has only the picture of its load over "
            "time: report fewer runs for all pictures.</p>\n"
            "<details><summary>Run by run: %zu runs</summary>\n",
            SSREPORT_PICTURED_MAX, report->run_count);
    for (size_t i = 0; i < report->run_count; i++) {
        if (!is_in_block(&report->runs[i]))
            print_run(page, report, &report->runs[i]);
    }
    if (folds)
        fputs("</details>\n", page->stream);
}

/* Prints a throughput, or its upper bound if no iteration ended. */
static void print_throughput(FILE *stream, int width, double throughput, double bound) {
    char text[40];
    snprintf(text, sizeof text, "<= %.3g", bound);
    if (isfinite(bound))
        fprintf(stream, " %*s", width, text);
    else
        table_text_number(stream, width, 3, throughput);
}

static void print_runs(FILE *stream, const struct ssreport_report *report) {
    bool interrupted = false, running = false, bounded = false, disturbed = false;
    fprintf(stream, "%-23s %7s %7s %7s %10s %8s %10s\n", "run", "samples", "target", "load",
        "mean error", "MSE", "throughput");
    fprintf(stream, "%-23s %7s %7s %7s %10s %8s %10s\n", "", "", "%", "%", "%", "%^2", "/s");
    for (size_t i = 0; i < report->run_count; i++) {
        const struct ssreport_run *run = &report->runs[i];
        const struct ssreport_figures *figures = &run->figures;
        bool is_disturbed = ssreport_others_disturb(run->others);
        if (is_in_block(run))
            continue;
        table_text_name(stream, ssreport_record_title(&run->record), 23);
        table_text_number(stream, 7, 0, (double)figures->samples);
        table_text_number(stream, 7, 2, 100 * figures->target_mean);
        table_text_number(stream, 7, 2, 100 * figures->load_mean);
        table_text_number(stream, 10, 3, figures->error_mean_percent);
        table_text_number(stream, 8, 3, figures->error_mse_e4);
        print_throughput(stream, 10, figures->throughput, figures->throughput_bound);
        const char *state = run->record.running ? " +" : run->record.interrupted ? " !" : "";
        fprintf(stream, "%s%s\n", state, is_disturbed ? " *" : "");
        interrupted |= run->record.interrupted && !run->record.running;
        running |= run->record.running;
        bounded |= isfinite(figures->throughput_bound);
        disturbed |= is_disturbed;
    }
    if (interrupted)
        fputs("! interrupted\n", stream);
    if (running)
        fputs("+ still running\n", stream);
    if (bounded)
        fputs("<= no iteration ended: the throughput is at most this\n", stream);
    if (disturbed)
        fprintf(stream, "* disturbed: other processes used more than %g %% of the machine\n",
            100 * SSREPORT_OTHERS_MAX);
}

static void print_steps(FILE *stream, const struct ssreport_run *run) {
    if (run->steps.count < 2)
        return;
    fputs("\nsteps of ", stream);
    fprintf(stream, "%s\n", ss_words_show(ssreport_record_title(&run->record)).text);
    fprintf(stream, "%4s %7s %7s %7s %7s %8s %10s\n", "step", "from, s", "to, s", "target", "load",
        "mean", "throughput");
    fprintf(stream, "%4s %7s %7s %7s %7s %8s %10s\n", "", "", "", "%", "%", "error, %", "/s");
    for (size_t i = 0; i < run->steps.count; i++) {
        const struct ssreport_step *step = &run->steps.items[i];
        fprintf(stream, "%4zu", i + 1);
        table_text_number(stream, 7, 1, step->from);
        table_text_number(stream, 7, 1, step->to);
        table_text_number(stream, 7, 2, 100 * step->target);
        table_text_number(stream, 7, 2, 100 * step->load.mean);
        table_text_number(stream, 8, 3, step->error_mean_percent);
        print_throughput(stream, 10, step->throughput, step->throughput_bound);
        fputc('\n', stream);
    }
}

static void print_line(FILE *stream, const struct ssreport_run *run) {
    const struct ssreport_fit *fit = &run->fit;
    const char *missing = ssreport_fit_missing(fit);
    /* A single load does not determine a line. */
    if (!run->record.has_iterations || !run->fits_steps)
        return;
    if (missing) {
        fprintf(stream, "least squares: %s\n", missing);
        return;
    }
    char text[300];
    int used = snprintf(text, sizeof text, "least squares: %.4g %c %.4g x load /s", fit->intercept,
        fit->slope < 0 ? '-' : '+', fabs(fit->slope));
    if (isfinite(fit->r_squared))
        used += snprintf(text + used, sizeof text - (size_t)used, ", R^2 %.4f", fit->r_squared);
    if (isfinite(fit->slope_p))
        used += snprintf(text + used, sizeof text - (size_t)used, ", p %.1e", fit->slope_p);
    snprintf(text + used, sizeof text - (size_t)used, ", of %zu points", fit->count);
    ss_option_print_wrapped(stream, 0, text);
}

static void print_text(FILE *stream, const struct ssreport_report *report) {
    size_t listed = 0;
    for (size_t i = 0; i < report->run_count; i++)
        listed += !is_in_block(&report->runs[i]);
    if (listed > 0)
        print_runs(stream, report);
    for (size_t i = 0; i < report->run_count && report->run_count <= STEPS_OF_MAX; i++) {
        print_steps(stream, &report->runs[i]);
        print_line(stream, &report->runs[i]);
    }
    for (size_t i = 0; i < report->pooled_count; i++) {
        fprintf(stream, "\n%s\n", ss_words_show(report->pooled[i].record.name).text);
        print_line(stream, &report->pooled[i]);
    }
}

const struct ssreport_topic ssreport_runs_topic = {
    .name = "runs",
    .tables = ssreport_runs_tables,
    .build = build,
    .ask = ask,
    .finish = ssreport_runs_list,
    .details = print_details,
    .text = print_text,
    .free = free_pooled,
};
