/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <showstopper/control.h>
#include <showstopper/dithering.h>
#include <showstopper/feedback.h>
#include <showstopper/space.h>
#include <showstopper/trace.h>

#include "loop/module_source.h"

/* Each table is named after its module: see modules/CMakeLists.txt. */
#define MODULE(kind, name) extern const struct ss_##kind##_module showstopper_##kind##_##name;
#include <builtin_modules.def> /* made by CMake */
#undef MODULE

/* The names of a kind are sorted. */
static const struct builtin {
    const char *kind, *name;
    const struct ss_module *head;
} builtins[] = {
#define MODULE(kind, name) {#kind, #name, &showstopper_##kind##_##name.head},
#include <builtin_modules.def> /* made by CMake */
#undef MODULE
};

#define BUILTINS (sizeof builtins / sizeof *builtins)

size_t ss_module_source_list(const char *kind, char *names[SS_MODULE_NAMES_MAX]) {
    size_t count = 0;
    for (size_t i = 0; i < BUILTINS && count < SS_MODULE_NAMES_MAX; i++) {
        if (strcmp(builtins[i].kind, kind) != 0)
            continue;
        names[count] = strdup(builtins[i].name);
        if (names[count])
            count++;
    }
    return count;
}

int ss_module_source_open(
    const char *kind, const char *name, struct ss_module_object *object, struct ss_error *error) {
    *object = (struct ss_module_object){.path = ""};
    if (strchr(name, '/'))
        return ss_error_fail(error,
            "cannot load the %s module '%s': this program is statically linked and has only "
            "built-in modules",
            kind, name);
    for (size_t i = 0; i < BUILTINS; i++) {
        if (strcmp(builtins[i].kind, kind) == 0 && strcmp(builtins[i].name, name) == 0) {
            snprintf(object->path, sizeof object->path, "the built-in module %s/%s", kind, name);
            object->head = builtins[i].head;
        }
    }
    return 0;
}

void ss_module_source_close(struct ss_module_object *object) {
    (void)object;
}
