/* SPDX-License-Identifier: Apache-2.0 */
#include "slots.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/owned.h"
#include "base/words.h"
#include "statistics.h"

/* A gap at an edge of a slot that is longer than this many usual gaps is a stall. */
#define GAPS_MAX 3

static const char heading[] = "slot,begin_epoch_seconds,length_seconds,figures,figure\n";

double slots_begin(const struct slots *slots, size_t slot) {
    return slots->begin + (double)slot * slots->length;
}

void slots_write_heading(FILE *stream) {
    fputs(heading, stream);
}

void slots_write(FILE *stream, const struct slots *slots, size_t slot) {
    fprintf(stream, "%zu,%.3f,%.9g,%.0f,", slot, slots_begin(slots, slot), slots->length,
        slots->figures[slot]);
    if (isfinite(slots->figure[slot]))
        fprintf(stream, "%.9g", slots->figure[slot]);
    fputc('\n', stream);
}

int slots_read(struct slots *slots, const char *path, struct ss_error *error) {
    char line[256];
    *slots = (struct slots){0};
    SS_OWNED(fclose) FILE *file = fopen(path, "re");
    if (!file && errno == ENOENT)
        return 0;
    if (!file || !fgets(line, sizeof line, file) || strcmp(line, heading) != 0)
        return ss_error_fail(error, "%s: not a table of slots", ss_words_show(path).text);
    while (slots->count < 2 * CODES_LENGTH && fgets(line, sizeof line, file)) {
        size_t slot = slots->count;
        double begin, figure = NAN;
        if (!strchr(line, '\n')) /* cut off by a kill */
            break;
        if (sscanf(line, "%*u,%lf,%lf,%lf,%lf", &begin, &slots->length, &slots->figures[slot],
                &figure) < 3)
            return ss_error_fail(
                error, "%s:%zu: not a row of slots", ss_words_show(path).text, slot + 2);
        if (slot == 0)
            slots->begin = begin;
        slots->figure[slots->count++] = figure;
    }
    return 0;
}

/* Returns by how much a gap at an edge of a slot is longer than expected, if clearly so. */
static double stall(double gap, double usual) {
    return gap > GAPS_MAX * usual ? gap - usual : 0;
}

double slots_rate(const struct slots *slots, size_t slot, double first, double last) {
    double count = slots->figures[slot];
    double begin = slots_begin(slots, slot) + SLOTS_SETTLE * slots->length;
    double end = slots_begin(slots, slot + 1);
    double length = last - first;
    if (count < 2)
        return count > 0 && slots->length >= SLOTS_SILENCE ? count / (end - begin) : NAN;
    double usual = length / (count - 1);
    length += stall(first - begin, usual) + stall(end - last, usual);
    return (count - 1) / length;
}

double slots_deviation(const struct slots *slots) {
    double x[2 * CODES_LENGTH], y[2 * CODES_LENGTH], squares = 0;
    size_t count = 0;
    for (size_t slot = 0; slot < slots->count; slot++) {
        if (!(slots->figure[slot] > 0))
            continue;
        x[count] = (double)slot;
        y[count++] = log(slots->figure[slot]);
    }
    struct ssreport_fit fit = ssreport_fit_line(x, y, count);
    for (size_t i = 0; i < count; i++)
        squares += pow(y[i] - fit.intercept - fit.slope * x[i], 2);
    return count < 4 ? NAN : sqrt(squares / (double)(count - 2));
}

double slots_mean(const struct slots *slots) {
    double sum = 0, count = 0;
    for (size_t slot = 0; slot < slots->count; slot++) {
        if (isfinite(slots->figure[slot])) {
            sum += slots->figure[slot];
            count++;
        }
    }
    return sum / count;
}

double slots_iteration(const struct slots *slots) {
    double sum = 0;
    for (size_t slot = 0; slot < slots->count; slot++)
        sum += slots->figures[slot];
    return (double)slots->count * slots->length * (1 - SLOTS_SETTLE) / sum;
}
