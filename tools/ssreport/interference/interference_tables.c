/* SPDX-License-Identifier: Apache-2.0 */
#include "interference_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/owned.h"
#include "round_means.h"
#include "shaded_tables.h"

/* Minimum range of colors in percent: with a smaller one, noise would be shaded. */
#define RANGE_MIN 5.0

#define FAR_RANGES 3.0 /* minimum distance of a far program, in interquartile ranges */
#define FAR_MIN    5.0 /* minimum distance of a far program, in percent */
#define OTHERS     4   /* minimum number of other programs */

#define TABLE (SSREPORT_PAIR_ENVIRONMENT | SSREPORT_PAIR_PLACEMENT)

/*
 * Returns the median metric of a program in one table; NaN if the program has none. `values` has
 * room for all pairs.
 */
static double median_of_program(const struct ssreport_report *report,
    const struct stats_groups *programs, size_t program, double *values) {
    size_t count = 0;
    for (size_t i = programs->first[program]; i < programs->items; i = programs->next[i]) {
        if (isfinite(report->pairs[i].interference.metric))
            values[count++] = report->pairs[i].interference.metric;
    }
    return ssreport_median_of(values, count);
}

/*
 * Returns whether a program is far from the others in its table. `values` has room for twice the
 * number of pairs.
 */
static bool is_far(const struct ssreport_report *report, const struct stats_groups *programs,
    size_t program, double *values) {
    const struct ssreport_pair *pair = &report->pairs[programs->first[program]];
    double *medians = values + report->pair_count;
    size_t count = 0;
    double own = median_of_program(report, programs, program, values);
    for (size_t i = 0; i < programs->count; i++) {
        if (i == program || !ssreport_pair_is_like(pair, &report->pairs[programs->first[i]], TABLE))
            continue;
        double median = median_of_program(report, programs, i, values);
        if (isfinite(median))
            medians[count++] = median;
    }
    if (count < OTHERS)
        return false;
    double low = ssreport_quantile_of(medians, count, 0.25);
    double high = ssreport_quantile_of(medians, count, 0.75);
    double beyond = fmax(low - own, own - high);
    return beyond > FAR_RANGES * (high - low) && beyond > FAR_MIN;
}

static void find_far(struct ssreport_shades *shades, const struct ssreport_report *report,
    const struct ssreport_pair *pair, double *values) {
    SS_OWNED(groups)
    struct stats_groups rows = ssreport_pairs_group(report, TABLE | SSREPORT_PAIR_FOREGROUND);
    SS_OWNED(groups)
    struct stats_groups columns = ssreport_pairs_group(report, TABLE | SSREPORT_PAIR_BACKGROUND);
    const struct stats_groups *programs[] = {&rows, &columns};
    for (size_t i = 0; rows.first && columns.first && i < report->pair_count; i++) {
        const struct ssreport_pair *other = &report->pairs[i];
        for (size_t role = 0; role < 2; role++) {
            size_t program = programs[role]->group[i];
            if (programs[role]->first[program] != i ||
                !ssreport_pair_is_like(pair, other, SSREPORT_PAIR_ENVIRONMENT) ||
                shades->far_count == SSREPORT_FAR_MAX ||
                !is_far(report, programs[role], program, values))
                continue;
            shades->far[shades->far_count++] = (struct ssreport_far){
                .program = role == 0 ? other->program : other->background_program,
                .placement = other->placement,
                .as_background = role == 1};
        }
    }
}

static bool is_of(const struct ssreport_far *far, const struct ssreport_pair *pair) {
    return strcmp(far->placement, pair->placement) == 0 &&
           strcmp(far->program, far->as_background ? pair->background_program : pair->program) == 0;
}

static bool is_left_out(const struct ssreport_shades *shades, const struct ssreport_pair *pair) {
    for (size_t i = 0; i < shades->far_count; i++) {
        if (is_of(&shades->far[i], pair))
            return true;
    }
    return false;
}

/*
 * Returns the largest absolute metric in an environment, at least RANGE_MIN: of `far` or, if NULL,
 * of all programs that are not excluded.
 */
static double find_most(const struct ssreport_report *report, const struct ssreport_pair *pair,
    const struct ssreport_shades *shades, const struct ssreport_far *far) {
    double most = RANGE_MIN;
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct ssreport_pair *other = &report->pairs[i];
        if (ssreport_pair_is_like(pair, other, SSREPORT_PAIR_ENVIRONMENT) &&
            isfinite(other->interference.metric) &&
            (far ? is_of(far, other) : !is_left_out(shades, other)))
            most = fmax(most, fabs(other->interference.metric));
    }
    return most;
}

struct ssreport_shades ssreport_shades_find(
    const struct ssreport_report *report, const struct ssreport_pair *pair) {
    struct ssreport_shades shades = {0};
    double *values = calloc(2 * report->pair_count + 1, sizeof *values);
    size_t kept = 0;
    if (values)
        find_far(&shades, report, pair, values);
    free(values);
    shades.most = find_most(report, pair, &shades, NULL);
    for (size_t i = 0; i < shades.far_count; i++) {
        struct ssreport_far far = shades.far[i];
        if (find_most(report, pair, &shades, &far) > shades.most)
            shades.far[kept++] = far;
    }
    shades.far_count = kept;
    return shades;
}

/* Pairs grouped by table, by row and column within a table, and by field. */
struct places {
    struct stats_groups tables, foregrounds, backgrounds, fields;
};

/* Prints a field. A difference that may be noise is not shaded. */
static void print_field(
    FILE *page, const struct ssreport_shades *shades, const struct ssreport_round_mean *mean) {
    static const int loss[3] = {240, 145, 105}, gain[3] = {150, 195, 235};
    double part = mean->significant ? fmin(fabs(mean->percent) / shades->most, 1) : 0;
    fprintf(page, "<td%s", is_left_out(shades, mean->pair) ? " class=\"far\"" : "");
    ssreport_shaded_style(page, mean->percent >= 0 ? loss : gain, part);
    fputc('>', page);
    table_html_number(page, mean->percent, 1);
    if (mean->rounds > 0 && mean->agree)
        fputs("\u2225", page);
    if (isfinite(mean->interval.low) && isfinite(mean->interval.high))
        fprintf(page, "<br/><small>%.1f to %.1f</small>", mean->interval.low, mean->interval.high);
    fputs("</td>", page);
}

static void print_cell(FILE *page, const struct ssreport_report *report,
    const struct ssreport_shades *shades, const struct places *places, const size_t at[2]) {
    const struct stats_groups *rows = &places->foregrounds;
    for (size_t i = rows->first[at[0]]; i < rows->items; i = rows->next[i]) {
        if (places->backgrounds.group[i] != at[1])
            continue;
        struct ssreport_round_mean mean =
            ssreport_round_mean_of(report, &places->fields, places->fields.group[i]);
        print_field(page, shades, &mean);
        return;
    }
    fputs("<td>\u2013</td>", page);
}

static void print_table(FILE *page, const struct ssreport_report *report,
    const struct ssreport_shades *shades, const struct places *places, size_t table) {
    const struct stats_groups *rows = &places->foregrounds, *columns = &places->backgrounds;
    const size_t *tables = places->tables.group;
    const struct ssreport_pair *first = &report->pairs[places->tables.first[table]];
    fputs("<div class=\"wide\"><table class=\"shaded\">\n<caption>", page);
    table_html_text(page, first->environment);
    fputs(", ", page);
    table_html_text(page, first->placement);
    fputs(first->foreground->set > 0 ? " (second set)" : "", page);
    fputs("</caption>\n<thead><tr><th></th>", page);
    for (size_t i = 0; i < columns->count; i++) {
        if (tables[columns->first[i]] == table)
            ssreport_shaded_heading(
                page, "col", report->pairs[columns->first[i]].background_program);
    }
    fputs("</tr></thead>\n<tbody>\n", page);
    for (size_t row = 0; row < rows->count; row++) {
        if (tables[rows->first[row]] != table)
            continue;
        fputs("<tr>", page);
        ssreport_shaded_heading(page, "row", report->pairs[rows->first[row]].program);
        for (size_t i = 0; i < columns->count; i++) {
            if (tables[columns->first[i]] == table)
                print_cell(page, report, shades, places, (const size_t[]){row, i});
        }
        fputs("</tr>\n", page);
    }
    fputs("</tbody></table></div>\n", page);
}

static void print_range(
    FILE *page, const struct ssreport_shades *shades, const struct ssreport_pair *pair) {
    fputs("<p>Colors of ", page);
    table_html_text(page, pair->environment);
    fprintf(page, ": darkest at %.1f %% up or down.", shades->most);
    for (size_t i = 0; i < shades->far_count; i++) {
        const struct ssreport_far *far = &shades->far[i];
        fputs(i == 0 ? " Outliers beyond this range (dashed): " : ", ", page);
        table_html_text(page, far->program);
        fprintf(page, " as %s with ", far->as_background ? "background" : "foreground");
        table_html_text(page, far->placement);
    }
    fputs(shades->far_count > 0 ? ".</p>\n" : "</p>\n", page);
}

void ssreport_shades_print(FILE *page, const struct ssreport_report *report) {
    SS_OWNED(groups)
    struct stats_groups environments = ssreport_pairs_group(report, SSREPORT_PAIR_ENVIRONMENT);
    SS_OWNED(groups) struct stats_groups tables = ssreport_pairs_group(report, TABLE);
    SS_OWNED(groups)
    struct stats_groups rows = ssreport_pairs_group(report, TABLE | SSREPORT_PAIR_FOREGROUND);
    SS_OWNED(groups)
    struct stats_groups columns = ssreport_pairs_group(report, TABLE | SSREPORT_PAIR_BACKGROUND);
    SS_OWNED(groups) struct stats_groups fields = ssreport_round_groups(report);
    const struct places places = {tables, rows, columns, fields};
    if (!environments.first || !tables.first || !rows.first || !columns.first || !fields.first)
        return;
    fprintf(page,
        "<p>Fields show by how many percent the foreground's throughput falls from an idle "
        "background to one at full load (mean of all rounds), and its %g %% confidence interval. "
        "Only significant values are shaded: lines through both halves of the staircase "
        "(p &lt; 0.05), "
        "or the mean of several rounds. \u2225: both halves agree. Foregrounds by row, backgrounds "
        "by column.</p>\n",
        100 * report->settings.confidence);
    for (size_t group = 0; group < environments.count; group++) {
        const struct ssreport_pair *pair = &report->pairs[environments.first[group]];
        struct ssreport_shades shades = ssreport_shades_find(report, pair);
        fputs("<div class=\"tables\">\n", page);
        for (size_t i = 0; i < tables.count; i++) {
            if (environments.group[tables.first[i]] == group)
                print_table(page, report, &shades, &places, i);
        }
        fputs("</div>\n", page);
        print_range(page, &shades, pair);
    }
}
