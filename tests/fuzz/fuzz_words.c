/* SPDX-License-Identifier: Apache-2.0 */
#include "base/words.h"
#include "fuzz.h"
#include "quote.h"

/* Quotes each word. The result must be split into the same words. */
static char *quote(char **words, size_t size) {
    char *line = malloc(size * 5 + 8), *out = line;
    FUZZ_CHECK(line);
    for (; *words; words++) {
        *out++ = ' ';
        *out++ = '\'';
        for (const char *c = *words; *c; c++)
            out += sprintf(out, *c == '\'' ? "'\\''" : "%c", *c);
        *out++ = '\'';
    }
    *out = '\0';
    return line;
}

static void check_split(const char *text, size_t size) {
    struct ss_error error = {0};
    size_t count, again;
    char **words = ss_words_split(text, &count, &error);
    FUZZ_CHECK(!words == (error.status != 0));
    if (!words)
        return;
    FUZZ_CHECK(!words[count]);
    char *line = quote(words, size);
    char **split = ss_words_split(line, &again, &error);
    FUZZ_CHECK(split && again == count);
    for (size_t i = 0; i < count; i++)
        FUZZ_CHECK(strcmp(words[i], split[i]) == 0);
    free(split);
    free(line);
    free(words);
}

/* A word that is written on one line must be read back. */
static void check_quoted_on_line(const char *word) {
    char *text = NULL;
    size_t size, count;
    FILE *stream = open_memstream(&text, &size);
    FUZZ_CHECK(stream);
    ss_words_quote(stream, word);
    FUZZ_CHECK(fclose(stream) == 0 && !strpbrk(text, "\n\r") && !quote_is_continued(text));
    char **words = ss_words_split(text, &count, NULL);
    FUZZ_CHECK(words && count == 1 && strcmp(words[0], word) == 0);
    free(words);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = fuzz_text(data, size);
    check_split(text, size);
    check_quoted_on_line(text);
    struct ss_words_shown shown = ss_words_show(text);
    FUZZ_CHECK(memchr(shown.text, '\0', sizeof shown.text) && !strpbrk(shown.text, "\n\r"));
    free(text);
    return 0;
}
