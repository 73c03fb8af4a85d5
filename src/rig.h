/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_RIG_H
#define SHOWSTOPPER_RIG_H

#include <showstopper/error.h>
#include <showstopper/module.h>

#include "board.h"
#include "option.h"
#include "registry.h"

/* The five modules of a run, loaded and configured. Zeroed: an empty one. */
struct ss_rig {
    struct ss_loaded modules[SS_KINDS];
    void *configs[SS_KINDS];
    void *prepared[SS_KINDS];
    bool is_prepared[SS_KINDS];
    struct ss_option_store store;
    uint32_t instances;
    uint32_t cpus;
};

/*
 * Loads one module and parses its options (NULL: the defaults). Without a name it is the default
 * control, which depends on the feedback: that is to be loaded before.
 */
int ss_rig_load(struct ss_rig *rig, enum ss_kind kind, const char *name, const char *options,
    struct ss_error *error);

/* Lets the modules check and read what they need; the sizes of the run are known from here on. */
int ss_rig_prepare(struct ss_rig *rig, uint32_t instances, uint32_t cpus, struct ss_error *error);

/* What a prepared module has found for this run, as a clause; "" where its options say it all. */
void ss_rig_describe(const struct ss_rig *rig, enum ss_kind kind, char *buffer, size_t size);

void ss_rig_release(struct ss_rig *rig);

/* Shared memory that the modules want, in bytes. */
size_t ss_rig_memory(const struct ss_rig *rig);

/*
 * What the modules' functions are to be given on behalf of one executor, or of the master, who is
 * number `instances`. `board` is NULL as long as there is none.
 */
void ss_rig_selves(const struct ss_rig *rig, struct ss_board *board, uint32_t executor,
    struct ss_self selves[SS_KINDS]);

#endif
