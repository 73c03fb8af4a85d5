/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/terminal.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/*
 * Returns whether the run is in the foreground. Always false in a PID namespace of our own, where
 * the terminal reports no group; the process outside restores the terminal then.
 */
static bool is_in_foreground(const struct ss_terminal *terminal) {
    return terminal->file >= 0 && terminal->group > 0 &&
           tcgetpgrp(terminal->file) == terminal->group;
}

void ss_terminal_open(struct ss_terminal *terminal) {
    terminal->file = open("/dev/tty", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    terminal->group = getpgrp();
    terminal->ours =
        is_in_foreground(terminal) && tcgetattr(terminal->file, &terminal->settings) == 0;
}

static bool are_equal(const struct termios *one, const struct termios *other) {
    return one->c_iflag == other->c_iflag && one->c_oflag == other->c_oflag &&
           one->c_cflag == other->c_cflag && one->c_lflag == other->c_lflag &&
           memcmp(one->c_cc, other->c_cc, sizeof one->c_cc) == 0;
}

void ss_terminal_close(struct ss_terminal *terminal) {
    struct termios now;
    if (terminal->ours && is_in_foreground(terminal) && tcgetattr(terminal->file, &now) == 0 &&
        !are_equal(&now, &terminal->settings))
        tcsetattr(terminal->file, TCSANOW, &terminal->settings);
    ss_terminal_leave(terminal);
}

void ss_terminal_leave(struct ss_terminal *terminal) {
    if (terminal->file >= 0)
        close(terminal->file);
    terminal->file = -1;
}
