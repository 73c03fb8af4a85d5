/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "choice.h"
#include "fuzz.h"
#include "ratios.h"

static void check_profile(const struct ssprofile_profile *profile) {
    FUZZ_CHECK(*profile->machine && *profile->limits && profile->count > 0);
    for (size_t i = 0; i < profile->count; i++) {
        const struct ssprofile_benchmark *benchmark = &profile->benchmarks[i];
        FUZZ_CHECK(*benchmark->name && *benchmark->class && benchmark->count > 0);
        FUZZ_CHECK(ssprofile_profile_find(profile, benchmark->name, benchmark->class) == benchmark);
        /* Every name that is read must be valid in a table that is written. */
        const char *fault = ssprofile_name_fault(benchmark->name);
        FUZZ_CHECK(!fault || strncmp(fault, "begins with #", 13) == 0);
        for (size_t j = 0; j < benchmark->count; j++) {
            double result = benchmark->repetitions[j].result;
            FUZZ_CHECK(isfinite(result) && result > 0);
        }
    }
}

/* Every profile is found by its names, although they may contain colons. */
static void check_names(
    const struct ssprofile_results *results, const struct ssprofile_profile *profile) {
    char names[1100], found_names[1100];
    const struct ssprofile_choice choice = {.names = names};
    struct ss_error error = {0};
    snprintf(names, sizeof names, "%s:%s", profile->machine, profile->limits);
    const struct ssprofile_profile *found = ssprofile_choice_find(&choice, results, &error);
    FUZZ_CHECK(found);
    snprintf(found_names, sizeof found_names, "%s:%s", found->machine, found->limits);
    FUZZ_CHECK(strcmp(names, found_names) == 0);
}

static void check_match(
    const struct ssprofile_profile *first, const struct ssprofile_profile *last) {
    struct ssprofile_match match = ssprofile_match_of(first, last);
    FUZZ_CHECK(match.count == 0 || match.least <= match.most);
    FUZZ_CHECK(match.count == 0 || match.scatter >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct ssprofile_results results;
    struct ss_error error = {0};
    char path[32];
    int file = fuzz_file(data, size, path);
    int result = ssprofile_results_read(&results, path, &error);
    close(file);
    FUZZ_CHECK((result == 0) == (error.status == 0) && !strpbrk(error.message, "\n\r"));
    for (size_t i = 0; i < results.count && result == 0; i++) {
        check_profile(&results.profiles[i]);
        check_names(&results, &results.profiles[i]);
    }
    if (result == 0)
        check_match(&results.profiles[0], &results.profiles[results.count - 1]);
    ssprofile_results_free(&results);
    return 0;
}
