/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_SCREEN_WINDOW_H
#define SHOWSTOPPER_SCREEN_WINDOW_H

#include <stdbool.h>

/* Whether the environment asks for UTF-8. */
bool ss_screen_is_unicode(void);

/*
 * The window of a terminal that is open there, else what COLUMNS and LINES say, else 80 x 24; at
 * most 10000 either way. False: it is no terminal with a window.
 */
bool ss_screen_size(int descriptor, int *columns, int *rows);

/* Whether it is a terminal that can move its cursor. */
bool ss_screen_has_cursor(int descriptor);

/* ---- a block at the bottom of the window, which does not scroll with what is above it ---- */

#define SS_SCREEN_SAVE    "\0337" /* the cursor's place, and its colour */
#define SS_SCREEN_RESTORE "\0338"
#define SS_SCREEN_PLAIN   "\033[m"

/*
 * Has the whole window scroll again and wipes the block. The cursor stays where it is, and the
 * block is whatever is below it: that holds in a window that was resized, too. A terminal that was
 * stopped by Ctrl-S is continued, as the next user of the terminal has to write there. False: there
 * is no room for it, and nobody is waited for.
 */
bool ss_screen_release(int descriptor);

#endif
