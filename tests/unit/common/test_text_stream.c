/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "text_stream.h"

TEST(printed_text_is_returned) {
    struct ss_text text;
    assert_int_equal(ss_text_open(&text, NULL), 0);
    fprintf(text.stream, "%d of %s", 3, "four");
    char *printed = ss_text_close(&text, NULL);
    assert_string_equal(printed, "3 of four");
    free(printed);
}

/* A full device fails like exhausted memory. */
TEST(incomplete_text_is_an_error) {
    struct ss_text text = {.stream = fopen("/dev/full", "w")};
    struct ss_error error = {0};
    SKIP_UNLESS(text.stream, "dev-full: cannot be opened");
    fputs("lost", text.stream);
    assert_null(ss_text_close(&text, &error));
    assert_int_equal(error.status, SS_ERROR_FAILED);
}

UNIT_RUN
