/* SPDX-License-Identifier: Apache-2.0 */
/* Each line of the input is a word of showstopper's command line. */
#include "command/cli.h"
#include "fuzz.h"

#define WORDS_MAX 64

static size_t split(char *text, char *words[WORDS_MAX + 1]) {
    size_t count = 0;
    for (char *line = text; line && count < WORDS_MAX;) {
        char *word = strsep(&line, "\n");
        words[count++] = word;
    }
    words[count] = NULL;
    return count;
}

/* Checks that the command is the end of `words`, or NULL. */
static void check(const struct ss_cli *cli, char **words, size_t count) {
    FUZZ_CHECK(cli->arguments == words);
    for (size_t i = 0; i <= count; i++) {
        if (cli->command == words + i)
            return;
    }
    FUZZ_CHECK(!cli->command);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char name[] = "showstopper", *words[WORDS_MAX + 2] = {name}, *text = fuzz_text(data, size);
    size_t count = 1 + split(text, words + 1);
    struct ss_cli cli;
    struct ss_error error = {0};
    if (ss_cli_parse(&cli, words, &error) == 0)
        check(&cli, words, count);
    else
        FUZZ_CHECK(error.status != 0 && !strpbrk(error.message, "\n\r"));
    ss_cli_free(&cli);
    free(text);
    return 0;
}
