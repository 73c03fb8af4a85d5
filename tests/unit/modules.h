/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_MODULES_H
#define SHOWSTOPPER_TESTS_MODULES_H

/*
 * Loads a built module, parses its options and sets up its memory as the core does, for any
 * number of executors. Time and counters come from the test.
 */

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <showstopper/module.h>

#include "loop/module_set.h"
#include "options/values.h"
#include "unit.h"

struct rig {
    void *handle;
    const struct ss_module *head;
    void *config;
    struct ss_option_store store;
    struct ss_self *selves; /* one per executor */
    void *run;
    void *executors;
};

static inline void *rig_memory(size_t size) {
    size_t whole = (size / 64 + 1) * 64;
    void *memory = aligned_alloc(64, whole);
    assert_non_null(memory);
    return memset(memory, 0, whole);
}

/* `which` is KIND/NAME. */
static inline void rig_load(struct rig *rig, const char *which) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.so", TEST_MODULE_DIR, which);
    *rig = (struct rig){.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
    if (!rig->handle)
        fail_msg("%s", dlerror());
    rig->head = dlsym(rig->handle, "showstopper_module");
    assert_non_null(rig->head);
    assert_int_equal(rig->head->version, SS_MODULE_VERSION);
    assert_string_equal(rig->head->name, strchr(which, '/') + 1);
}

/*
 * Parses options and calls prepare() as before a run; returns -1 with `error` set if the module
 * refuses them.
 */
static inline int rig_prepare(
    struct rig *rig, const char *options, struct ss_self *self, struct ss_error *error) {
    rig->config = rig_memory(rig->head->config_size);
    self->config = rig->config;
    if (ss_option_parse_string(rig->head->options, options, rig->config, &rig->store, error) < 0)
        return -1;
    return rig->head->prepare ? rig->head->prepare(self, error) : 0;
}

static inline void rig_share(struct rig *rig, struct ss_self first) {
    size_t stride = (rig->head->executor_memory / 64 + 1) * 64;
    rig->run = rig_memory(rig->head->run_memory);
    rig->executors = rig_memory(stride * first.instances);
    rig->selves = calloc(first.instances, sizeof *rig->selves);
    assert_non_null(rig->selves);
    for (uint32_t i = 0; i < first.instances; i++) {
        rig->selves[i] = first;
        rig->selves[i].executor = i;
        rig->selves[i].run = rig->run;
        rig->selves[i].executors = rig->executors;
        rig->selves[i].stride = stride;
        rig->selves[i].own = (char *)rig->executors + i * stride;
    }
}

static inline void rig_close(struct rig *rig) {
    if (rig->selves && rig->head->release)
        rig->head->release(&rig->selves[0]);
    ss_option_store_free(&rig->store);
    free(rig->config);
    free(rig->run);
    free(rig->executors);
    free(rig->selves);
    if (rig->handle)
        dlclose(rig->handle);
    *rig = (struct rig){0};
}

/* A rig that is closed at the end of its scope: RIG rig = rig_open("space/even", NULL, 2, 1); */
#define RIG __attribute__((cleanup(rig_close), unused)) struct rig

static inline struct rig rig_open_window(
    const char *which, const char *options, uint32_t instances, uint32_t cpus, ss_time window) {
    struct rig rig;
    struct ss_self self = {
        .host = &ss_host, .instances = instances, .cpus = cpus, .window = window};
    struct ss_error error = {0};
    rig_load(&rig, which);
    assert_succeeds(rig_prepare(&rig, options, &self, &error), error);
    rig_share(&rig, self);
    return rig;
}

static inline struct rig rig_open(
    const char *which, const char *options, uint32_t instances, uint32_t cpus) {
    return rig_open_window(which, options, instances, cpus, SS_WINDOW_DEFAULT);
}

/* Checks the description of a run with rounds of `round` nanoseconds. */
static inline void assert_described(const struct rig *rig, ss_time round, const char *expected) {
    char text[256] = "";
    const struct ss_rhythm rhythm = {.round = round, .settling = 0.6};
    rig->head->describe(&rig->selves[0], &rhythm, text, sizeof text);
    assert_string_equal(text, expected);
}

/* Checks that these options are refused with a message containing these words. */
static inline void assert_refused(const char *which, const char *options, const char *words) {
    struct rig rig;
    struct ss_self self = {
        .host = &ss_host, .instances = 1, .cpus = 1, .window = SS_WINDOW_DEFAULT};
    struct ss_error error = {0};
    rig_load(&rig, which);
    assert_fails(rig_prepare(&rig, options, &self, &error), error, words);
    assert_null(self.prepared);
    rig_close(&rig);
}

#endif
