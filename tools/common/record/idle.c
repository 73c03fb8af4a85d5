/* SPDX-License-Identifier: Apache-2.0 */
#include "idle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "csv.h"

/* The columns that precede those of the states. */
enum { TIME, ELAPSED, ACTIVE, FREQUENCY, FIRST };

static const char *const columns[] = {"time", "elapsed_seconds", "active", "frequency_mhz"};

static bool take_heading(void *context, const struct sstrace_field *fields, size_t count) {
    struct ssreport_idle *idle = context;
    if (count < FIRST || count > FIRST + SSREPORT_IDLE_STATES_MAX)
        return false;
    for (size_t i = 0; i < FIRST; i++) {
        if (!sstrace_field_is(&fields[i], columns[i]))
            return false;
    }
    for (size_t i = FIRST; i < count; i++)
        snprintf(idle->states[idle->state_count++], sizeof *idle->states, "%.*s",
            (int)fields[i].length, fields[i].text);
    return true;
}

/* Reads a part of 1; an empty field is NaN. */
static bool take_share(const struct sstrace_field *field, double *share) {
    return sstrace_field_number(field, false, share) && !(*share < 0) && !(*share > 1);
}

static bool take_second(void *context, const struct sstrace_field *fields) {
    struct ssreport_idle *idle = context;
    struct ssreport_idle_second second;
    if (!ssreport_csv_time(&fields[TIME], &second.at) ||
        !take_share(&fields[ACTIVE], &second.active) ||
        !sstrace_field_number(&fields[FREQUENCY], false, &second.frequency) ||
        second.frequency < 0 || isinf(second.frequency))
        return false;
    for (size_t i = 0; i < idle->state_count; i++) {
        if (!take_share(&fields[FIRST + i], &second.shares[i]))
            return false;
    }
    if (!SS_GROW(idle->seconds, idle->count + 1, idle->capacity))
        return false;
    idle->seconds[idle->count++] = second;
    return true;
}

int ssreport_idle_read(struct ssreport_idle *idle, const char *folder, struct ssreport_notes *notes,
    struct ss_error *error) {
    struct ssreport_csv csv = {
        .name = "idle.csv", .take_heading = take_heading, .take = take_second, .context = idle};
    return ssreport_csv_read(folder, &csv, notes, error);
}

void ssreport_idle_free(struct ssreport_idle *idle) {
    free(idle->seconds);
    *idle = (struct ssreport_idle){0};
}

/*
 * Returns the mean of a member of struct ssreport_idle_second, found by its offset, over the
 * seconds between two times.
 */
static struct ssreport_mean mean_of(
    const struct ssreport_idle *idle, const double times[2], size_t offset, double *values) {
    size_t count = 0;
    for (size_t i = 0; i < idle->count; i++) {
        const struct ssreport_idle_second *second = &idle->seconds[i];
        double value = *(const double *)((const char *)second + offset);
        if (second->at > times[0] && second->at <= times[1] && isfinite(value))
            values[count++] = value;
    }
    return ssreport_mean_of(values, count, 0.95);
}

/* Seconds with more idle time weigh more in the share. A second without idle time has no shares. */
static struct ssreport_idle_state add_up(
    const struct ssreport_idle *idle, const double times[2], size_t state) {
    double idle_time = 0, in_state = 0, all = 0;
    for (size_t i = 0; i < idle->count; i++) {
        const struct ssreport_idle_second *second = &idle->seconds[i];
        double part = 1 - second->active, share = part > 0 ? second->shares[state] : 0;
        if (!(second->at > times[0] && second->at <= times[1]) || !isfinite(part * share))
            continue;
        idle_time += part;
        in_state += part * share;
        all++;
    }
    return (struct ssreport_idle_state){
        .residency = in_state / all, .share = idle_time > 0 ? in_state / idle_time : NAN};
}

int ssreport_idle_between(const struct ssreport_idle *idle, double from, double to,
    struct ssreport_residency *residency) {
    const double times[] = {from, to};
    double *values = calloc(idle->count + 1, sizeof *values);
    if (!values)
        return -1;
    residency->active = mean_of(idle, times, offsetof(struct ssreport_idle_second, active), values);
    residency->frequency =
        mean_of(idle, times, offsetof(struct ssreport_idle_second, frequency), values);
    for (size_t i = 0; i < idle->state_count; i++) {
        size_t offset = offsetof(struct ssreport_idle_second, shares) + i * sizeof(double);
        residency->states[i] = add_up(idle, times, i);
        residency->states[i].share_deviation = mean_of(idle, times, offset, values).deviation;
    }
    free(values);
    return 0;
}
