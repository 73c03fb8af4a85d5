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

static int read_size(const char *name, int otherwise) {
    const char *text = getenv(name);
    uint64_t value;
    if (!text || ss_units_count(text, &value, NULL) != 0 || value == 0)
        return otherwise;
    return value < WINDOW_SIZE_MAX ? (int)value : WINDOW_SIZE_MAX;
}

static int choose(int window, const char *name, int otherwise) {
    if (window <= 0)
        return read_size(name, otherwise);
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

/* Acts like the start key, Ctrl-Q. TCOON would undo only a TCOOFF, not a Ctrl-S. */
static void undo_stop(int descriptor) {
    struct termios settings;
    if (tcgetattr(descriptor, &settings) != 0 || !(settings.c_iflag & IXON))
        return;
    settings.c_iflag &= ~(tcflag_t)IXON;
    tcsetattr(descriptor, TCSANOW, &settings);
    settings.c_iflag |= IXON;
    tcsetattr(descriptor, TCSANOW, &settings);
}

/*
 * Setting the scroll region moves the cursor, so the cursor is saved first; resizing the window may
 * reset the region, so only the cursor locates the block. If the cursor's row is unknown, a row is
 * made below it, because in the upper left corner some terminals treat erasing as a request to save
 * the erased text.
 */
bool ss_screen_release(int descriptor) {
    static const char text[] =
        SS_SCREEN_SAVE "\033[r" SS_SCREEN_RESTORE /* all rows scroll again */
                       "\033D\033[A" SS_SCREEN_SAVE SS_SCREEN_PLAIN "\r\n\033[J" SS_SCREEN_RESTORE;
    if (!ss_streams_has_room(descriptor))
        undo_stop(descriptor);
    return ss_streams_has_room(descriptor) &&
           write(descriptor, text, sizeof text - 1) == sizeof text - 1;
}
