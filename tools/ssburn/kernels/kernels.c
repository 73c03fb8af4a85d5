/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/owned.h"
#include "sys_tree.h"

/*
 * Limits of working sets. A cache of hundreds of MiB is shared by many CPUs, so one CPU gets only
 * part of it. Preparing a walk through more memory would take longer than the measurement.
 */
#define LAST_MAX   ((size_t)32 << 20)
#define MEMORY_MIN ((size_t)64 << 20)
#define MEMORY_MAX ((size_t)128 << 20)
#define HUGE_PAGE  ((size_t)2 << 20)

#define INDICES_MAX 16
#define INDEX       "devices/system/cpu/cpu0/cache/index%d/"

/* Parses "32K", "8M". Returns 0 if invalid. */
static size_t size_of(const char *word) {
    unsigned long number;
    char unit = ' ';
    if (sscanf(word, "%7lu%c", &number, &unit) < 1)
        return 0;
    if (unit == 'M')
        number <<= 10;
    return (size_t)number << (unit == 'K' || unit == 'M' ? 10 : 0);
}

struct caches caches_read(const char *path) {
    struct caches caches = {32 << 10, 1 << 20, 16 << 20};
    struct sys_tree sys;
    struct ss_error ignored = {0};
    size_t sizes[10] = {0};
    if (sys_tree_open(&sys, path, &ignored) < 0)
        return caches;

    for (int index = 0; index < INDICES_MAX; index++) {
        double level = sys_tree_number(&sys, INDEX "level", index);
        SS_OWNED(free) char *type = sys_tree_line(&sys, INDEX "type", index);
        SS_OWNED(free) char *size = sys_tree_line(&sys, INDEX "size", index);
        if (type && size && strcmp(type, "Instruction") != 0 && level >= 1 && level <= 9)
            sizes[(int)level] = size_of(size);
    }
    sys_tree_close(&sys);

    caches.first = sizes[1] ? sizes[1] : caches.first;
    caches.second = sizes[2] ? sizes[2] : caches.second;
    if (sizes[1] || sizes[2])
        caches.last = caches.second;
    for (int level = 3; level < 10; level++)
        caches.last = sizes[level] ? sizes[level] : caches.last;
    return caches;
}

static size_t memory_bytes(const struct caches *caches) {
    size_t bytes = 4 * caches->last;
    uint64_t whole = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    bytes = bytes < MEMORY_MIN ? MEMORY_MIN : bytes;
    bytes = bytes > MEMORY_MAX ? MEMORY_MAX : bytes;
    return bytes > whole / 8 ? (size_t)(whole / 8) : bytes;
}

static size_t bytes_of(const struct kernel *kernel, const struct caches *caches) {
    switch (kernel->size) {
    case KERNEL_NO_MEMORY:
        return 0;
    case KERNEL_L1:
        return caches->first / 2;
    case KERNEL_L2:
        return caches->second / 2;
    case KERNEL_LAST:
        return caches->last / 2 < LAST_MAX ? caches->last / 2 : LAST_MAX;
    case KERNEL_MEMORY:
        return memory_bytes(caches);
    case KERNEL_FIXED:
        return kernel->bytes;
    }
    return 0;
}

/*
 * Allocates memory, in huge pages if possible. The cache lines to which small pages map differ from
 * run to run, which changes the rate of some kernels by a tenth or more; a huge page maps to all
 * lines evenly.
 */
static void *take_memory(size_t bytes) {
    size_t whole = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void *memory = aligned_alloc(HUGE_PAGE, whole);
    if (!memory)
        return NULL;
    madvise(memory, whole, MADV_HUGEPAGE);
    return memset(memory, 0, bytes);
}

int kernel_open(const struct kernel *kernel, const struct caches *caches, struct kernel_data *data,
    struct ss_error *error) {
    *data = (struct kernel_data){.descriptors = {-1, -1}};
    data->bytes = (bytes_of(kernel, caches) + 4095) / 4096 * 4096;
    if (data->bytes > 0 && !(data->memory = take_memory(data->bytes)))
        return ss_error_memory(error);

    if (!kernel->open || kernel->open(data))
        return 0;

    int why = errno;
    kernel_close(data);
    return ss_error_fail(error, "kernel %s: %s", kernel->name, strerror(why));
}

void kernel_close(struct kernel_data *data) {
    for (int i = 0; i < 2; i++) {
        if (data->descriptors[i] >= 0)
            close(data->descriptors[i]);
        data->descriptors[i] = -1;
    }
    free(data->memory);
    data->memory = NULL;
}

const char *kernel_compiler(void) {
#ifdef __clang__
    return __VERSION__ " " KERNEL_FLAGS;
#else
    return "GCC " __VERSION__ " " KERNEL_FLAGS;
#endif
}

#define KERNEL(name) extern const struct kernel kernel_##name;
#include "kernels.def"
#undef KERNEL

const struct kernel *const kernels[] = {
#define KERNEL(name) &kernel_##name,
#include "kernels.def"
#undef KERNEL
    NULL,
};
