/* SPDX-License-Identifier: Apache-2.0 */
#include "command/commands.h"
#include "fuzz.h"

/* Words without a placeholder must not change when placeholders are filled in. */
static void check_commands(struct ss_commands *commands) {
    static const char placeholder[] = "%";
    FUZZ_CHECK(commands->count > 0 && commands->count <= 1000000);
    for (uint32_t i = 0; i < commands->count; i++)
        FUZZ_CHECK(commands->items[i][0]);
    char *last = strdup(commands->items[commands->count - 1][0]);
    FUZZ_CHECK(last && ss_commands_fill_in(commands, placeholder, NULL) == 0);
    const char *numbered = commands->items[commands->count - 1][0];
    FUZZ_CHECK(strstr(last, placeholder) || strcmp(last, numbered) == 0);
    free(last);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[32];
    int file = fuzz_file(data, size, path);
    struct ss_commands commands = {0};
    struct ss_error error = {0};
    if (ss_commands_read(&commands, path, &error) == 0) {
        FUZZ_CHECK(error.status == 0);
        check_commands(&commands);
    } else {
        FUZZ_CHECK(error.status != 0 && !strpbrk(error.message, "\n\r"));
    }
    ss_commands_free(&commands);
    close(file);
    return 0;
}
