/* SPDX-License-Identifier: Apache-2.0 */
#include "base/grow.h"

#include "unit.h"

/* AddressSanitizer would end the test instead of failing the allocation. */
const char *__asan_default_options(void);

__attribute__((visibility("default"))) const char *__asan_default_options(void) {
    return "allocator_may_return_null=1";
}

TEST(growing_an_array_keeps_its_items) {
    uint64_t *items = NULL;
    size_t count = 0, room = 0;
    for (uint64_t i = 0; i < 100000; i++) {
        assert_true(SS_GROW(items, count + 1, room));
        assert_that(room, >, count);
        items[count++] = i;
    }
    for (uint64_t i = 0; i < count; i++)
        assert_int_equal(items[i], i);
    free(items);
}

TEST(array_capacity_grows_in_few_steps_by_at_most_half) {
    char *bytes = NULL;
    uint32_t room = 0;
    int steps = 0;
    for (uint32_t needed = 1; needed <= 1000000; needed++) {
        uint32_t before = room;
        assert_true(SS_GROW(bytes, needed, room));
        assert_in_range(room, needed, needed + needed / 2);
        steps += room != before;
    }
    assert_in_range(steps, 1, 40);
    free(bytes);
}

TEST(required_array_capacity_is_allocated_at_once) {
    char *bytes = NULL;
    size_t room = 0;
    assert_true(SS_GROW(bytes, 5000, room));
    assert_int_equal(room, 5000);
    assert_true(SS_GROW(bytes, 5000, room));
    assert_int_equal(room, 5000);
    free(bytes);
}

TEST(failed_allocation_leaves_the_array_unchanged) {
    char *bytes = NULL;
    size_t room = 0;
    assert_true(SS_GROW(bytes, 1, room));
    char *before = bytes;
    size_t room_before = room;
    bytes[0] = 'x';
    assert_false(SS_GROW(bytes, PTRDIFF_MAX, room));
    assert_ptr_equal(bytes, before);
    assert_int_equal(room, room_before);
    assert_int_equal(bytes[0], 'x');
    free(bytes);
}

TEST(array_size_overflow_is_refused) {
    uint64_t *items = NULL;
    size_t room = 0;
    assert_false(SS_GROW(items, SIZE_MAX / 4, room));
    assert_null(items);
    assert_int_equal(room, 0);
}

UNIT_RUN
