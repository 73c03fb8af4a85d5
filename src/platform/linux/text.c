/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

#include "base/owned.h"
#include "platform/linux/linux.h"

struct ss_linux_path ss_linux_path(const char *format, ...) {
    struct ss_linux_path path;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path.text, sizeof path.text, format, arguments);
    va_end(arguments);
    return path;
}

int ss_linux_read_text(const char *path, char *buffer, size_t size) {
    /* A FIFO in a recorded tree must not block us. */
    SS_OWNED(close)
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return -1;
    ssize_t length = read(file, buffer, size - 1);
    if (length < 0)
        return -1;
    while (length > 0 && buffer[length - 1] == '\n')
        length--;
    buffer[length] = '\0';
    return 0;
}
