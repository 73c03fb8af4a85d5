/* SPDX-License-Identifier: Apache-2.0 */
#include "screen.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "units.h"

#define SIZE_MOST 10000

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
    return value < SIZE_MOST ? (int)value : SIZE_MOST;
}

static int choose(int window, const char *name, int otherwise) {
    if (window <= 0)
        return read_size(name, otherwise);
    return window < SIZE_MOST ? window : SIZE_MOST;
}

bool ss_screen_size(int descriptor, int *columns, int *rows) {
    struct winsize window = {0};
    if (ioctl(descriptor, TIOCGWINSZ, &window) != 0)
        window = (struct winsize){0};
    *columns = choose(window.ws_col, "COLUMNS", 80);
    *rows = choose(window.ws_row, "LINES", 24);
    return window.ws_col > 0;
}
