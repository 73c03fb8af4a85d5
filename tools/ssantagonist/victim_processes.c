/* SPDX-License-Identifier: Apache-2.0 */

/* Finds the processes of a victim by their open files and sockets. */

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/owned.h"
#include "service_processes.h"
#include "suspects.h"

/* Returns false if the process has ended. */
static bool add_process(struct suspects *victims, pid_t pid) {
    char number[16];
    struct ss_error ended = {0};
    snprintf(number, sizeof number, "%d", (int)pid);
    return suspects_add(victims, number, &ended) == 0;
}

struct search {
    ino_t inode; /* inode of the file */
    dev_t device;
    struct suspects *found;
};

static void check_process(void *context, pid_t pid) {
    struct search *search = context;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);

    SS_OWNED(closedir) DIR *folder = opendir(path);
    const struct dirent *entry;

    while (folder && (entry = readdir(folder))) {
        struct stat status;
        if (fstatat(dirfd(folder), entry->d_name, &status, 0) == 0 &&
            status.st_dev == search->device && status.st_ino == search->inode &&
            add_process(search->found, pid))
            return;
    }
}

void suspects_add_users(struct suspects *victims, const char *file) {
    struct stat status;
    if (stat(file, &status) < 0)
        return;
    struct search search = {status.st_ino, status.st_dev, victims};
    ss_platform_process_each(check_process, &search);
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

int suspects_add_listeners(struct suspects *victims, const char *url, struct ss_error *error) {
    struct service_pids pids = {0};
    struct service_address address;
    long port = port_of(url);
    if (port <= 0)
        return 0;

    service_address_of_port(&address, (uint16_t)port);
    int result = service_add_listening(&pids, &address, 1, NULL, error);
    for (size_t i = 0; result == 0 && i < pids.count; i++)
        add_process(victims, pids.items[i]);
    free(pids.items);
    return result;
}
