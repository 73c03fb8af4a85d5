/* SPDX-License-Identifier: Apache-2.0 */

#include <errno.h>

#include "kernels.h"
#include "tree.h"

static const struct caches small = {8 << 10, 32 << 10, 1 << 20};

TEST(kernel_names_are_unique_and_described) {
    size_t count = 0;
    for (; kernels[count]; count++) {
        const struct kernel *kernel = kernels[count];
        assert_true(*kernel->name && *kernel->class && *kernel->help);
        assert_null(strpbrk(kernel->name, " ,\""));
        for (size_t i = 0; i < count; i++)
            assert_string_not_equal(kernel->name, kernels[i]->name);
    }
    assert_that(count, >=, 24);
}

static struct kernel_data open_kernel(const struct kernel *kernel, const struct caches *caches) {
    struct kernel_data data;
    struct ss_error error = {0};
    assert_succeeds(kernel_open(kernel, caches, &data, &error), error);
    return data;
}

TEST(every_kernel_computes_the_right_result) {
    for (size_t i = 0; kernels[i]; i++) {
        struct kernel_data data = open_kernel(kernels[i], &small);
        for (int round = 0; round < 3; round++) {
            if (!kernels[i]->round(&data))
                fail_msg("%s: round %d is wrong", kernels[i]->name, round);
        }
        kernel_close(&data);
        assert_null(data.memory);
    }
}

static const struct kernel *find(const char *name) {
    for (size_t i = 0; kernels[i]; i++) {
        if (strcmp(kernels[i]->name, name) == 0)
            return kernels[i];
    }
    fail_msg("no kernel %s", name);
    return NULL;
}

/* Otherwise rounds cannot be compared between machines. */
TEST(a_round_reads_the_same_amount_from_any_cache) {
    static const size_t sizes[] = {32 << 10, 48 << 10, 96 << 10, 1 << 20};
    const struct kernel *kernel = find("read-l1");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct caches caches = {sizes[i], 2 << 20, 4 << 20};
        struct kernel_data data = open_kernel(kernel, &caches);
        assert_true(kernel->round(&data));
        assert_int_equal(data.state % data.bytes, (256 << 10) % data.bytes);
        kernel_close(&data);
    }
}

/* Modifies data that the next round reads again. */
TEST(kernels_detect_changed_memory) {
    static const char *const names[] = {
        "latency-l1", "latency-l2", "read-l1", "read-l2", "string-search", "search"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct kernel *kernel = find(names[i]);
        struct kernel_data data = open_kernel(kernel, &small);
        assert_true(kernel->round(&data));
        for (size_t at = 4; at < data.bytes; at += 64)
            ((unsigned char *)data.memory)[at] ^= 0x10 + at / 64 % 3;
        if (strcmp(names[i], "string-search") == 0)
            memset(data.memory, 'x', data.bytes - 1);
        if (strcmp(names[i], "search") == 0)
            memset(data.memory, 1, data.bytes);
        data.state = strncmp(names[i], "latency", 7) == 0 ? 0 : data.state;
        if (kernel->round(&data))
            fail_msg("%s does not detect the change", names[i]);
        assert_int_equal(data.failure, 0);
        kernel_close(&data);
    }
}

TEST(failed_calls_are_not_wrong_results) {
    const struct kernel *kernel = find("pipe");
    struct kernel_data data = open_kernel(kernel, &small);
    assert_true(kernel->round(&data));
    assert_int_equal(data.failure, 0);
    close(data.descriptors[1]);
    data.descriptors[1] = -1;
    assert_false(kernel->round(&data));
    assert_int_equal(data.failure, EBADF);
    kernel_close(&data);
}

static void write_index(int index, const char *level, const char *type, const char *size) {
    const char *const words[][2] = {{"level", level}, {"type", type}, {"size", size}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char path[80];
        snprintf(path, sizeof path, "devices/system/cpu/cpu0/cache/index%d/%s", index, words[i][0]);
        tree_write(path, words[i][1]);
    }
}

static void expect_caches(const char *root, size_t first, size_t second, size_t last) {
    struct caches caches = caches_read(root);
    assert_int_equal(caches.first, first);
    assert_int_equal(caches.second, second);
    assert_int_equal(caches.last, last);
}

TEST(kernels_use_the_cache_sizes_of_the_machine) {
    const char *root = tree_new();
    expect_caches("/none/there", 32 << 10, 1 << 20, 16 << 20);
    expect_caches(root, 32 << 10, 1 << 20, 16 << 20);
    write_index(0, "1", "Data", "48K\n");
    write_index(1, "1", "Instruction", "64K\n");
    write_index(2, "2", "Unified", "2048K\n");
    expect_caches(root, 48 << 10, 2 << 20, 2 << 20);
    write_index(3, "3", "Unified", "36M\n");
    expect_caches(root, 48 << 10, 2 << 20, 36 << 20);
}

UNIT_RUN
