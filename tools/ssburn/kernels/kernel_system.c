/* SPDX-License-Identifier: Apache-2.0 */

/* Kernels for system calls. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels.h"

/* Ends a failed round. errno was 0 before it, so 0 means a wrong result, not a failed call. */
static bool fail_round(struct kernel_data *data) {
    data->failure = errno;
    return false;
}

static bool call_round(struct kernel_data *data) {
    long parent = getppid();
    (void)data;
    for (int i = 0; i < 2000; i++) {
        long found = syscall(SYS_getppid);
        /* If the parent exits, another process becomes the parent. */
        if (found != parent && found != (parent = getppid()))
            return false;
    }
    return true;
}

const struct kernel kernel_call = {"system-call", "system", "the shortest system call", call_round};

static bool pipe_open(struct kernel_data *data) {
    return pipe2(data->descriptors, O_CLOEXEC) == 0;
}

static bool pipe_round(struct kernel_data *data) {
    char sent[512], got[512];

    errno = 0;
    memset(sent, (int)(data->state++ & 0x7f), sizeof sent);

    for (int i = 0; i < 200; i++) {
        if (write(data->descriptors[1], sent, sizeof sent) != (ssize_t)sizeof sent ||
            read(data->descriptors[0], got, sizeof got) != (ssize_t)sizeof got ||
            memcmp(sent, got, sizeof sent) != 0)
            return fail_round(data);
    }
    return true;
}

const struct kernel kernel_pipe = {"pipe", "system", "sending 512 bytes through a pipe", pipe_round,
    KERNEL_NO_MEMORY, 0, pipe_open};

static bool page_round(struct kernel_data *data) {
    const size_t pages = 64, page = 4096;
    errno = 0;
    unsigned char *memory =
        mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return fail_round(data);

    unsigned sum = 0;
    for (size_t i = 0; i < pages; i++) {
        sum += memory[i * page]; /* a new page is zero */
        memory[i * page] = 1;
        sum += memory[i * page];
    }

    return (munmap(memory, pages * page) == 0 && sum == pages) || fail_round(data);
}

const struct kernel kernel_page = {
    "page-fault", "system", "touching new pages of memory and giving them back", page_round};

static bool fork_round(struct kernel_data *data) {
    int expected = (int)(data->state++ & 0x7f), status;
    errno = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(expected);
    return (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
               WEXITSTATUS(status) == expected) ||
           fail_round(data);
}

const struct kernel kernel_fork = {
    "fork", "system", "starting a child and waiting for its end", fork_round};
