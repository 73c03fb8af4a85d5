/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Preloaded into the program under test, makes calls fail: SS_TEST_FAULT=KIND:FIRST:COUNT:FILE with
 * KIND fork, memory, large (memory in large pieces), files, reserve (posix_fallocate(), not
 * supported) or end (posix_fallocate() succeeds, but the process gets SIGTERM first). COUNT calls
 * fail, beginning with call number FIRST of all processes of a run, and the first failure creates
 * FILE. Programs that it executes are not affected.
 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LARGE_SIZE 65536

#define PUBLIC __attribute__((visibility("default")))

/* glibc's own names, so that finding them allocates nothing. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

enum kind { FORK, MEMORY, LARGE, FILES, RESERVE, END, KINDS };

static const char *const names[KINDS] = {"fork", "memory", "large", "files", "reserve", "end"};

static struct {
    enum kind kind;
    unsigned long first;
    unsigned long count;
    char report[256];
    _Atomic unsigned long *calls; /* shared by all processes; NULL: no call fails */
} fault;

static void *map(void *at, size_t size, int protection, int flags, int file, off64_t offset) {
#ifdef SYS_mmap2 /* takes the offset in units of 4096 bytes */
    return (void *)syscall(SYS_mmap2, at, size, protection, flags, file, (long)(offset / 4096));
#else
    return (void *)syscall(SYS_mmap, at, size, protection, flags, file, offset);
#endif
}

__attribute__((constructor)) static void open_fault(void) {
    char kind[16];
    const char *text = getenv("SS_TEST_FAULT");
    if (!text || strcmp(program_invocation_short_name, "showstopper") != 0 ||
        sscanf(text, "%15[^:]:%lu:%lu:%255s", kind, &fault.first, &fault.count, fault.report) != 4)
        return;
    while (fault.kind < KINDS && strcmp(names[fault.kind], kind) != 0)
        fault.kind++;
    void *page = map(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED)
        fault.calls = page;
}

static bool fails(enum kind kind) {
    if (!fault.calls || kind != fault.kind)
        return false;
    unsigned long call = ++*fault.calls;
    if (call < fault.first || call - fault.first >= fault.count)
        return false;
    long file = syscall(SYS_openat, AT_FDCWD, fault.report, O_WRONLY | O_CREAT, 0666);
    if (file >= 0)
        syscall(SYS_close, file);
    return true;
}

static void *real(const char *name) {
    return dlsym(RTLD_NEXT, name);
}

PUBLIC pid_t fork(void) {
    if (fails(FORK)) {
        errno = EAGAIN;
        return -1;
    }
    pid_t (*function)(void) = real("fork");
    return function();
}

static bool refuse_memory(size_t size) {
    if (!fails(MEMORY) && (size < LARGE_SIZE || !fails(LARGE)))
        return false;
    errno = ENOMEM;
    return true;
}

PUBLIC void *malloc(size_t size) {
    return refuse_memory(size) ? NULL : __libc_malloc(size);
}

PUBLIC void *calloc(size_t count, size_t size) {
    return refuse_memory(count * size) ? NULL : __libc_calloc(count, size);
}

PUBLIC void *realloc(void *old, size_t size) {
    return refuse_memory(size) ? NULL : __libc_realloc(old, size);
}

PUBLIC void *mmap64(void *at, size_t size, int protection, int flags, int file, off64_t offset) {
    return refuse_memory(size) ? MAP_FAILED : map(at, size, protection, flags, file, offset);
}

PUBLIC void *mmap(void *at, size_t size, int protection, int flags, int file, off_t offset) {
    return mmap64(at, size, protection, flags, file, offset);
}

PUBLIC int posix_fallocate64(int file, off64_t offset, off64_t length) {
    if (refuse_memory((size_t)length))
        return ENOSPC;
    if (fails(RESERVE))
        return EOPNOTSUPP;
    if (fails(END))
        raise(SIGTERM);
    int (*function)(int, off64_t, off64_t) = real("posix_fallocate64");
    return function(file, offset, length);
}

PUBLIC int posix_fallocate(int file, off_t offset, off_t length) {
    return posix_fallocate64(file, offset, length);
}

static bool refuse_file(void) {
    if (!fails(FILES))
        return false;
    errno = EMFILE;
    return true;
}

#define DEFINE_OPEN(name)                                                                          \
    PUBLIC int name(const char *path, int flags, ...) {                                            \
        va_list arguments;                                                                         \
        va_start(arguments, flags);                                                                \
        bool makes = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;                          \
        mode_t mode = makes ? va_arg(arguments, mode_t) : 0;                                       \
        va_end(arguments);                                                                         \
        return refuse_file() ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);         \
    }

DEFINE_OPEN(open)
DEFINE_OPEN(open64)

PUBLIC int shm_open(const char *name, int flags, mode_t mode) {
    int (*function)(const char *, int, mode_t) = real("shm_open");
    return refuse_file() ? -1 : function(name, flags, mode);
}

PUBLIC int pipe2(int ends[2], int flags) {
    return refuse_file() ? -1 : (int)syscall(SYS_pipe2, ends, flags);
}
