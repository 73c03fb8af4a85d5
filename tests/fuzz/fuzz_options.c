/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "options/values.h"

struct config {
    const char *path;
    ss_time length;
    double part;
    uint64_t copies;
    double gain;
    int mode;
};

#define AT(member) .offset = offsetof(struct config, member)

static const struct ss_option rows[] = {
    {.name = "path", .type = SS_OPTION_TEXT, AT(path), .help = "a file"},
    {.name = "length", .type = SS_OPTION_TIME, AT(length), .initial = "1s", .max = "1000d"},
    {.name = "part", .type = SS_OPTION_LOAD, AT(part), .initial = "1/2", .max = "90%"},
    {.name = "copies", .type = SS_OPTION_COUNT, AT(copies), .min = "2", .initial = "2"},
    {.name = "gain", .type = SS_OPTION_NUMBER, AT(gain), .min = "0.001", .initial = "1"},
    {.name = "mode",
        .type = SS_OPTION_CHOICE,
        AT(mode),
        .choices = "on off on-off",
        .initial = "off"},
    SS_OPTION_END};

static void check_bounds(const struct config *config) {
    FUZZ_CHECK(config->length <= 1000 * 86400 * SS_SECOND);
    FUZZ_CHECK(config->part >= 0 && config->part <= 0.9);
    FUZZ_CHECK(config->copies >= 2);
    FUZZ_CHECK(config->gain >= 0.001);
    FUZZ_CHECK(config->mode >= 0 && config->mode <= 2);
}

/* Every value that is printed and set again must be unchanged. */
static void check_print(const struct config *config, size_t size) {
    struct config again = *config;
    struct ss_option_store store = {0};
    struct ss_error error = {0};
    char *text = malloc(size + 64);
    FUZZ_CHECK(text);
    again.path = NULL;
    for (const struct ss_option *row = rows; row->name; row++) {
        ss_option_print_value(text, size + 64, row, config);
        FUZZ_CHECK(ss_option_set(row, text, &again, &store, &error) == 0);
    }
    FUZZ_CHECK(strcmp(again.path, config->path ? config->path : "") == 0);
    again.path = config->path;
    /* The parser ignores decimals after the 30th. */
    if (config->part > 0 && config->part < 1e-12)
        again.part = config->part;
    FUZZ_CHECK(memcmp(&again, config, sizeof again) == 0);
    ss_option_store_free(&store);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = fuzz_text(data, size);
    struct config config;
    struct ss_option_store store = {0};
    struct ss_error error = {0};
    memset(&config, 0, sizeof config); /* padding between the fields is compared, too */
    if (ss_option_parse_string(rows, text, &config, &store, &error) == 0) {
        FUZZ_CHECK(error.status == 0);
        check_bounds(&config);
        check_print(&config, size);
    } else {
        FUZZ_CHECK(error.status != 0 && !strpbrk(error.message, "\n\r"));
    }
    ss_option_store_free(&store);
    free(text);
    return 0;
}
