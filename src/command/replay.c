/* SPDX-License-Identifier: Apache-2.0 */
#include "command/replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/words.h"
#include "keeper/signals.h"
#include "platform/platform.h"

#define PROGRAM "showstopper-replay"
#define SUBPATH SHOWSTOPPER_LIBEXEC_SUBDIR "/" PROGRAM

/* Number of options whose value is a path. */
#define PATH_OPTIONS 4

/* Repeats an option with an absolute path, because the run is repeated in another folder. */
static int add_absolute(char **word, const char *option, const char *path,
    struct ss_option_store *store, struct ss_error *error) {
    SS_OWNED(free) char *folder = getcwd(NULL, 0), *text = NULL;
    if (!folder)
        return ss_error_fail(error,
            "--%s: cannot locate the current folder: %s: use an absolute path", option,
            strerror(errno));
    if (asprintf(&text, "--%s=%s/%s", option, folder, path) >= 0)
        *word = (char *)ss_option_store_add(store, text);
    return *word ? 0 : ss_error_memory(error);
}

static int add_paths(char **words, struct ss_cli *cli, struct ss_error *error) {
    bool prints_json = cli->json && strcmp(cli->json, "-") == 0;
    const struct {
        const char *option, *path;
    } paths[PATH_OPTIONS] = {{"workloads", cli->workloads}, {"output", cli->output},
        {"json", prints_json ? NULL : cli->json}, {"record", cli->record}};

    for (size_t i = 0; i < PATH_OPTIONS; i++) {
        const char *path = paths[i].path;
        if (path && *path != '/' &&
            add_absolute(words++, paths[i].option, path, &cli->store, error) < 0)
            return -1;
    }

    return 0;
}

/* Returns the arguments of showstopper-replay: the record and all options except --replay. */
static char **build_arguments(struct ss_cli *cli, struct ss_error *error) {
    size_t count = ss_words_count(cli->arguments), used = 2;

    if (strcmp(cli->arguments[count - 1], "--") == 0)
        count--; /* options may follow */

    char **words = calloc(count + PATH_OPTIONS + 2, sizeof *words);
    if (!words) {
        ss_error_memory(error);
        return NULL;
    }

    words[0] = (char *)PROGRAM;
    words[1] = (char *)cli->replay;
    for (size_t i = 1; i < count; i++) {
        if (strcmp(cli->arguments[i], "--replay") == 0)
            i++;
        else if (strncmp(cli->arguments[i], "--replay=", 9) != 0)
            words[used++] = cli->arguments[i];
    }

    if (add_paths(words + used, cli, error) == 0)
        return words;

    free(words);
    return NULL;
}

int ss_replay(struct ss_cli *cli, struct ss_error *error) {
    SS_OWNED(free) char *path = ss_platform_installed_path("/" SUBPATH);

    if (!path) /* statically linked programs are all in one folder */
        path = ss_platform_program_path(1, "/" PROGRAM);
    if (!path)
        return ss_error_fail(error, "--replay: cannot locate the programs: %s", strerror(errno));

    char **words = build_arguments(cli, error);
    if (!words)
        return -1;

    ss_signals_release_file_limit();
    execv(path, words);
    int why = errno;
    free(words);
    if (why == ENOENT)
        return ss_error_fail(error, "--replay: %s is missing: build Showstopper with json-c", path);

    return ss_error_fail(error, "--replay: cannot execute %s: %s", path, strerror(why));
}
