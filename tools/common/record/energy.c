/* SPDX-License-Identifier: Apache-2.0 */
#include "energy.h"

#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "csv.h"
#include "row_times.h"
#include "statistics.h"

static bool take_sample(void *context, const struct sstrace_field *fields) {
    struct ssreport_energy *energy = context;
    struct ssreport_power sample;
    double elapsed, begin = energy->elapsed;
    if (!sstrace_field_number(&fields[2], false, &elapsed) || elapsed < 0 || isinf(elapsed) ||
        !ssreport_row_follows(&begin, &energy->refused, elapsed))
        return false;
    energy->elapsed = elapsed;
    /* More than a second if the source is slow or was interrupted; a second if that is unknown. */
    sample.seconds = elapsed > begin ? elapsed - begin : 1;
    if (!ssreport_csv_time(&fields[0], &sample.at) ||
        !sstrace_field_number(&fields[1], false, &sample.watts) || sample.watts < 0 ||
        isinf(sample.watts) || !SS_GROW(energy->samples, energy->count + 1, energy->capacity))
        return false;
    energy->samples[energy->count++] = sample;
    return true;
}

static int compare_samples(const void *left, const void *right) {
    const struct ssreport_power *one = left, *other = right;
    return (one->at > other->at) - (one->at < other->at);
}

int ssreport_energy_read(struct ssreport_energy *energy, const char *folder,
    struct ssreport_notes *notes, struct ss_error *error) {
    static const char *const columns[] = {"time", "watts", "elapsed_seconds", NULL};
    struct ssreport_csv csv = {.name = "energy.csv",
        .columns = columns,
        .optional = 1U << 2,
        .take = take_sample,
        .context = energy};
    int result = ssreport_csv_read(folder, &csv, notes, error);
    if (energy->count > 0) /* rows are in this order, unless the clock was set back */
        qsort(energy->samples, energy->count, sizeof *energy->samples, compare_samples);
    return result;
}

void ssreport_energy_free(struct ssreport_energy *energy) {
    free(energy->samples);
    *energy = (struct ssreport_energy){0};
}

/* Returns the first sample after a time. */
static size_t find_sample(const struct ssreport_energy *energy, double time) {
    return ssreport_find_from(energy->samples, energy->count, sizeof *energy->samples,
        offsetof(struct ssreport_power, at), nextafter(time, INFINITY));
}

/* Returns the standard deviation of the samples between two times. */
static double deviation_between(
    const struct ssreport_energy *energy, double from, double to, double mean) {
    double squares = 0;
    size_t count = 0;
    for (size_t i = find_sample(energy, from); i < energy->count; i++) {
        const struct ssreport_power *sample = &energy->samples[i];
        if (!(sample->at <= to))
            break;
        if (isnan(sample->watts))
            continue;
        squares += (sample->watts - mean) * (sample->watts - mean);
        count++;
    }
    return count > 1 ? sqrt(squares / (double)(count - 1)) : NAN;
}

struct ssreport_cost ssreport_energy_between(
    const struct ssreport_energy *energy, double from, double to) {
    double sum = 0;
    struct ssreport_cost cost = {0};
    for (size_t i = find_sample(energy, from); i < energy->count; i++) {
        const struct ssreport_power *sample = &energy->samples[i];
        if (!(sample->at <= to))
            break;
        if (isnan(sample->watts)) {
            cost.unknown += sample->seconds;
        } else {
            sum += sample->watts * sample->seconds;
            cost.seconds += sample->seconds;
        }
    }
    cost.watt_hours = sum / 3600;
    cost.watts = sum / cost.seconds;
    cost.deviation = deviation_between(energy, from, to, cost.watts);
    return cost;
}
