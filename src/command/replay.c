/* SPDX-License-Identifier: Apache-2.0 */
#include "command/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "keeper/signals.h"
#include "platform/platform.h"

#define PROGRAM "showstopper-replay"
#define SUBPATH SHOWSTOPPER_LIBEXEC_SUBDIR "/" PROGRAM

/* Returns the arguments of showstopper-replay: the record and all options except --replay. */
static char **pass_on(const struct ss_cli *cli) {
    size_t count = 0, used = 2;
    while (cli->arguments[count])
        count++;
    char **words = calloc(count + 2, sizeof *words);
    if (!words)
        return NULL;
    words[0] = (char *)PROGRAM;
    words[1] = (char *)cli->replay;
    for (size_t i = 1; i < count; i++) {
        if (strcmp(cli->arguments[i], "--replay") == 0)
            i++;
        else if (strncmp(cli->arguments[i], "--replay=", 9) != 0)
            words[used++] = cli->arguments[i];
    }
    return words;
}

int ss_replay(const struct ss_cli *cli, struct ss_error *error) {
    char path[4200];
    if (*cli->command)
        return ss_error_fail(error,
            "--replay: unexpected argument '%s': the record has the command", cli->command[0]);
    if (ss_platform_program_path(path, sizeof path - sizeof SUBPATH) < 0)
        return ss_error_fail(error, "--replay: %s", strerror(errno));
    *strrchr(path, '/') = '\0';
    char *slash = strrchr(path, '/');
    strcpy(slash ? slash + 1 : path, SUBPATH);
    char **words = pass_on(cli);
    if (words) {
        ss_signals_release_file_limit();
        execv(path, words);
    }
    int why = errno;
    free(words);
    if (why == ENOENT)
        return ss_error_fail(error, "--replay: %s is missing: build Showstopper with json-c", path);
    return ss_error_fail(error, "--replay: %s: %s", path, strerror(why));
}
