/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/units.h"
#include "plot_columns.h"
#include "screen/window.h"
#include "text.h"

static char *print(const struct sstrace_columns *columns, int rows, bool unicode) {
    sstrace_plot_print(text_begin(), columns, rows, unicode);
    return text_end();
}

/* Counts characters, not bytes. */
static size_t width_of(const char *line, size_t length) {
    size_t width = 0;
    for (size_t i = 0; i < length; i++)
        width += ((unsigned char)line[i] & 0xc0) != 0x80;
    return width;
}

/* Returns the number of lines; fails if a line is too wide or ends with a blank. */
static int check_lines(const char *text, size_t width) {
    int lines = 0;
    for (const char *line = text; *line; line = strchr(line, '\n') + 1, lines++) {
        size_t length = strcspn(line, "\n");
        assert_that(line[length], ==, '\n');
        assert_that(length, >, 0);
        assert_that(line[length - 1], !=, ' ');
        if (width_of(line, length) > width)
            fail_msg("wider than %zu:\n%s", width, text);
    }
    return lines;
}

/* Checks the axis: times increase, and each label is under its tick and apart from its neighbor. */
static void check_axis(const char *text, ss_time length, size_t count) {
    const char *axis = strstr(text, "  0%+") + 5;
    char labels[1200];
    snprintf(labels, sizeof labels, "%s", strchr(axis, '\n') + 1);
    labels[strcspn(labels, "\n")] = '\0';
    const char *tick = axis - 1;
    ss_time before = 0;
    size_t marks = 0, edge = 0;
    for (const char *at = labels + strspn(labels, " "); *at; at += strspn(at, " "), marks++) {
        char label[32] = "";
        snprintf(label, strcspn(at, " ") + 1, "%s", at);
        ss_time time;
        assert_int_equal(ss_units_time(label, &time, NULL), 0);
        tick = strchr(tick + 1, '+');
        assert_non_null(tick);
        double column = (double)time / (double)length * (double)count;
        assert_near(fmin(column - 0.5, (double)count - 1), (double)(tick - axis), 0.51);
        size_t from = (size_t)(at - labels), middle = 5 + (size_t)(tick - axis);
        assert_true(marks == 0 ? time == 0 : time > before);
        assert_that(from, >=, edge + 2);
        at += strlen(label);
        edge = (size_t)(at - labels);
        assert_that(from, <=, middle);
        assert_that(middle, <, edge);
        before = time;
    }
    if (marks < 2 || marks > 11)
        fail_msg("%zu marks in %llu ns:\n%s", marks, (unsigned long long)length, text);
    assert_true(strcspn(tick + 1, "+\n") == strcspn(tick + 1, "\n"));
}

TEST(plot_lines_fit_the_window_for_any_trace_length) {
    static const size_t counts[] = {15, 20, 35, 75, 195, 995};
    for (double length = 2; length < 1.8e19; length *= 1.37) {
        for (size_t i = 0; i < 6; i++) {
            OWNED_COLUMNS columns = begin((ss_time)length, counts[i]);
            add(&columns, 0, 1);
            add(&columns, (ss_time)length, 0);
            end(&columns);
            char *text = print(&columns, 8, true);
            int lines = check_lines(text, counts[i] + 5);
            assert_true(lines == 10 || lines == 11);
            text = print(&columns, 8, false);
            assert_int_equal(check_lines(text, counts[i] + 5), lines);
            check_axis(text, (ss_time)length, counts[i]);
        }
    }
}

TEST(plot_works_with_fewer_than_15_columns) {
    for (size_t count = 1; count < 15; count++) {
        OWNED_COLUMNS columns = make("0 free\n1d 1/2\n213503d 1\n", 213503 * DAY, count);
        char *text = print(&columns, 2, true);
        assert_int_equal(check_lines(text, count + 5 < 11 ? 11 : count + 5), 5);
    }
}

TEST(locale_variables_select_unicode_plots) {
    static const struct {
        const char *all, *type, *language;
        bool unicode;
    } cases[] = {
        {NULL, NULL, NULL, false},
        {NULL, NULL, "de_DE.UTF-8", true},
        {NULL, NULL, "de_DE.utf8", true},
        {NULL, NULL, "de_DE", false},
        {NULL, "C", "de_DE.UTF-8", false},
        {"C", "C.UTF-8", "de_DE.UTF-8", false},
        {"", "", "C.UTF-8", true},
        {"C.utf8", "C", "C", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *values[] = {cases[i].all, cases[i].type, cases[i].language};
        static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
        for (size_t j = 0; j < 3; j++)
            assert_int_equal(values[j] ? setenv(names[j], values[j], 1) : unsetenv(names[j]), 0);
        assert_that(ss_screen_is_unicode(), ==, cases[i].unicode);
    }
}

/* Checks the size of a drawing if standard output is `output`. */
static void assert_fit(int output, size_t columns, int rows) {
    fflush(stdout);
    int saved = dup(STDOUT_FILENO);
    dup2(output, STDOUT_FILENO);
    size_t count;
    int height;
    sstrace_plot_fit(&count, &height);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    assert_int_equal(count, columns);
    assert_int_equal(height, rows);
}

TEST(plot_size_follows_columns_and_lines) {
    int file = open("/dev/null", O_WRONLY | O_CLOEXEC);
    unsetenv("COLUMNS");
    unsetenv("LINES");
    assert_fit(file, 75, 20);
    setenv("COLUMNS", "20", 1);
    setenv("LINES", "15", 1);
    assert_fit(file, 15, 8);
    setenv("LINES", "11", 1);
    assert_fit(file, 15, 6);
    setenv("COLUMNS", "3", 1);
    setenv("LINES", "1", 1);
    assert_fit(file, 1, 2);
    setenv("COLUMNS", "many", 1);
    setenv("LINES", "0", 1);
    assert_fit(file, 75, 20);
    setenv("COLUMNS", "99999999999", 1);
    setenv("LINES", "99999999999", 1);
    assert_fit(file, SSTRACE_COLUMNS_MAX - 5, 20);
    close(file);
}

TEST(terminal_size_overrides_columns_and_lines) {
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        SKIP("terminal: cannot open a pseudo-terminal");
    int terminal = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_that(terminal, >=, 0);
    setenv("COLUMNS", "33", 1);
    setenv("LINES", "11", 1);
    assert_fit(terminal, 28, 6);
    struct winsize size = {.ws_col = 100, .ws_row = 20};
    assert_int_equal(ioctl(terminal, TIOCSWINSZ, &size), 0);
    assert_fit(terminal, 95, 16);
    close(terminal);
    close(master);
}

UNIT_RUN
