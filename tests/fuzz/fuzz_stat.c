/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "fuzz.h"
#include "platform/platform.h"

/* A buffer smaller than the file cuts the text at an arbitrary byte. */
static void check_system(int file, const char *list, size_t size) {
    struct ss_counter_reader reader = {.source = SS_SOURCE_SYSTEM,
        .file = file,
        .buffer = malloc(size),
        .size = size,
        .unit = 1e7};
    struct ss_counters counters;
    FUZZ_CHECK(reader.buffer && ss_cpus_parse(list, &reader.cpus, NULL) == 0);
    int why = ss_platform_counters_read(&reader, &counters);
    FUZZ_CHECK(why == 0 || why == -EBADMSG);
    FUZZ_CHECK((why == 0) == (counters.capacity > 0));
    FUZZ_CHECK((why == 0) == (counters.set != 0));
    free(reader.buffer);
}

static void check_group(int file, size_t size, double unit) {
    struct ss_counter_reader reader = {.source = SS_SOURCE_CGROUP,
        .file = file,
        .buffer = malloc(size),
        .size = size,
        .unit = unit,
        .capacity = 2};
    struct ss_counters counters;
    FUZZ_CHECK(reader.buffer);
    int why = ss_platform_counters_read(&reader, &counters);
    FUZZ_CHECK(why == -EBADMSG || (why == 0 && counters.capacity == 2));
    free(reader.buffer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[32];
    int file = fuzz_file(data, size, path);
    check_system(file, "0-1", size + 1);
    check_system(file, "1,8191", size + 1);
    check_system(file, "0-255", size / 2 + 1);
    check_group(file, size + 1, 1000);
    check_group(file, size / 2 + 1, 1);
    close(file);
    return 0;
}
