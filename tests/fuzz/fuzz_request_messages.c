/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "messages.h"

/* Words of a request line must not contain blanks or control characters. */
static void check_word(const char *word) {
    FUZZ_CHECK(word && *word);
    for (; *word; word++)
        FUZZ_CHECK((unsigned char)*word > ' ' && (unsigned char)*word < 0x7f);
}

static void check(const struct request_messages *messages) {
    FUZZ_CHECK(messages->count > 0 && messages->origin_count <= REQUEST_TARGETS_MAX);
    for (size_t i = 0; i < messages->count; i++) {
        const struct request_message *message = &messages->list[i];
        check_word(message->method);
        check_word(message->target);
        FUZZ_CHECK(message->target[0] == '/' && !strchr(message->target, '#'));
        FUZZ_CHECK(message->body || message->body_size == 0);
        FUZZ_CHECK(messages->origin_count == 0 || messages->order[i] < messages->origin_count);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[32];
    int file = fuzz_file(data, size, path);
    struct request_messages messages = {0};
    struct ss_error error = {0};
    if (request_messages_read(&messages, path, &error) == 0)
        check(&messages);
    else
        FUZZ_CHECK(error.status != 0 && !strpbrk(error.message, "\n\r"));
    request_messages_close(&messages);
    close(file);
    return 0;
}
