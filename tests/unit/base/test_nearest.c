/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/nearest.h"
#include "unit.h"

static const char *const names[] = {"averageq", "fixedq", "even", "uneven", "realtime", "constant",
    "staircase", "sine", "null", "tau"};

static const char *nearest(const char *word) {
    return ss_nearest(word, names, sizeof names / sizeof *names);
}

static void one_letter_off_is_found(void **state) {
    (void)state;
    assert_string_equal(nearest("averagq"), "averageq");
    assert_string_equal(nearest("averageqq"), "averageq");
    assert_string_equal(nearest("averabeq"), "averageq");
    assert_string_equal(nearest("avergaeq"), "averageq");
    assert_string_equal(nearest("evne"), "even");
    assert_string_equal(nearest("tao"), "tau");
}

static void the_nearer_name_wins(void **state) {
    (void)state;
    assert_string_equal(nearest("even"), "even");
    assert_string_equal(nearest("uneve"), "uneven");
    assert_string_equal(nearest("neven"), "even");
}

static void case_does_not_matter(void **state) {
    (void)state;
    assert_string_equal(nearest("RealTime"), "realtime");
}

static void a_beginning_is_enough(void **state) {
    (void)state;
    assert_string_equal(nearest("stair"), "staircase");
    assert_string_equal(nearest("const"), "constant");
    assert_null(nearest("st"));
}

static void other_words_are_not_guessed_at(void **state) {
    (void)state;
    assert_null(nearest("banana"));
    assert_null(nearest("x"));
    assert_null(nearest(""));
    assert_null(ss_nearest("even", names, 0));
    char text[1000];
    memset(text, 'e', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_null(nearest(text));
    const char *const lengthy[] = {text};
    assert_null(ss_nearest("eeee", lengthy, 1));
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(one_letter_off_is_found),
    cmocka_unit_test(the_nearer_name_wins),
    cmocka_unit_test(case_does_not_matter),
    cmocka_unit_test(a_beginning_is_enough),
    cmocka_unit_test(other_words_are_not_guessed_at))
