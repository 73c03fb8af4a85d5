/* SPDX-License-Identifier: Apache-2.0 */
#include "ssload_samples.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "csv.h"
#include "measure/figures.h"

#define FILE_NAME "beside.csv"

/* If two samples are more seconds apart, a sample was lost. */
#define LENGTH_MAX 2.0

/* The clocks of both records may differ by this many seconds. */
#define SLACK 0.02

enum { TIME, LOAD, TARGET };

struct reader {
    const struct ssreport_record *record;
    struct ss_figures figures;
    double last; /* elapsed time at the end of the previous sample; NaN if none */
};

static double target_at(const struct ssreport_record *record, double run_time) {
    for (size_t i = 0; i < record->sample_count; i++) {
        if (record->samples[i].end >= run_time - SLACK)
            return record->samples[i].target;
    }
    return NAN;
}

static bool take_sample(void *context, const struct sstrace_field *fields) {
    struct reader *reader = context;
    const struct ssreport_record *record = reader->record;
    double at, load, target;
    if (!ssreport_csv_time(&fields[TIME], &at) || !ssreport_csv_number(&fields[LOAD], &load) ||
        !sstrace_field_number(&fields[TARGET], false, &target))
        return false;
    double end = at - record->wall, begin = reader->last;
    reader->last = end;
    if (!(end - begin <= LENGTH_MAX) || ssreport_record_is_paused(record, end) ||
        ssreport_record_is_paused(record, begin))
        return true;
    begin = ssreport_record_run_time(record, begin);
    end = ssreport_record_run_time(record, end);
    if (isnan(target))
        target = target_at(record, end);
    if (begin >= record->counted_from - SLACK &&
        end <= ssreport_record_counted_to(record) + SLACK && !isnan(target))
        ss_figures_add(&reader->figures, target, load);
    return true;
}

struct ssreport_beside ssreport_beside_read(struct ssreport_record *record, const char *folder) {
    static const char *const columns[] = {"time", "load", "target", NULL};
    struct reader reader = {.record = record, .last = NAN};
    struct ssreport_csv csv = {.name = FILE_NAME,
        .columns = columns,
        .optional = 1U << TARGET,
        .take = take_sample,
        .context = &reader};
    struct ss_error error = {0};
    char path[4200];
    snprintf(path, sizeof path, "%.4000s/" FILE_NAME, folder);
    if (access(path, F_OK) == 0 && ssreport_csv_read(folder, &csv, &record->notes, &error) < 0)
        ssreport_notes_add(&record->notes, "the load in beside.csv is unknown: %s", error.message);
    struct ssreport_beside beside = {
        .samples = reader.figures.count,
        .load_mean = ss_figures_load_mean(&reader.figures),
        .error_mean_percent = ss_figures_error_mean_percent(&reader.figures),
        .error_mse_e4 = ss_figures_error_mse_e4(&reader.figures),
    };
    ss_figures_free(&reader.figures);
    return beside;
}
