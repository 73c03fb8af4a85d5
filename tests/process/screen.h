/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_SCREEN_H
#define SHOWSTOPPER_TESTS_SCREEN_H

/* What a terminal would show: of its codes those that are used, and a failure at all others. */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#define SCREEN_ROWS    24
#define SCREEN_COLUMNS 80

struct screen {
    char rows[SCREEN_ROWS][SCREEN_COLUMNS + 1]; /* a letter of many bytes is shown as `?` */
    int row;
    int column; /* SCREEN_COLUMNS: the row is full, the next letter begins another */
    int saved_row;
    int saved_column;
};

static void screen_line_down(struct screen *screen) {
    if (screen->row < SCREEN_ROWS - 1) {
        screen->row++;
        return;
    }
    memmove(screen->rows[0], screen->rows[1], sizeof screen->rows - sizeof screen->rows[0]);
    memset(screen->rows[SCREEN_ROWS - 1], ' ', SCREEN_COLUMNS);
}

static void screen_put(struct screen *screen, char letter) {
    if (screen->column == SCREEN_COLUMNS) {
        screen_line_down(screen);
        screen->column = 0;
    }
    screen->rows[screen->row][screen->column++] = letter;
}

static void screen_erase_row(struct screen *screen) {
    for (int column = screen->column; column < SCREEN_COLUMNS; column++)
        screen->rows[screen->row][column] = ' ';
}

static void screen_erase(struct screen *screen) {
    /* Some terminals would then keep in their history what is erased. */
    ck_assert(screen->row > 0 || screen->column > 0);
    screen_erase_row(screen);
    for (int row = screen->row + 1; row < SCREEN_ROWS; row++)
        memset(screen->rows[row], ' ', SCREEN_COLUMNS);
}

/* Returns what is behind the code. */
static const char *screen_obey(struct screen *screen, const char *code) {
    long number = 1;
    switch (*code) {
    case 'D':
        screen_line_down(screen);
        return code + 1;
    case '7':
        screen->saved_row = screen->row;
        screen->saved_column = screen->column;
        return code + 1;
    case '8':
        screen->row = screen->saved_row;
        screen->column = screen->saved_column;
        return code + 1;
    case '[':
        break;
    default:
        ck_abort_msg("an unknown code: ESC %.8s", code);
    }
    const char *end = code + 1 + strspn(code + 1, "0123456789;");
    if (end > code + 1)
        number = strtol(code + 1, NULL, 10);
    if (*end == 'A')
        screen->row = screen->row > number ? screen->row - (int)number : 0;
    else if (*end == 'J' && end == code + 1)
        screen_erase(screen);
    else if (*end == 'K' && end == code + 1)
        screen_erase_row(screen);
    else
        ck_assert_msg(*end == 'm', "an unknown code: ESC %.8s", code);
    return end + 1;
}

/* All that has ever been written to it. */
static struct screen screen_of(const char *bytes) {
    struct screen screen = {0};
    for (int row = 0; row < SCREEN_ROWS; row++)
        memset(screen.rows[row], ' ', SCREEN_COLUMNS);
    while (*bytes) {
        unsigned char byte = (unsigned char)*bytes++;
        if (byte == '\033')
            bytes = screen_obey(&screen, bytes);
        else if (byte == '\r')
            screen.column = 0;
        else if (byte == '\n')
            screen_line_down(&screen);
        else if (byte >= 0x80)
            screen_put(&screen, '?');
        else
            screen_put(&screen, (char)byte);
        while (byte >= 0x80 && ((unsigned char)*bytes >> 6) == 2)
            bytes++;
    }
    return screen;
}

/* The first row from `from` on that begins so; -1: none. */
static inline int screen_find(const struct screen *screen, int from, const char *begin) {
    for (int row = from; row < SCREEN_ROWS; row++) {
        if (strncmp(screen->rows[row], begin, strlen(begin)) == 0)
            return row;
    }
    return -1;
}

static inline bool screen_has(const struct screen *screen, const char *part) {
    for (int row = 0; row < SCREEN_ROWS; row++) {
        if (strstr(screen->rows[row], part))
            return true;
    }
    return false;
}

#endif
