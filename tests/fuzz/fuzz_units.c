/* SPDX-License-Identifier: Apache-2.0 */

#include "base/units.h"
#include "fuzz.h"

static void check_error(int result, const struct ss_error *error) {
    FUZZ_CHECK((result == 0) == (error->status == 0));
    FUZZ_CHECK(!strpbrk(error->message, "\n\r"));
}

static void check_time(const char *text) {
    struct ss_error error = {0};
    ss_time value;
    int result = ss_units_time(text, &value, &error);
    check_error(result, &error);
    if (result != 0)
        return;
    FUZZ_CHECK(value != SS_TIME_NEVER);
    char printed[32];
    ss_time again;
    ss_units_print_time(printed, sizeof printed, value);
    FUZZ_CHECK(ss_units_time(printed, &again, &error) == 0 && again == value);
}

static void check_numbers(const char *text) {
    struct ss_error load_error = {0}, number_error = {0}, count_error = {0};
    double load, number;
    uint64_t count;
    int load_result = ss_units_load(text, 2, &load, &load_error);
    int number_result = ss_units_number(text, &number, &number_error);
    int count_result = ss_units_count(text, &count, &count_error);
    check_error(load_result, &load_error);
    check_error(number_result, &number_error);
    check_error(count_result, &count_error);
    FUZZ_CHECK(load_result != 0 || (load >= 0 && load <= 1));
    FUZZ_CHECK(number_result != 0 || (number >= 0 && number < 1e25));
    FUZZ_CHECK(count_result != 0 || (number_result == 0 && number == (double)count));
    if (load_result == 0 && number_result == 0)
        FUZZ_CHECK(load == number);
    /* Plain decimals must give the same number as strtod(). */
    if (number_result == 0 && !strchr(text, '/') && strlen(text) <= 20)
        FUZZ_CHECK(number == strtod(text, NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = fuzz_text(data, size);
    check_time(text);
    check_numbers(text);
    free(text);
    return 0;
}
