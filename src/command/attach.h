/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_COMMAND_ATTACH_H
#define SHOWSTOPPER_COMMAND_ATTACH_H

#include <stdint.h>
#include <sys/types.h>

#include <showstopper/error.h>

/* A running process that serves as an instance. */
struct ss_attachment {
    pid_t pid;
    uint64_t started; /* see ss_platform_process_started() */
    int claim;        /* see ss_platform_process_claim() */
};

/*
 * Running processes that serve as instances. A control group is a single instance; its items are
 * the processes whose parent is outside the group. Empty when zero-initialized.
 */
struct ss_attachments {
    struct ss_attachment *items;
    uint32_t count, room;
    char *group; /* the folder of the control group; NULL if absent */
};

/*
 * Finds the processes of --attach, pids separated by commas, and of --attach-name; either may be
 * NULL. Claims them, so that no other run attaches them. Fails if this run cannot or must not stop
 * and continue one of them.
 */
SS_MUST_USE int ss_attach_resolve(
    struct ss_attachments *attachments, const char *pids, const char *name, struct ss_error *error);

/*
 * Finds the control group of --attach-group, and claims its processes. Refuses those that
 * ss_attach_resolve() refuses, except stopped ones.
 */
SS_MUST_USE int ss_attach_resolve_group(
    struct ss_attachments *attachments, const char *path, struct ss_error *error);

struct ss_beside;

/* Finds the processes of --beside, pids separated by commas. */
SS_MUST_USE int ss_attach_find_beside(
    struct ss_beside *beside, const char *pids, struct ss_error *error);

void ss_attach_free(struct ss_attachments *attachments);

#endif
