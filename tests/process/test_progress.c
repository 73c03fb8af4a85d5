/* SPDX-License-Identifier: Apache-2.0 */

/* The live block at a terminal. */

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "command/cli.h"
#include "isolated.h"
#include "process.h"
#include "run.h"
#include "screen.h"
#include "screen/progress.h"
#include "terminal.h"

#define CTRL_S "\023"

#define DRAWING "\033[1;"  /* once in each drawing: sets the scroll region */
#define DRAWN   "\0338"    /* at the end of each drawing */
#define WIPED   "\033[r"   /* once in each removal */
#define BLOCK   "60 s ago" /* only in the block */

/* A window that the summary with all warnings fits into. */
#define AT_WINDOW "stty cols 80 rows 40; export TERM=xterm LC_ALL=C.UTF-8; "
#define SPIN      "-n 1 -l 50% -c fixed payload spin"

static struct terminal *start(const char *line) {
    const char *script = run_format(AT_WINDOW "%s", line);
    return terminal_open(WORDS("sh", "-c", script));
}

static size_t drawings(const struct terminal *terminal) {
    return run_count_text(&terminal->run->out, DRAWING);
}

/*
 * Ends the run by a signal that leaves nothing on the screen, once this text and two drawings are
 * there.
 */
static void interrupt_after(struct terminal *terminal, const char *text, size_t times) {
    struct run *run = terminal->run;
    RUN_UNTIL(
        run, run->ended || (run_count_text(&run->out, text) >= times && drawings(terminal) >= 2));
    run_end(run, SIGINT);
}

static const char *last_drawing(const struct terminal *terminal) {
    const char *last = terminal->run->out.bytes;
    for (const char *at = last; (at = strstr(at, DRAWING)); at++)
        last = at;
    return last;
}

/* Returns whether there are at least `count` drawings and the last one is complete. */
static bool has_drawings(const struct terminal *terminal, size_t count) {
    return drawings(terminal) >= count && strstr(last_drawing(terminal), DRAWN);
}

/* Waits for whole drawings, because keys that a test types during one would appear within it. */
static void wait_drawings(struct terminal *terminal, size_t more) {
    size_t count = drawings(terminal) + more;
    RUN_UNTIL(terminal->run, has_drawings(terminal, count));
}

/* The block is complete and at the bottom; only the rows above it scroll. */
static void expect_block(const struct screen *screen) {
    int first = screen->bottom + 1;
    EXPECT(screen->height > first, "%d rows, block from row %d", screen->height, first);
    EXPECT(screen->row <= screen->bottom, "row %d is below %d", screen->row, screen->bottom);
    EXPECT(strchr(screen->rows[first], '%'), "%s", screen->rows[first]);
    if (screen->height - first < 3)
        return;
    EXPECT(strncmp(screen->rows[first + 1], "100%?", 5) == 0, "%s", screen->rows[first + 1]);
    const char *last = screen->rows[screen->height - 1];
    EXPECT(strncmp(last, "  0%?60 s", 9) == 0 || screen->height < 12, "%s", last);
}

static void expect_no_block(const struct screen *screen) {
    char *text = screen_text(screen, screen->height);
    ck_assert_int_eq(screen->top, 0);
    ck_assert_int_eq(screen->bottom, screen->height - 1);
    ck_assert_msg(!strstr(text, "60 s") && !strstr(text, "100%") && !strchr(text, '?') &&
                      !strstr(text, "load "),
        "%s", text);
    free(text);
}

/* The summary alone is on the screen from this row on, and the cursor in the row after it. */
static void expect_summary(const struct terminal *terminal, int row) {
    struct screen screen = screen_of(terminal->run->out.bytes);
    char *rest = strdup(strstr(terminal->run->out.bytes, "showstopper: 1 instance"));
    char *line;
    ck_assert_ptr_nonnull(strstr(rest, "late wake-up"));
    for (; row < screen.row && (line = strsep(&rest, "\n")); row++) {
        line[strcspn(line, "\r")] = '\0';
        const char *padded = run_format("%-*s", SCREEN_COLUMNS, line);
        ck_assert_str_eq(screen.rows[row], padded);
    }
    ck_assert(row == screen.row && rest && !*rest);
    ck_assert_int_eq(screen.column, 0);
    ck_assert(!screen_has(&screen, BLOCK));
    ck_assert_int_eq(screen.bottom, screen.height - 1);
}

/* Returns the screen after the drawing with this number, counted from 1. */
static struct screen screen_after_drawing(const struct terminal *terminal, size_t number) {
    const char *at = terminal->run->out.bytes;
    for (; number > 0; number--) {
        at = strstr(at, DRAWING);
        at = at ? strstr(at, DRAWN) : NULL;
        ck_assert_ptr_nonnull(at);
    }
    char *bytes =
        strndup(terminal->run->out.bytes, (size_t)(at - terminal->run->out.bytes) + strlen(DRAWN));
    struct screen screen = screen_of(bytes);
    free(bytes);
    return screen;
}

static struct terminal *show_run(int seconds) {
    const char *line = run_format("exec showstopper --duration %ds %s", seconds, SPIN);
    struct terminal *terminal = start(line);
    run_succeed(terminal->run);
    return terminal;
}

TEST_CASE(block_appears_and_disappears) {
    int seconds = 3;
    struct terminal *terminal = show_run(seconds);
    /* A busy machine may draw less often than each second. */
    for (; drawings(terminal) < 3 && seconds < 48; terminal = show_run(seconds)) {
        terminal_free(terminal);
        seconds *= 4;
    }
    ck_assert_uint_ge(drawings(terminal), 3);
    struct screen screen = screen_after_drawing(terminal, 2);
    const char *clock = run_format("/%d s  target  50.0 %%  load ", seconds);
    ck_assert(screen.row < 2); /* the cursor stays above the block */
    ck_assert(screen_has(&screen, clock));
    expect_block(&screen);
    expect_summary(terminal, 0);
}

/* A terminal that cannot move its cursor gets plain lines. */
TEST_CASE(environment_and_options_select_the_view) {
    static const struct {
        const char *before, *after, *has[2], *lacks[3];
    } rows[] = {
        {"LC_ALL=C NO_COLOR=1", "", {DRAWING, "60 s"}, {"\033[0", "└"}},
        {"NO_COLOR=", "", {"\033[0;32m", "└"}, {"\033[2J"}},
        {"TERM=dumb", "", {"target  50.0 %  load", "%"}, {"\033", "└"}},
        {"quiet=-q", "", {"", ""}, {"\033", BLOCK, " s  target"}},
        {"quiet='--progress never'", "", {"", ""}, {"\033", BLOCK, " s  target"}},
        {"quiet=", "2>&1 | cat", {"", ""}, {"\033", BLOCK, " s  target"}},
        {"quiet=", "2>/dev/null", {"", ""}, {"\033", BLOCK, " s  target"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct terminal *terminal = NULL;
        /* If the machine was too busy to draw in this time, a longer one. */
        for (int seconds = 3; !terminal; seconds *= 4) {
            const char *line = run_format("%s; export LC_ALL NO_COLOR TERM;"
                                          "showstopper $quiet --duration %ds %s %s",
                rows[i].before, seconds, SPIN, rows[i].after);
            terminal = start(line);
            run_succeed(terminal->run);
            if (seconds < 48 && !strstr(terminal->run->out.bytes, rows[i].has[0])) {
                terminal_free(terminal);
                terminal = NULL;
            }
        }
        const char *bytes = terminal->run->out.bytes;
        for (int k = 0; k < 2; k++)
            ck_assert_msg(strstr(bytes, rows[i].has[k]) != NULL, "row %zu: %s", i, bytes);
        for (int k = 0; k < 3 && rows[i].lacks[k]; k++)
            ck_assert_msg(!strstr(bytes, rows[i].lacks[k]), "row %zu: %s", i, bytes);
        terminal_free(terminal);
    }
}

/* Output of instances appears above the block, which is not drawn again for each line. */
TEST_CASE(forwarded_output_is_intact_with_few_redraws) {
    double begin = run_now();
    struct terminal *terminal =
        start("exec showstopper --iteration done -n 1 -l 100% -c fixed payload lines 100000 100");
    interrupt_after(terminal, "done 12.5 ms\r\n", 8);
    ck_assert_double_le((double)drawings(terminal), 4 * (run_now() - begin) + 2);
    struct screen screen = screen_of(terminal->run->out.bytes);
    int row = screen_find(&screen, 0, "showstopper: 1 instance");
    ck_assert_int_ge(row, 1);
    expect_summary(terminal, row);
    for (int i = 0; i < row; i++) {
        const char *line = run_format("%-*s", SCREEN_COLUMNS, "done 12.5 ms");
        ck_assert_str_eq(screen.rows[i], line);
    }
}

/* Moves `at` beyond all consecutive copies of this line. Returns their number. */
static size_t skip_lines(const char **at, const char *line) {
    size_t count = 0;
    for (; strncmp(*at, line, strlen(line)) == 0; count++)
        *at += strlen(line);
    return count;
}

/* Instances write more to the terminal than a window can show. */
TEST_CASE(direct_output_scrolls_above_the_block) {
    struct terminal *terminal =
        start("exec showstopper -n 1 -l 100% -c fixed payload lines 100000 20");
    RUN_UNTIL(terminal->run, run_count_text(&terminal->run->out, "done 12.5 ms\r\n") > 60);
    wait_drawings(terminal, 2);
    struct screen screen = screen_of(terminal->run->out.bytes);
    expect_block(&screen);
    for (int row = 0; row < screen.bottom; row++)
        ck_assert_int_eq(screen_find(&screen, row, "done 12.5 ms     "), row);
    size_t lines = run_count_text(&terminal->run->out, "done 12.5 ms\r\n");
    terminal_type(terminal, TERMINAL_CTRL_C);
    run_expect(run_wait(terminal->run), -SIGINT);
    screen = screen_of(terminal->run->out.bytes);
    char *text = screen_text(&screen, screen.height);
    const char *at = text;
    ck_assert_uint_ge(skip_lines(&at, "done 12.5 ms\n"), lines);
    ck_assert_msg(strncmp(at, "^C", 2) == 0, "%s", at);
    at += 2;
    /* The instance may print once more before it ends, also after the master has begun a line. */
    if (skip_lines(&at, "done 12.5 ms\n") == 0 && *at == '\n')
        at++;
    skip_lines(&at, "done 12.5 ms\n");
    ck_assert_msg(strncmp(at, "showstopper: ", 13) == 0, "%s", text);
    ck_assert(!screen_has(&screen, BLOCK));
}

/* A terminal with its settings, and the screen as a program without a block would leave it. */
struct stage {
    int keyboard;
    struct screen shown;
    struct screen alone;
    struct ss_progress progress;
    _Atomic uint32_t view;
    ss_time now;
    unsigned long long state;
};

static unsigned draw_number(struct stage *stage, unsigned below) {
    stage->state = stage->state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(stage->state >> 33) % below;
}

static void set_size(struct stage *stage, int height, int width) {
    struct winsize size = {.ws_row = (unsigned short)height, .ws_col = (unsigned short)width};
    ck_assert_int_eq(ioctl(stage->keyboard, TIOCSWINSZ, &size), 0);
}

static void open_stage(struct stage *stage, int height, int width) {
    *stage = (struct stage){.state = 1, .now = 1000 * SS_SECOND};
    stage->shown = screen_new(height, width);
    stage->alone = screen_new(height, width);
    char path[TERMINAL_PATH];
    stage->keyboard = terminal_make(path);
    int line = open(path, O_RDWR | O_NOCTTY);
    ck_assert_int_ge(line, 0);
    dup2(line, STDERR_FILENO);
    close(line);
    set_size(stage, height, width);
    setenv("TERM", "xterm", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    ss_progress_open(&stage->progress, SS_PROGRESS_ALWAYS, false, 30 * SS_SECOND, &stage->view);
    ck_assert(stage->progress.has_cursor);
}

static void see(struct stage *stage) {
    char bytes[65536];
    size_t kept = 0; /* bytes of a control code whose end was not read yet */
    ssize_t length;
    while ((length = read(stage->keyboard, bytes + kept, sizeof bytes - 1 - kept)) > 0) {
        bytes[kept + (size_t)length] = '\0';
        const char *rest = screen_write(&stage->shown, bytes);
        kept = strlen(rest);
        memmove(bytes, rest, kept);
    }
    EXPECT(kept == 0, "an incomplete control code: ESC %.*s", (int)kept - 1, bytes + 1);
}

static void print(struct stage *stage, const char *text) {
    see(stage);
    EXPECT(write(STDERR_FILENO, text, strlen(text)) == (ssize_t)strlen(text), "cannot write");
    for (size_t length; *text; text += length) { /* according to the terminal's settings */
        length = strcspn(text, "\n");
        const char *part = run_format("%.*s%s", (int)length, text, text[length] ? "\r\n" : "");
        screen_write(&stage->alone, part);
        length += text[length] == '\n';
    }
    see(stage);
}

static void show(struct stage *stage, ss_time later) {
    struct ss_progress_values values = {.elapsed = 12.9,
        .target = (double)draw_number(stage, 101) / 100,
        .load = (double)draw_number(stage, 101) / 100,
        .error = 0.2,
        .duty = 0.5};
    stage->now = ss_time_add(stage->now, later);
    ss_progress_update(&stage->progress, stage->now, &values);
    ss_progress_draw_due(&stage->progress, stage->now);
    see(stage);
}

/* The program's output is where it would be without the block, and the block is below. */
static void expect_both(const struct stage *stage) {
    char *shown = screen_text(&stage->shown, stage->shown.bottom + 1);
    char *alone = screen_text(&stage->alone, stage->alone.height);
    EXPECT(strcmp(shown, alone) == 0, "%s\ninstead of\n%s", shown, alone);
    EXPECT(stage->shown.column == stage->alone.column, "column %d instead of %d",
        stage->shown.column, stage->alone.column);
    free(shown);
    free(alone);
    if (stage->progress.rows > 0)
        expect_block(&stage->shown);
}

static void print_something(struct stage *stage, int number) {
    static const char *const pieces[] = {"half a li", "ne\n", "\r42 %", "\rdone\n", "\n\n",
        "\033[41mred\033[m\n", "\033[7mstill inverse ",
        ("a line that is longer than the window has columns, so that its end stands below its "
         "begin\n")};
    unsigned which = draw_number(stage, 2 * sizeof pieces / sizeof *pieces);
    const char *line = run_format("iteration %d\n", number);
    print(stage, which < sizeof pieces / sizeof *pieces ? pieces[which] : line);
}

TEST_CASE(redraws_do_not_damage_concurrent_output) {
    struct stage stage;
    open_stage(&stage, SCREEN_ROWS, SCREEN_COLUMNS);
    for (int i = 0; i < 3000; i++) {
        if (draw_number(&stage, 4) == 0)
            show(&stage, draw_number(&stage, 2) * SS_PROGRESS_INTERVAL);
        else
            print_something(&stage, i);
        if (draw_number(&stage, 100) == 0)
            ss_progress_hide(&stage.progress);
        see(&stage);
        expect_both(&stage);
    }
    show(&stage, SS_SECOND);
    expect_block(&stage.shown);
    ck_assert_uint_eq(stage.view, 6);
    print(&stage, "\n");
    ss_progress_finish(&stage.progress);
    see(&stage);
    expect_both(&stage);
    expect_no_block(&stage.shown);
    ck_assert_uint_eq(stage.view, 0);
}

/* Resizes the window many times, each time from the previous state. */
static void resize_often(bool rewrap) {
    static const int heights[] = {24, 12, 30, 8, 24, 40, 3, 2, 24, 5};
    static const int widths[] = {80, 40, 100, 60, 30, 120, 15, 10, 70, 33};
    struct stage stage;
    open_stage(&stage, SCREEN_ROWS, SCREEN_COLUMNS);
    for (int round = 0; round < 300; round++) {
        for (unsigned lines = draw_number(&stage, 5); lines > 0; lines--) {
            const char *line = run_format("l%d\n", round);
            print(&stage, line);
        }
        show(&stage, SS_SECOND);
        if (stage.progress.rows > 0)
            expect_block(&stage.shown);
        unsigned size = draw_number(&stage, sizeof heights / sizeof *heights);
        int width = widths[draw_number(&stage, sizeof widths / sizeof *widths)];
        /* A block that wraps into more rows than the window has would scroll off at the top. */
        if (rewrap && width < stage.shown.width / 2)
            width = stage.shown.width / 2;
        set_size(&stage, heights[size], width);
        struct winsize now;
        ioctl(stage.keyboard, TIOCGWINSZ, &now);
        stage.shown = screen_resize(&stage.shown, now.ws_row, now.ws_col, rewrap);
        ss_progress_resize(&stage.progress);
        ss_progress_draw_due(&stage.progress, stage.now);
        see(&stage);
        ck_assert_int_eq(stage.progress.rows > 0, now.ws_row > 2);
        char *text = screen_text(&stage.shown, stage.shown.bottom + 1);
        ck_assert_msg(strspn(text, "l0123456789\n") == strlen(text), "%s", text);
        free(text);
    }
    ss_progress_finish(&stage.progress);
    see(&stage);
    expect_no_block(&stage.shown);
}

TEST_CASE(block_is_erased_if_the_terminal_cuts_or_wraps_long_lines) {
    resize_often(false);
    resize_often(true);
}

/* Output may arrive in two parts, and only the second one erases the block. */
static void expect_released(struct terminal *terminal) {
    struct screen screen;
    RUN_UNTIL_WITHIN(RUN_CLEAN_PATIENCE, terminal->run,
        (screen = screen_of(terminal->run->out.bytes),
            screen.bottom == screen.height - 1 && !screen_has(&screen, BLOCK)));
}

static void kill_and_expect_no_block(const char *line, void (*strike)(struct run *run)) {
    struct terminal *terminal = start(line);
    wait_drawings(terminal, 2);
    strike(terminal->run);
    expect_released(terminal);
    run_find(terminal->run, "sleep");
    terminal_type(terminal, TERMINAL_CTRL_C);
    run_wait(terminal->run);
    run_expect_nothing_left();
    terminal_free(terminal);
}

static void kill_showstopper(struct run *run) {
    kill(run_find(run, "showstopper"), SIGKILL);
}

static void kill_first(struct run *run) {
    kill(run_find(run, "ss-init"), SIGKILL);
}

/* Stops all processes that could remove the block before the master dies. */
static void kill_master(struct run *run) {
    pid_t first = run_find(run, "ss-init");
    pid_t master = isolated_showstopper(run, true);
    pid_t outer = isolated_showstopper(run, false);
    kill(outer, SIGSTOP); /* it would continue the first process */
    RUN_UNTIL(run, run_state(outer) == 'T');
    kill(first, SIGSTOP);
    kill(master, SIGSTOP);
    RUN_UNTIL(run, run_state(first) == 'T' && run_state(master) == 'T');
    kill(run_find(run, "ss-guardian"), SIGKILL);
    kill(run_find(run, "ss-executor"), SIGKILL);
    kill(master, SIGKILL);
    kill(first, SIGCONT);
    kill(outer, SIGCONT);
}

TEST_CASE(a_killed_run_leaves_no_block) {
    kill_and_expect_no_block("showstopper " SPIN "; sleep 1000", kill_showstopper);
    SKIP_UNLESS_ISOLATED();
    kill_and_expect_no_block("showstopper --isolate " SPIN "; sleep 1000", kill_first);
    kill_and_expect_no_block("showstopper --isolate " SPIN "; sleep 1000", kill_master);
}

static void resize(struct terminal *terminal, unsigned short rows, unsigned short columns) {
    struct winsize size = {.ws_row = rows, .ws_col = columns};
    ck_assert_int_eq(ioctl(terminal->line, TIOCSWINSZ, &size), 0);
    run_look(terminal->run);
    wait_drawings(terminal, 2); /* one may have begun before */
    ck_assert_uint_ge(run_count_text(&terminal->run->out, WIPED), 1);
}

TEST_CASE(block_adapts_to_the_window_size) {
    struct terminal *terminal = start("exec showstopper " SPIN);
    wait_drawings(terminal, 1);
    resize(terminal, 24, 200);
    size_t wide = strlen(last_drawing(terminal));
    resize(terminal, 24, 40);
    ck_assert_uint_lt(strlen(last_drawing(terminal)), wide);
    ck_assert_ptr_nonnull(strstr(last_drawing(terminal), "load "));
    resize(terminal, 3, 15);
    ck_assert_ptr_null(strstr(last_drawing(terminal), "│"));
    terminal_type(terminal, TERMINAL_CTRL_C);
    run_expect(run_wait(terminal->run), -SIGINT);
}

TEST_CASE(block_disappears_during_the_grace_period) {
    struct terminal *terminal =
        start("exec showstopper --grace 30s -n 1 -l 50% -c fixed payload ignore-term");
    terminal_wait_ready(terminal, 1);
    wait_drawings(terminal, 2);
    terminal_type(terminal, TERMINAL_CTRL_C);
    terminal_wait(terminal, "^C");
    struct screen screen;
    RUN_UNTIL(
        terminal->run, (screen = screen_of(terminal->run->out.bytes), !screen_has(&screen, BLOCK)));
    run_let_pass(terminal->run, 0.5); /* a second signal earlier would count as the first */
    ck_assert(!terminal->run->ended);
    terminal_type(terminal, TERMINAL_CTRL_C);
    run_expect(run_wait(terminal->run), -SIGINT);
    screen = screen_of(terminal->run->out.bytes);
    int row = screen_find(&screen, 0, "^C   ");
    ck_assert_int_eq(screen_find(&screen, row + 1, "^C   "), row + 1);
    expect_summary(terminal, row + 2);
}

TEST_CASE(messages_start_on_a_new_line_after_partial_output) {
    const char *drawn = run_new_path("drawn");
    const char *line =
        run_format("exec showstopper -v -n 1 -l 50%% -c fixed "
                   "sh -c 'until [ -e %s ]; do sleep 0.02; done; printf half; exec payload spin'",
            drawn);
    struct terminal *terminal = start(line);
    wait_drawings(terminal, 1);
    run_write_file(drawn, "");
    terminal_wait(terminal, "half");
    wait_drawings(terminal, 2);
    SUCCEED("--set", run_pid_text(terminal->run->pid), "70%");
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
    ck_assert_int_ge(screen_find(&screen, row, "showstopper: instance 0 ended"), 0);
    ck_assert(!screen_has(&screen, BLOCK));
}

/*
 * The block is erased at the stop, not drawn in the background, and drawn again in the foreground.
 */
TEST_CASE(fg_draws_the_block_again) {
    struct terminal *terminal = terminal_open_shell();
    terminal_command(terminal, AT_WINDOW "set +m; set -m");
    terminal_start_run(terminal, "-v -n 2 -l 50% -c fixed payload spin");
    wait_drawings(terminal, 2);
    terminal_stop_run(terminal);
    size_t count = drawings(terminal);
    const char *last = last_drawing(terminal);
    const char *wiped = strstr(last, WIPED);
    ck_assert(wiped && wiped < strstr(last, "Stopped"));
    terminal_command(terminal, "bg");
    run_let_pass(terminal->run, 1.5);
    ck_assert_uint_eq(drawings(terminal), count);
    terminal_type(terminal, "fg\n");
    wait_drawings(terminal, 2);
    terminal_type(terminal, TERMINAL_CTRL_C);
    terminal_wait_prompt(terminal);
    terminal_leave_shell(terminal);
}

TEST_CASE(ctrl_s_does_not_stop_the_run) {
    bool typed = false;
    /* On a busy machine, a short run may end before the test has seen a drawing. */
    for (int seconds = 2; !typed; seconds *= 4) {
        ck_assert_int_le(seconds, 32);
        const char *line =
            run_format("exec showstopper -q --progress always --duration %ds %s", seconds, SPIN);
        struct terminal *terminal = start(line);
        RUN_UNTIL(terminal->run, terminal->run->ended || has_drawings(terminal, 1));
        typed = !terminal->run->ended;
        if (typed)
            terminal_type(terminal, CTRL_S);
        run_succeed(terminal->run);
        expect_released(terminal);
        terminal_free(terminal);
    }
}

static char unread_name[TERMINAL_PATH]; /* prepare() has no argument */
static int unread_reader;
static int unread_line;

static void use_unread(void) {
    int line = open(unread_name, O_RDWR | O_NOCTTY);
    if (line < 0 || dup2(line, STDERR_FILENO) < 0)
        _exit(99);
    setenv("TERM", "xterm", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
}

static bool unread_has_room(void) {
    struct pollfd room = {.fd = unread_line, .events = POLLOUT};
    return poll(&room, 1, 0) > 0;
}

static bool has_text(void) {
    struct pollfd text = {.fd = unread_reader, .events = POLLIN};
    return poll(&text, 1, 0) > 0;
}

/* Opens a terminal that is full and is not read. */
static void open_unread(void) {
    static char text[4096];
    struct winsize size = {.ws_row = SCREEN_ROWS, .ws_col = SCREEN_COLUMNS};
    unread_reader = terminal_make(unread_name);
    unread_line = open(unread_name, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    ck_assert(unread_line >= 0 && ioctl(unread_line, TIOCSWINSZ, &size) == 0);
    memset(text, '\r', sizeof text);
    /* There is room again when the kernel has moved some of the text to the reader's end. */
    for (double full = run_now(); !has_text() || run_now() < full + 0.2; run_nap(NULL)) {
        while (write(unread_line, text, sizeof text) > 0)
            full = run_now();
    }
}

static bool make_some_room(void) {
    char text[256];
    return read(unread_reader, text, sizeof text) > 0 && unread_has_room();
}

/* Starts a run whose live view is at this terminal. */
#define START_UNREAD(...)                                                                          \
    run_start(&(struct run_setup){.prepare = use_unread},                                          \
        WORDS(SHOWSTOPPER, "-n", "1", "-l", "50%", "-c", "fixed", "--progress", "always",          \
            __VA_ARGS__, PAYLOAD, "spin"))

/* The terminal has room for some drawings, and for a part of the next one. */
TEST_CASE(a_run_ends_as_planned_at_a_terminal_that_is_not_read) {
    open_unread();
    RUN_UNTIL(NULL, make_some_room());
    run_succeed(START_UNREAD("-q", "--duration", "5s"));
}

TEST_CASE(a_signal_ends_a_run_at_a_terminal_that_is_not_read) {
    open_unread();
    RUN_UNTIL(NULL, make_some_room());
    struct run *run = START_UNREAD("-q");
    RUN_UNTIL(run, !unread_has_room());
    run_let_pass(run, 1); /* several drawings are due */
    run_end(run, SIGTERM);
}

/* Waits until the instances have ended, which is not before `from`. */
static void wait_for_summary(struct run *run, double from) {
    pid_t pids[RUN_PIDS_MAX];
    RUN_UNTIL(run, run->ended || (run_now() > from && run_named("payload", pids) == 0));
}

/* The first signals may still end the run itself. */
TEST_CASE(a_signal_ends_a_summary_at_a_terminal_that_is_not_read) {
    open_unread();
    double begin = run_now();
    struct run *run = START_UNREAD("--duration", "1s");
    wait_for_summary(run, begin + 1);
    RUN_UNTIL(run, run->ended || kill(run->pid, SIGTERM) < 0);
    run_expect(run, -SIGTERM);
}

static struct screen read_screen(void) {
    static char bytes[1 << 20];
    static size_t length;
    ssize_t got;
    while ((got = read(unread_reader, bytes + length, sizeof bytes - 1 - length)) > 0)
        length += (size_t)got;
    return screen_of(bytes);
}

/* The part without room is written later, whole and in order. */
TEST_CASE(a_terminal_that_is_read_late_shows_the_summary_alone) {
    struct screen screen;
    open_unread();
    RUN_UNTIL(NULL, make_some_room());
    double begin = run_now();
    struct run *run = START_UNREAD("--duration", "5s");
    wait_for_summary(run, begin + 5);
    RUN_UNTIL(run, (screen = read_screen(), run->ended));
    run_expect(run, 0);
    /* The kernel moves the last bytes after the end. */
    RUN_UNTIL(
        NULL, (screen = read_screen(), screen_find(&screen, 0, "showstopper: 1 instance") >= 0 &&
                                           screen.bottom == screen.height - 1));
    ck_assert(!screen_has(&screen, BLOCK));
}
