/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Preloaded into the program under test, empties a file while the program reads it, as the file's
 * owner may: SS_TEST_CUT=PATH is cut once, before the program first maps a file as shared or reads
 * more than 8 bytes by pread().
 */

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

static void cut(void) {
    const char *path = getenv("SS_TEST_CUT");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file >= 0 && ftruncate(file, 0) == 0)
        unsetenv("SS_TEST_CUT");
    if (file >= 0)
        close(file);
}

#define DEFINE_PREAD(name, type)                                                                   \
    PUBLIC ssize_t name(int file, void *bytes, size_t size, type offset) {                         \
        ssize_t (*function)(int, void *, size_t, type) = dlsym(RTLD_NEXT, #name);                  \
        if (size > 8)                                                                              \
            cut();                                                                                 \
        return function(file, bytes, size, offset);                                                \
    }

DEFINE_PREAD(pread, off_t)
DEFINE_PREAD(pread64, off64_t)

#define DEFINE_MMAP(name, type)                                                                    \
    PUBLIC void *name(void *at, size_t size, int access, int flags, int file, type offset) {       \
        void *(*function)(void *, size_t, int, int, int, type) = dlsym(RTLD_NEXT, #name);          \
        if (file >= 0 && flags & MAP_SHARED)                                                       \
            cut();                                                                                 \
        return function(at, size, access, flags, file, offset);                                    \
    }

DEFINE_MMAP(mmap, off_t)
DEFINE_MMAP(mmap64, off64_t)
