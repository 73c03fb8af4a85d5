/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Runs a fuzz target on existing files, with any compiler:
 *   fuzz_NAME_replay FILE-OR-FOLDER...
 */

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#include "fuzz.h"

static void fail(const char *path) {
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    exit(EXIT_FAILURE);
}

static void replay_file(const char *path, off_t size) {
    FILE *stream = fopen(path, "rb");
    /* The block is exactly as large as the input, so that overreads are detected. */
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
    if (!stream || !data || fread(data, 1, (size_t)size, stream) != (size_t)size)
        fail(path);
    fclose(stream);
    LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
}

static int replay(const char *path);

static int replay_folder(const char *path) {
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort), replayed = 0;
    if (count < 0)
        fail(path);
    for (int i = 0; i < count; i++) {
        char inside[4096];
        snprintf(inside, sizeof inside, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            replayed += replay(inside);
        free(entries[i]);
    }
    free(entries);
    return replayed;
}

/* Returns the number of files. */
static int replay(const char *path) {
    struct stat status;
    if (stat(path, &status) != 0)
        fail(path);
    if (S_ISDIR(status.st_mode))
        return replay_folder(path);
    replay_file(path, status.st_size);
    return 1;
}

int main(int argc, char **argv) {
    int replayed = 0;
    for (int i = 1; i < argc; i++)
        replayed += replay(argv[i]);
    printf("%d inputs replayed\n", replayed);
    return replayed > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
