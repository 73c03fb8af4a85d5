/* SPDX-License-Identifier: Apache-2.0 */
#include "duet_turns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/owned.h"
#include "csv.h"
#include "sequential.h"
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

static double answers_of(const struct duet_requests *requests, const struct duet_part *part) {
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
        return answers_of(requests, part);
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

/* Returns the first iteration that does not start before a time. */
static size_t find_start(const struct ssreport_iteration *sorted, size_t count, double time) {
    return ssreport_find_from(
        sorted, count, sizeof *sorted, offsetof(struct ssreport_iteration, start), time);
}

double duet_turn_throughput(
    const struct ssreport_iteration *sorted, size_t count, double from, double to) {
    double seconds = 0;
    size_t ended = 0;
    for (size_t i = find_start(sorted, count, from); i < count && sorted[i].start <= to; i++) {
        if (sorted[i].end > to)
            continue;
        seconds += sorted[i].end - sorted[i].start;
        ended++;
    }
    return seconds > 0 ? (double)ended / seconds : NAN;
}

static int compare_starts(const void *left, const void *right) {
    const struct ssreport_iteration *one = left, *other = right;
    return (one->start > other->start) - (one->start < other->start);
}

/* Returns the iterations of a record by their starts; NULL if memory is exhausted. */
static struct ssreport_iteration *sort_iterations(const struct ssreport_record *record) {
    size_t count = record->iteration_count;
    struct ssreport_iteration *sorted = calloc(count + 1, sizeof *sorted);
    if (sorted && count > 0) {
        memcpy(sorted, record->iterations, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, compare_starts);
    }
    return sorted;
}

/*
 * Compares two records. `late` is the start of their clocks in seconds, on the clock of the turns.
 */
static size_t compare(const struct duet_turns *turns,
    const struct ssreport_record *const records[2], double late, double *differences) {
    double figures[DUET_TURNS_MAX];
    SS_OWNED(free) struct ssreport_iteration *first = sort_iterations(records[0]);
    SS_OWNED(free) struct ssreport_iteration *second = sort_iterations(records[1]);
    if (!first || !second)
        return DUET_NO_MEMORY;
    for (size_t i = 0; i < turns->count; i++) {
        double from = turns->begin + (double)i * turns->length - late;
        figures[i] = duet_turn_throughput(i % 2 == 0 ? first : second,
            records[i % 2]->iteration_count, from + DUET_SWITCH, from + turns->length);
    }
    return stats_turn_differences(figures, turns->count, differences);
}

size_t duet_turns_compare(const struct duet_turns *turns, const struct ssreport_record *first,
    const struct ssreport_record *second, double *differences) {
    return compare(turns, (const struct ssreport_record *[]){first, second}, 0, differences);
}

size_t duet_turns_compare_beside(const struct duet_turns *turns,
    const struct ssreport_record *first, const struct ssreport_record *beside,
    double *differences) {
    return compare(turns, (const struct ssreport_record *[]){beside, beside},
        beside->wall - first->wall, differences);
}

/* Part of a turn whose requests do not count. */
#define TAIL (1.0 / 6)

size_t duet_turns_compare_services(const struct duet_turns *turns,
    const struct duet_requests requests[2], const char *figure, double *differences) {
    double figures[DUET_TURNS_MAX];
    for (size_t i = 0; i < turns->count; i++) {
        double begin = turns->begin + (double)i * turns->length - requests[i % 2].late;
        double end = begin + turns->length;
        figures[i] = duet_requests_figure(&requests[i % 2], figure,
            &(struct duet_part){.from = begin + DUET_SWITCH,
                .last = end - fmax(DUET_SWITCH, TAIL * turns->length),
                .to = end});
    }
    return stats_turn_differences(figures, turns->count, differences);
}
