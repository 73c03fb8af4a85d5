/* SPDX-License-Identifier: Apache-2.0 */
#include "base/words.h"
#include "fuzz.h"
#include "workload.h"

/* Each workload of an accepted catalogue is printed as one line, which splits into words. */
static void check_workload(const struct ssbatch_workload *workload) {
    static const struct ssbatch_use uses[] = {{NULL, NULL}, {"background", "77M"}};
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        struct ss_error error = {0};
        char *text = NULL;
        size_t size;
        FILE *stream = open_memstream(&text, &size);
        FUZZ_CHECK(stream);
        FUZZ_CHECK(ssbatch_workload_print(stream, workload, &uses[i], "", &error) == 0);
        FUZZ_CHECK(fclose(stream) == 0 && strchr(text, '\n') == text + size - 1);
        char **words = ss_words_split(text, NULL, &error);
        FUZZ_CHECK(words);
        free(words);
        free(text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[32];
    int file = fuzz_file(data, size, path);
    struct ssbatch_catalogue catalogue = {0};
    struct ss_error error = {0};
    if (ssbatch_catalogue_read(&catalogue, path, &error) == 0) {
        FUZZ_CHECK(error.status == 0);
        for (size_t i = 0; i < catalogue.count; i++)
            check_workload(&catalogue.items[i]);
    } else {
        FUZZ_CHECK(error.status != 0 && !strpbrk(error.message, "\n\r"));
    }
    ssbatch_catalogue_free(&catalogue);
    close(file);
    return 0;
}
