/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "csv.h"
#include "measure/unfinished.h"
#include "record_tables.h"

/* The iterations of one instance. Times are in seconds. */
struct course {
    size_t count; /* iterations that ended in the counted time */
    double sum;   /* sum of their lengths */
    double last_end, last_length;
    bool begun, over;
    size_t gap_count; /* number of gaps before counted iterations */
    double gaps;      /* sum of the times from the end of one to the start of the next */
};

static struct course *sum_up(const struct ssreport_record *record, size_t count, double to) {
    struct course *courses = calloc(count, sizeof *courses);
    for (size_t i = 0; courses && i < record->iteration_count; i++) {
        const struct ssreport_iteration *iteration = &record->iterations[i];
        if (!(iteration->instance >= 0))
            continue;
        struct course *course = &courses[(size_t)iteration->instance];
        double gap = course->begun ? fmax(iteration->start - course->last_end, 0) : NAN;
        course->begun = true;
        course->last_end = iteration->end;
        course->last_length = iteration->end - iteration->start;
        if (iteration->end < record->counted_from || iteration->end > to)
            continue;
        course->count++;
        course->sum += iteration->end - iteration->start;
        if (isnan(gap))
            continue;
        course->gap_count++;
        course->gaps += gap;
    }
    for (size_t i = 0; courses && i < record->over_count; i++) {
        if (record->over[i] < (double)count)
            courses[(size_t)record->over[i]].over = true;
    }
    return courses;
}

static void add(
    struct ssreport_record *record, size_t instance, const struct course *course, double to) {
    /* Assume that the unfinished iteration began after the mean gap. */
    double gap = course->gap_count ? course->gaps / (double)course->gap_count : 0;
    struct ss_unfinished unfinished = {
        .elapsed = to - course->last_end - gap,
        .mean = course->count ? course->sum / (double)course->count : course->last_length,
        .deviation = NAN,
    };
    double length = ss_unfinished_length(&unfinished);
    if (!course->begun || course->over || !(unfinished.elapsed > 0) ||
        !SS_GROW(record->iterations, record->iteration_count + 1, record->iteration_capacity))
        return;
    double start = course->last_end + gap;
    record->iterations[record->iteration_count++] = (struct ssreport_iteration){
        .instance = (double)instance, .start = start, .end = start + length};
}

void ssreport_record_add_unfinished(struct ssreport_record *record) {
    double to = ssreport_record_counted_to(record);
    double most = -1;
    for (size_t i = 0; i < record->iteration_count; i++)
        most = fmax(most, record->iterations[i].instance);
    size_t count = (size_t)(most + 1);
    struct course *courses = count > 0 ? sum_up(record, count, to) : NULL;
    for (size_t i = 0; courses && i < count; i++)
        add(record, i, &courses[i], to);
    free(courses);
}
