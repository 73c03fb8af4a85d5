/* SPDX-License-Identifier: Apache-2.0 */

#include "unit.h"

#include <stdlib.h>

#include "base/owned.h"
#include "platform/platform.h"

TEST(levels_are_cut_from_the_path_of_the_program) {
    SS_OWNED(free) char *path = ss_platform_program_path(0, "");
    SS_OWNED(free) char *other = ss_platform_program_path(1, "/other");
    SS_OWNED(free) char *root = ss_platform_program_path(100, "/etc");
    assert_non_null(strstr(path, "/unit_test_program_path"));
    size_t length = (size_t)(strrchr(path, '/') - path);
    assert_memory_equal(other, path, length);
    assert_string_equal(other + length, "/other");
    assert_string_equal(root, "/etc");
}

UNIT_RUN
