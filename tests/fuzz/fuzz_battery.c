/* SPDX-License-Identifier: Apache-2.0 */
#include "battery.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct ssprofile_battery battery;
    struct ss_error error = {0};
    char *text = fuzz_text(data, size);
    int result = ssprofile_battery_parse(&battery, text, "battery", &error);
    FUZZ_CHECK((result == 0) == (error.status == 0) && !strpbrk(error.message, "\n\r"));
    FUZZ_CHECK(result == 0 || strncmp(error.message, "battery:", 8) == 0 ||
               strcmp(error.message, "out of memory") == 0);
    for (size_t i = 0; i < battery.count; i++) {
        const struct ssprofile_task *task = &battery.tasks[i];
        double found;
        FUZZ_CHECK(*task->name && *task->class && *task->unit && task->command[0]);
        if (ssprofile_task_result(task, "rate 12.5 per second\n", &found))
            FUZZ_CHECK(found > 0);
    }
    ssprofile_battery_free(&battery);
    free(text);
    return 0;
}
