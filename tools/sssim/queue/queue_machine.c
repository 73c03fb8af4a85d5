/* SPDX-License-Identifier: Apache-2.0 */
#include "queue_machine.h"

#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/words.h"
#include "csv.h"

/* Fraction of the power saved at 2/3 of the base frequency: without busy CPUs, and with all. */
#define SAVED_BY_NONE 0.05
#define SAVED_BY_ALL  0.18

typedef int take_row(void *context, const double values[2], struct ss_error *error);

/* Passes the two numbers of a row to `take`. Errors name the place in the input. */
static int read_row(const struct csv_reader *reader, take_row *take, void *context) {
    struct ss_error refused = {0};
    double values[2];

    for (int i = 0; i < 2; i++) {
        const struct text_field *field = &reader->fields[i];
        if (!csv_number(field, &values[i]))
            return text_input_blame(
                reader->input, field->column, "invalid number in column '%s'", reader->columns[i]);
    }
    if (take(context, values, &refused) < 0)
        return text_input_blame(reader->input, reader->fields[0].column, "%s", refused.message);
    return 0;
}

/* Reads two columns of numbers and passes each row to `take`. Stops if `take` fails. */
static int read_columns(const char *path, const char *const names[3], take_row *take, void *context,
    struct ss_error *error) {
    struct text_input input;
    struct csv_reader reader;
    struct ss_error reading = {0};
    int more = 0;

    if (text_input_open(&input, path, &reading) < 0)
        return ss_error_fail(error, "%s", reading.message);

    int result = csv_begin(&reader, &input, names, '\0');
    while (result == 0 && (more = csv_next(&reader)) > 0)
        result = read_row(&reader, take, context);
    if (more < 0)
        result = -1;

    struct ss_error closing = {0};
    input.error = &closing;
    if (text_input_close(&input) < 0 && result == 0)
        return ss_error_fail(error, "%s", closing.message);
    return result < 0 ? ss_error_fail(error, "%s", reading.message) : 0;
}

double queue_frequency_speed(double frequency, double base, double beta) {
    return 1 / (beta * base / frequency + 1 - beta);
}

double queue_contention_speed(const struct queue_contention *contention, double n) {
    return 1 / (1 + contention->a * (n - 1) + contention->b * n * (n - 1));
}

/*
 * Solves the normal equations of n / rate = x0 + x1 (n-1) + x2 n (n-1), weighted by the inverse
 * square of the left side. Bits 0 and 1 of the mask select x1 and x2; unselected variables are 0.
 * Returns the sum of squares, or infinity if no solution has x0 > 0, x1 >= 0 and x2 >= 0.
 */
static double solve(const struct queue_capacity *points, size_t count, unsigned mask, double x[3]) {
    double matrix[3][4] = {{0}};
    for (size_t i = 0; i < count; i++) {
        double n = points[i].n, y = n / points[i].rate;
        const double terms[] = {
            1 / y, (mask & 1) * (n - 1) / y, (mask >> 1 & 1) * n * (n - 1) / y, 1};
        for (int row = 0; row < 3; row++) {
            for (int column = 0; column < 4; column++)
                matrix[row][column] += terms[row] * terms[column];
        }
    }

    x[1] = x[2] = 0;
    for (int row = 1; row < 3; row++)
        matrix[row][row] += matrix[row][row] == 0; /* makes an unselected variable 0 */

    for (int at = 0; at < 3; at++) {
        for (int row = 0; row < 3; row++) {
            double part = matrix[row][at] / matrix[at][at];
            for (int column = at; row != at && column < 4; column++)
                matrix[row][column] -= part * matrix[at][column];
        }
    }

    double sum = 0;
    for (int row = 0; row < 3; row++)
        x[row] = matrix[row][3] / matrix[row][row];
    for (size_t i = 0; i < count; i++) {
        double n = points[i].n, y = n / points[i].rate;
        double apart = (x[0] + x[1] * (n - 1) + x[2] * n * (n - 1)) / y - 1;
        sum += apart * apart;
    }
    return isfinite(sum) && x[0] > 0 && x[1] >= 0 && x[2] >= 0 ? sum : INFINITY;
}

static size_t count_different(const struct queue_capacity *points, size_t count) {
    size_t different = 0;
    for (size_t i = 0; i < count; i++) {
        size_t before = 0;
        while (before < i && points[before].n != points[i].n)
            before++;
        different += before == i;
    }
    return different;
}

int queue_contention_fit(struct queue_contention *contention, const struct queue_capacity *points,
    size_t count, double *alone, struct ss_error *error) {
    double best = INFINITY, x[3];
    size_t different = count_different(points, count);

    if (different < 3)
        return ss_error_fail(error,
            "fitting a and b requires capacities of at least 3 different n, not %zu", different);

    for (unsigned mask = 0; mask < 4; mask++) {
        double sum = solve(points, count, mask, x);
        if (!(sum < best))
            continue;
        best = sum;
        *contention = (struct queue_contention){x[1] / x[0], x[2] / x[0]};
        if (alone)
            *alone = 1 / x[0];
    }

    return isfinite(best) ? 0 : ss_error_fail(error, "cannot fit a and b to these capacities");
}

struct capacities {
    struct queue_capacity *points;
    size_t count, room;
};

static int take_capacity(void *context, const double values[2], struct ss_error *error) {
    struct capacities *list = context;
    if (!(values[0] >= 1) || !(values[1] > 0))
        return ss_error_fail(error, "n must be at least 1, and the capacity above 0");
    if (!SS_GROW(list->points, list->count + 1, list->room))
        return ss_error_memory(error);
    list->points[list->count++] = (struct queue_capacity){values[0], values[1]};
    return 0;
}

int queue_contention_read(
    struct queue_contention *contention, const char *path, struct ss_error *error) {
    static const char *const names[] = {"n", "requests_per_second", NULL};
    struct capacities list = {0};
    int result = read_columns(path, names, take_capacity, &list, error);
    if (result == 0 && queue_contention_fit(contention, list.points, list.count, NULL, error) < 0)
        result = ss_error_wrap(error, "%s", path);
    free(list.points);
    return result;
}

static int take_watts(void *context, const double values[2], struct ss_error *error) {
    struct queue_power *power = context;
    if (power->count == 0 && values[0] != 0)
        return ss_error_fail(error, "the first row must have 0 busy CPUs");
    if (power->count > 0 && !(values[0] > power->points[power->count - 1].busy))
        return ss_error_fail(error, "busy CPUs must increase from row to row");
    if (!(values[1] >= 0))
        return ss_error_fail(error, "power must not be negative");
    if (!SS_GROW(power->points, power->count + 1, power->room))
        return ss_error_memory(error);
    power->points[power->count++] = (struct queue_watts){values[0], values[1]};
    return 0;
}

int queue_power_read(struct queue_power *power, const char *path, struct ss_error *error) {
    static const char *const names[] = {"busy", "watts", NULL};
    *power = (struct queue_power){0};
    if (read_columns(path, names, take_watts, power, error) < 0)
        return -1;
    if (power->count < 2)
        return ss_error_fail(error,
            "%s: too few rows: use at least one for 0 busy CPUs and one "
            "for all",
            ss_words_show(path).text);
    return 0;
}

void queue_power_free(struct queue_power *power) {
    free(power->points);
    *power = (struct queue_power){0};
}

double queue_power_at(const struct queue_power *power, double busy, double relative_frequency) {
    const struct queue_watts *points = power->points;
    size_t next = 1;
    while (next + 1 < power->count && points[next].busy < busy)
        next++;

    double part = (busy - points[next - 1].busy) / (points[next].busy - points[next - 1].busy);
    double watts = points[next - 1].watts + part * (points[next].watts - points[next - 1].watts);

    double lacks = 3 * (1 - relative_frequency);
    double saved =
        SAVED_BY_NONE + (SAVED_BY_ALL - SAVED_BY_NONE) * busy / points[power->count - 1].busy;
    return watts * (1 - lacks * saved);
}

void queue_meter_advance(struct queue_meter *meter, double busy, ss_time now) {
    if (now <= meter->since)
        return;
    double seconds = ss_time_seconds(now - meter->since);
    meter->since = now;
    meter->seconds += seconds;
    meter->busy_seconds += seconds * busy;
    meter->idle_seconds += busy == 0 ? seconds : 0;
    if (meter->power)
        meter->joules += seconds * queue_power_at(meter->power, busy, meter->relative_frequency);
}

void queue_meter_clear(struct queue_meter *meter) {
    meter->seconds = meter->busy_seconds = meter->idle_seconds = meter->joules = 0;
}
