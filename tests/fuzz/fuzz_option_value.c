/* SPDX-License-Identifier: Apache-2.0 */
/* The first line of the input is the type of an option; the rest is its value. */

#include "fuzz.h"
#include "option_value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = fuzz_text(data, size), *rest = text, *printed = NULL;
    size_t length = 0;
    const char *type = strsep(&rest, "\n");
    const struct ssbatch_option_value value = {
        .type = type, .text = rest ? rest : "", .option = "name", .program = "fuzz"};
    struct ss_error error = {0};
    FILE *stream = open_memstream(&printed, &length);
    FUZZ_CHECK(stream);
    int status = ssbatch_option_value_print(stream, &value, &error);
    FUZZ_CHECK(fclose(stream) == 0);
    if (status == 0)
        FUZZ_CHECK(length > 1 && strchr(printed, '\n') == printed + length - 1);
    else
        FUZZ_CHECK(error.status != 0 && !strpbrk(error.message, "\n\r"));
    free(printed);
    free(text);
    return 0;
}
