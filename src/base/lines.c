/* SPDX-License-Identifier: Apache-2.0 */
#include "base/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

int ss_lines_open(struct ss_lines *lines, int folder, const char *name) {
    lines->why = 0;
    lines->waiting = lines->lost = 0;
    lines->used = 0;
    lines->size = 0;
    lines->file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return lines->file < 0 ? errno : 0;
}

static bool write_all(const struct ss_lines *lines) {
    for (size_t done = 0; done < lines->used;) {
        ssize_t written = write(lines->file, lines->bytes + done, lines->used - done);
        if (written < 0 && errno != EINTR)
            return false;
        done += written > 0 ? (size_t)written : 0;
    }
    return true;
}

void ss_lines_flush(struct ss_lines *lines) {
    if (lines->file < 0 || lines->used == 0)
        return;
    if (write_all(lines)) {
        lines->size += (off_t)lines->used;
    } else {
        if (!lines->why)
            lines->why = errno;
        lines->lost += lines->waiting;
        if (ftruncate(lines->file, lines->size) == 0)
            lseek(lines->file, lines->size, SEEK_SET);
    }
    lines->used = 0;
    lines->waiting = 0;
}

char *ss_lines_begin(struct ss_lines *lines, size_t size) {
    if (SS_LINES_ROOM - lines->used < size)
        ss_lines_flush(lines);
    return lines->bytes + lines->used;
}

void ss_lines_end(struct ss_lines *lines, const char *end) {
    if (lines->file < 0)
        return;
    lines->used = (size_t)(end - lines->bytes);
    lines->waiting++;
}

void ss_lines_close(struct ss_lines *lines) {
    if (lines->file < 0)
        return;
    ss_lines_flush(lines);
    if (close(lines->file) < 0 && !lines->why)
        lines->why = errno;
    lines->file = -1;
}

static char *put_digits(char *to, uint64_t number, int least) {
    char digits[24];
    int count = 0;
    for (; number > 0 || count < least; number /= 10)
        digits[count++] = (char)('0' + number % 10);
    while (count > 0)
        *to++ = digits[--count];
    return to;
}

char *ss_lines_put_number(char *to, double number, int decimals) {
    static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
    double size = fabs(number) * powers[decimals];
    if (!(size < 1e18))
        return to;
    uint64_t whole = (uint64_t)(size + 0.5);
    if (number < 0 && whole > 0)
        *to++ = '-';
    uint64_t power = (uint64_t)powers[decimals];
    to = put_digits(to, whole / power, 1);
    if (decimals == 0)
        return to;
    *to++ = '.';
    return put_digits(to, whole % power, decimals);
}

char *ss_lines_put_seconds(char *to, int64_t nanoseconds) {
    uint64_t size = nanoseconds < 0 ? -(uint64_t)nanoseconds : (uint64_t)nanoseconds;
    uint64_t micro = (size + 500) / 1000;
    if (nanoseconds < 0 && micro > 0)
        *to++ = '-';
    to = put_digits(to, micro / 1000000, 1);
    *to++ = '.';
    return put_digits(to, micro % 1000000, 6);
}

char *ss_lines_put_text(char *to, const char *text) {
    size_t length = strlen(text);
    memcpy(to, text, length);
    return to + length;
}
