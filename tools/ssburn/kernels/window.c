/* SPDX-License-Identifier: Apache-2.0 */
#include "window.h"

/* Pauses longer than this are stops: ticks and interrupts take less. */
#define STOP_MIN (2 * SS_MILLISECOND)

void window_begin(struct window *window, ss_time now) {
    *window = (struct window){.begin = {now, 0}, .now = {now, 0}};
}

void window_add(struct window *window, ss_time now, uint64_t rounds) {
    ss_time took = ss_time_since(now, window->now.when);
    if (window->min == 0 || took < window->min)
        window->min = took;
    window->now = (struct window_mark){now, window->now.done + rounds};
    if (took <= 2 * window->min + STOP_MIN)
        return;
    if (window->stops++ == 0)
        window->first = window->now;
    window->last = window->now;
}

ss_time window_length(const struct window *window) {
    return ss_time_since(window->now.when, window->begin.when);
}

double window_rate(const struct window *window) {
    struct window_mark from = window->begin, to = window->now;
    if (window->stops > 1 &&
        2 * ss_time_since(window->last.when, window->first.when) >= window_length(window)) {
        from = window->first;
        to = window->last;
    }
    return (double)(to.done - from.done) / ss_time_seconds(ss_time_since(to.when, from.when));
}
