/* SPDX-License-Identifier: Apache-2.0 */
#include "differences.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/owned.h"
#include "csv.h"
#include "group_by.h"
#include "load_inputs.h"

/*
 * Returns whether runs that differ in this column are repetitions anyway: the number of the
 * repetition, and the program that a workload represents.
 */
static bool is_ignored(const char *column) {
    return strcmp(column, "round") == 0 || strcmp(column, "published") == 0;
}

/* Columns of loads and rates: the usual axes, along which runs are the steps of one series. */
static const char *const usual[] = {"load", "target", "rate"};

bool ssreport_differences_axis_is_load(const struct ssreport_differences *differences) {
    bool is_load = false;
    for (size_t i = 0; i < sizeof usual / sizeof *usual && !is_load; i++)
        is_load = differences->axis < differences->count &&
                  strcmp(differences->names[differences->axis], usual[i]) == 0;
    return is_load;
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

bool ssreport_differences_have(const struct ssreport_differences *differences, const char *column) {
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
        if (is_ignored(name) || ssreport_differences_have(differences, name))
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

/*
 * Returns whether a column is a member of struct ssreport_run from which other columns may follow.
 * stands_for is a result of the others.
 */
static bool is_known(const char *column) {
    return ssreport_is_member(column) && strcmp(column, "stands_for") != 0;
}

static bool has_columns(const void *run, void *context) {
    (void)context;
    return ((const struct ssreport_run *)run)->columns.count > 0;
}

/* Compares runs by set and all known columns in which runs differ. */
static int compare_known(const void *left, const void *right, void *context) {
    const struct ssreport_differences *differences = context;
    const struct ssreport_run *one = left, *other = right;
    int order = one->set - other->set;
    for (size_t i = 0; order == 0 && i < differences->count; i++) {
        const char *name = differences->names[i];
        if (is_known(name))
            order = strcmp(ssreport_columns_get(&one->columns, name),
                ssreport_columns_get(&other->columns, name));
    }
    return order;
}

/* Returns the columns of a run, or of a record of requests. */
typedef const struct ssreport_columns *columns_of(
    const struct ssreport_report *report, size_t index);

static const struct ssreport_columns *columns_of_run(
    const struct ssreport_report *report, size_t index) {
    return &report->runs[index].columns;
}

static const struct ssreport_columns *columns_of_responses(
    const struct ssreport_report *report, size_t index) {
    return &report->responses[index].columns;
}

/* Returns whether all runs or records of each group agree in a column. */
static bool is_constant(const struct ssreport_report *report, columns_of *of,
    const struct stats_groups *groups, const char *column) {
    for (size_t group = 0; group < groups->count; group++) {
        size_t first = groups->first[group];
        const char *value = ssreport_columns_get(of(report, first), column);
        for (size_t i = groups->next[first]; i < groups->items; i = groups->next[i]) {
            if (strcmp(ssreport_columns_get(of(report, i), column), value) != 0)
                return false;
        }
    }
    return true;
}

/* Sets `follows`. Returns -1 if memory is exhausted. */
static int find_followers(struct ssreport_report *report) {
    struct ssreport_differences *differences = &report->differences;
    const struct stats_key key = {.size = sizeof *report->runs,
        .compare = compare_known,
        .includes = has_columns,
        .context = differences};
    SS_OWNED(groups)
    struct stats_groups groups = stats_group_by(report->runs, report->run_count, &key);
    differences->follows = calloc(differences->count + 1, sizeof *differences->follows);
    if (!groups.first || !differences->follows)
        return -1;
    for (size_t i = 0; i < differences->count; i++)
        differences->follows[i] =
            !is_known(differences->names[i]) &&
            is_constant(report, columns_of_run, &groups, differences->names[i]);
    return 0;
}

static int compare_numbers(const void *left, const void *right) {
    double one = *(const double *)left, other = *(const double *)right;
    return (one > other) - (one < other);
}

/*
 * Returns the number of different values of a column; 0 unless all values are numbers, or if memory
 * is exhausted.
 */
static size_t count_numbers(const struct ssreport_report *report, const char *column) {
    SS_OWNED(free) double *numbers = calloc(report->run_count + 1, sizeof *numbers);
    size_t used = 0, count = 0, at = 0;
    const char *value;
    while (numbers && (value = next_value(report, column, &at))) {
        if (!ssreport_is_number(value, &numbers[used++]))
            return 0;
    }
    if (used > 0)
        qsort(numbers, used, sizeof *numbers, compare_numbers);
    for (size_t i = 0; i < used; i++)
        count += i == 0 || numbers[i] != numbers[i - 1];
    return count;
}

/*
 * Chooses the axis: a column of loads or rates if there is one, otherwise the numeric column with
 * the most different values. Without `followers`, only columns that do not follow from others.
 */
static size_t choose_axis(const struct ssreport_report *report, bool followers) {
    const struct ssreport_differences *differences = &report->differences;
    size_t axis = differences->count, most = 1;
    for (size_t i = 0; i < differences->count; i++) {
        if (differences->follows[i] && !followers)
            continue;
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

bool ssreport_differences_in_variant(
    const struct ssreport_differences *differences, const struct ssreport_run *run, size_t column) {
    const char *name = differences->names[column];
    if (ssreport_is_member(name) || differences->follows[column])
        return false;
    if (strcmp(name, "instances") == 0)
        return !(run->stands_for > 0) && (column != differences->axis || run->method);
    return column != differences->axis;
}

/* Closes the stream of a variant, which becomes NULL if it is empty. */
static int end_variant(FILE *stream, char **variant) {
    bool any = ftell(stream) > 0;
    if (fclose(stream) != 0)
        return -1;
    if (!any) {
        free(*variant);
        *variant = NULL;
    }
    return 0;
}

/* Writes "size=large, instances=2"; NULL without any such column. */
static int write_variant(const struct ssreport_differences *differences,
    const struct ssreport_run *run, bool with_instances, char **variant) {
    size_t size;
    FILE *stream = open_memstream(variant, &size);
    if (!stream)
        return -1;
    for (size_t i = 0; i < differences->count; i++) {
        const char *name = differences->names[i];
        if (ssreport_differences_in_variant(differences, run, i) &&
            (with_instances || strcmp(name, "instances") != 0))
            fprintf(stream, "%s%s=%s", ftell(stream) > 0 ? ", " : "", name,
                ssreport_columns_get(&run->columns, name));
    }
    return end_variant(stream, variant);
}

static bool is_of_plan(const void *responses, void *context) {
    const struct ssreport_responses *of = responses;
    (void)context;
    return of->workload && of->columns.count > 0;
}

/* Compares what separates services and their series, except the variant. */
static int compare_services(const void *left, const void *right, void *context) {
    const struct ssreport_responses *one = left, *other = right;
    (void)context;
    return STATS_ORDER(one->set - other->set,
        (one->manifest > other->manifest) - (one->manifest < other->manifest),
        ssreport_compare_words(one->workload, other->workload),
        ssreport_compare_words(one->environment, other->environment),
        ssreport_compare_words(one->arrival, other->arrival), one->closed - other->closed,
        ssreport_compare_levels(one, other));
}

/* Returns whether records that differ in a column are measurements of one service anyway. */
static bool is_of_one_service(const char *column) {
    static const char *const names[] = {"rate", "load", "seed", "published", "stands_for"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(column, names[i]) == 0)
            return true;
    }
    return ssreport_is_response_member(column);
}

/* Writes "size=large, clients=8"; NULL without any such column. */
static int set_service_variant(const struct ssreport_report *report,
    const struct stats_groups *groups, struct ssreport_responses *of) {
    size_t size;
    FILE *stream = open_memstream(&of->variant, &size);
    if (!stream)
        return -1;
    for (size_t i = 0; i < of->columns.count; i++) {
        const char *name = of->columns.items[i].name;
        if (!is_of_one_service(name) && !is_constant(report, columns_of_responses, groups, name))
            fprintf(stream, "%s%s=%s", ftell(stream) > 0 ? ", " : "", name,
                ssreport_columns_get(&of->columns, name));
    }
    return end_variant(stream, &of->variant);
}

/*
 * Sets the variant of each record of requests: the columns of plans in which records of one
 * workload differ although all that otherwise separates services and their series is the same.
 * Returns -1 if memory is exhausted.
 */
static int find_response_variants(struct ssreport_report *report) {
    const struct stats_key key = {
        .size = sizeof *report->responses, .compare = compare_services, .includes = is_of_plan};
    SS_OWNED(groups)
    struct stats_groups groups = stats_group_by(report->responses, report->response_count, &key);
    if (!groups.first)
        return -1;
    for (size_t i = 0; i < report->response_count; i++) {
        if (is_of_plan(&report->responses[i], NULL) &&
            set_service_variant(report, &groups, &report->responses[i]) < 0)
            return -1;
    }
    return 0;
}

/*
 * Sets the variants of a run, and its value of the axis. Speeds are compared by their own member.
 */
static int set_variant(const struct ssreport_differences *differences, struct ssreport_run *run) {
    if (differences->axis < differences->count &&
        strcmp(differences->names[differences->axis], "speed") != 0)
        ssreport_is_number(
            ssreport_columns_get(&run->columns, differences->names[differences->axis]), &run->axis);
    if (write_variant(differences, run, true, &run->variant) < 0)
        return -1;
    return write_variant(differences, run, false, &run->family);
}

int ssreport_differences_find(struct ssreport_report *report) {
    for (size_t i = 0; i < report->run_count; i++) {
        if (add_columns(&report->differences, &report->runs[i].columns) < 0)
            return -1;
    }
    drop_equal(report);
    if (find_followers(report) < 0)
        return -1;
    report->differences.axis = choose_axis(report, false);
    if (report->differences.axis == report->differences.count)
        report->differences.axis = choose_axis(report, true);
    for (size_t i = 0; i < report->run_count; i++) {
        struct ssreport_run *run = &report->runs[i];
        if (run->columns.count > 0 && set_variant(&report->differences, run) < 0)
            return -1;
    }
    return find_response_variants(report);
}
