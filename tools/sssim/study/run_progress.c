/* SPDX-License-Identifier: Apache-2.0 */
#include "run_progress.h"

#include <math.h>
#include <unistd.h>

#include "platform/platform.h"

/* Shorter simulations show no progress. */
#define QUICK SS_SECOND

#define BETWEEN_DRAWINGS (250 * SS_MILLISECOND)

/*
 * Number of events between readings of the real clock, each of which costs as much as several
 * events.
 */
#define EVENTS_BETWEEN_LOOKS 4096

void progress_open(struct progress *progress, size_t runs) {
    *progress = (struct progress){
        .stream = isatty(STDERR_FILENO) ? stderr : NULL, .runs = runs, .begin = ss_platform_now()};
}

void progress_note(struct progress *progress, double part, ss_time now) {
    ss_time spent = ss_time_since(now, progress->begin);
    if (!progress->stream || spent < QUICK ||
        (progress->drawn > 0 && ss_time_since(now, progress->drawn) < BETWEEN_DRAWINGS))
        return;
    double all = ((double)progress->done + part) / (double)progress->runs;
    fputs("\r\033[Ksssim: ", progress->stream);
    if (progress->runs > 1)
        fprintf(progress->stream, "run %zu of %zu, ", progress->done + 1, progress->runs);
    fprintf(progress->stream, "%.0f %%", floor(100 * all));
    if (all > 0)
        fprintf(progress->stream, ", about %.0f s left", ss_time_seconds(spent) * (1 - all) / all);
    fflush(progress->stream);
    progress->drawn = now;
}

void progress_clear(struct progress *progress) {
    if (progress->drawn > 0)
        fputs("\r\033[K", progress->stream);
    progress->drawn = 0;
}

int progress_advance(
    struct progress *progress, struct trial *trial, ss_time length, struct ss_error *error) {
    ss_time begin = trial->now, end = ss_time_add(begin, length);
    unsigned events = 0;
    while (trial_next(trial) <= end) {
        if (trial_wake(trial, error) < 0)
            return -1;
        if (progress->stream && ++events % EVENTS_BETWEEN_LOOKS == 0)
            progress_note(progress, ss_time_seconds(trial->now - begin) / ss_time_seconds(length),
                ss_platform_now());
    }
    return trial_finish(trial, end, error);
}
