/* SPDX-License-Identifier: Apache-2.0 */
#include "sampled.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/walk.h"
#include "base/wallclock.h"
#include "platform/platform.h"

#define PERIOD SS_SECOND

static void end(int signal_number) {
    (void)signal_number;
    _exit(0);
}

/* Lets signals end the process at any time. No line is cut off, because each is a single write. */
static void end_on_signals(void) {
    const struct sigaction action = {.sa_handler = end};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
}

static void sleep_until(ss_time moment) {
    const struct timespec at = {
        .tv_sec = (time_t)(moment / SS_SECOND), .tv_nsec = (long)(moment % SS_SECOND)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
        continue;
}

/* Writes a line: the wall clock, the time since the start, and the cells of the source. */
static void print_sample(FILE *stream, const struct sample_source *source, int64_t wallclock,
    ss_time elapsed, ss_time since_last) {
    char stamp[64];
    ss_wallclock_print(stamp, sizeof stamp, wallclock);
    fprintf(stream, "%s,%llu.%06llu,", stamp, (unsigned long long)(elapsed / SS_SECOND),
        (unsigned long long)(elapsed % SS_SECOND / SS_MICROSECOND));
    source->print_sample(stream, source->source, since_last);
    fputc('\n', stream);
}

static void discard_first(const struct sample_source *source) {
    FILE *nowhere = fopen("/dev/null", "we");
    if (!nowhere)
        return;
    source->print_sample(nowhere, source->source, 0);
    fclose(nowhere);
}

ss_time sample_due(ss_time last, ss_time now) {
    return last + PERIOD * (1 + ss_time_since(now, last) / PERIOD);
}

int sample_loop(const struct sample_source *source, const char *path, struct ss_error *error) {
    struct ss_error why = {0};
    SS_OWNED(fclose) FILE *stream = ss_walk_stream(path, O_TRUNC, &why);
    if (!stream)
        return ss_error_fail(error, "--output: cannot write %s: %s", path, why.message);

    end_on_signals();
    puts("open");
    fflush(stdout);
    discard_first(source);

    fputs("time,elapsed_seconds,", stream);
    source->print_columns(stream, source->source);
    fputc('\n', stream);

    ss_time begin = ss_platform_now(), before = begin, due = begin;
    while (fflush(stream) == 0) {
        due = sample_due(due, ss_platform_now());
        sleep_until(due);
        ss_time now = ss_platform_now();
        print_sample(stream, source, ss_platform_wallclock(), now - begin, now - before);
        before = now;
    }

    return ss_error_set(error, 1, "--output: cannot write %s: %s", path, strerror(errno));
}
