/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_SCREEN_H
#define SHOWSTOPPER_TESTS_SCREEN_H

/*
 * A terminal screen that understands only the control codes of our live view and fails on others.
 */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"

#define SCREEN_ROWS    40
#define SCREEN_COLUMNS 80
#define SCREEN_MAX     128 /* of rows and columns */

struct screen {
    char rows[SCREEN_MAX][SCREEN_MAX + 1]; /* multibyte characters are shown as `?` */
    bool wraps[SCREEN_MAX];                /* the next row continues the line */
    int height;
    int width;
    int top; /* the rows that scroll */
    int bottom;
    int row;
    int column; /* width if the row is full: the next letter begins a new row */
    int saved_row;
    int saved_column;
    char *history; /* the rows that have scrolled off the top, each ended by a line feed */
    size_t history_length;
};

static inline void screen_blank(struct screen *screen, int row) {
    memset(screen->rows[row], ' ', (size_t)screen->width);
    screen->rows[row][screen->width] = '\0';
    screen->wraps[row] = false;
}

static inline struct screen screen_new(int height, int width) {
    struct screen screen = {.height = height, .width = width, .bottom = height - 1};
    for (int row = 0; row < height; row++)
        screen_blank(&screen, row);
    return screen;
}

/* Returns the length without trailing blanks. */
static inline int screen_length(const struct screen *screen, int row) {
    int length = screen->width;
    while (length > 0 && screen->rows[row][length - 1] == ' ')
        length--;
    return length;
}

static inline void screen_keep(struct screen *screen, int row) {
    size_t length = (size_t)screen_length(screen, row);
    screen->history = realloc(screen->history, screen->history_length + length + 2);
    EXPECT(screen->history, "no memory");
    memcpy(screen->history + screen->history_length, screen->rows[row], length);
    strcpy(screen->history + screen->history_length + length, "\n");
    screen->history_length += length + 1;
}

static inline void screen_scroll(struct screen *screen) {
    if (screen->top == 0)
        screen_keep(screen, 0);
    for (int row = screen->top; row < screen->bottom; row++) {
        memcpy(screen->rows[row], screen->rows[row + 1], sizeof screen->rows[row]);
        screen->wraps[row] = screen->wraps[row + 1];
    }
    screen_blank(screen, screen->bottom);
}

/* Scrolls only at the end of the scroll region; below it, just moves the cursor. */
static inline void screen_line_down(struct screen *screen) {
    if (screen->row == screen->bottom)
        screen_scroll(screen);
    else if (screen->row < screen->height - 1)
        screen->row++;
}

static inline void screen_end_line(struct screen *screen) {
    screen->wraps[screen->row] = false;
    screen_line_down(screen);
}

static inline void screen_put(struct screen *screen, char letter) {
    if (screen->column == screen->width) {
        screen->wraps[screen->row] = true;
        screen_line_down(screen);
        screen->column = 0;
    }
    screen->rows[screen->row][screen->column++] = letter;
}

static inline void screen_erase_row(struct screen *screen) {
    /* The cursor is on the last letter of a full row. */
    int from = screen->column < screen->width ? screen->column : screen->width - 1;
    for (int column = from; column < screen->width; column++)
        screen->rows[screen->row][column] = ' ';
    screen->wraps[screen->row] = false;
}

static inline void screen_erase(struct screen *screen) {
    /* Erasing the whole screen adds its text to the history of some terminals. */
    EXPECT(screen->row > 0 || screen->column > 0, "the whole screen is erased");
    screen_erase_row(screen);
    for (int row = screen->row + 1; row < screen->height; row++)
        screen_blank(screen, row);
}

/* Terminals ignore an invalid region. */
static inline void screen_set_region(struct screen *screen, int top, int bottom) {
    if (top >= bottom || bottom > screen->height)
        return;
    screen->top = top - 1;
    screen->bottom = bottom - 1;
    screen->row = screen->column = 0;
}

/* Executes the code after ESC. Returns the text after it. */
static inline const char *screen_obey(struct screen *screen, const char *code) {
    int numbers[2] = {0};
    switch (*code) {
    case 'D':
        screen_end_line(screen);
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
        ck_abort_msg("unknown control code: ESC %.8s", code);
    }
    const char *end = code + 1 + strspn(code + 1, "0123456789;");
    int count = sscanf(code + 1, "%d;%d", &numbers[0], &numbers[1]);
    if (*end == 'A') {
        int up = count == 1 ? numbers[0] : 1;
        screen->row = screen->row > up ? screen->row - up : 0;
    } else if (*end == 'H' && count == 2) {
        screen->row = numbers[0] < screen->height ? numbers[0] - 1 : screen->height - 1;
        screen->column = numbers[1] - 1;
    } else if (*end == 'r') {
        screen_set_region(
            screen, count == 2 ? numbers[0] : 1, count == 2 ? numbers[1] : screen->height);
    } else if (*end == 'J' && end == code + 1) {
        screen_erase(screen);
    } else if (*end == 'K' && end == code + 1) {
        screen_erase_row(screen);
    } else {
        EXPECT(*end == 'm', "unknown control code: ESC %.8s", code);
    }
    return end + 1;
}

/* Returns whether the text ends within a control code, whose ESC is its first byte. */
static inline bool screen_is_cut(const char *code) {
    return code[1] == '\0' || (code[1] == '[' && code[2 + strspn(code + 2, "0123456789;")] == '\0');
}

/* Returns the part that was not written: a control code whose end is missing, or an empty text. */
static inline const char *screen_write(struct screen *screen, const char *bytes) {
    while (*bytes && !(*bytes == '\033' && screen_is_cut(bytes))) {
        unsigned char byte = (unsigned char)*bytes++;
        if (byte == '\033')
            bytes = screen_obey(screen, bytes);
        else if (byte == '\r')
            screen->column = 0;
        else if (byte == '\n')
            screen_end_line(screen);
        else if (byte >= 0x80)
            screen_put(screen, '?');
        else
            screen_put(screen, (char)byte);
        while (byte >= 0x80 && ((unsigned char)*bytes >> 6) == 2)
            bytes++;
    }
    return bytes;
}

/* Returns a screen of the default size after these bytes. */
static inline struct screen screen_of(const char *bytes) {
    struct screen screen = screen_new(SCREEN_ROWS, SCREEN_COLUMNS);
    screen_write(&screen, bytes);
    return screen;
}

/*
 * Resizes the window and resets the scroll region. Lines that are too wide are cut, as in xterm, or
 * wrapped, as in other terminals; the cursor stays on its letter. Excess rows are removed below the
 * cursor first, and the rest, such as rows added by wrapping, at the top; a cursor whose line was
 * removed moves to the upper left corner.
 */
static inline struct screen screen_resize(struct screen *from, int height, int width, bool rewrap) {
    static struct screen tall; /* room for all rows, one after another */
    struct screen to = screen_new(height, width);
    int used = from->height;
    while (used > from->row + 1 && screen_length(from, used - 1) == 0)
        used--;
    if (used > height)
        used = from->row < height ? height : from->row + 1;
    tall = screen_new(SCREEN_MAX, width);
    tall.history = from->history;
    tall.history_length = from->history_length;
    int at_row = 0;
    int at_column = 0;
    for (int row = 0; row < used; row++) {
        int length = screen_length(from, row);
        if (from->wraps[row])
            length = from->width;
        for (int column = 0; column <= length || (row == from->row && column <= from->column);
             column++) {
            if (row == from->row && column == from->column) {
                at_row = tall.row;
                at_column = tall.column;
            }
            if (column < length && (rewrap || tall.column < width))
                screen_put(&tall, from->rows[row][column]);
        }
        if (row < used - 1 && !(rewrap && from->wraps[row])) {
            ck_assert_int_lt(tall.row, SCREEN_MAX - 1);
            screen_line_down(&tall);
            tall.column = 0;
        }
    }
    int gone = tall.row + 1 > height ? tall.row + 1 - height : 0;
    for (int row = 0; row < gone; row++)
        screen_keep(&tall, row);
    for (int row = gone; row <= tall.row; row++) {
        memcpy(to.rows[row - gone], tall.rows[row], sizeof to.rows[0]);
        to.wraps[row - gone] = tall.wraps[row];
    }
    to.history = tall.history;
    to.history_length = tall.history_length;
    to.row = at_row < gone ? 0 : at_row - gone;
    to.column = at_row < gone ? 0 : at_column;
    return to;
}

/*
 * Returns the history and the rows above row `end`, each ended by a line feed, without trailing
 * empty rows; the caller frees the text.
 */
static inline char *screen_text(const struct screen *screen, int end) {
    char *text = malloc(screen->history_length + (size_t)screen->height * (SCREEN_MAX + 1) + 1);
    EXPECT(text, "no memory");
    strcpy(text, screen->history ? screen->history : "");
    char *to = text + screen->history_length;
    while (end > 0 && screen_length(screen, end - 1) == 0)
        end--;
    for (int row = 0; row < end; row++)
        to += sprintf(to, "%.*s\n", screen_length(screen, row), screen->rows[row]);
    return text;
}

/* Returns the first row at or after `from` that begins with this text, or -1. */
static inline int screen_find(const struct screen *screen, int from, const char *begin) {
    for (int row = from; row < screen->height; row++) {
        if (strncmp(screen->rows[row], begin, strlen(begin)) == 0)
            return row;
    }
    return -1;
}

static inline bool screen_has(const struct screen *screen, const char *part) {
    for (int row = 0; row < screen->height; row++) {
        if (strstr(screen->rows[row], part))
            return true;
    }
    return false;
}

#endif
