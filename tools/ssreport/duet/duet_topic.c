/* SPDX-License-Identifier: Apache-2.0 */
#include "duet_topic.h"

#include <math.h>
#include <string.h>

#include "duet_study.h"
#include "duet_words.h"
#include "frame.h"
#include "html_page.h"

// clang-format off
static const struct table_column answer_columns[] = {
    {"metric", NULL}, {"run_order", NULL}, {"a", "A"}, {"b", "B"}, {"beside", "beside", .if_known = true},
    {"blocks", "blocks"}, {"planned_blocks", "planned"},
    {"worse_percent", "B is worse by, %", 2}, {"worse_low", "from", 2}, {"worse_high", "to", 2},
    {"same_percent", "A against A, %", 2}, {"same_low", "from", 2}, {"same_high", "to", 2},
    {"until_percent", NULL}, {"fail_above_percent", NULL}, {"decision", "decision"},
    {"background_percent", NULL}, {"question", NULL}, {"answer", NULL}, {"doubt", NULL},
};
static const struct table_column block_columns[] = {
    {"pair", "compared"}, {"block", "block"}, {"order", "order"},
    {"percent", "B against A, %", 2},
    {"mean_percent", "mean so far, %", 2}, {"mean_low", "from", 2}, {"mean_high", "to", 2},
};
static const struct table_sheet tables[] = {
    TABLE_INIT("duet", "Which of two is faster", answer_columns),
    TABLE_INIT("duet-blocks", "Blocks, each of which compares both commands", block_columns),
    {.name = NULL},
};
// clang-format on

static const char *const order_words[] = {
    [DUET_TURN] = "turn",
    [DUET_ALTERNATE] = "alternate",
    [DUET_BESIDE] = "beside",
};

static const char *const decision_words[] = {
    [DUET_CONTINUES] = "continues",
    [DUET_PRECISE] = "precise enough",
    [DUET_PASSED] = "passed",
    [DUET_FAILED] = "failed",
    [DUET_ENDED] = "time is up",
};

static double number_if(bool known, double value) {
    return known ? value : NAN;
}

static const char *metric_of(const struct duet_study *study) {
    if (*study->response)
        return study->response;
    return study->by_time ? "time" : "throughput";
}

static void add_answer(struct ssreport_report *report, const struct duet_study *study) {
    char question[DUET_TEXT], answer[DUET_TEXT], doubt[DUET_TEXT];
    bool known = isfinite(study->look.half);
    duet_ask(study, question, sizeof question);
    duet_answer(study, answer, sizeof answer);
    duet_doubt(study, doubt, sizeof doubt);
    TABLE_ROW(ssreport_table(report, "duet"), CELL("metric", metric_of(study)),
        CELL("run_order", order_words[study->order]), CELL("a", study->a), CELL("b", study->b),
        CELL("beside", *study->beside ? study->beside : NULL), CELL("blocks", study->look.count),
        CELL("planned_blocks", number_if(study->planned > 0, (double)study->planned)),
        CELL("worse_percent", study->worse.mean),
        CELL("worse_low", number_if(known, study->worse.low)),
        CELL("worse_high", number_if(known, study->worse.high)),
        CELL("same_percent", study->worse_same.mean), CELL("same_low", study->worse_same.low),
        CELL("same_high", study->worse_same.high), CELL("until_percent", study->until),
        CELL("fail_above_percent", study->fail_above),
        CELL("decision", decision_words[study->decision]),
        CELL("background_percent", study->beside_more.mean), CELL("question", question),
        CELL("answer", answer), CELL("doubt", doubt));
}

/* Returns the order of runs or of turns in a block. */
static const char *order_of(const struct duet_study *study, enum stats_order order) {
    if (study->order == DUET_ALTERNATE)
        return order == STATS_ABBA ? "A B A B A B" : "B A B A B A";
    if (study->order == DUET_BESIDE)
        return order == STATS_ABBA ? "A|B, B|A" : "B|A, A|B";
    return order == STATS_ABBA ? "A B B A" : "B A A B";
}

/*
 * Adds the blocks of one comparison. For A and B, stops at the deciding block, and adds the
 * estimate after each block.
 */
static void add_blocks(struct ssreport_report *report, const struct duet_study *study, bool same) {
    const struct duet_blocks *blocks = same ? &study->same : &study->different;
    struct table_sheet *sheet = ssreport_table(report, "duet-blocks");
    size_t count = same ? blocks->count : study->look.count;
    for (size_t i = 0; i < count; i++) {
        TABLE_ROW(sheet, CELL("pair", same ? "A and A" : "A and B"),
            CELL("block", blocks->numbers[i]), CELL("order", order_of(study, blocks->orders[i])),
            CELL("percent", stats_percent_of(blocks->differences[i])));
        struct stats_look look = duet_study_look(study, i + 1);
        if (!same && !study->of_two_processes && isfinite(look.half))
            TABLE_CELLS(sheet, CELL("mean_percent", stats_percent_of(look.mean)),
                CELL("mean_low", stats_percent_of(look.mean - look.half)),
                CELL("mean_high", stats_percent_of(look.mean + look.half)));
    }
}

static int build(struct ssreport_report *report, struct ss_error *error) {
    struct duet_study study;
    if (duet_study_read(&study, report) < 0)
        return ss_error_memory(error);
    if (*study.notes.text)
        ssreport_notes_add(&report->notes, "%s", study.notes.text);
    if (study.is_present) {
        add_answer(report, &study);
        add_blocks(report, &study, true);
        add_blocks(report, &study, false);
    }
    duet_study_free(&study);
    return 0;
}

static const char *text_of(const struct ssreport_report *report, const char *column) {
    const char *text = table_cell_at(ssreport_table(report, "duet"), 0, column)->text;
    return text ? text : "";
}

static bool ask(const struct ssreport_report *report, struct ssreport_headline *headline) {
    if (table_rows(ssreport_table(report, "duet")) == 0)
        return false;
    const char *doubt = text_of(report, "doubt");
    snprintf(headline->question, sizeof headline->question, "%s", text_of(report, "question"));
    snprintf(headline->answer, sizeof headline->answer, "%s.%s%s%s", text_of(report, "answer"),
        *doubt ? " Doubtful: " : "", doubt, *doubt ? "." : "");
    return true;
}

static double cell_number(const struct table_sheet *sheet, size_t row, const char *column) {
    return table_cell_at(sheet, row, column)->number;
}

/*
 * Writes a line for each block of A and B: block, difference, mean, low, high. Returns their
 * number.
 */
static size_t write_blocks(FILE *script, const struct table_sheet *sheet) {
    size_t count = 0;
    fputs("$blocks << END\n", script);
    for (size_t row = 0; row < table_rows(sheet); row++) {
        if (strcmp(table_cell_at(sheet, row, "pair")->text, "A and B") != 0)
            continue;
        fprintf(script, "%g %.9g", cell_number(sheet, row, "block"),
            cell_number(sheet, row, "percent"));
        static const char *const columns[] = {"mean_percent", "mean_low", "mean_high"};
        for (size_t i = 0; i < 3; i++) {
            double value = cell_number(sheet, row, columns[i]);
            isfinite(value) ? fprintf(script, " %.9g", value) : fputs(" NaN", script);
        }
        fputc('\n', script);
        count++;
    }
    fputs("END\n", script);
    return count;
}

static void plot_blocks(struct ssreport_page *page, const struct ssreport_report *report) {
    FILE *script = ssreport_page_script(page);
    if (!script)
        return;
    plot_begin_on_page(script);
    plot_axis(script, 'x', "block of A and B", PLOT_FROM_ZERO);
    plot_axis(script, 'y', "B against A, %", PLOT_AROUND_ZERO);
    plot_line_at(script, 'y', 0);
    size_t count = write_blocks(script, ssreport_table(report, "duet-blocks"));
    fprintf(script,
        "plot $blocks using 1:4:5 with filledcurves lc rgb \"%s\" " PLOT_SHADED
        " title \"interval\", $blocks using 1:3 with lines lw 1.6 lc rgb \"%s\" title \"mean so "
        "far\", $blocks using 1:2 with points pt 7 ps 0.5 lc rgb \"%s\" title \"one block\"\n",
        PLOT_BLUE, PLOT_BLUE, PLOT_GRAY);
    ssreport_page_figure(page, script, count > 1,
        "Each block compares B with A; in 95 % of studies the interval contains the true "
        "difference after every block");
}

static void print_page(struct ssreport_page *page, const struct ssreport_report *report) {
    if (table_rows(ssreport_table(report, "duet")) == 0)
        return;
    ssreport_page_open(page, "A against B");
    page_sheet(page->stream, ssreport_table(report, "duet"));
    plot_blocks(page, report);
    fputs("<p>A difference may come from where the linker placed the code of the two programs, "
          "which repetitions cannot show: the environment of each launch is padded by a random "
          "number of bytes, but code stays where it is.</p>\n",
        page->stream);
    page_sheet(page->stream, ssreport_table(report, "duet-blocks"));
    ssreport_page_close(page);
}

const struct ssreport_topic ssreport_duet_topic = {
    .name = "duet",
    .tables = tables,
    .build = build,
    .ask = ask,
    .page = print_page,
};
