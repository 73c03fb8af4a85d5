/* SPDX-License-Identifier: Apache-2.0 */
#include "interference_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Percent; a smaller range would shade mere noise. */
#define RANGE_MIN 5.0

#define FAR_RANGES 3.0 /* interquartile ranges */
#define FAR_MIN    5.0 /* percent */
#define OTHERS     4   /* programs at least that one is compared with */

#define TABLE (SSREPORT_PAIR_ENVIRONMENT | SSREPORT_PAIR_PLACEMENT)

/* ---- the range ---- */

/* The median of what a program has in the table of `pair`; NaN: nothing. `values` has room for all.
 */
static double median_of_program(const struct ssreport_report *report,
    const struct ssreport_pair *pair, unsigned role, double *values) {
    size_t count = 0;
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct ssreport_pair *other = &report->pairs[i];
        if (ssreport_pair_is_like(pair, other, TABLE | role) &&
            isfinite(other->interference.metric))
            values[count++] = other->interference.metric;
    }
    return ssreport_median_of(values, count);
}

static bool is_far(const struct ssreport_report *report, const struct ssreport_pair *pair,
    unsigned role, double *values) {
    double *medians = values + report->pair_count;
    size_t count = 0;
    double own = median_of_program(report, pair, role, values);
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct ssreport_pair *other = &report->pairs[i];
        if (!ssreport_pair_is_like(pair, other, TABLE) ||
            ssreport_pair_is_like(pair, other, TABLE | role) ||
            !ssreport_pair_is_first(report, i, TABLE | role))
            continue;
        double median = median_of_program(report, other, role, values);
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
    static const unsigned roles[] = {SSREPORT_PAIR_FOREGROUND, SSREPORT_PAIR_BACKGROUND};
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct ssreport_pair *other = &report->pairs[i];
        for (size_t role = 0; role < 2; role++) {
            if (!ssreport_pair_is_like(pair, other, SSREPORT_PAIR_ENVIRONMENT) ||
                !ssreport_pair_is_first(report, i, TABLE | roles[role]) ||
                shades->far_count == SSREPORT_FAR_MAX ||
                !is_far(report, other, roles[role], values))
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

/* The largest metric in an environment, up or down: of `far`, or of what is not left out. */
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

/* ---- tables ---- */

/* The color of a value in percent, red, green and blue from 0 to 255. */
static void find_color(double percent, double most, int color[3]) {
    static const int loss[3] = {240, 145, 105}, gain[3] = {150, 195, 235};
    const int *to = percent >= 0 ? loss : gain;
    double part = isfinite(percent) ? fmin(fabs(percent) / most, 1) : 0;
    for (int i = 0; i < 3; i++)
        color[i] = (int)lround(255 + (to[i] - 255) * part);
}

static void print_value(FILE *page, const char *element, const struct ssreport_shades *shades,
    const struct ssreport_pair *pair) {
    const struct ssreport_interference *result = &pair->interference;
    int color[3];
    find_color(result->metric, shades->most, color);
    fprintf(page, "<%s%s style=\"background:#%02x%02x%02x\"", element,
        is_left_out(shades, pair) ? " class=\"far\"" : "", color[0], color[1], color[2]);
    if (isfinite(result->interval.low) && isfinite(result->interval.high))
        fprintf(page, " title=\"%.2f to %.2f\"", result->interval.low, result->interval.high);
    fputc('>', page);
    ssreport_html_number(page, result->metric, 1);
    if (isfinite(result->metric))
        fprintf(page, "%s%s", result->agree ? "\u2225" : "", result->significant ? "*" : "");
    fprintf(page, "</%s>", element);
}

/* Every round has a value of its own. */
static void print_cell(FILE *page, const struct ssreport_report *report,
    const struct ssreport_shades *shades, const struct ssreport_pair *wanted[2]) {
    const struct ssreport_pair *found = NULL;
    size_t count = 0;
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1 && count > 1)
            fputs("<td>", page);
        for (size_t i = 0; i < report->pair_count && (pass == 0 || count > 1); i++) {
            const struct ssreport_pair *pair = &report->pairs[i];
            if (!ssreport_pair_is_like(wanted[0], pair, TABLE | SSREPORT_PAIR_FOREGROUND) ||
                !ssreport_pair_is_like(wanted[1], pair, SSREPORT_PAIR_BACKGROUND))
                continue;
            found = pair;
            if (pass == 0)
                count++;
            else
                print_value(page, "div", shades, pair);
        }
    }
    if (count > 1)
        fputs("</td>", page);
    else if (count == 1)
        print_value(page, "td", shades, found);
    else
        fputs("<td>\u2013</td>", page);
}

static void print_heading(FILE *page, const char *scope, const char *text) {
    fprintf(page, "<th scope=\"%s\">", scope);
    ssreport_html_text(page, text);
    fputs("</th>", page);
}

static void print_table(FILE *page, const struct ssreport_report *report,
    const struct ssreport_shades *shades, const struct ssreport_pair *first) {
    fputs("<div class=\"wide\"><table class=\"shaded\">\n<caption>", page);
    ssreport_html_text(page, first->environment);
    fputs(", ", page);
    ssreport_html_text(page, first->placement);
    fputs(first->foreground->set > 0 ? " (second set)" : "", page);
    fputs("</caption>\n<thead><tr><th></th>", page);
    for (size_t i = 0; i < report->pair_count; i++) {
        if (ssreport_pair_is_like(first, &report->pairs[i], TABLE) &&
            ssreport_pair_is_first(report, i, TABLE | SSREPORT_PAIR_BACKGROUND))
            print_heading(page, "col", report->pairs[i].background_program);
    }
    fputs("</tr></thead>\n<tbody>\n", page);
    for (size_t row = 0; row < report->pair_count; row++) {
        const struct ssreport_pair *wanted[2] = {&report->pairs[row]};
        if (!ssreport_pair_is_like(first, wanted[0], TABLE) ||
            !ssreport_pair_is_first(report, row, TABLE | SSREPORT_PAIR_FOREGROUND))
            continue;
        fputs("<tr>", page);
        print_heading(page, "row", wanted[0]->program);
        for (size_t i = 0; i < report->pair_count; i++) {
            wanted[1] = &report->pairs[i];
            if (ssreport_pair_is_like(first, wanted[1], TABLE) &&
                ssreport_pair_is_first(report, i, TABLE | SSREPORT_PAIR_BACKGROUND))
                print_cell(page, report, shades, wanted);
        }
        fputs("</tr>\n", page);
    }
    fputs("</tbody></table></div>\n", page);
}

static void print_range(
    FILE *page, const struct ssreport_shades *shades, const struct ssreport_pair *pair) {
    fputs("<p>Colors of ", page);
    ssreport_html_text(page, pair->environment);
    fprintf(page, ": to %.1f %% up or down.", shades->most);
    for (size_t i = 0; i < shades->far_count; i++) {
        const struct ssreport_far *far = &shades->far[i];
        fputs(i == 0 ? " Far outside and left out of this range (dashed): " : ", ", page);
        ssreport_html_text(page, far->program);
        fprintf(page, " as %s with ", far->as_background ? "background" : "foreground");
        ssreport_html_text(page, far->placement);
    }
    fputs(shades->far_count > 0 ? ".</p>\n" : "</p>\n", page);
}

void ssreport_shades_print(FILE *page, const struct ssreport_report *report) {
    fputs("<p>By how many percent the foreground's throughput falls from an idle background to one "
          "at full load. \u2225: both halves of the staircase agree; *: both lines are significant "
          "(p &lt; 0.05). Foregrounds by row, backgrounds by column; each round has a value of its "
          "own.</p>\n",
        page);
    for (size_t i = 0; i < report->pair_count; i++) {
        const struct ssreport_pair *pair = &report->pairs[i];
        if (!ssreport_pair_is_first(report, i, SSREPORT_PAIR_ENVIRONMENT))
            continue;
        struct ssreport_shades shades = ssreport_shades_find(report, pair);
        fputs("<div class=\"tables\">\n", page);
        for (size_t j = i; j < report->pair_count; j++) {
            if (ssreport_pair_is_like(pair, &report->pairs[j], SSREPORT_PAIR_ENVIRONMENT) &&
                ssreport_pair_is_first(report, j, TABLE))
                print_table(page, report, &shades, &report->pairs[j]);
        }
        fputs("</div>\n", page);
        print_range(page, &shades, pair);
    }
}
