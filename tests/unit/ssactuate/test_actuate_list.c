/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "actuator.h"
#include "unit.h"

/* Lists the actuators of a machine whose /sys and /proc are empty. */
static char *list(void (*write)(const struct ssactuate_machine *machine, FILE *stream)) {
    char root[] = "/tmp/actuate-list-XXXXXX";
    struct ssactuate_machine machine;
    struct ss_error error = {0};
    char *text = NULL;
    size_t size;
    assert_non_null(mkdtemp(root));
    if (ssactuate_machine_open(&machine, root, &error) < 0)
        fail_msg("%s", error.message);
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    write(&machine, stream);
    fclose(stream);
    ssactuate_machine_close(&machine);
    rmdir(root);
    return text;
}

static void assert_has(const char *text, const char *part) {
    if (!strstr(text, part))
        fail_msg("no '%s' in:\n%s", part, text);
}

TEST(missing_actuators_have_a_reason_as_text_and_as_json) {
    char *text = list(ssactuate_list_print), *json = list(ssactuate_list_write);
    assert_has(text, "frequency  absent: the kernel has no cpufreq policy");
    assert_has(text, "\ninstances  1 to 64\n           by ssactuate");
    assert_has(text, "reserves no CPU and no time.\n");
    const char *frequency = strstr(json, "\"name\": \"frequency\"");
    assert_non_null(frequency);
    assert_has(frequency, "\"present\": false");
    assert_has(frequency, "\"levels\": null");
    const char *reason = strstr(frequency, "\"reason\": \"");
    assert_non_null(reason);
    assert_true(reason < strstr(frequency, "\"form\""));
    assert_has(json, "\"levels\": \"1 to 64\"");
    free(text);
    free(json);
}

UNIT_RUN
