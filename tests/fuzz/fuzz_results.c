/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "fuzz.h"
#include "results.h"

static void check_profile(const struct ssprofile_profile *profile) {
    FUZZ_CHECK(*profile->machine && *profile->limits && profile->count > 0);
    for (size_t i = 0; i < profile->count; i++) {
        const struct ssprofile_benchmark *benchmark = &profile->benchmarks[i];
        FUZZ_CHECK(*benchmark->name && *benchmark->class && benchmark->count > 0);
        FUZZ_CHECK(ssprofile_profile_find(profile, benchmark->name, benchmark->class) == benchmark);
        /* A name that is read must be valid in a table that is written, except for a first #. */
        const char *fault = ssprofile_name_fault(benchmark->name);
        FUZZ_CHECK(!fault || strncmp(fault, "begins with #", 13) == 0);
        for (size_t j = 0; j < benchmark->count; j++) {
            double result = benchmark->repetitions[j].result;
            FUZZ_CHECK(isfinite(result) && result > 0);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct ssprofile_results results;
    struct ss_error error = {0};
    char path[32];
    int file = fuzz_file(data, size, path);
    int result = ssprofile_results_read(&results, path, &error);
    close(file);
    FUZZ_CHECK((result == 0) == (error.status == 0) && !strpbrk(error.message, "\n\r"));
    for (size_t i = 0; i < results.count && result == 0; i++)
        check_profile(&results.profiles[i]);
    ssprofile_results_free(&results);
    return 0;
}
