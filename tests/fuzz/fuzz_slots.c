/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "slots.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct slots slots;
    struct ss_error error = {0};
    char path[64];
    int file = memfd_create("slots", MFD_CLOEXEC);
    FUZZ_CHECK(file >= 0 && write(file, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (slots_read(&slots, path, &error) == 0) {
        FUZZ_CHECK(slots.count <= sizeof slots.figure / sizeof *slots.figure);
        double deviation = slots_deviation(&slots);
        FUZZ_CHECK(isnan(deviation) || deviation >= 0);
    } else {
        FUZZ_CHECK(error.status != 0 && !strpbrk(error.message, "\n\r"));
    }
    close(file);
    return 0;
}
