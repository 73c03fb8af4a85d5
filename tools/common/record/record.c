/* SPDX-License-Identifier: Apache-2.0 */
#include "record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

double ssreport_record_end(const struct ssreport_record *record) {
    return record->sample_count ? record->samples[record->sample_count - 1].end : 0;
}

double ssreport_record_counted_to(const struct ssreport_record *record) {
    return record->ended > 0 ? record->ended : ssreport_record_end(record);
}

double ssreport_record_run_time(const struct ssreport_record *record, double elapsed) {
    double run_time = elapsed;
    for (size_t i = 0; i < record->pause_count; i++) {
        const struct ssreport_pause *pause = &record->pauses[i];
        run_time -= fmax(fmin(elapsed, pause->end) - pause->begin, 0);
    }
    return run_time;
}

double ssreport_record_elapsed(const struct ssreport_record *record, double run_time) {
    double elapsed = run_time;
    for (size_t i = 0; i < record->pause_count; i++) {
        const struct ssreport_pause *pause = &record->pauses[i];
        elapsed += elapsed > pause->begin ? pause->end - pause->begin : 0;
    }
    return elapsed;
}

bool ssreport_record_is_paused(const struct ssreport_record *record, double elapsed) {
    for (size_t i = 0; i < record->pause_count; i++) {
        if (elapsed > record->pauses[i].begin && elapsed <= record->pauses[i].end)
            return true;
    }
    return false;
}

struct ssreport_range ssreport_instance_range(const struct ssreport_instance *instance) {
    struct ssreport_range range = {NAN, NAN};
    double most_known = 0;
    for (size_t i = 0; instance->parts && i < SSREPORT_DUTY_PARTS; i++)
        most_known = fmax(most_known, instance->parts[i].known);
    for (size_t i = 0; instance->parts && i < SSREPORT_DUTY_PARTS; i++) {
        const struct ssreport_duty *part = &instance->parts[i];
        /* Skip parts with little data: their duty is not representative. */
        if (!(part->known > 0) || part->known < most_known / 2)
            continue;
        double duty = part->running / part->known;
        range.least = fmin(range.least, duty);
        range.most = fmax(range.most, duty);
    }
    return range;
}

const char *ssreport_record_title(const struct ssreport_record *record) {
    return record->title ? record->title : record->name;
}

const char *ssreport_record_label(const struct ssreport_record *record, const char *name) {
    for (size_t i = 0; i < record->label_count; i++) {
        if (strcmp(record->labels[i].name, name) == 0)
            return record->labels[i].value;
    }
    return NULL;
}

void ssreport_record_free(struct ssreport_record *record) {
    free(record->folder);
    free(record->name);
    free(record->version);
    free(record->command);
    free(record->started);
    free(record->ended_by);
    ssreport_verdict_free(&record->verdict);
    for (size_t i = 0; i < record->label_count; i++) {
        free(record->labels[i].name);
        free(record->labels[i].value);
    }
    free(record->labels);
    free(record->pauses);
    free(record->samples);
    free(record->iterations);
    ss_histogram_close(&record->iteration_times);
    free(record->over);
    ssreport_counters_free(&record->counters);
    for (size_t i = 0; i < record->instance_room; i++)
        free(record->instances[i].parts);
    free(record->instances);
    *record = (struct ssreport_record){0};
}

static struct ssreport_label *find_column(
    const struct ssreport_columns *columns, const char *name) {
    for (size_t i = 0; i < columns->count; i++) {
        if (strcmp(columns->items[i].name, name) == 0)
            return &columns->items[i];
    }
    return NULL;
}

const char *ssreport_columns_get(const struct ssreport_columns *columns, const char *name) {
    const struct ssreport_label *column = find_column(columns, name);
    return column ? column->value : "";
}

int ssreport_columns_set(struct ssreport_columns *columns, const char *name, const char *value) {
    struct ssreport_label *column = find_column(columns, name);
    if (!column) {
        if (!SS_GROW(columns->items, columns->count + 1, columns->room))
            return -1;
        column = &columns->items[columns->count++];
        *column = (struct ssreport_label){.name = strdup(name)};
    }
    free(column->value);
    column->value = strdup(value);
    return column->name && column->value ? 0 : -1;
}

void ssreport_columns_free(struct ssreport_columns *columns) {
    for (size_t i = 0; i < columns->count; i++) {
        free(columns->items[i].name);
        free(columns->items[i].value);
    }
    free(columns->items);
    *columns = (struct ssreport_columns){0};
}
