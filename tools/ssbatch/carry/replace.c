/* SPDX-License-Identifier: Apache-2.0 */
#include "replace.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/owned.h"

/* Size limit of a placeholder. The longest is a role with a suffix. */
#define PLACEHOLDER_ROOM 128

/* Copies the placeholder in the braces at `text`. Returns false if they hold anything else. */
static bool read_placeholder(const char *text, char placeholder[PLACEHOLDER_ROOM]) {
    size_t length = strcspn(text + 1, "{}");
    if (length == 0 || length >= PLACEHOLDER_ROOM || text[1 + length] != '}')
        return false;
    memcpy(placeholder, text + 1, length);
    placeholder[length] = '\0';
    return true;
}

char *ssbatch_replace(
    const char *text, ssbatch_finder *find, void *context, struct ss_error *error) {
    char placeholder[PLACEHOLDER_ROOM];
    struct ss_error failure = {0};
    char *result = NULL;
    size_t size;
    FILE *stream = open_memstream(&result, &size);
    if (!stream) {
        ss_error_memory(error);
        return NULL;
    }
    for (const char *at = text; *at && !failure.status;) {
        SS_OWNED(free) char *found = NULL;
        if (*at == '{' && at[1] != '{' && read_placeholder(at, placeholder))
            found = find(context, placeholder, &failure);
        fputs(found ? found : "", stream);
        if (found)
            at += strlen(placeholder) + 2;
        else {
            fputc(*at, stream);
            at += *at == '{' && at[1] == '{' ? 2 : 1;
        }
    }
    if (fclose(stream) == EOF)
        ss_error_memory(&failure);
    if (!failure.status)
        return result;
    free(result);
    ss_error_set(error, failure.status, "%s", failure.message);
    return NULL;
}

char **ssbatch_replace_words(
    char *const *words, ssbatch_finder *find, void *context, struct ss_error *error) {
    size_t count = 0;
    while (words[count])
        count++;
    char **replaced = calloc(count + 1, sizeof *replaced);
    if (!replaced) {
        ss_error_memory(error);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        replaced[i] = ssbatch_replace(words[i], find, context, error);
        if (!replaced[i]) {
            ssbatch_words_free(replaced);
            return NULL;
        }
    }
    return replaced;
}

void ssbatch_words_free(char **words) {
    for (char **word = words; word && *word; word++)
        free(*word);
    free(words);
}
