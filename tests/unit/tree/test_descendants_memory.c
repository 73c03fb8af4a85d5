/* SPDX-License-Identifier: Apache-2.0 */

#include "tree/descendants.h"
#include "unit.h"

static bool is_exhausted;

void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);

void *__wrap_realloc(void *memory, size_t size) {
    return is_exhausted ? NULL : __real_realloc(memory, size);
}

/* A process that is not listed may stay stopped, so the caller must know. */
TEST(list_without_memory_is_incomplete) {
    struct ss_descendants list = {0};
    pid_t pid = 100;
    ss_descendants_add(&list, pid, 1);
    is_exhausted = true;
    while (list.count < list.room)
        ss_descendants_add(&list, ++pid, 1);
    assert_false(list.incomplete);
    ss_descendants_add(&list, ++pid, 1);
    is_exhausted = false;
    assert_true(list.incomplete);
    assert_int_equal(list.count, list.room);
    assert_int_equal(list.items[list.count - 1].pid, pid - 1);
    ss_descendants_close(&list);
    assert_false(list.incomplete);
}

UNIT_RUN
