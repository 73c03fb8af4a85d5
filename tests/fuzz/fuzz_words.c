/* SPDX-License-Identifier: Apache-2.0 */
#include "base/words.h"
#include "fuzz.h"
#include "quote.h"

/* Words that are quoted on one line must be read back. */
static void check_quoted(char *const *words, size_t count) {
    char *line = NULL;
    size_t size, again;
    FILE *stream = open_memstream(&line, &size);
    FUZZ_CHECK(stream);
    for (size_t i = 0; i < count; i++) {
        ss_words_quote(stream, words[i]);
        putc(' ', stream);
    }
    FUZZ_CHECK(fclose(stream) == 0 && !strpbrk(line, "\n\r") && !quote_line_is_continued(line));
    char **split = ss_words_split(line, &again, NULL);
    FUZZ_CHECK(split && again == count);
    for (size_t i = 0; i < count; i++)
        FUZZ_CHECK(strcmp(words[i], split[i]) == 0);
    free(split);
    free(line);
}

static void check_split(const char *text) {
    struct ss_error error = {0};
    size_t count;
    char **words = ss_words_split(text, &count, &error);
    FUZZ_CHECK(!words == (error.status != 0));
    if (!words)
        return;
    FUZZ_CHECK(!words[count]);
    check_quoted(words, count);
    free(words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = fuzz_text(data, size);
    check_split(text);
    check_quoted(&text, 1);
    struct ss_words_shown shown = ss_words_show(text);
    FUZZ_CHECK(memchr(shown.text, '\0', sizeof shown.text) && !strpbrk(shown.text, "\n\r"));
    free(text);
    return 0;
}
