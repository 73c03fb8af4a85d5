/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include "loop/registry.h"
#include "text.h"
#include "tree.h"

static struct ss_loaded_module module;

static const char *module_file(const char *which) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s.so", TEST_MODULE_DIR, which);
    return path;
}

static void load(enum ss_kind kind, const char *name) {
    struct ss_error error = {0};
    assert_succeeds(ss_registry_load(kind, name, &module, &error), error);
    assert_int_equal(module.head->kind, kind);
}

/*
 * Checks that the module is refused on one line that contains these words, and that nothing stays
 * loaded.
 */
static void refuse(enum ss_kind kind, const char *name, const char *words) {
    struct ss_error error = {0};
    assert_fails(ss_registry_load(kind, name, &module, &error), error, words);
    assert_null(module.object.handle);
    assert_null(module.head);
}

/* Calls `check` for every module source and returns how many there are. */
static int each_module(void (*check)(enum ss_kind kind, const char *name, void *data), void *data) {
    int count = 0;
    for (enum ss_kind kind = 0; kind < SS_KINDS; kind++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/modules/%s", PROJECT_SOURCE_DIR, ss_kind_names[kind]);
        DIR *folder = opendir(path);
        assert_non_null(folder);
        for (struct dirent *entry; (entry = readdir(folder));) {
            char *dot = strrchr(entry->d_name, '.');
            if (!dot || strcmp(dot, ".c") != 0)
                continue;
            *dot = '\0';
            check(kind, entry->d_name, data);
            count++;
        }
        closedir(folder);
    }
    return count;
}

/* `list` is what ss_registry_list() has printed. */
static void check_module(enum ss_kind kind, const char *name, void *list) {
    char which[128], line[1024];
    struct ss_error error = {0};
    snprintf(which, sizeof which, "%s/%s", ss_kind_names[kind], name);
    assert_int_equal(ss_registry_help(text_begin(), which, &error), 0);
    const char *help = text_end();
    load(kind, name);
    assert_string_equal(module.head->name, name);
    assert_string_equal(module.object.path, module_file(which));
    assert_non_null(module.head->prepare);
    assert_non_null(module.head->release);
    assert_non_null(module.head->describe);
    assert_non_null(module.head->unavailable);

    snprintf(line, sizeof line, "%-20s %s\n", which, module.head->summary);
    assert_says((const char *)list, line);
    snprintf(line, sizeof line, "%s: %s\n", which, module.head->summary);
    assert_memory_equal(help, line, strlen(line));
    for (const struct ss_option *row = module.head->options; row && row->name; row++) {
        snprintf(line, sizeof line, "\n  %s=", row->name);
        assert_says(help, line);
    }
    ss_registry_unload(&module);
    assert_null(module.object.handle);
}

TEST(every_built_in_module_is_loaded_listed_and_described) {
    struct ss_error error = {0};
    assert_int_equal(ss_registry_list(text_begin(), &error), 0);
    char *list = strdup(text_end());
    int count = each_module(check_module, list), lines = 0;
    for (const char *at = list; (at = strchr(at, '\n')); at++)
        lines++;
    assert_int_equal(lines, count);
    assert_in_range(count, 15, 100);
    assert_null(strstr(list, "cannot be used"));
    free(list);
}

TEST(missing_module_functions_get_defaults) {
    struct ss_self self = {.instances = 1, .cpus = 1};
    load(SS_KIND_TRACE, "null");
    assert_that(module.table.trace.length(&self), ==, SS_TIME_NEVER);
    assert_null(module.head->unavailable());
    assert_int_equal(module.head->prepare(&self, NULL), 0);
    module.head->release(&self);
    char text[] = "untouched";
    module.head->describe(&self, 0, text, sizeof text);
    assert_string_equal(text, "untouched");
    ss_registry_unload(&module);
    load(SS_KIND_CONTROL, "null");
    assert_int_equal(module.table.control.peers(&self), 0);
    ss_registry_unload(&module);
}

TEST(names_and_files_that_are_not_modules_are_refused) {
    char sine[4096], name[300];
    strcpy(sine, module_file("trace/sine"));
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    tree_new();
    /* An already loaded library that exports no table. */
    struct link_map *map;
    void *library = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(library);
    assert_int_equal(dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
    const struct {
        enum ss_kind kind;
        const char *name, *words;
    } rows[] = {
        {SS_KIND_CONTROL, "rpbid", "unknown control module 'rpbid': did you mean 'rbpid'?"},
        {SS_KIND_CONTROL, "zzzzzz", "module 'zzzzzz'; available: deadbeat, fixed, "},
        {SS_KIND_CONTROL, "zzzzzz", "null, rbpid"},
        {SS_KIND_SPACE, "evn", "did you mean 'even'? Available: even, null, uneven"},
        {SS_KIND_DITHERING, "20s", "module '20s': this is a time; --duration "},
        {SS_KIND_SPACE, "rbpid", "unknown space module 'rbpid'"},
        {SS_KIND_TRACE, "", "unknown trace module ''"},
        {SS_KIND_TRACE, "constant.so", "unknown trace module 'constant.so'"},
        {SS_KIND_TRACE, "a\nb", "unknown trace module 'a b'"},
        {SS_KIND_TRACE, name, "unknown trace module 'xxx"},
        {SS_KIND_TRACE, "..", "unknown trace module '..'"},
        /* A name with a '/' is a path from the current folder, not from the folder of modules. */
        {SS_KIND_TRACE, "../control/rbpid", "cannot read the trace module"},
        {SS_KIND_CONTROL, "../control/rbpid", "rbpid': check the path"},
        {SS_KIND_TRACE, "/nowhere/x.so", "cannot read the trace module '/nowhere/x.so'"},
        {SS_KIND_CONTROL, sine, "sine.so is a trace module, not a control"},
        {SS_KIND_TRACE, tree_write("text.so", "hello\n"), "text.so': "},
        {SS_KIND_TRACE, tree_write("empty.so", ""), "empty.so': "},
        {SS_KIND_TRACE, tree_root, "cannot load the trace module"},
        {SS_KIND_TRACE, map->l_name, "is not a module: it does not export showstopper_module"},
    };
    assert_int_equal(chdir("/"), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        refuse(rows[i].kind, rows[i].name, rows[i].words);
    dlclose(library);
}

TEST(module_name_with_a_slash_is_a_path) {
    load(SS_KIND_CONTROL, module_file("control/rbpid"));
    assert_string_equal(module.head->name, "rbpid");
    ss_registry_unload(&module);
    assert_int_equal(chdir(TEST_MODULE_DIR), 0);
    load(SS_KIND_CONTROL, "./control/../control/geom.so");
    assert_string_equal(module.head->name, "geom");
    ss_registry_unload(&module);
    assert_int_equal(chdir("/"), 0);
}

static unsigned char *image;
static size_t image_size;

static void read_image(const char *path) {
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    free(image);
    image = malloc(1 << 20);
    image_size = fread(image, 1, 1 << 20, file);
    fclose(file);
    assert_in_range(image_size, 1000, (1 << 20) - 1);
}

/*
 * Returns the position of the table in an image of control/geom; it begins with version, size and
 * kind.
 */
static size_t find_table(void) {
    const uint32_t head[] = {SS_MODULE_VERSION, sizeof(struct ss_control_module), SS_KIND_CONTROL};
    read_image(module_file("control/geom"));
    for (size_t at = 0; at + sizeof head <= image_size; at += 8) {
        if (memcmp(image + at, head, sizeof head) == 0)
            return at;
    }
    fail_msg("no table in control/geom");
    return 0;
}

/* Loads a copy with the word at `index` of the table changed and expects a refusal. */
static void refuse_changed(int index, uint32_t value, const char *words) {
    char name[32];
    size_t table = find_table();
    memcpy(image + table + 4 * (size_t)index, &value, sizeof value);
    snprintf(name, sizeof name, "changed%d-%u.so", index, value);
    refuse(SS_KIND_CONTROL, tree_write_bytes(name, image, image_size), words);
}

TEST(incompatible_module_tables_are_refused) {
    tree_new();
    static const uint32_t others[] = {0, SS_MODULE_VERSION - 1, SS_MODULE_VERSION + 1};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char words[128];
        snprintf(words, sizeof words,
            "was built for version %u of the module interface, but this program has version %d: "
            "rebuild it",
            others[i], SS_MODULE_VERSION);
        refuse_changed(0, others[i], words);
    }
    refuse_changed(1, 8, "has a table of 8 bytes, but ");
    refuse_changed(1, sizeof(struct ss_control_module) + 8, "are expected: rebuild it");
    refuse_changed(2, SS_KIND_SPACE, "is a space module, not a control module");
    refuse_changed(2, 99, "is a module of an unknown kind, not a control module");
}

/*
 * Removes the function from a copy: replaces the relocation of its address with the neighboring
 * one, which is harmless if applied twice.
 */
static int drop_relocation(ElfW(Addr) wanted) {
    ElfW(Rela) entry, beside;
    for (size_t at = sizeof entry; at + 2 * sizeof entry <= image_size; at += 8) {
        memcpy(&entry, image + at, sizeof entry);
        if (entry.r_offset != wanted || (entry.r_info & 0xff) == 0)
            continue;
        memcpy(&beside, image + at + sizeof entry, sizeof beside);
        if (beside.r_info != entry.r_info)
            memcpy(&beside, image + at - sizeof entry, sizeof beside);
        memcpy(image + at, &beside, sizeof beside);
        return beside.r_info == entry.r_info;
    }
    return 0;
}

TEST(module_without_its_main_function_is_refused) {
    void *original = dlopen(module_file("control/geom"), RTLD_NOW | RTLD_LOCAL);
    struct link_map *map;
    assert_non_null(original);
    assert_int_equal(dlinfo(original, RTLD_DI_LINKMAP, &map), 0);
    const char *table = dlsym(original, "showstopper_module");
    ElfW(Addr) wanted = (ElfW(Addr))(table - (const char *)map->l_addr) +
                        offsetof(struct ss_control_module, update);
    dlclose(original);
    tree_new();
    /* Some linkers also write the address into the table. */
    size_t at = find_table();
    memset(image + at + offsetof(struct ss_control_module, update), 0, sizeof wanted);
    SKIP_UNLESS(drop_relocation(wanted), "linker: unsupported form of relocations");
    refuse(SS_KIND_CONTROL, tree_write_bytes("lacking.so", image, image_size),
        "lacks a function that a control module must have");
}

TEST(module_path_is_searched) {
    char path[9000];
    tree_new();
    read_image(module_file("control/geom"));
    tree_write_bytes("mine/control/other.so", image, image_size);
    refuse(SS_KIND_CONTROL, "other", "unknown control module 'other'");
    snprintf(path, sizeof path, ":/nowhere::%s:", tree_path("mine"));
    assert_int_equal(setenv("SHOWSTOPPER_MODULE_PATH", path, 1), 0);
    load(SS_KIND_CONTROL, "other");
    assert_string_equal(module.object.path, tree_path("mine/control/other.so"));
    ss_registry_unload(&module);
    refuse(SS_KIND_CONTROL, "zzzzzz", "null, other, rbpid");
    refuse(SS_KIND_SPACE, "other", "unknown space module 'other'");
    /* Built-in modules take precedence, and each name is listed once. */
    tree_write("mine/control/rbpid.so", "no library");
    struct ss_error error = {0};
    const char *end = "null, other, rbpid, served";
    assert_int_equal(ss_registry_load(SS_KIND_CONTROL, "zzzzzz", &module, &error), -1);
    assert_string_equal(error.message + strlen(error.message) - strlen(end), end);
    load(SS_KIND_CONTROL, "rbpid");
    assert_string_equal(module.object.path, module_file("control/rbpid"));
    ss_registry_unload(&module);
    /* A broken module is listed as broken. */
    tree_write("mine/space/broken.so", "hello\n");
    tree_write("mine/space/readme.txt", "hello\n");
    assert_int_equal(ss_registry_list(text_begin(), &error), 0);
    const char *text = text_end();
    assert_says(text, "\nspace/broken         cannot be used: ");
    assert_null(strstr(text, "readme"));
    unsetenv("SHOWSTOPPER_MODULE_PATH");
}

TEST(module_help_requires_kind_and_name) {
    static const char *const wrong[][2] = {{"rbpid", "use KIND/NAME"}, {"", "use KIND/NAME"},
        {"/", "use KIND/NAME"}, {"/rbpid", "use KIND/NAME"}, {"con/rbpid", "use KIND/NAME"},
        {"control/", "unknown control module"}, {"control/..", "unknown control module"}};
    FILE *stream = text_begin();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ss_error error = {0};
        assert_fails(ss_registry_help(stream, wrong[i][0], &error), error, wrong[i][1]);
    }
    assert_string_equal(text_end(), "");
}

UNIT_RUN
