/* SPDX-License-Identifier: Apache-2.0 */
#include "record_warnings.h"

#include <stdarg.h>

void ssreport_notes_add(struct ssreport_notes *notes, const char *format, ...) {
    size_t used = strlen(notes->text);
    char *at = notes->text + used;
    size_t room = sizeof notes->text - used;
    va_list arguments;
    if (used > 0 && room > 2) {
        memcpy(at, "; ", 3);
        at += 2;
        room -= 2;
    }
    va_start(arguments, format);
    vsnprintf(at, room, format, arguments);
    va_end(arguments);
    for (; *at; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    }
}
