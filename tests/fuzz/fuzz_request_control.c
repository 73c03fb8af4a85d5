/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "control.h"
#include "fuzz.h"
#include "generator.h"

static void check(const struct request_control *control) {
    if (control->command == REQUEST_CONTROL_RATE)
        FUZZ_CHECK(control->rate >= 0 && control->rate <= 1e6);
    else
        FUZZ_CHECK(isnan(control->rate));
    if (control->command != REQUEST_CONTROL_URLS) {
        FUZZ_CHECK(control->url_count == 0 && !control->urls);
        return;
    }
    FUZZ_CHECK(control->url_count >= 1 && control->url_count <= REQUEST_TARGETS_MAX);
    for (size_t i = 0; i < control->url_count; i++)
        FUZZ_CHECK(control->urls[i]);
    FUZZ_CHECK(!control->urls[control->url_count]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *line = fuzz_text(data, size);
    struct request_control control;
    struct ss_error error = {0};
    if (request_control_parse(&control, line, &error) == 0) {
        check(&control);
        request_control_free(&control);
    } else {
        FUZZ_CHECK(error.status != 0 && !strpbrk(error.message, "\n\r") && !control.words);
    }
    free(line);
    return 0;
}
