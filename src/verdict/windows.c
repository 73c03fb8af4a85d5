/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict/windows.h"

#include <math.h>
#include <string.h>

#define FIRST_WIDTH SS_MILLISECOND

/* Widens the cells until `end` is in one of them. */
static void make_room(struct ss_windows *windows, ss_time end) {
    if (windows->width == 0)
        windows->width = FIRST_WIDTH;
    while ((end - windows->from) / windows->width >= SS_WINDOWS_CELLS) {
        for (size_t i = 0; i < SS_WINDOWS_CELLS / 2; i++)
            windows->cells[i] = windows->cells[2 * i] + windows->cells[2 * i + 1];
        memset(windows->cells + SS_WINDOWS_CELLS / 2, 0, sizeof windows->cells / 2);
        windows->width *= 2;
    }
}

void ss_windows_add(struct ss_windows *windows, ss_time start, ss_time end, double amount) {
    if (windows->from == SS_TIME_NEVER || end < windows->from)
        return;

    make_room(windows, end);
    if (windows->reach < end - windows->from)
        windows->reach = end - windows->from;
    if (start >= end) {
        windows->cells[(end - windows->from) / windows->width] += amount;
        return;
    }

    double per_time = amount / (double)(end - start);
    ss_time at = start > windows->from ? start : windows->from;
    while (at < end) {
        size_t cell = (at - windows->from) / windows->width;
        ss_time edge = windows->from + (cell + 1) * windows->width;
        ss_time to = edge < end ? edge : end;
        windows->cells[cell] += (double)(to - at) * per_time;
        at = to;
    }
}

/* A position in the cells, which only moves forward. */
struct cursor {
    const struct ss_windows *windows;
    double end;  /* the number of cells with amounts, including a part of the last one */
    size_t done; /* number of cells that have been added up */
    double sum;  /* the sum of these cells */
};

/* Returns the amount in the first `cells` cells. */
static double sum_up_to(struct cursor *cursor, double cells) {
    const double *amounts = cursor->windows->cells;
    while ((double)cursor->done + 1 <= cells && cursor->done < SS_WINDOWS_CELLS)
        cursor->sum += amounts[cursor->done++];
    if (cursor->done == SS_WINDOWS_CELLS || cells >= cursor->end)
        return cursor->done == SS_WINDOWS_CELLS ? cursor->sum : cursor->sum + amounts[cursor->done];
    double width = fmin(1, cursor->end - (double)cursor->done);
    return cursor->sum + amounts[cursor->done] * (cells - (double)cursor->done) / width;
}

void ss_windows_split(
    const struct ss_windows *windows, ss_time to, size_t count, double amounts[]) {
    struct cursor cursor = {.windows = windows};
    double before = 0, cells = 0;

    if (windows->width > 0 && windows->from < to) {
        cells = (double)(to - windows->from) / (double)windows->width;
        cursor.end = fmax(cells, (double)windows->reach / (double)windows->width);
    }

    for (size_t i = 0; i < count; i++) {
        double now = i + 1 < count ? cells * (double)(i + 1) / (double)count : cells;
        double sum = cells > 0 ? sum_up_to(&cursor, now) : 0;
        amounts[i] = sum - before;
        before = sum;
    }
}
