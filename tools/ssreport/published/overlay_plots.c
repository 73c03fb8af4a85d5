/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay_plots.h"

#include "base/owned.h"
#include "overlay.h"
#include "run_order.h"

/* Properties in which the runs of one picture agree. */
#define OF_REPLAY                                                                                  \
    (SSREPORT_BY_SET | SSREPORT_BY_ENVIRONMENT | SSREPORT_BY_EXPERIMENT | SSREPORT_BY_WORKLOAD |   \
        SSREPORT_BY_METHOD | SSREPORT_BY_TAU | SSREPORT_BY_ROUND | SSREPORT_BY_TRACE)
#define OF_LOAD                                                                                    \
    (SSREPORT_BY_SET | SSREPORT_BY_ENVIRONMENT | SSREPORT_BY_EXPERIMENT | SSREPORT_BY_FAMILY |     \
        SSREPORT_BY_TARGET | SSREPORT_BY_ROUND)

static unsigned common_to(const char *experiment) {
    return ssreport_is_word(experiment, "replay") ? OF_REPLAY : OF_LOAD;
}

static bool belongs(const struct ssreport_run *run, const struct ssreport_run *first) {
    return run->record.sample_count > 0 &&
           ssreport_run_compare(run, first, common_to(first->experiment)) == 0;
}

static void write_name(char name[64], const struct ssreport_run *run) {
    if (run->speed > 0)
        snprintf(name, 64, "speed %.4g", run->speed);
    else if (run->tau > 0)
        snprintf(name, 64, "%.40s, %.4g ms", run->method ? run->method : "-", 1000 * run->tau);
    else
        snprintf(name, 64, "%.60s", run->method ? run->method : "-");
}

bool ssreport_overlay_plots_write(
    FILE *script, const struct ssreport_report *report, const struct ssreport_run *first) {
    struct ssreport_overlay overlay = {
        .time = common_to(first->experiment) == OF_REPLAY ? "time of the trace" : "time"};
    for (size_t i = 0; i < report->run_count; i++) {
        const struct ssreport_run *run = &report->runs[i];
        char *name = belongs(run, first) ? ssreport_overlay_add(&overlay, run, run, NULL) : NULL;
        if (name)
            write_name(name, run);
    }
    return ssreport_overlay_write(script, &overlay);
}

static bool is_of(const struct ssreport_run *run, const void *experiment) {
    return ssreport_is_word(run->experiment, experiment) && run->record.sample_count > 0;
}

static void print_picture(struct ssreport_page *page, const struct ssreport_report *report,
    const struct ssreport_run *run) {
    FILE *script = ssreport_page_script(page);
    char caption[300], which[100], round[32] = "";
    if (!script)
        return;
    if (run->round > 1)
        snprintf(round, sizeof round, ", round %.0f", run->round);
    if (common_to(run->experiment) == OF_REPLAY)
        snprintf(which, sizeof which, "%.60s at all speeds", run->method ? run->method : "-");
    else
        snprintf(which, sizeof which, "all methods at %.4g %%", 100 * run->target);
    snprintf(caption, sizeof caption, "%.100s: %s%s%s", run->workload ? run->workload : "-", which,
        round, run->set > 0 ? ", second set" : "");
    ssreport_page_figure(page, script, ssreport_overlay_plots_write(script, report, run), caption);
}

void ssreport_overlay_plots_print(
    struct ssreport_page *page, const struct ssreport_report *report, const char *experiment) {
    SS_OWNED(groups)
    struct stats_groups pictures =
        ssreport_runs_group(report, common_to(experiment), is_of, experiment);
    fputs("<div class=\"plots\">\n", page->stream);
    for (size_t i = 0; i < pictures.count && !page->without.status; i++)
        print_picture(page, report, &report->runs[pictures.first[i]]);
    fputs("</div>\n", page->stream);
}
