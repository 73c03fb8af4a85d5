/* SPDX-License-Identifier: Apache-2.0 */
#include <time.h>

#include "base/wallclock.h"
#include "fuzz.h"

/* A printed time must be read back as the same time, truncated to milliseconds. */
static void check_print(int64_t at) {
    char printed[64];
    int64_t again;
    ss_wallclock_print(printed, sizeof printed, at);
    /* The first second is incomplete, so its printed time cannot be read back. */
    if (at < INT64_MIN + INT64_C(1000000000))
        return;
    FUZZ_CHECK(ss_wallclock_parse(printed, 0, &again, NULL) == 0);
    FUZZ_CHECK(again <= at && at - again < 1000000);
}

static void use_zone(const char *zone) {
    static const char *used;
    if (used != zone) {
        setenv("TZ", zone, 1);
        tzset();
    }
    used = zone;
}

static void check(const char *text, int64_t now) {
    int64_t at;
    struct ss_error error = {0};
    if (ss_wallclock_parse(text, now, &at, &error) != 0) {
        FUZZ_CHECK(error.status != 0 && !strpbrk(error.message, "\n\r"));
        return;
    }
    FUZZ_CHECK(text[0] == '@' || text[2] != ':' || at > now);
    check_print(at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const zones[] = {
        "UTC", "CET-1CEST,M3.5.0,M10.5.0/3", "NZST-12NZDT,M9.5.0,M4.1.0/3"};
    char *text = fuzz_text(data, size);
    int64_t now = INT64_C(1795161600000000000) + (int64_t)size * INT64_C(86400000000000);
    for (size_t i = 0; i < sizeof zones / sizeof *zones; i++) {
        use_zone(zones[i]);
        check(text, now);
    }
    free(text);
    return 0;
}
