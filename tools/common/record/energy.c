/* SPDX-License-Identifier: Apache-2.0 */
#include "energy.h"

#include <math.h>
#include <stdlib.h>

#include "csv.h"

static bool take_sample(void *context, const struct sstrace_field *fields) {
    struct ssreport_energy *energy = context;
    struct ssreport_power sample;
    if (!ssreport_csv_time(&fields[0], &sample.at) ||
        !sstrace_field_number(&fields[1], false, &sample.watts) || sample.watts < 0 ||
        isinf(sample.watts) ||
        !ssreport_csv_make_room(
            (void **)&energy->samples, energy->count, &energy->capacity, sizeof sample))
        return false;
    energy->samples[energy->count++] = sample;
    return true;
}

int ssreport_energy_read(struct ssreport_energy *energy, const char *folder,
    struct ssreport_notes *notes, struct ss_error *error) {
    static const char *const columns[] = {"time", "watts", NULL};
    struct ssreport_csv csv = {
        .name = "energy.csv", .columns = columns, .take = take_sample, .context = energy};
    return ssreport_csv_read(folder, &csv, notes, error);
}

void ssreport_energy_free(struct ssreport_energy *energy) {
    free(energy->samples);
    *energy = (struct ssreport_energy){0};
}

static bool is_between(const struct ssreport_power *sample, double from, double to) {
    return sample->at > from && sample->at <= to;
}

/* Returns the standard deviation of the samples between two times. */
static double deviation_between(
    const struct ssreport_energy *energy, double from, double to, double mean) {
    double squares = 0;
    size_t count = 0;
    for (size_t i = 0; i < energy->count; i++) {
        const struct ssreport_power *sample = &energy->samples[i];
        if (!is_between(sample, from, to) || isnan(sample->watts))
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
    for (size_t i = 0; i < energy->count; i++) {
        const struct ssreport_power *sample = &energy->samples[i];
        if (!is_between(sample, from, to))
            continue;
        if (isnan(sample->watts)) {
            cost.unknown++;
        } else {
            sum += sample->watts;
            cost.seconds++;
        }
    }
    cost.watt_hours = sum / 3600;
    cost.watts = sum / (double)cost.seconds;
    cost.deviation = deviation_between(energy, from, to, cost.watts);
    return cost;
}
