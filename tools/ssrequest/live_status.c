/* SPDX-License-Identifier: Apache-2.0 */
#include "live_status.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <showstopper/contract.h>

#include "base/streams.h"
#include "screen/window.h"
#include "show.h"

/* Rows are truncated at the width of the window, because a wrapped row would take two. */
struct drawing {
    char *to, *end;
    int width, rows;
};

SS_FORMAT(2, 3)
static void add_row(struct drawing *drawing, const char *format, ...) {
    char row[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(row, sizeof row, format, arguments);
    va_end(arguments);

    int length = snprintf(drawing->to, (size_t)(drawing->end - drawing->to), "%s%.*s",
        drawing->rows ? "\n" : "", drawing->width, row);
    if (length < 0 || length >= drawing->end - drawing->to)
        return;

    drawing->to += length;
    drawing->rows++;
}

static void add_rates(struct drawing *drawing, const struct ssrequest_status_values *values) {
    const struct request_second *second = values->second;
    double length = ss_time_seconds(second->end - second->begin);
    char total[48] = "", goal[128];
    if (values->total != SS_TIME_NEVER)
        snprintf(
            total, sizeof total, " of %s", request_show_time(ss_time_seconds(values->total)).text);

    if (values->clients)
        snprintf(goal, sizeof goal, "closed loop of %s", request_show_count(values->clients).text);
    else if (!isnan(second->load))
        snprintf(
            goal, sizeof goal, "load %.1f of %.1f %%", 100 * second->load, 100 * second->target);
    else
        snprintf(goal, sizeof goal, "rate %s/s", request_show_number(second->rate).text);

    add_row(drawing, "%s%s: %s, sent %s/s, succeeded %s/s, failed %s/s",
        request_show_time(ss_time_seconds(second->end)).text, total, goal,
        request_show_number((double)second->sent / length).text,
        request_show_number((double)second->completed / length).text,
        request_show_number((double)second->failed / length).text);
}

static void add_times(struct drawing *drawing, const char *name,
    const struct request_second *second, enum request_origin origin) {
    add_row(drawing, "%s: mean %s, 50 %% %s, 95 %% %s, 99 %% %s", name,
        request_show_time(second->mean[origin]).text,
        request_show_time(second->median[origin]).text, request_show_time(second->p95[origin]).text,
        request_show_time(second->p99[origin]).text);
}

int ssrequest_status_print(
    char *buffer, size_t size, const struct ssrequest_status_values *values, int width) {
    const struct request_tally *tally = values->tally;
    struct drawing drawing = {.to = buffer, .end = buffer + size, .width = width};

    *buffer = '\0';
    add_rates(&drawing, values);
    add_times(&drawing, "from when due ", values->second, REQUEST_INTENDED);
    add_times(&drawing, "from when sent", values->second, REQUEST_ACTUAL);
    add_row(&drawing, "unfinished %s of %s, waiting %s; total: dropped %s, failed %s of %s",
        request_show_count(tally->unfinished).text, request_show_count(values->cap).text,
        request_show_count(tally->waiting).text, request_show_count(tally->refused).text,
        request_show_count(request_tally_failed(tally)).text, request_show_count(tally->sent).text);

    return drawing.rows;
}

void ssrequest_status_open(struct ssrequest_status *status, bool quiet) {
    *status = (struct ssrequest_status){.shown = !quiet && ss_screen_has_cursor(STDERR_FILENO)};
}

/* Adds the escape sequences that move to the start of the status and clear everything after it. */
static char *put_removal(char *to, char *end, int rows) {
    if (rows > 1)
        to += snprintf(to, (size_t)(end - to), "\033[%dA", rows - 1);
    return to + snprintf(to, (size_t)(end - to), "\r\033[J");
}

static bool write_out(const char *text, size_t length) {
    return ss_streams_has_room(STDERR_FILENO) &&
           write(STDERR_FILENO, text, length) == (ssize_t)length;
}

void ssrequest_status_draw(
    struct ssrequest_status *status, const struct ssrequest_status_values *values) {
    char text[SSREQUEST_STATUS_SIZE + 64], *to = text, *end = text + sizeof text;
    int columns, height;

    if (!status->shown)
        return;
    ss_screen_size(STDERR_FILENO, &columns, &height);
    if (height <= SSREQUEST_STATUS_ROWS)
        return;

    to = put_removal(to, end, status->rows);
    /* Keep the last column free: some terminals move to the next row after writing it. */
    int rows = ssrequest_status_print(to, (size_t)(end - to), values, columns - 1);
    if (write_out(text, strlen(text)))
        status->rows = rows;
}

void ssrequest_status_close(struct ssrequest_status *status) {
    char text[64];
    if (status->shown && status->rows > 0)
        write_out(text, (size_t)(put_removal(text, text + sizeof text, status->rows) - text));
    *status = (struct ssrequest_status){0};
}
