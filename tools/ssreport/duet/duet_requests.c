/* SPDX-License-Identifier: Apache-2.0 */
#include "duet_requests.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/owned.h"
#include "csv.h"
#include "statistics.h"

enum { DUE, FINISHED, OUTCOME };

static bool take_request(void *context, const struct sstrace_field *fields) {
    struct duet_requests *requests = context;
    struct duet_request request = {.success = sstrace_field_is(&fields[OUTCOME], "success")};
    if (!ssreport_csv_number(&fields[DUE], &request.due) ||
        !sstrace_field_number(&fields[FINISHED], false, &request.finished) ||
        !SS_GROW(requests->items, requests->count + 1, requests->room))
        return false;
    requests->items[requests->count++] = request;
    return true;
}

static int compare_due(const void *left, const void *right) {
    const struct duet_request *one = left, *other = right;
    return (one->due > other->due) - (one->due < other->due);
}

static int compare_times(const void *left, const void *right) {
    const double *one = left, *other = right;
    return (*one > *other) - (*one < *other);
}

/* Sorts answers by time, because a request that was due long before may be answered in a turn. */
static int list_answers(struct duet_requests *requests) {
    requests->answers = calloc(requests->count + 1, sizeof *requests->answers);
    if (!requests->answers)
        return -1;
    for (size_t i = 0; i < requests->count; i++) {
        if (requests->items[i].success && !isnan(requests->items[i].finished))
            requests->answers[requests->answered++] = requests->items[i].finished;
    }
    qsort(requests->answers, requests->answered, sizeof *requests->answers, compare_times);
    return 0;
}

int duet_requests_read(struct duet_requests *requests, const char *record,
    struct ssreport_notes *notes, struct ss_error *error) {
    static const char *const columns[] = {"due_seconds", "finished_seconds", "outcome", NULL};
    char path[4200];
    const struct ssreport_csv csv = {
        .name = path, .columns = columns, .take = take_request, .context = requests};
    snprintf(path, sizeof path, "%.4000s.each.csv", record);
    *requests = (struct duet_requests){0};
    int result = ssreport_csv_read(NULL, &csv, notes, error);
    if (requests->count > 0)
        qsort(requests->items, requests->count, sizeof *requests->items, compare_due);
    if (result == 0 && list_answers(requests) < 0)
        return ss_error_memory(error);
    return result;
}

void duet_requests_free(struct duet_requests *requests) {
    free(requests->items);
    free(requests->answers);
    *requests = (struct duet_requests){0};
}

/* Returns the first answer that is not before a time. */
static size_t find_answer(const struct duet_requests *requests, double time) {
    return ssreport_find_from(
        requests->answers, requests->answered, sizeof *requests->answers, 0, time);
}

static double throughput_of(const struct duet_requests *requests, const struct duet_part *part) {
    size_t first = find_answer(requests, part->from), last = find_answer(requests, part->to);
    size_t count = last > first ? last - first : 0;
    return count > 0 ? (double)count / (part->to - part->from) : NAN;
}

/* Returns the mean, or with `share` the quantile, of response times; sorts them. */
static double response_of(double *times, size_t count, double share) {
    double sum = 0;
    if (isfinite(share))
        return count >= DUET_ANSWERS_MIN ? ssreport_quantile_of(times, count, share) : NAN;
    for (size_t i = 0; i < count; i++)
        sum += times[i];
    return count > 0 ? sum / (double)count : NAN;
}

/* Returns the first request that is not due before a time. */
static size_t find_due(const struct duet_requests *requests, double time) {
    return ssreport_find_from(requests->items, requests->count, sizeof *requests->items,
        offsetof(struct duet_request, due), time);
}

double duet_requests_figure(
    const struct duet_requests *requests, const char *figure, const struct duet_part *part) {
    double share = *figure == 'p' ? strtod(figure + 1, NULL) / 100 : NAN;
    size_t answered = 0;
    if (strcmp(figure, "throughput") == 0)
        return throughput_of(requests, part);
    size_t first = find_due(requests, part->from), last = find_due(requests, part->last);
    size_t due = last > first ? last - first : 0;
    SS_OWNED(free) double *times = calloc(due + 1, sizeof *times);
    if (!times)
        return NAN;
    for (size_t i = first; i < first + due; i++) {
        const struct duet_request *request = &requests->items[i];
        if (request->success && request->finished < part->to)
            times[answered++] = request->finished - request->due;
    }
    if ((double)answered < DUET_SUCCESS_MIN * (double)due)
        return NAN;
    return response_of(times, answered, share);
}
