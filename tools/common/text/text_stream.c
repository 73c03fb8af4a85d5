/* SPDX-License-Identifier: Apache-2.0 */
#include "text_stream.h"

#include <stdlib.h>

int ss_text_open(struct ss_text *text, struct ss_error *error) {
    *text = (struct ss_text){0};
    text->stream = open_memstream(&text->bytes, &text->size);
    return text->stream ? 0 : ss_error_memory(error);
}

char *ss_text_close(struct ss_text *text, struct ss_error *error) {
    if (fclose(text->stream) != EOF)
        return text->bytes;
    free(text->bytes);
    ss_error_memory(error);
    return NULL;
}
