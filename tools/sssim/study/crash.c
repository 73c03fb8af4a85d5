/* SPDX-License-Identifier: Apache-2.0 */
#include "crash.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if __has_include(<execinfo.h>)
#include <execinfo.h>
#else
static int backtrace(void **frames, int room) {
    (void)frames;
    (void)room;
    return 0;
}
#endif

#define FRAMES_MAX 64

static const struct ss_module_set *watched;

/* Returns the module of the innermost frame inside a module; NULL if there is no such frame. */
static const char *find_module(void) {
    void *frames[FRAMES_MAX];
    int count = backtrace(frames, FRAMES_MAX);
    for (int i = 0; i < count; i++) {
        Dl_info info;
        if (!dladdr(frames[i], &info) || !info.dli_fname)
            continue;
        for (int kind = 0; kind < SS_KINDS; kind++) {
            if (strcmp(info.dli_fname, watched->modules[kind].path) == 0)
                return info.dli_fname;
        }
    }
    return NULL;
}

/*
 * Reports the module. The default action is restored, so the signal ends the program once it is
 * unblocked.
 */
static void tell(int number) {
    const char *module = find_module();
    if (module)
        dprintf(STDERR_FILENO, "sssim: the module %s crashed: %s\n", module, strsignal(number));
    raise(number);
}

void crash_name_modules(const struct ss_module_set *set) {
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    static char room[1 << 16]; /* a stack, because a module may have used up the usual one */
    void *frame;
    watched = set;
    /* The first call loads a library, which must not happen during a crash. */
    backtrace(&frame, 1);
    sigaltstack(&(stack_t){.ss_sp = room, .ss_size = sizeof room}, NULL);
    struct sigaction action = {.sa_handler = tell, .sa_flags = (int)SA_RESETHAND | SA_ONSTACK};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &action, NULL);
}
