/* SPDX-License-Identifier: Apache-2.0 */

/* The live block at a terminal. */

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "process.h"
#include "run.h"
#include "screen.h"
#include "terminal.h"

#define CTRL_S "\023"

#define DRAWING "\0337"                     /* what each drawing has once */
#define WIPED   DRAWING "\r\r\n\033[J\0338" /* with nothing in it; terminals add a \r */
#define BLOCK   "60 s ago"                  /* only the block says so */

/* At a window of 80 columns and 24 rows. */
#define AT_WINDOW "stty cols 80 rows 24; export TERM=xterm LC_ALL=C.UTF-8; "
#define SPIN      "-n 1 -l 50% -c fixed payload spin"

static struct terminal *start(const char *line) {
    char script[1024];
    snprintf(script, sizeof script, AT_WINDOW "%s", line);
    return terminal_open(WORDS("sh", "-c", script));
}

static size_t drawings(const struct terminal *terminal) {
    const struct run_text *out = &terminal->run->out;
    return run_count_text(out, DRAWING) - run_count_text(out, WIPED);
}

static void wait_drawings(struct terminal *terminal, size_t more) {
    size_t count = drawings(terminal) + more;
    RUN_UNTIL(terminal->run, drawings(terminal) >= count);
}

/* Nothing but the summary from this row on, and the cursor in the row behind it. */
static void expect_summary(const struct terminal *terminal, int row) {
    struct screen screen = screen_of(terminal->run->out.bytes);
    char *rest = strdup(strstr(terminal->run->out.bytes, "showstopper: 1 instance"));
    char *line;
    ck_assert_ptr_nonnull(strstr(rest, "late wake-up"));
    for (; row < screen.row && (line = strsep(&rest, "\n")); row++) {
        char padded[SCREEN_COLUMNS + 1];
        line[strcspn(line, "\r")] = '\0';
        snprintf(padded, sizeof padded, "%-*s", SCREEN_COLUMNS, line);
        ck_assert_str_eq(screen.rows[row], padded);
    }
    ck_assert(row == screen.row && rest && !*rest);
    ck_assert_int_eq(screen.column, 0);
    ck_assert(!screen_has(&screen, BLOCK));
}

START_TEST(block_appears_and_goes) {
    struct terminal *terminal = start("exec showstopper --duration 3s " SPIN);
    wait_drawings(terminal, 2);
    struct screen screen = screen_of(terminal->run->out.bytes);
    ck_assert(screen.row < 2); /* the cursor stays above */
    ck_assert(screen_has(&screen, "/3 s  target  50.0 %  load "));
    ck_assert(screen_has(&screen, "  0%?" BLOCK));
    run_expect(run_wait(terminal->run), 0);
    ck_assert_uint_ge(drawings(terminal), 3);
    expect_summary(terminal, 0);
    terminal_free(terminal);
}
END_TEST

START_TEST(letters_and_colours_are_what_the_terminal_has) {
    struct terminal *terminal = start("LC_ALL=C NO_COLOR=1 exec showstopper --duration 3s " SPIN);
    run_expect(run_wait(terminal->run), 0);
    ck_assert_uint_ge(drawings(terminal), 1);
    for (size_t i = 0; i < terminal->run->out.length; i++)
        ck_assert((unsigned char)terminal->run->out.bytes[i] < 0x80);
    ck_assert_uint_eq(run_count_text(&terminal->run->out, "\033[0"), 0);
    terminal_free(terminal);
    terminal = start("NO_COLOR= exec showstopper --duration 3s " SPIN);
    run_expect(run_wait(terminal->run), 0);
    run_expect_text(&terminal->run->out, "\033[0;32m");
    run_expect_text(&terminal->run->out, "└");
    terminal_free(terminal);
}
END_TEST

/* A terminal that cannot move its cursor is given plain lines. */
START_TEST(dumb_terminal_gets_lines) {
    struct terminal *terminal = start("TERM=dumb exec showstopper --duration 3s " SPIN);
    run_expect(run_wait(terminal->run), 0);
    ck_assert_ptr_null(strchr(terminal->run->out.bytes, '\033'));
    run_expect_text(&terminal->run->out, "target  50.0 %  load");
    terminal_free(terminal);
}
END_TEST

/* Output hides it all the time, and it comes back, but not for every line. */
START_TEST(output_is_kept_and_drawings_are_few) {
    struct terminal *terminal =
        start("exec showstopper --duration 3s --iteration done -n 1 -l 100% "
              "-c fixed payload lines 1000 100");
    wait_drawings(terminal, 1);
    double begin = run_now();
    size_t before = drawings(terminal);
    run_expect(run_wait(terminal->run), 0);
    ck_assert_uint_ge(drawings(terminal) - before, 2);
    ck_assert_double_le((double)(drawings(terminal) - before), 4 * (run_now() - begin) + 2);
    ck_assert_uint_ge(run_count_text(&terminal->run->out, "done 12.5 ms\r\n"), 8);
    struct screen screen = screen_of(terminal->run->out.bytes);
    int row = screen_find(&screen, 0, "showstopper: 1 instance");
    ck_assert_int_ge(row, 1);
    expect_summary(terminal, row);
    for (int i = 0; i < row; i++) {
        char line[SCREEN_COLUMNS + 1];
        snprintf(line, sizeof line, "%-*s", SCREEN_COLUMNS, "done 12.5 ms");
        ck_assert_str_eq(screen.rows[i], line);
    }
    terminal_free(terminal);
}
END_TEST

START_TEST(half_a_line_is_kept) {
    struct terminal *terminal = start("exec showstopper --duration 2s --iteration done -n 1 -l 50% "
                                      "-c fixed sh -c 'printf half; exec payload spin'");
    run_expect(run_wait(terminal->run), 0);
    ck_assert_uint_ge(drawings(terminal), 2);
    struct screen screen = screen_of(terminal->run->out.bytes);
    ck_assert_int_eq(screen_find(&screen, 0, "half     "), 0);
    expect_summary(terminal, 1);
    terminal_free(terminal);
}
END_TEST

/* What goes to the terminal past us. */
START_TEST(no_direct_output_is_lost) {
    struct terminal *terminal =
        start("exec showstopper --duration 4s -n 1 -l 100% -c fixed payload lines 100 700");
    run_expect(run_wait(terminal->run), 0);
    ck_assert_uint_ge(drawings(terminal), 3);
    struct screen screen = screen_of(terminal->run->out.bytes);
    size_t lines = run_count_text(&terminal->run->out, "done 12.5 ms");
    ck_assert_uint_ge(lines, 2);
    for (int row = -1; lines > 0; lines--) {
        row = screen_find(&screen, row + 1, "done 12.5 ms");
        ck_assert_int_ge(row, 0);
    }
    ck_assert(!screen_has(&screen, BLOCK));
    terminal_free(terminal);
}
END_TEST

static void resize(struct terminal *terminal, unsigned short rows, unsigned short columns) {
    struct winsize size = {.ws_row = rows, .ws_col = columns};
    ck_assert_int_eq(ioctl(terminal->line, TIOCSWINSZ, &size), 0);
    wait_drawings(terminal, 2); /* one may have been made before */
    RUN_UNTIL(terminal->run, strstr(terminal->run->out.bytes + terminal->run->out.length - 2,
                                 "\0338")); /* and the last one is whole */
}

static const char *last_drawing(const struct terminal *terminal) {
    const char *last = terminal->run->out.bytes;
    for (const char *at = last; (at = strstr(at, DRAWING)); at++)
        last = at;
    return last;
}

/* In columns; its first letter is the cursor's code. */
static size_t widest_row(const char *drawing) {
    size_t widest = 0;
    size_t columns = 0;
    for (const char *at = drawing + strlen(DRAWING); *at; at++) {
        if (*at == '\r')
            columns = 0;
        else if (*at == '\033' && at[1] == '[')
            at += 2 + strspn(at + 2, "0123456789;");
        else if (*at == '\033')
            at++;
        else if ((unsigned char)*at >= ' ' && ((unsigned char)*at >> 6) != 2)
            columns++;
        widest = columns > widest ? columns : widest;
    }
    return widest;
}

START_TEST(block_follows_the_window) {
    struct terminal *terminal = start("exec showstopper " SPIN);
    wait_drawings(terminal, 1);
    resize(terminal, 24, 200);
    ck_assert_uint_eq(widest_row(last_drawing(terminal)), 125);
    resize(terminal, 24, 40);
    ck_assert_uint_le(widest_row(last_drawing(terminal)), 40);
    ck_assert_ptr_nonnull(strstr(last_drawing(terminal), "load "));
    resize(terminal, 3, 15);
    ck_assert_uint_le(widest_row(last_drawing(terminal)), 15);
    ck_assert_ptr_null(strstr(last_drawing(terminal), "│"));
    terminal_type(terminal, TERMINAL_CTRL_C);
    run_expect(run_wait(terminal->run), -SIGINT);
    terminal_free(terminal);
}
END_TEST

START_TEST(nothing_where_nobody_wants_it) {
    static const char *const lines[] = {
        "showstopper -q --duration 1200m " SPIN,
        "showstopper --progress never --duration 1200m " SPIN,
        "showstopper --duration 1200m " SPIN " 2>&1 | cat",
        "showstopper --duration 1200m " SPIN " 2>/dev/null",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct terminal *terminal = start(lines[i]);
        run_expect(run_wait(terminal->run), 0);
        const char *bytes = terminal->run->out.bytes;
        ck_assert_msg(!strchr(bytes, '\033') && !strstr(bytes, BLOCK), "%s: %s", lines[i], bytes);
        ck_assert_msg(!strstr(bytes, " s  target"), "%s: %s", lines[i], bytes);
        terminal_free(terminal);
    }
}
END_TEST

START_TEST(ctrl_c_leaves_a_clean_line) {
    struct terminal *terminal = start("exec showstopper " SPIN);
    wait_drawings(terminal, 2);
    terminal_type(terminal, TERMINAL_CTRL_C);
    run_expect(run_wait(terminal->run), -SIGINT);
    struct screen screen = screen_of(terminal->run->out.bytes);
    ck_assert_int_eq(screen_find(&screen, 0, "^C   "), 0);
    expect_summary(terminal, 1);
    terminal_free(terminal);
}
END_TEST

/* While instances that are deaf are waited for there is nothing to be shown any more. */
START_TEST(block_goes_when_the_run_is_ending) {
    struct terminal *terminal =
        start("exec showstopper --grace 30s -n 1 -l 50% -c fixed payload ignore-term");
    wait_drawings(terminal, 2);
    terminal_type(terminal, TERMINAL_CTRL_C);
    terminal_wait(terminal, "^C");
    struct screen screen;
    RUN_UNTIL(
        terminal->run, (screen = screen_of(terminal->run->out.bytes), !screen_has(&screen, BLOCK)));
    double begin = run_now();
    RUN_UNTIL(terminal->run, run_now() > begin + 0.5); /* sooner it would be the same wish */
    ck_assert(!terminal->run->ended);
    terminal_type(terminal, TERMINAL_CTRL_C);
    run_expect(run_wait(terminal->run), -SIGINT);
    screen = screen_of(terminal->run->out.bytes);
    int row = screen_find(&screen, 0, "^C   ");
    ck_assert_int_eq(screen_find(&screen, row + 1, "^C   "), row + 1);
    expect_summary(terminal, row + 2);
    terminal_free(terminal);
}
END_TEST

START_TEST(lines_of_our_own_are_whole) {
    char number[32];
    struct terminal *terminal = start("exec showstopper -v -n 1 -l 50% -c fixed "
                                      "sh -c 'printf half; exec payload spin'");
    wait_drawings(terminal, 2);
    snprintf(number, sizeof number, "%d", (int)terminal->run->pid);
    run_expect(RUN("--set", number, "70%"), 0);
    terminal_wait(terminal, "was set to 70 %");
    wait_drawings(terminal, 1);
    struct screen screen = screen_of(terminal->run->out.bytes);
    int row = screen_find(&screen, 0, "half   ");
    ck_assert_int_ge(row, 0);
    ck_assert_int_eq(
        screen_find(&screen, 0, "showstopper: the target was set to 70 %      "), row + 1);
    ck_assert(screen_has(&screen, BLOCK));
    terminal_type(terminal, TERMINAL_CTRL_C);
    run_expect(run_wait(terminal->run), -SIGINT);
    screen = screen_of(terminal->run->out.bytes);
    ck_assert_int_ge(screen_find(&screen, row, "showstopper: instance 0 ended, as it"), 0);
    ck_assert(!screen_has(&screen, BLOCK));
    terminal_free(terminal);
}
END_TEST

/* Wiped before the stop, not drawn in the background, there again in the foreground. */
START_TEST(ctrl_z_and_fg) {
    struct terminal *terminal = terminal_open_shell();
    terminal_command(terminal, AT_WINDOW "set +m; set -m");
    terminal_start_run(terminal, "-v -n 2 -l 50% -c fixed payload spin");
    wait_drawings(terminal, 2);
    terminal_stop_run(terminal);
    size_t count = drawings(terminal);
    const char *last = strstr(terminal->run->out.bytes, DRAWING);
    ck_assert_ptr_nonnull(last);
    const char *wiped = strstr(last, WIPED);
    ck_assert(wiped && wiped < strstr(last, "Stopped"));
    terminal_command(terminal, "bg");
    double begin = run_now();
    RUN_UNTIL(terminal->run, run_now() > begin + 1.5);
    ck_assert_uint_eq(drawings(terminal), count);
    terminal_type(terminal, "fg\n");
    wait_drawings(terminal, 2);
    terminal_type(terminal, TERMINAL_CTRL_C);
    terminal_wait_prompt(terminal);
    terminal_leave_shell(terminal);
}
END_TEST

/* Ctrl-S: the run must go on, and end. */
START_TEST(stopped_terminal_stops_no_run) {
    struct terminal *terminal = start("exec showstopper -q --progress always --duration 2s " SPIN);
    wait_drawings(terminal, 1);
    terminal_type(terminal, CTRL_S);
    run_expect(run_wait(terminal->run), 0);
    terminal_free(terminal);
}
END_TEST

/* clang-format off */
PROCESS_MAIN(
    SS_CASE(block_appears_and_goes),
    SS_CASE(letters_and_colours_are_what_the_terminal_has),
    SS_CASE(dumb_terminal_gets_lines),
    SS_CASE(output_is_kept_and_drawings_are_few),
    SS_CASE(half_a_line_is_kept),
    SS_CASE(no_direct_output_is_lost),
    SS_CASE(block_follows_the_window),
    SS_CASE(nothing_where_nobody_wants_it),
    SS_CASE(ctrl_c_leaves_a_clean_line),
    SS_CASE(block_goes_when_the_run_is_ending),
    SS_CASE(lines_of_our_own_are_whole),
    SS_CASE(ctrl_z_and_fg),
    SS_CASE(stopped_terminal_stops_no_run))
/* clang-format on */
