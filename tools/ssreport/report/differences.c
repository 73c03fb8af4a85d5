/* SPDX-License-Identifier: Apache-2.0 */
#include "differences.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "csv.h"
#include "load_record.h"

/*
 * Returns whether runs that differ in this column are repetitions anyway: the number of the
 * repetition, and the program that a workload represents.
 */
static bool is_ignored(const char *column) {
    return strcmp(column, "round") == 0 || strcmp(column, "published") == 0;
}

bool ssreport_is_number(const char *text, double *number) {
    size_t length = strlen(text);
    bool percent = length > 1 && text[length - 1] == '%';
    const struct sstrace_field field = {.text = text, .length = length - percent};
    return length > 0 && ssreport_csv_number(&field, number);
}

/*
 * Returns the value of a column in the next run that comes from a plan, and advances `*at`; NULL if
 * none is left.
 */
static const char *next_value(
    const struct ssreport_report *report, const char *column, size_t *at) {
    while (*at < report->run_count && report->runs[*at].columns.count == 0)
        ++*at;
    if (*at == report->run_count)
        return NULL;
    return ssreport_columns_get(&report->runs[(*at)++].columns, column);
}

/*
 * Returns whether runs of one set differ in a column. A column that is constant within each set
 * only distinguishes the sets.
 */
static bool differs(const struct ssreport_report *report, const char *column) {
    const char *first[2] = {NULL, NULL}, *value;
    for (size_t at = 0; (value = next_value(report, column, &at));) {
        int set = report->runs[at - 1].set;
        if (first[set] && strcmp(value, first[set]) != 0)
            return true;
        first[set] = value;
    }
    return false;
}

static bool is_listed(const struct ssreport_differences *differences, const char *column) {
    for (size_t i = 0; i < differences->count; i++) {
        if (strcmp(differences->names[i], column) == 0)
            return true;
    }
    return false;
}

static int add_columns(
    struct ssreport_differences *differences, const struct ssreport_columns *columns) {
    for (size_t i = 0; i < columns->count; i++) {
        const char *name = columns->items[i].name;
        if (is_ignored(name) || is_listed(differences, name))
            continue;
        if (!SS_GROW(differences->names, differences->count + 1, differences->room))
            return -1;
        differences->names[differences->count++] = name;
    }
    return 0;
}

static void drop_equal(struct ssreport_report *report) {
    struct ssreport_differences *differences = &report->differences;
    size_t kept = 0;
    for (size_t i = 0; i < differences->count; i++) {
        if (differs(report, differences->names[i]))
            differences->names[kept++] = differences->names[i];
    }
    differences->count = kept;
}

/* Returns the number of different values of a column; 0 unless all values are numbers. */
static size_t count_numbers(const struct ssreport_report *report, const char *column) {
    size_t count = 0, at = 0;
    const char *value;
    while ((value = next_value(report, column, &at))) {
        double number, other;
        bool known = false;
        if (!ssreport_is_number(value, &number))
            return 0;
        const char *earlier;
        for (size_t before = 0, end = at - 1;
             !known && (earlier = next_value(report, column, &before)) && before <= end;)
            known = ssreport_is_number(earlier, &other) && other == number;
        count += !known;
    }
    return count;
}

/*
 * Chooses the axis: a column of loads or rates if there is one, otherwise the numeric column with
 * the most different values.
 */
static size_t choose_axis(const struct ssreport_report *report) {
    static const char *const usual[] = {"load", "target", "rate"};
    const struct ssreport_differences *differences = &report->differences;
    size_t axis = differences->count, most = 1;
    for (size_t i = 0; i < differences->count; i++) {
        size_t count = count_numbers(report, differences->names[i]);
        for (size_t j = 0; j < sizeof usual / sizeof *usual && count > 1; j++) {
            if (strcmp(differences->names[i], usual[j]) == 0)
                count = SIZE_MAX - j;
        }
        if (count > most) {
            most = count;
            axis = i;
        }
    }
    return axis;
}

/*
 * Sets the variant of a run, and its value of the axis. The variant omits columns for which struct
 * ssreport_run has a member.
 */
static int set_variant(const struct ssreport_differences *differences, struct ssreport_run *run) {
    size_t size;
    if (differences->axis < differences->count)
        ssreport_is_number(
            ssreport_columns_get(&run->columns, differences->names[differences->axis]), &run->axis);
    FILE *stream = open_memstream(&run->variant, &size);
    if (!stream)
        return -1;
    for (size_t i = 0; i < differences->count; i++) {
        const char *name = differences->names[i];
        if (i != differences->axis && ssreport_source_column(name) == SIZE_MAX)
            fprintf(stream, "%s%s=%s", ftell(stream) > 0 ? ", " : "", name,
                ssreport_columns_get(&run->columns, name));
    }
    bool any = ftell(stream) > 0;
    if (fclose(stream) != 0)
        return -1;
    if (!any) {
        free(run->variant);
        run->variant = NULL;
    }
    return 0;
}

int ssreport_differences_find(struct ssreport_report *report) {
    for (size_t i = 0; i < report->run_count; i++) {
        if (add_columns(&report->differences, &report->runs[i].columns) < 0)
            return -1;
    }
    drop_equal(report);
    report->differences.axis = choose_axis(report);
    for (size_t i = 0; i < report->run_count; i++) {
        struct ssreport_run *run = &report->runs[i];
        if (run->columns.count > 0 && set_variant(&report->differences, run) < 0)
            return -1;
    }
    return 0;
}
