/* SPDX-License-Identifier: Apache-2.0 */
#include "loop/module_source.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/words.h"
#include "platform/platform.h"

#define FOLDERS_MAX 32

/* The folders that may hold a module, in search order. */
struct folders {
    char paths[FOLDERS_MAX][4096];
    size_t count;
};

static void add_folder(struct folders *folders, const char *base, int length, const char *kind) {
    if (folders->count == FOLDERS_MAX || length == 0)
        return;
    char *path = folders->paths[folders->count];
    int written = snprintf(path, sizeof folders->paths[0], "%.*s/%s", length, base, kind);
    if (written < 0 || (size_t)written >= sizeof folders->paths[0])
        return;
    for (size_t i = 0; i < folders->count; i++) {
        if (strcmp(folders->paths[i], path) == 0)
            return;
    }
    folders->count++;
}

static void list_folders(struct folders *folders, const char *kind) {
    folders->count = 0;
    SS_OWNED(free) char *program = ss_platform_installed_path("/" SHOWSTOPPER_MODULE_SUBDIR);
    if (program)
        add_folder(folders, program, (int)strlen(program), kind);
    add_folder(
        folders, SHOWSTOPPER_MODULE_INSTALL_DIR, (int)strlen(SHOWSTOPPER_MODULE_INSTALL_DIR), kind);

    /*
     * secure_getenv() returns NULL in a process with raised privileges, which must not load a
     * library of its caller's choice.
     */
    const char *path = secure_getenv("SHOWSTOPPER_MODULE_PATH");
    for (struct ss_words_part folder; ss_words_next(&path, ':', &folder);)
        add_folder(folders, folder.text, (int)folder.length, kind);
}

size_t ss_module_source_list(const char *kind, char *names[SS_MODULE_NAMES_MAX]) {
    static struct folders folders; /* static because it is large; only the master calls this */

    list_folders(&folders, kind);
    size_t count = 0;
    for (size_t i = 0; i < folders.count; i++) {
        DIR *directory = opendir(folders.paths[i]);
        if (!directory)
            continue;
        struct dirent *entry;
        while (count < SS_MODULE_NAMES_MAX && (entry = readdir(directory))) {
            size_t length = strlen(entry->d_name);
            if (length <= 3 || strcmp(entry->d_name + length - 3, ".so") != 0)
                continue;
            char *name = strndup(entry->d_name, length - 3);
            size_t at = 0;
            while (name && at < count && strcmp(names[at], name) < 0)
                at++;
            if (!name || (at < count && strcmp(names[at], name) == 0)) {
                free(name);
                continue;
            }
            memmove(names + at + 1, names + at, (count - at) * sizeof *names);
            names[at] = name;
            count++;
        }
        closedir(directory);
    }

    return count;
}

/* Sets the path to the first readable file of this name; "" if no folder has one. */
static int find_file(
    const char *kind, const char *name, struct ss_module_object *object, struct ss_error *error) {
    static struct folders folders;

    list_folders(&folders, kind);
    for (size_t i = 0; *name && i < folders.count; i++) {
        int length =
            snprintf(object->path, sizeof object->path, "%s/%s.so", folders.paths[i], name);
        if (length < 0 || (size_t)length >= sizeof object->path)
            return ss_error_fail(error, "the name of a %s module is too long", kind);
        if (access(object->path, R_OK) == 0)
            return 0;
    }
    object->path[0] = '\0';
    return 0;
}

int ss_module_source_open(
    const char *kind, const char *name, struct ss_module_object *object, struct ss_error *error) {
    object->head = NULL;
    object->handle = NULL;
    if (!strchr(name, '/')) {
        if (find_file(kind, name, object, error) < 0)
            return -1;
        if (!*object->path)
            return 0;
    } else if (strlen(name) >= sizeof object->path || access(name, R_OK) < 0) {
        return ss_error_fail(error, "cannot read the %s module '%s': check the path", kind, name);
    } else {
        strcpy(object->path, name);
    }

    object->handle = dlopen(object->path, RTLD_NOW | RTLD_LOCAL);
    if (!object->handle)
        return ss_error_fail(error, "cannot load the %s module '%s': %s", kind, name, dlerror());
    object->head = dlsym(object->handle, "showstopper_module");
    if (object->head)
        return 0;
    ss_error_fail(error, "%s is not a module: it does not export showstopper_module", object->path);
    ss_module_source_close(object);
    return -1;
}

void ss_module_source_close(struct ss_module_object *object) {
    if (object->handle)
        dlclose(object->handle);
    object->handle = NULL;
}
