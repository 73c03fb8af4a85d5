/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

void ssbatch_span_print(FILE *stream, ss_time time) {
    double seconds = ss_time_seconds(time);
    unsigned long long whole = (unsigned long long)(seconds + 0.5);
    if (whole < 60)
        fprintf(stream, "%.3g s", seconds);
    else if (whole < 3600)
        fprintf(stream, "%llu min %02llu s", whole / 60, whole % 60);
    else
        fprintf(stream, "%llu h %02llu min", whole / 3600, whole % 3600 / 60);
}

double ssbatch_progress_left(const struct ssbatch_progress *progress) {
    double factor = progress->planned > 0 ? progress->taken / progress->planned : 1;
    return progress->left * factor;
}

void ssbatch_progress_clear(struct ssbatch_progress *progress) {
    if (!progress->stream || !progress->shown)
        return;
    fputs("\r\033[K", progress->stream);
    fflush(progress->stream);
    progress->shown = false;
}

void ssbatch_progress_begin(struct ssbatch_progress *progress, const char *name) {
    progress->begun++;
    if (!progress->stream)
        return;
    ssbatch_progress_clear(progress);
    fprintf(progress->stream, "ssbatch: run %zu of %zu, %s; about ", progress->begun,
        progress->runs, name);
    ssbatch_span_print(
        progress->stream, SS_SECOND * (ss_time)(ssbatch_progress_left(progress) + 0.5));
    fputs(progress->rewrites ? " left" : " left\n", progress->stream);
    fflush(progress->stream);
    progress->shown = progress->rewrites;
}

void ssbatch_progress_end(struct ssbatch_progress *progress, double seconds, double taken) {
    progress->left -= seconds;
    if (taken > 0) {
        progress->planned += seconds;
        progress->taken += taken;
    }
}
