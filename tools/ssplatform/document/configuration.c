/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/words.h"
#include "parts.h"

#define CONFIGURATION_MAX (4u << 20)

/* Runs gzip: unpacking 40 KB once does not justify linking a library. */
static char *unpack(int packed) {
    char program[] = "gzip", option[] = "-dc";
    char *const words[] = {program, option, NULL};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return NULL;

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, packed, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);

    pid_t child;
    size_t length;
    int failed = posix_spawnp(&child, program, &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);

    char *text = failed ? NULL : sys_tree_read_all(ends[0], CONFIGURATION_MAX, &length);
    close(ends[0]);

    int status = 0;
    if (!failed && (waitpid(child, &status, 0) < 0 || status != 0)) {
        free(text);
        text = NULL;
    }

    return text;
}

char *ssplatform_configuration(const struct sys_tree *tree) {
    int packed = openat(tree->folder, "proc/config.gz", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *text = packed < 0 ? NULL : unpack(packed);
    if (packed >= 0)
        close(packed);

    /* Beginning and end of each path; the kernel release is in between. */
    static const char *const places[][2] = {{"boot/config-", ""}, {"lib/modules/", "/config"}};
    char *release = sys_tree_line(tree, "proc/sys/kernel/osrelease");

    for (size_t i = 0; !text && release && i < sizeof places / sizeof *places; i++) {
        SS_OWNED(free)
        char *path = ss_words_format(NULL, "%s%s%s", places[i][0], release, places[i][1]);
        text = path ? sys_tree_read_large(tree, path, NULL) : NULL;
    }

    free(release);
    return text;
}
