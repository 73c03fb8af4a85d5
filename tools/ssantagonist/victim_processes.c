/* SPDX-License-Identifier: Apache-2.0 */

/* Finds processes by their open files and sockets, as listed in /proc. */

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/owned.h"
#include "suspects.h"

struct search {
    ino_t *inodes; /* inodes of files or sockets */
    size_t count, room;
    dev_t device; /* device of the files */
    bool sockets;
    struct suspects *found;
};

static bool is_wanted(const struct search *search, const struct stat *status) {
    if (search->sockets ? !S_ISSOCK(status->st_mode) : status->st_dev != search->device)
        return false;
    for (size_t i = 0; i < search->count; i++) {
        if (search->inodes[i] == status->st_ino)
            return true;
    }
    return false;
}

static void check_process(void *context, pid_t pid) {
    struct search *search = context;
    char path[64], number[16];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    SS_OWNED(closedir) DIR *folder = opendir(path);
    const struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        struct stat status;
        if (fstatat(dirfd(folder), entry->d_name, &status, 0) < 0 || !is_wanted(search, &status))
            continue;
        snprintf(number, sizeof number, "%d", (int)pid);
        struct ss_error ended = {0}; /* a process that has ended is not a victim */
        if (suspects_add(search->found, number, &ended) == 0)
            return;
    }
}

static void find(struct search *search) {
    ss_platform_process_each(check_process, search);
    free(search->inodes);
}

int suspects_add_users(struct suspects *victims, const char *file, struct ss_error *error) {
    struct search search = {.found = victims};
    struct stat status;
    if (stat(file, &status) < 0)
        return 0;
    if (!SS_GROW(search.inodes, 1, search.room))
        return ss_error_memory(error);
    search.inodes[search.count++] = status.st_ino;
    search.device = status.st_dev;
    find(&search);
    return 0;
}

/* Returns the port of a URL, or -1. */
static long port_of(const char *url) {
    const char *host = strstr(url, "://");
    if (!host)
        return -1;
    host += 3;
    const char *colon = host + strcspn(host, "/?#:]");
    if (*host == '[')
        colon = host + strcspn(host, "]") + 1;
    if (*colon == ':')
        return atol(colon + 1);
    return strncmp(url, "https", 5) == 0 ? 443 : 80;
}

/* Adds the inodes of sockets that listen on this port: state 0A in /proc/net/tcp. */
static int add_listening(
    struct search *search, const char *table, long port, struct ss_error *error) {
    SS_OWNED(fclose) FILE *file = fopen(table, "re");
    char line[512];
    while (file && fgets(line, sizeof line, file)) {
        unsigned local, state;
        unsigned long inode;
        if (sscanf(line, " %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*s %*s %*s %*u %*u %lu",
                &local, &state, &inode) != 3 ||
            state != 0x0a || (long)local != port)
            continue;
        if (!SS_GROW(search->inodes, search->count + 1, search->room))
            return ss_error_memory(error);
        search->inodes[search->count++] = inode;
    }
    return 0;
}

int suspects_add_listeners(struct suspects *victims, const char *url, struct ss_error *error) {
    struct search search = {.sockets = true, .found = victims};
    long port = port_of(url);
    if (port <= 0)
        return 0;
    if (add_listening(&search, "/proc/net/tcp", port, error) < 0 ||
        add_listening(&search, "/proc/net/tcp6", port, error) < 0) {
        free(search.inodes);
        return -1;
    }
    find(&search);
    return 0;
}
