/* SPDX-License-Identifier: Apache-2.0 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/walk.h"
#include "base/words.h"
#include "platform/linux/linux.h"

char *ss_platform_program_path(unsigned levels, const char *end) {
    char path[PATH_MAX]; /* the kernel's limit for this link */
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    for (path[length < 0 ? 0 : length] = '\0'; length >= 0 && levels > 0; levels--) {
        char *slash = strrchr(path, '/');
        if (slash)
            *slash = '\0';
    }
    return length < 0 ? NULL : ss_words_format(NULL, "%s%s", path, end);
}

/*
 * Returns whether a trusted user, or the owner of this program, installed `path`. Anybody may
 * create /tmp/lib for a program in /tmp/NAME, but not replace an existing lib, so checks the folder
 * below the prefix, and only its owner: a user's own folders are often group-writable.
 */
static bool is_installed(const char *path, size_t prefix) {
    char neighbor[PATH_MAX];
    struct stat program, status;
    size_t length = prefix + 1 + strcspn(path + prefix + 1, "/");
    snprintf(neighbor, sizeof neighbor, "%.*s", (int)length, path);
    if (lstat(neighbor, &status) < 0 || stat("/proc/self/exe", &program) < 0)
        return false;
    errno = EACCES;
    return ss_walk_is_trusted(status.st_uid) || status.st_uid == program.st_uid;
}

char *ss_platform_installed_path(const char *end) {
    char *path = ss_platform_program_path(2, end);
    if (path && access(path, F_OK) == 0 && is_installed(path, strlen(path) - strlen(end)))
        return path;
    int why = errno;
    free(path);
    errno = why;
    return NULL;
}

/*
 * Returns whether all permitted capabilities are ambient. Unless the user is root, others can only
 * come from the program's file.
 */
static bool are_capabilities_ambient(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &header, sets) < 0)
        return false;
    for (unsigned i = 0; i < 32 * _LINUX_CAPABILITY_U32S_3; i++) {
        if ((sets[i / 32].permitted >> i % 32 & 1) &&
            prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, i, 0, 0) != 1)
            return false;
    }
    return true;
}

/*
 * AT_SECURE alone is no proof: security modules such as SELinux also set it for services and
 * containers, which gain nothing.
 */
int ss_platform_check_rights(struct ss_error *error) {
    if (getauxval(AT_SECURE) == 0)
        return 0;
    if (getuid() == geteuid() && getgid() == getegid() &&
        (getuid() == 0 || are_capabilities_ambient()))
        return 0;
    return ss_error_fail(error,
        "refusing to run set-uid, set-gid or with file capabilities, which would lend these rights "
        "to other users: remove them with chmod ug-s or setcap -r");
}

void ss_platform_hide_memory(void) {
    SS_OWNED(close) int file = open("/proc/self/coredump_filter", O_WRONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : write(file, "0", 1);
    (void)length; /* ignore errors: some kernels write no core dumps */
}

ss_time ss_platform_own_wait(void) {
    unsigned long long ran, waited;
    FILE *file = fopen("/proc/self/schedstat", "re");
    if (!file)
        return SS_TIME_NEVER;
    int count = fscanf(file, "%llu %llu", &ran, &waited);
    fclose(file);
    return count == 2 ? (ss_time)waited : SS_TIME_NEVER;
}

static char *arguments;
static size_t arguments_size;

/* The kernel shows the memory that held the argument strings, so the name is written there. */
void ss_platform_keep_arguments(int argc, char **argv) {
    arguments = argv[0];
    const char *end = argv[0];
    for (int i = 0; i < argc && argv[i] == end; i++)
        end = argv[i] + strlen(argv[i]) + 1;
    arguments_size = (size_t)(end - arguments);
}

void ss_platform_set_name(const char *name) {
    prctl(PR_SET_NAME, name);
    if (arguments_size == 0)
        return;
    memset(arguments, 0, arguments_size);
    snprintf(arguments, arguments_size, "%s", name);
}

void ss_platform_adopt_orphans(void) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/*
 * waitid() with only WSTOPPED does not report zombies, and fails with ECHILD if no child is alive.
 */
bool ss_platform_has_living_children(void) {
    siginfo_t info = {0};
    return waitid(P_ALL, 0, &info, WSTOPPED | WNOHANG | WNOWAIT | __WALL) == 0;
}

int ss_platform_die_with(pid_t parent, int signal) {
    prctl(PR_SET_PDEATHSIG, signal);
    return getppid() == parent ? 0 : -1;
}
