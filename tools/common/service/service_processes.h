/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVICE_SERVICE_PROCESSES_H
#define SERVICE_SERVICE_PROCESSES_H

/* Finds the service whose load is held: the processes that serve a URL, or those of --of. */

#include <stddef.h>
#include <sys/types.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "platform/platform.h"
#include "service_listeners.h"

enum service_selector_kind {
    SERVICE_OF_URL, /* the processes that serve the URL */
    SERVICE_OF_MACHINE,
    SERVICE_OF_GROUP,
    SERVICE_OF_PID,
};

struct service_selector {
    enum service_selector_kind kind;
    const char *group; /* part of the parsed text */
    pid_t pid;
};

/* Parses machine, group:PATH or pid:PID; NULL is SERVICE_OF_URL. */
SS_MUST_USE SS_NONNULL(1) int service_selector_parse(
    struct service_selector *selector, const char *text, struct ss_error *error);

struct service_pids {
    pid_t *items;
    size_t count, room;
};

/*
 * A service: either a control group with its subgroups, or trees of processes. Zeroed: the machine,
 * as with `--of machine`.
 */
struct service {
    char group[SS_GROUP_PATH_SIZE];   /* "": trees; otherwise an argument for SS_SOURCE_CGROUP */
    struct service_pids roots;        /* roots of the trees */
    char first[SS_PROCESS_NAME_SIZE]; /* the name of the first root */
};

/*
 * Finds the service. The addresses are those of one URL's host, with the port, in the order in
 * which clients try them; only SERVICE_OF_URL needs them. If the service cannot be determined, the
 * error says what to do. Free the service even then.
 */
SS_MUST_USE SS_NONNULL(1, 2) int service_find(struct service *service,
    const struct service_selector *selector, const struct service_address *addresses, size_t count,
    const struct ss_platform_roots *roots, struct ss_error *error);

SS_NONNULL() void service_free(struct service *service);

/* Returns whether both were found to be the same service, for example by two URLs. */
SS_NONNULL() bool service_is_same(const struct service *one, const struct service *other);

/*
 * Adds all processes that have one of the sockets that service_listeners_find() finds, including
 * those that inherited it, as far as this user may read their files.
 */
SS_MUST_USE SS_NONNULL(1, 2) int service_add_listening(struct service_pids *pids,
    const struct service_address *addresses, size_t count, const struct ss_platform_roots *roots,
    struct ss_error *error);

#endif
