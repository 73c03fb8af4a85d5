/* SPDX-License-Identifier: Apache-2.0 */
/* The first line of the input is a URL; the rest is an answer of ssrequest. */
#include "fuzz.h"
#include "generator_control.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = fuzz_text(data, size), *rest = text;
    const char *url = strsep(&rest, "\n");
    int64_t unfinished = ssactuate_generator_find_unfinished(rest ? rest : "", url);
    if (unfinished > 0)
        FUZZ_CHECK(strstr(rest, url));
    free(text);
    return 0;
}
