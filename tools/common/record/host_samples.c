/* SPDX-License-Identifier: Apache-2.0 */
#include "host_samples.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "csv.h"
#include "measure/figures.h"

/* A sample's time may be this many seconds after its end. */
#define LATE 0.02

/* Reads a table from the folder or, next to it, from FOLDER.NAME. Either may be missing. */
static void read_table(
    const char *folder, const struct ssreport_csv *csv, struct ssreport_record *record) {
    char parent[8400], name[300];
    struct ssreport_csv next_to_it = *csv;
    struct ss_error error = {0};
    const char *slash = strrchr(folder, '/');
    snprintf(
        parent, sizeof parent, "%.*s", slash ? (int)(slash - folder) : 1, slash ? folder : ".");
    snprintf(name, sizeof name, "%.200s.%.80s", slash ? slash + 1 : folder, csv->name);
    next_to_it.name = name;
    bool inside = ssreport_has_file(folder, csv->name);
    if (!inside && !ssreport_has_file(parent, name))
        return;
    if (ssreport_csv_read(
            inside ? folder : parent, inside ? csv : &next_to_it, &record->notes, &error) < 0)
        ssreport_notes_add(&record->notes, "%s", error.message);
}

static bool take_host_load(void *context, const struct sstrace_field *fields) {
    struct ssreport_surroundings *surroundings = context;
    struct ssreport_host_load sample;
    if (!ssreport_csv_time(&fields[0], &sample.at) ||
        !ssreport_csv_number(&fields[1], &sample.load) ||
        !SS_GROW(surroundings->host, surroundings->host_count + 1, surroundings->host_capacity))
        return false;
    surroundings->host[surroundings->host_count++] = sample;
    return true;
}

static double mean_between(const struct ssreport_surroundings *surroundings,
    const struct ssreport_record *record, const double times[2], size_t *samples) {
    double sum = 0;
    *samples = 0;
    for (size_t i = 0; i < surroundings->host_count; i++) {
        const struct ssreport_host_load *sample = &surroundings->host[i];
        double elapsed = sample->at - record->wall;
        double at = ssreport_record_run_time(record, elapsed);
        if (!(at > times[0] + LATE) || !(at <= times[1] + LATE) ||
            ssreport_record_is_paused(record, elapsed))
            continue;
        sum += sample->load;
        ++*samples;
    }
    return *samples > 0 ? sum / (double)*samples : NAN;
}

double ssreport_surroundings_host_load(const struct ssreport_surroundings *surroundings,
    const struct ssreport_record *record, size_t *samples) {
    const double times[] = {record->counted_from, ssreport_record_counted_to(record)};
    return mean_between(surroundings, record, times, samples);
}

double ssreport_surroundings_host_load_between(const struct ssreport_surroundings *surroundings,
    const struct ssreport_record *record, double from, double to) {
    size_t samples;
    return mean_between(surroundings, record, (const double[]){from, to}, &samples);
}

static bool take_clock(void *context, const struct sstrace_field *fields) {
    struct ssreport_surroundings *surroundings = context;
    double host, guest;
    bool is_start = sstrace_field_is(&fields[0], "start");
    if (!(is_start || sstrace_field_is(&fields[0], "end")) ||
        !ssreport_csv_number(&fields[1], &host) || !ssreport_csv_number(&fields[2], &guest))
        return false;
    surroundings->clock[is_start ? 0 : 1] = guest - host;
    return true;
}

static bool take_vcpu(void *context, const struct sstrace_field *fields) {
    struct ssreport_surroundings *surroundings = context;
    double host, wall;
    if (!ssreport_csv_number(&fields[1], &host) || !ssreport_csv_number(&fields[2], &wall))
        return false;
    surroundings->vcpus++;
    surroundings->vcpu_host += host;
    surroundings->vcpu_wall += wall;
    return true;
}

static bool add_cpu(struct ssreport_surroundings *surroundings) {
    if (!SS_GROW(surroundings->cpus, surroundings->cpu_count + 1, surroundings->cpu_capacity))
        return false;
    surroundings->cpus[surroundings->cpu_count++] = (struct ssreport_cpu){0};
    return true;
}

/* Columns of cpus.csv: time, elapsed seconds, then one for each CPU, with any name. */
enum { ELAPSED = 1, FIRST_CPU = 2 };

static void take_heading(struct ssreport_surroundings *surroundings, const char *line) {
    const char *comma = strchr(line, ',');
    for (size_t column = 1; comma; column++) {
        if (column >= FIRST_CPU && !add_cpu(surroundings))
            return;
        comma = strchr(comma + 1, ',');
    }
}

/*
 * Adds the loads of a row in two passes: the first checks all fields, so that an invalid row adds
 * nothing. Returns false if the row is invalid.
 */
static bool take_loads(struct ssreport_surroundings *surroundings,
    const struct ssreport_record *record, const char *line) {
    size_t column = 0, part = SSREPORT_CPU_PARTS;
    double elapsed = NAN;
    for (int adds = 0; adds < 2; adds++) {
        const char *at = line;
        for (column = 0; at; column++) {
            const char *comma = strchr(at, ',');
            struct sstrace_field field = {
                .text = at, .length = comma ? (size_t)(comma - at) : strlen(at)};
            double number = NAN;
            if (column >= ELAPSED && !sstrace_field_number(&field, false, &number))
                return false;
            if (column == ELAPSED)
                elapsed = number;
            if (adds && column >= FIRST_CPU && isfinite(number) && part < SSREPORT_CPU_PARTS) {
                surroundings->cpus[column - FIRST_CPU].parts[part].sum += (float)number;
                surroundings->cpus[column - FIRST_CPU].parts[part].samples++;
            }
            at = comma ? comma + 1 : NULL;
        }
        double time = ssreport_record_run_time(record, elapsed);
        double share = (time - LATE) / ssreport_record_end(record);
        if (column != FIRST_CPU + surroundings->cpu_count)
            return false;
        if (!(time > 0) || ssreport_record_is_paused(record, elapsed))
            return true;
        part = share < 1 ? (size_t)(fmax(share, 0) * SSREPORT_CPU_PARTS) : SSREPORT_CPU_PARTS;
    }
    return true;
}

static void read_cpus(struct ssreport_surroundings *surroundings, const char *folder,
    struct ssreport_record *record) {
    char path[8600], *line = NULL;
    size_t size = 0, number = 0, broken = 0, first = 0;
    ssize_t length;
    snprintf(path, sizeof path, "%.8400s/cpus.csv", folder);
    FILE *stream = fopen(path, "re");
    if (!stream) {
        if (errno != ENOENT)
            ssreport_notes_add(&record->notes, "cpus.csv: %s", strerror(errno));
        return;
    }
    while ((length = getline(&line, &size, stream)) >= 0) {
        bool has_end = length > 0 && line[length - 1] == '\n';
        line[strcspn(line, "\r\n")] = '\0';
        if (number++ == 0)
            take_heading(surroundings, line);
        else if ((!has_end || !take_loads(surroundings, record, line)) && broken++ == 0)
            first = number;
    }
    free(line);
    fclose(stream);
    if (broken > 0)
        ssreport_notes_add(
            &record->notes, "cpus.csv:%zu: invalid row%s", first, broken > 1 ? " (and more)" : "");
}

void ssreport_surroundings_read(struct ssreport_surroundings *surroundings, const char *folder,
    struct ssreport_record *record, bool inside) {
    static const char *const host[] = {"time", "load", NULL};
    static const char *const clock[] = {"when", "host_seconds", "guest_seconds", NULL};
    static const char *const vcpus[] = {"vcpu", "host_cpu_seconds", "wall_seconds", NULL};
    *surroundings = (struct ssreport_surroundings){.clock = {NAN, NAN}};
    const struct ssreport_csv tables[] = {
        {"host-load.csv", host, 0, take_host_load, surroundings},
        {"guest-clock.csv", clock, 0, take_clock, surroundings},
        {"guest-vcpus.csv", vcpus, 0, take_vcpu, surroundings},
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        read_table(folder, &tables[i], record);
    read_cpus(surroundings, folder, record);
    if (inside && isfinite(surroundings->clock[0]))
        record->wall -= surroundings->clock[0];
}

void ssreport_surroundings_free(struct ssreport_surroundings *surroundings) {
    free(surroundings->host);
    free(surroundings->cpus);
    *surroundings = (struct ssreport_surroundings){0};
}

/* If two samples are more seconds apart, a sample was lost. */
#define LENGTH_MAX 2.0

enum { TIME, LOAD, TARGET };

struct reader {
    const struct ssreport_record *record;
    struct ss_figures figures;
    double last; /* elapsed time at the end of the previous sample; NaN if none */
};

static double target_at(const struct ssreport_record *record, double run_time) {
    for (size_t i = 0; i < record->sample_count; i++) {
        if (record->samples[i].end >= run_time - LATE)
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
    if (begin >= record->counted_from - LATE && end <= ssreport_record_counted_to(record) + LATE &&
        !isnan(target))
        ss_figures_add(&reader->figures, target, load);
    return true;
}

struct ssreport_beside ssreport_beside_read(struct ssreport_record *record, const char *folder) {
    static const char *const columns[] = {"time", "load", "target", NULL};
    struct reader reader = {.record = record, .last = NAN};
    struct ssreport_csv csv = {.name = "beside.csv",
        .columns = columns,
        .optional = 1U << TARGET,
        .take = take_sample,
        .context = &reader};
    struct ss_error error = {0};
    if (ssreport_has_file(folder, "beside.csv") &&
        ssreport_csv_read(folder, &csv, &record->notes, &error) < 0)
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
