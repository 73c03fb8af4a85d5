/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "output.h"

#define PLAIN_SECONDS 10

void ss_progress_open(struct ss_progress *progress, int when, bool quiet, ss_time total) {
    bool terminal = isatty(STDERR_FILENO);
    *progress = (struct ss_progress){
        .shown = when == SS_PROGRESS_ALWAYS || (when == SS_PROGRESS_AUTO && terminal && !quiet),
        .terminal = terminal,
        .total = total,
    };
}

static void remember(struct ss_progress *progress, double target, double load) {
    if (progress->count == SS_PROGRESS_HISTORY) {
        progress->count--;
        memmove(progress->loads, progress->loads + 1,
            sizeof *progress->loads * (size_t)progress->count);
        memmove(progress->targets, progress->targets + 1,
            sizeof *progress->targets * (size_t)progress->count);
    }
    progress->loads[progress->count] = load;
    progress->targets[progress->count++] = target;
}

/* Eight heights of a block for the load; a sample without a target is faint. */
static void draw(char *to, const struct ss_progress *progress) {
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    *to = '\0';
    for (int i = 0; i < progress->count; i++) {
        int height = (int)(progress->loads[i] * 8);
        const char *block = blocks[height < 0 ? 0 : height > 7 ? 7 : height];
        if (isnan(progress->targets[i]))
            to += sprintf(to, "\033[2m%s\033[0m", block);
        else
            to += sprintf(to, "%s", block);
    }
}

static void print_value(char *to, size_t size, const char *name, double value) {
    if (isnan(value))
        snprintf(to, size, "%s     -  ", name);
    else
        snprintf(to, size, "%s %5.1f %%", name, 100 * value);
}

void ss_progress_show(
    struct ss_progress *progress, double elapsed, double target, double load, double duty) {
    if (!progress->shown || !ss_output_has_room(STDERR_FILENO))
        return;
    char times[64];
    char target_text[32];
    char load_text[32];
    char duty_text[32];
    if (elapsed < 0)
        snprintf(times, sizeof times, "warm-up");
    else if (progress->total == SS_TIME_NEVER)
        snprintf(times, sizeof times, "%.0f s", elapsed);
    else
        snprintf(times, sizeof times, "%.0f/%.0f s", elapsed, ss_time_seconds(progress->total));
    print_value(target_text, sizeof target_text, "target", target);
    print_value(load_text, sizeof load_text, "load", load);
    print_value(duty_text, sizeof duty_text, "duty", duty);
    if (progress->terminal) {
        char drawing[SS_PROGRESS_HISTORY * 16];
        remember(progress, target, load);
        draw(drawing, progress);
        fprintf(
            stderr, "\r\033[K%s %s %s %s %s", times, target_text, load_text, duty_text, drawing);
        progress->drawn = true;
        return;
    }
    if (elapsed < progress->next_plain)
        return;
    progress->next_plain = (floor(elapsed / PLAIN_SECONDS) + 1) * PLAIN_SECONDS;
    fprintf(stderr, "showstopper: %s, %s, %s, %s\n", times, target_text, load_text, duty_text);
}

void ss_progress_hide(struct ss_progress *progress) {
    if (progress->drawn)
        fprintf(stderr, "\r\033[K");
    progress->drawn = false;
}
