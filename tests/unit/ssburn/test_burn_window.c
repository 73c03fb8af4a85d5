/* SPDX-License-Identifier: Apache-2.0 */

#include "unit.h"
#include "window.h"

#define BATCH_TIME (1 * SS_MILLISECOND)
#define BATCH_WORK 10 /* at full speed, 10000 rounds per second */

/*
 * Returns the rate of work that takes `length` of real time and runs for the first `duty` of each
 * round. The work begins `phase` after the beginning of a round, which must be within the part that
 * runs.
 */
static double rate_of(ss_time length, ss_time round, double duty, ss_time phase) {
    struct window window;
    ss_time now = phase, running = ss_time_from_double((double)round * duty);
    window_begin(&window, now);
    while (window_length(&window) < length) {
        ss_time left = BATCH_TIME;
        while (left > 0) {
            ss_time at = now % round, can = at < running ? running - at : 0;
            if (can == 0) {
                now += round - at;
            } else {
                ss_time step = can < left ? can : left;
                now += step;
                left -= step;
            }
        }
        window_add(&window, now, BATCH_WORK);
    }
    return window_rate(&window);
}

TEST(work_rate_without_stops_covers_the_whole_time) {
    assert_float_equal(rate_of(SS_SECOND / 2, SS_SECOND, 1, 0), 10000, 1e-6);
}

/*
 * Must hold for any phase at the start of the measurement; a plain quotient is off by up to a
 * tenth.
 */
TEST(rate_of_stopped_work_is_proportional_to_its_duty) {
    static const double duties[] = {0.25, 0.4, 0.5, 0.75};
    for (size_t i = 0; i < sizeof duties / sizeof *duties; i++) {
        ss_time round = 53 * SS_MILLISECOND;
        for (ss_time phase = 0; phase < ss_time_from_double((double)round * duties[i]);
             phase += 700 * SS_MICROSECOND) {
            double rate = rate_of(SS_SECOND / 2, round, duties[i], phase);
            if (fabs(rate / (10000 * duties[i]) - 1) > 0.01)
                fail_msg(
                    "duty %g, phase %llu: rate %g", duties[i], (unsigned long long)phase, rate);
        }
    }
}

/* Two disturbances in quick succession must not be mistaken for periodic stops. */
TEST(few_stops_do_not_shorten_the_rate_window) {
    struct window window;
    ss_time now = 0;
    window_begin(&window, now);
    for (int i = 0; i < 500; i++) {
        now += i == 100 || i == 102 ? 6 * BATCH_TIME : BATCH_TIME;
        window_add(&window, now, BATCH_WORK);
    }
    assert_float_equal(window_rate(&window), 5000 / 0.510, 1e-6);
}

UNIT_RUN
