/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_SCREEN_WINDOW_H
#define SHOWSTOPPER_SCREEN_WINDOW_H

#include <stdbool.h>

/* Returns whether the environment selects UTF-8. */
bool ss_screen_is_unicode(void);

/*
 * Gets the size of the terminal's window, or COLUMNS and LINES, or 80 x 24; at most 10000 each.
 * Returns false if `descriptor` is not a terminal with a window.
 */
bool ss_screen_size(int descriptor, int *columns, int *rows);

/* Returns whether `descriptor` is a terminal that can move its cursor. */
bool ss_screen_has_cursor(int descriptor);

#define SS_SCREEN_SAVE    "\0337" /* the cursor's position and color */
#define SS_SCREEN_RESTORE "\0338"
#define SS_SCREEN_PLAIN   "\033[m"

/*
 * Makes the whole window scroll again and removes the block, which is everything below the cursor,
 * even after a resize. Leaves the cursor where it is. Setting the scroll region moves the cursor,
 * so saves it first; resizing the window may reset the region, so only the cursor locates the
 * block. Makes a row below the cursor's row first: in the upper left corner, some terminals treat
 * erasing as a request to save the erased text.
 */
#define SS_SCREEN_RELEASE                                                                          \
    SS_SCREEN_SAVE "\033[r" SS_SCREEN_RESTORE /* all rows scroll again */                          \
                   "\033D\033[A" SS_SCREEN_SAVE SS_SCREEN_PLAIN "\r\n\033[J" SS_SCREEN_RESTORE

/* Continues a terminal that was stopped by Ctrl-S, so that the block can be removed from it. */
void ss_screen_continue(int descriptor);

/* Releases the rows of a block for a process that has died. Never waits. */
void ss_screen_release(int descriptor);

#endif
