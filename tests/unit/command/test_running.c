/* SPDX-License-Identifier: Apache-2.0 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/running.h"
#include "loop/board.h"
#include "text.h"

#define NOW       (100 * SS_SECOND)
#define WALLCLOCK (INT64_C(1700000000) * 1000000000)

static struct ss_board *board;

static int open_board(void **state) {
    (void)state;
    board = ss_board_allocate(2, 0, false);
    board->master = 4711;
    ss_board_join(board, 0);
    ss_board_join(board, 1);
    return 0;
}

static int close_board(void **state) {
    (void)state;
    free(board);
    return 0;
}

static void expect_line(const char *expected) {
    ss_running_print_status(text_begin(), board, NOW, WALLCLOCK);
    assert_string_equal(text_end(), expected);
}

static void show_sample(double target, double load, double duty) {
    struct ss_board_sample sample = {target, load, duty};
    ss_notice_publish(&board->sample, &sample, SS_BOARD_SAMPLE_WORDS);
}

TEST_WITH(status_before_control_shows_only_the_load, open_board, close_board) {
    expect_line("showstopper 4711: starting, target unknown, load not measured yet, duty unknown, "
                "2 of 2 instances\n");
    atomic_store(&board->phase, SS_PHASE_RUNNING);
    atomic_store(&board->control_start, NOW + SS_SECOND);
    show_sample(NAN, 0.98765, NAN);
    expect_line("showstopper 4711: warming up, target none, load 98.77%, duty none, 2 of 2 "
                "instances\n");
}

TEST_WITH(status_during_control_shows_the_latest_sample, open_board, close_board) {
    atomic_store(&board->phase, SS_PHASE_RUNNING);
    atomic_store(&board->control_start, NOW - 90 * SS_SECOND);
    show_sample(0.5, 0.4, 0.3);
    show_sample(0.6, 0.598, 0.41);
    ss_board_leave(board, 1, SS_LIFE_ENDED);
    expect_line("showstopper 4711: controlled, target 60.00%, load 59.80%, duty 41.00%, 1 of 2 "
                "instances, since 2023-11-14T22:11:50.000Z (90 s)\n");
}

TEST_WITH(status_shows_a_target_set_by_the_user, open_board, close_board) {
    atomic_store(&board->phase, SS_PHASE_PAUSED);
    atomic_store(&board->control_start, NOW - 90 * SS_SECOND);
    atomic_store(&board->paused, 20 * SS_SECOND);
    atomic_store(&board->paused_since, NOW - 30 * SS_SECOND);
    atomic_store(&board->setpoint, ss_word_from_double(0.25));
    show_sample(0.6, 0.598, 0.41);
    expect_line("showstopper 4711: paused, target 25.00% (--set), load 59.80%, duty 41.00%, 2 of 2 "
                "instances, since 2023-11-14T22:11:50.000Z (40 s)\n");
}

static void expect_metrics(const char *expected) {
    ss_running_print_metrics(text_begin(), board, NOW);
    char *text = text_end(), *line = text;
    for (char *at = text; *at; at = strchr(at, '\n') + 1) {
        if (*at == '#')
            continue;
        size_t length = (size_t)(strchr(at, '\n') + 1 - at);
        memmove(line, at, length);
        line += length;
    }
    *line = '\0';
    assert_string_equal(text, expected);
}

TEST_WITH(metrics_of_a_starting_run_have_no_ratios, open_board, close_board) {
    ss_running_print_metrics(text_begin(), board, NOW);
    const char *text = text_end();
    assert_says(text, "\nshowstopper_state{pid=\"4711\",state=\"starting\"} 1\n");
    assert_null(strstr(text, "_ratio{"));
    assert_null(strstr(text, "_seconds{"));
}

TEST_WITH(metrics_show_the_target_in_force_and_each_instance, open_board, close_board) {
    atomic_store(&board->phase, SS_PHASE_RUNNING);
    atomic_store(&board->control_start, NOW - 90 * SS_SECOND);
    atomic_store(&board->setpoint, ss_word_from_double(0.25));
    show_sample(0.6, 0.598, 0.41);
    for (uint32_t i = 0; i < 2; i++) {
        atomic_store(&board->rows[i].publications, 7);
        atomic_store(&board->rows[i].local_duty, ss_word_from_double(0.5));
        atomic_store(&board->rows[i].switches, 40 + i);
    }
    ss_board_leave(board, 1, SS_LIFE_ENDED);
    expect_metrics("showstopper_target_ratio{pid=\"4711\"} 0.25\n"
                   "showstopper_load_ratio{pid=\"4711\"} 0.598\n"
                   "showstopper_duty_ratio{pid=\"4711\"} 0.41\n"
                   "showstopper_instances{pid=\"4711\"} 2\n"
                   "showstopper_alive_instances{pid=\"4711\"} 1\n"
                   "showstopper_controlled_seconds{pid=\"4711\"} 90\n"
                   "showstopper_state{pid=\"4711\",state=\"starting\"} 0\n"
                   "showstopper_state{pid=\"4711\",state=\"warming up\"} 0\n"
                   "showstopper_state{pid=\"4711\",state=\"controlled\"} 1\n"
                   "showstopper_state{pid=\"4711\",state=\"paused\"} 0\n"
                   "showstopper_state{pid=\"4711\",state=\"ending\"} 0\n"
                   "showstopper_instance_alive{pid=\"4711\",index=\"0\"} 1\n"
                   "showstopper_instance_alive{pid=\"4711\",index=\"1\"} 0\n"
                   "showstopper_instance_duty_ratio{pid=\"4711\",index=\"0\"} 0.5\n"
                   "showstopper_instance_switches_total{pid=\"4711\",index=\"0\"} 40\n"
                   "showstopper_instance_switches_total{pid=\"4711\",index=\"1\"} 41\n");
}

UNIT_RUN
