/* SPDX-License-Identifier: Apache-2.0 */

#include "unit.h"

#include "platform/platform.h"

TEST(path_without_room_is_not_truncated) {
    char path[4096], shorter[4096];
    assert_int_equal(ss_platform_program_path(path, sizeof path), 0);
    assert_int_equal(path[0], '/');
    size_t length = strlen(path);
    assert_int_equal(ss_platform_program_path(shorter, length), -1);
    assert_int_equal(ss_platform_program_path(shorter, length + 1), 0);
    assert_string_equal(shorter, path);
}

UNIT_RUN
