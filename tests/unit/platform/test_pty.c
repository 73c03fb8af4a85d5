/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "platform/platform.h"
#include "unit.h"

#define NO_TERMINAL "terminal: cannot open a pseudo-terminal"

static int find_free_descriptor(void) {
    int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_that(file, >=, 0);
    close(file);
    return file;
}

TEST(pseudo_terminal_is_raw) {
    int ours, theirs;
    char text[4] = "";
    SKIP_UNLESS(ss_platform_pty_open(&ours, &theirs) == 0, NO_TERMINAL);
    assert_true(isatty(theirs));
    /* A cooked terminal would turn the end of the line into two characters. */
    assert_int_equal(write(theirs, "a\n", 2), 2);
    assert_int_equal(read(ours, text, sizeof text), 2);
    assert_string_equal(text, "a\n");
    close(ours);
    close(theirs);
}

TEST(failure_to_open_the_other_end_leaves_nothing_open) {
    int ours, theirs, next = find_free_descriptor();
    struct rlimit before, one;
    SKIP_UNLESS(ss_platform_pty_open(&ours, &theirs) == 0, NO_TERMINAL);
    close(ours);
    close(theirs);
    ours = theirs = 7;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    one = before;
    one.rlim_cur = (rlim_t)next + 1;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &one), 0);
    int why = ss_platform_pty_open(&ours, &theirs);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(why, -EMFILE);
    assert_int_equal(ours, -1);
    assert_int_equal(theirs, -1);
    assert_int_equal(find_free_descriptor(), next);
}

UNIT_RUN
