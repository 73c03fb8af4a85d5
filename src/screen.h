/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_SCREEN_H
#define SHOWSTOPPER_SCREEN_H

#include <stdbool.h>

/* Whether the environment asks for UTF-8. */
bool ss_screen_is_unicode(void);

/*
 * The window of a terminal that is open there, else what COLUMNS and LINES say, else 80 x 24; at
 * most 10000 either way. False: it is no terminal with a window.
 */
bool ss_screen_size(int descriptor, int *columns, int *rows);

#endif
