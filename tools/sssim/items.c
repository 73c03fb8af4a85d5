/* SPDX-License-Identifier: Apache-2.0 */
#include "items.h"

#include <stdlib.h>
#include <string.h>

char **items_split(const char *text, size_t *count, struct ss_error *error) {
    size_t most = 1;
    for (const char *at = text; *at; at++)
        most += *at == ',';
    char **items = malloc((most + 1) * sizeof *items + strlen(text) + 1);
    if (!items) {
        ss_error_memory(error);
        return NULL;
    }
    char *out = (char *)(items + most + 1);
    size_t found = 0;
    items[found++] = out;
    for (; *text; text++) {
        if (*text == ',') {
            *out++ = '\0';
            items[found++] = out;
            continue;
        }
        if (*text == '\\' && (text[1] == ',' || text[1] == '\\'))
            text++;
        *out++ = *text;
    }
    *out = '\0';
    items[found] = NULL;
    *count = found;
    return items;
}
