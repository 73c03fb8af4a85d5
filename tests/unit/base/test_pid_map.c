/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>

#include "base/pid_map.h"
#include "unit.h"

static struct ss_pid_map map;

static void open_map(uint32_t max) {
    assert_int_equal(ss_pid_map_open(&map, max), 0);
}

static void set(pid_t pid, uint32_t value) {
    assert_int_equal(ss_pid_map_set(&map, pid, value), 0);
    assert_int_equal(ss_pid_map_get(&map, pid), value);
}

TEST(removing_a_missing_pid_has_no_effect) {
    const pid_t others[] = {0, -1, -5, 4, 6, INT32_MAX};
    open_map(10);
    assert_int_equal(ss_pid_map_get(&map, 5), SS_PID_MAP_NONE);
    set(5, 1);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        ss_pid_map_remove(&map, others[i]);
        assert_int_equal(ss_pid_map_get(&map, others[i]), SS_PID_MAP_NONE);
    }
    assert_int_equal(map.count, 1);
    assert_int_equal(ss_pid_map_get(&map, 5), 1);
    ss_pid_map_close(&map);
}

/* The map accepts pids until half of the table is used, possibly more than were requested. */
TEST(pid_map_holds_the_requested_number_of_pids) {
    const uint32_t sizes[] = {1, 7, 8, 9, 100, 1024, 32768};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        open_map(sizes[i]);
        pid_t pid = 1;
        for (uint32_t count = 0; count < sizes[i]; count++)
            set(pid++, count);
        while (ss_pid_map_set(&map, pid, 1) == 0) {
            pid++;
            assert_that((uint32_t)pid, <, 4 * sizes[i] + 16);
        }
        assert_int_equal(ss_pid_map_get(&map, pid), SS_PID_MAP_NONE);
        assert_int_equal(map.count, pid - 1);
        set(1, 12);
        ss_pid_map_remove(&map, 1);
        set(pid, 13);
        assert_int_equal(ss_pid_map_set(&map, 1, 1), -1);
        for (pid_t other = 2; other <= pid; other++)
            assert_int_not_equal(ss_pid_map_get(&map, other), SS_PID_MAP_NONE);
        ss_pid_map_close(&map);
    }
}

static uint32_t seed = 20240229;

static uint32_t draw(uint32_t below) {
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed % below;
}

#define PIDS_MAX 500

/* A plain list as the reference for the map. */
static struct {
    pid_t pid;
    uint32_t value;
} plain[PIDS_MAX];
static uint32_t plain_count;

static uint32_t find_plain(pid_t pid) {
    uint32_t i = 0;
    while (i < plain_count && plain[i].pid != pid)
        i++;
    return i;
}

static void change_both(pid_t pid, uint32_t value) {
    uint32_t at = find_plain(pid);
    if (draw(5) < 2 && at < plain_count) {
        ss_pid_map_remove(&map, pid);
        plain[at] = plain[--plain_count];
    } else if (at < PIDS_MAX) {
        set(pid, value);
        plain[at].pid = pid;
        plain[at].value = value;
        plain_count += at == plain_count;
    }
}

static void compare_both(pid_t pids) {
    assert_int_equal(map.count, plain_count);
    for (pid_t pid = 0; pid < pids; pid++) {
        uint32_t at = find_plain(pid);
        assert_int_equal(
            ss_pid_map_get(&map, pid), at < plain_count ? plain[at].value : SS_PID_MAP_NONE);
    }
}

/*
 * Uses pids as the kernel assigns them: mostly close together, with few or nearly too many in use.
 */
TEST(pid_map_agrees_with_a_plain_list) {
    const uint32_t ranges[] = {20, 600, 1500, 4000000};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        open_map(PIDS_MAX);
        plain_count = 0;
        for (uint32_t step = 0; step < 40000; step++) {
            bool known = plain_count > 0 && draw(2) == 0;
            pid_t pid = known ? plain[draw(plain_count)].pid : 1 + (pid_t)draw(ranges[i]);
            change_both(pid, step);
            if (step % 4000 == 0)
                compare_both(2000);
        }
        compare_both(2000);
        for (uint32_t k = 0; k < plain_count; k++)
            assert_int_equal(ss_pid_map_get(&map, plain[k].pid), plain[k].value);
        ss_pid_map_close(&map);
    }
}

UNIT_RUN
