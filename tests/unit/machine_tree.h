/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_MACHINE_TREE_H
#define SHOWSTOPPER_TESTS_MACHINE_TREE_H

/*
 * Recorded machines: each line of tests/data/MACHINE_FOLDER/NAME.tree is a file: path, tab, content
 * with the escapes \n, \t, \0 and \\.
 */

#include "tree.h"

#ifndef MACHINE_FOLDER
#define MACHINE_FOLDER "platform"
#endif

#define MACHINE_FILES_MAX 1024

struct machine {
    char *paths[MACHINE_FILES_MAX];
    size_t count;
};

/* Replaces the escapes in place; returns the number of bytes. */
static inline size_t machine_unescape(char *text) {
    static const char letters[] = "nt0\\", bytes[] = "\n\t\0\\";
    char *to = text;
    for (const char *from = text; *from; from++) {
        if (*from != '\\') {
            *to++ = *from;
            continue;
        }
        const char *letter = strchr(letters, *++from);
        assert_true(*from && letter);
        *to++ = bytes[letter - letters];
    }
    return (size_t)(to - text);
}

/* Unpacks a machine into a new folder and returns the folder; `machine` may be NULL. */
static inline const char *machine_unpack(const char *name, struct machine *machine) {
    char *line = NULL, file_name[512];
    size_t room = 0;
    /* Keeps hundreds of short-lived files off the disk. */
    if (access("/dev/shm", W_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 0);
    const char *root = tree_new();
    snprintf(
        file_name, sizeof file_name, "%s/data/" MACHINE_FOLDER "/%s.tree", TEST_SOURCE_DIR, name);
    FILE *file = fopen(file_name, "re");
    assert_non_null(file);
    while (getline(&line, &room, file) > 0) {
        if (*line == '#')
            continue;
        line[strcspn(line, "\n")] = '\0';
        char *tab = strchr(line, '\t');
        assert_non_null(tab);
        *tab = '\0';
        tree_write_bytes(line, tab + 1, machine_unescape(tab + 1));
        if (!machine)
            continue;
        assert_that(machine->count, <, MACHINE_FILES_MAX);
        machine->paths[machine->count++] = strdup(line);
    }
    free(line);
    fclose(file);
    return root;
}

static inline void machine_free(struct machine *machine) {
    while (machine->count > 0)
        free(machine->paths[--machine->count]);
}

#endif
