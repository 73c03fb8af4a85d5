/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/owned.h"
#include "platform/linux/linux.h"

/* Maximum number of threads that are examined: a sample suffices. */
#define EXAMINED_MAX 64

/* Link count of a folder with one subfolder. */
#define LINKS_OF_ONE_THREAD 3

static bool wants_cpu(pid_t process, pid_t thread) {
    struct ss_linux_path path = ss_linux_path("/proc/%d/task/%d/stat", (int)process, (int)thread);
    char text[512];
    const char *at = ss_linux_read_stat(path.text, text, sizeof text);
    return at && strncmp(at, " R", 2) == 0;
}

void ss_platform_process_threads(
    pid_t process, void (*visit)(void *context, pid_t thread), void *context) {
    char path[64]; /* small, because callers visit trees of any depth */
    snprintf(path, sizeof path, "/proc/%d/task", (int)process);
    SS_OWNED(closedir) DIR *folder = opendir(path);
    struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
        if (thread > 0)
            visit(context, thread);
    }
}

static pid_t find_runnable(const char *path, pid_t process) {
    SS_OWNED(closedir) DIR *folder = opendir(path);
    pid_t found = 0;
    struct dirent *entry;
    for (int examined = 0;
         folder && !found && examined < EXAMINED_MAX && (entry = readdir(folder));) {
        pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);
        if (thread <= 0 || thread == process)
            continue;
        examined++;
        if (wants_cpu(process, thread))
            found = thread;
    }
    return found;
}

pid_t ss_platform_runnable_thread(pid_t process) {
    struct ss_linux_path path = ss_linux_path("/proc/%d/task", (int)process);
    struct stat status;
    if (stat(path.text, &status) < 0 || status.st_nlink <= LINKS_OF_ONE_THREAD)
        return 0;
    return find_runnable(path.text, process);
}

void ss_platform_thread_signal(pid_t process, pid_t thread, int signal) {
    syscall(SYS_tgkill, process, thread, signal);
}
