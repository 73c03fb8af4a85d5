/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/owned.h"
#include "platform/linux/linux.h"

/* Returns the ID of the mount that holds a folder, -1 if unknown. */
static int mount_of(const char *folder) {
    char line[128];
    int id = -1;
    SS_OWNED(close) int file = open(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    SS_OWNED(fclose)
    FILE *info = file < 0 ? NULL : fopen(ss_linux_path("/proc/self/fdinfo/%d", file).text, "re");
    while (info && id < 0 && fgets(line, sizeof line, info))
        sscanf(line, "mnt_id: %d", &id);
    return id;
}

bool ss_platform_is_mount(const char *folder) {
    int above = mount_of(ss_linux_path("%s/..", folder).text), here = mount_of(folder);
    return above >= 0 && here >= 0 && above != here;
}
