/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cpus.h"
#include "fuzz.h"

static void check_print(const struct ss_cpus *cpus) {
    static char buffer[SS_CPUS_MAX * 6];
    struct ss_cpus again;
    ss_cpus_print(buffer, sizeof buffer, cpus);
    FUZZ_CHECK(ss_cpus_parse(buffer, &again, NULL) == 0);
    FUZZ_CHECK(memcmp(cpus, &again, sizeof again) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = fuzz_text(data, size);
    struct ss_cpus cpus;
    struct ss_error error = {0};
    if (ss_cpus_parse(text, &cpus, &error) == 0) {
        FUZZ_CHECK(ss_cpus_count(&cpus) > 0);
        check_print(&cpus);
    } else {
        FUZZ_CHECK(error.status != 0 && !strpbrk(error.message, "\n\r"));
    }
    free(text);
    return 0;
}
