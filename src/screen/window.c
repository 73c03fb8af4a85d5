/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/window.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/streams.h"
#include "base/units.h"

#define WINDOW_SIZE_MAX 10000

bool ss_screen_is_unicode(void) {
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

static int read_size(const char *name, int fallback) {
    const char *text = getenv(name);
    uint64_t value;
    if (!text || ss_units_count(text, &value, NULL) != 0 || value == 0)
        return fallback;
    return value < WINDOW_SIZE_MAX ? (int)value : WINDOW_SIZE_MAX;
}

static int choose(int window, const char *name, int fallback) {
    if (window <= 0)
        return read_size(name, fallback);
    return window < WINDOW_SIZE_MAX ? window : WINDOW_SIZE_MAX;
}

bool ss_screen_size(int descriptor, int *columns, int *rows) {
    struct winsize window = {0};
    if (ioctl(descriptor, TIOCGWINSZ, &window) != 0)
        window = (struct winsize){0};
    *columns = choose(window.ws_col, "COLUMNS", 80);
    *rows = choose(window.ws_row, "LINES", 24);
    return window.ws_col > 0;
}

bool ss_screen_has_cursor(int descriptor) {
    const char *terminal = getenv("TERM");
    return isatty(descriptor) && terminal && *terminal && strcmp(terminal, "dumb") != 0;
}

/* Has the effect of the start key, Ctrl-Q. TCOON would undo only a TCOOFF, not a Ctrl-S. */
void ss_screen_continue(int descriptor) {
    struct termios settings;
    if (ss_streams_has_room(descriptor) || tcgetattr(descriptor, &settings) != 0 ||
        !(settings.c_iflag & IXON))
        return;

    settings.c_iflag &= ~(tcflag_t)IXON;
    tcsetattr(descriptor, TCSANOW, &settings);
    settings.c_iflag |= IXON;
    tcsetattr(descriptor, TCSANOW, &settings);
}

void ss_screen_release(int descriptor) {
    int unblocked = ss_streams_open_unblocked(descriptor);
    int file = unblocked >= 0 ? unblocked : descriptor;
    ss_screen_continue(descriptor);
    if (ss_streams_has_room(file)) {
        ssize_t written = write(file, SS_SCREEN_RELEASE, sizeof SS_SCREEN_RELEASE - 1);
        (void)written;
    }
    if (unblocked >= 0)
        close(unblocked);
}
