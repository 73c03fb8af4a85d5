/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "plan.h"

static int read_plan(
    struct ssbatch_plan *plan, const void *text, size_t size, struct ss_error *error) {
    FILE *stream = fuzz_stream(text, size);
    int status = ssbatch_plan_read(plan, stream, "plan", error);
    fclose(stream);
    return status;
}

static char *print(const struct ssbatch_plan *plan, size_t *size) {
    char *text = NULL;
    FILE *stream = open_memstream(&text, size);
    FUZZ_CHECK(stream);
    fputs("plan 1\n", stream);
    ssbatch_plan_print_study(stream, plan);
    for (size_t i = 0; i < plan->run_count; i++)
        ssbatch_plan_print_run(stream, &plan->runs[i]);
    FUZZ_CHECK(fclose(stream) == 0);
    return text;
}

/* A printed plan must read back and print as the same plan. */
static void check_printed(const struct ssbatch_plan *plan) {
    struct ssbatch_plan again;
    struct ss_error error = {0};
    size_t size, size_again;
    char *text = print(plan, &size);
    FUZZ_CHECK(read_plan(&again, text, size, &error) == 0);
    char *text_again = print(&again, &size_again);
    FUZZ_CHECK(strcmp(text, text_again) == 0);
    FUZZ_CHECK(again.run_count == plan->run_count);
    for (size_t i = 0; i < plan->run_count; i++)
        FUZZ_CHECK(ssbatch_plan_find(&again, plan->runs[i].name) == &again.runs[i]);
    ssbatch_plan_free(&again);
    free(text_again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct ssbatch_plan plan;
    struct ss_error error = {0};
    if (read_plan(&plan, data, size, &error) == 0) {
        FUZZ_CHECK(error.status == 0);
        check_printed(&plan);
    } else {
        FUZZ_CHECK(error.status != 0 && !strpbrk(error.message, "\n\r"));
    }
    ssbatch_plan_free(&plan);
    return 0;
}
