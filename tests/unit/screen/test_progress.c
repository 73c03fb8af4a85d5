/* SPDX-License-Identifier: Apache-2.0 */

/* The screen is a socket, which keeps writes separate. */

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "command/cli.h"
#include "progress_values.h"
#include "screen/progress.h"
#include "unit.h"

/*
 * All rows scroll, a row is added at the bottom, the rows from there on are erased, and the cursor
 * returns.
 */
#define RELEASE "\0337\033[r\0338\033D\033[A\0337\033[m\r\n\033[J\0338"

static int screen;
static _Atomic uint32_t view;
static int saved_errors;
static struct ss_progress progress;

static int open_socket(void **state) {
    int pair[2];
    /* These variables would override the size of the screen. */
    unsetenv("COLUMNS");
    unsetenv("LINES");
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    saved_errors = dup(STDERR_FILENO);
    dup2(pair[1], STDERR_FILENO);
    close(pair[1]);
    screen = pair[0];
    ss_progress_open(&progress, SS_PROGRESS_ALWAYS, false, 30 * SS_SECOND, &view);
    assert_true(progress.shown);
    assert_false(progress.has_cursor);
    progress.has_cursor = true;
    return 0;
}

static int close_socket(void **state) {
    dup2(saved_errors, STDERR_FILENO);
    close(saved_errors);
    close(screen);
    return 0;
}

#define SOCKET_TEST(name) TEST_WITH(name, open_socket, close_socket)

static char packet[SS_PROGRESS_TEXT_SIZE];

/* Returns the next output, or NULL. */
static const char *receive(void) {
    ssize_t length = recv(screen, packet, sizeof packet - 1, MSG_DONTWAIT);
    if (length < 0)
        return NULL;
    packet[length] = '\0';
    return packet;
}

static bool is_drawing(const char *bytes) {
    return bytes && strstr(bytes, "\0337\033[m\033[1;") &&
           strcmp(bytes + strlen(bytes) - 2, "\0338") == 0;
}

#define AT(milliseconds) (1000 * SS_SECOND + (milliseconds)*SS_MILLISECOND)

SOCKET_TEST(block_is_drawn_at_most_four_times_a_second) {
    assert_that(ss_progress_due(&progress), ==, SS_TIME_NEVER);
    int drawings = 0;
    for (uint64_t i = 0; i < 2000; i++) {
        ss_progress_update(&progress, AT(i), &known);
        ss_progress_draw_due(&progress, AT(i));
        const char *bytes = receive();
        drawings += bytes != NULL;
        assert_true(!bytes || is_drawing(bytes));
        if (i % 7 == 0)
            ss_progress_hide(&progress);
        while (receive()) {
        }
    }
    assert_int_equal(drawings, 8);
}

/* The region is set again each time, but room is made only once. */
SOCKET_TEST(unchanged_rows_of_the_block_are_not_redrawn) {
    ss_progress_update(&progress, AT(0), &known);
    for (int i = 0; i < 3; i++) {
        assert_that(ss_progress_due(&progress), <=, AT(500 * i));
        ss_progress_draw_due(&progress, AT(500 * i));
        const char *bytes = receive();
        assert_true(is_drawing(bytes));
        assert_non_null(strstr(bytes, "\0337\033[m\033[1;18r\033[19;1H\033[K"));
        assert_int_equal(strncmp(bytes, "\033D", 2) == 0, i == 0);
        assert_int_equal(atomic_load(&view), 6);
        if (i < 2)
            ss_progress_update(&progress, AT(500 * (i + 1)), &known);
    }
    assert_that(ss_progress_due(&progress), ==, SS_TIME_NEVER);
    ss_progress_draw_due(&progress, AT(5000));
    assert_null(receive());
    ss_progress_hide(&progress);
    assert_string_equal(receive(), RELEASE);
    ss_progress_hide(&progress);
    assert_null(receive());
    assert_that(ss_progress_due(&progress), ==, AT(1250));
    ss_progress_draw_due(&progress, AT(1249));
    assert_null(receive());
    ss_progress_draw_due(&progress, AT(1250));
    assert_true(is_drawing(receive()));
}

/* The terminal has reset the scroll region, and the block may be anywhere below the cursor. */
SOCKET_TEST(resize_redraws_the_block_at_once) {
    ss_progress_resize(&progress);
    assert_that(ss_progress_due(&progress), ==, SS_TIME_NEVER); /* there is nothing to draw yet */
    ss_progress_update(&progress, AT(0), &known);
    ss_progress_draw_due(&progress, AT(0));
    assert_true(is_drawing(receive()));
    setenv("LINES", "30", 1);
    ss_progress_resize(&progress);
    assert_that(ss_progress_due(&progress), <=, AT(1));
    ss_progress_draw_due(&progress, AT(1));
    assert_string_equal(receive(), RELEASE);
    const char *bytes = receive();
    assert_true(is_drawing(bytes));
    assert_non_null(strstr(bytes, "\033[1;24r"));
    setenv("LINES", "2", 1); /* two rows must be left to scroll */
    ss_progress_resize(&progress);
    ss_progress_draw_due(&progress, AT(2));
    assert_string_equal(receive(), RELEASE);
    assert_null(receive());
    assert_int_equal(atomic_load(&view), 0);
    unsetenv("LINES");
}

/* A row of blanks moves the cursor to the beginning of a row, wherever it was. */
SOCKET_TEST(status_block_is_erased_at_the_end_and_not_redrawn) {
    char blanks[128];
    snprintf(blanks, sizeof blanks, "%80s\r", "");
    ss_progress_finish(&progress);
    assert_null(receive()); /* not drawn: no byte was written */
    progress.shown = true;
    ss_progress_update(&progress, AT(0), &known);
    ss_progress_draw_due(&progress, AT(0));
    assert_true(is_drawing(receive()));
    ss_progress_hide(&progress);
    assert_string_equal(receive(), RELEASE);
    ss_progress_draw_due(&progress, AT(250));
    assert_true(is_drawing(receive()));
    ss_progress_finish(&progress);
    assert_string_equal(receive(), RELEASE);
    assert_string_equal(receive(), blanks);
    ss_progress_update(&progress, AT(500), &known);
    ss_progress_draw_due(&progress, AT(5000));
    assert_null(receive());
}

/* The socket is full and not read. */
SOCKET_TEST(drawing_does_not_wait_for_a_stalled_reader) {
    progress.summary_follows = false;
    ss_progress_update(&progress, AT(0), &known);
    ss_progress_draw_due(&progress, AT(0));
    while (send(STDERR_FILENO, "x", 1, MSG_DONTWAIT) == 1) {
    }
    ss_progress_update(&progress, AT(500), &known);
    alarm(240);
    ss_progress_draw_due(&progress, AT(500));
    assert_that(ss_progress_due(&progress), ==, AT(750));
    ss_progress_hide(&progress);
    assert_that(progress.rows, >, 0);
    assert_that(atomic_load(&view), >, 0); /* the block still has to be removed */
    ss_progress_finish(&progress);
    ss_progress_close(&progress);
    alarm(0);
}

SOCKET_TEST(lost_sample_leaves_a_gap_in_the_chart) {
    ss_progress_update(&progress, 0, &known); /* before any sample */
    ss_progress_update(&progress, AT(500), &known);
    ss_progress_update(&progress, AT(500), &known);
    assert_int_equal(progress.history.count, 3);
    assert_true(isnan(progress.history.loads[0]) && isnan(progress.history.loads[2]));
    assert_that(progress.history.loads[1], ==, known.load);
    assert_true(isnan(progress.values.load));
    assert_that(progress.values.error, ==, known.error);
}

SOCKET_TEST(progress_is_plain_lines_without_a_terminal) {
    progress.has_cursor = false;
    int lines = 0;
    for (uint64_t i = 1; i <= 60; i++) {
        struct ss_progress_values values = known;
        values.elapsed = (double)i / 2;
        ss_progress_update(&progress, AT(500 * i), &values);
        assert_that(ss_progress_due(&progress), ==, SS_TIME_NEVER);
        const char *line = receive();
        lines += line != NULL;
        if (i == 20)
            assert_string_equal(line, "showstopper: 10/30 s  target  25.0 %  load  24.8 %  error  "
                                      "+0.21 %  duty  23.4 %    3.21 iterations/s\n");
        if (line)
            assert_true(i == 1 || i % 20 == 0);
    }
    assert_int_equal(lines, 4);
    ss_progress_finish(&progress);
    ss_progress_close(&progress);
    assert_null(receive());
}

UNIT_RUN
