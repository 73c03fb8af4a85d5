/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "fuzz.h"
#include "profile.h"

static void check_profile(const struct profile *profile) {
    ss_time length = 0;
    FUZZ_CHECK(profile->count > 0);
    for (size_t i = 0; i < profile->count; i++) {
        const struct profile_segment *segment = &profile->segments[i];
        FUZZ_CHECK(segment->length > 0);
        FUZZ_CHECK(segment->threads <= 1000000);
        FUZZ_CHECK(isfinite(segment->use.accesses) && segment->use.accesses >= 0);
        FUZZ_CHECK(segment->use.waiting >= 0 && segment->use.waiting <= 1);
        FUZZ_CHECK(segment->use.accesses > 0 || !(segment->use.waiting > 0));
        FUZZ_CHECK(segment->has_use || !(segment->use.accesses > 0));
        length += segment->length;
    }
    FUZZ_CHECK(length == profile->length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct profile profile = {0};
    struct ss_error error = {0};
    FILE *stream = fuzz_stream(data, size);
    if (profile_read_stream(&profile, stream, "profile", &error) == 0)
        check_profile(&profile);
    else
        FUZZ_CHECK(error.status == SS_ERROR_FAILED && !strpbrk(error.message, "\n\r"));
    fclose(stream);
    profile_free(&profile);
    return 0;
}
