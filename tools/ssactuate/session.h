/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSACTUATE_SESSION_H
#define SSACTUATE_SESSION_H

#include "actuate_options.h"
#include "copies.h"
#include "place.h"
#include "undoing.h"

/* The command after --, or a side. */
struct ssactuate_party {
    const char *name;   /* NAME=... of a side; NULL: the command after -- */
    char *const *words; /* the command; NULL: a process group */
    char **split;       /* the words of a side; owned */
    pid_t group;        /* a running process group; 0: a command */
    size_t number;      /* number of the group in the journal */
    struct ssactuate_place place;
    struct ssactuate_child child;
    bool is_running;
};

/* The common part of `run` and `follow`: sets levels while a command runs, then restores them. */
struct ssactuate_session {
    const struct ssactuate_options *options;
    struct ssactuate_machine machine;
    struct ssactuate_plan plan;        /* the levels in force */
    struct ssactuate_party parties[2]; /* the command and the side, or two sides */
    struct ssactuate_copies copies;    /* replace the command with `instances` */
    bool has_copies;
    struct ssactuate_undoing undoing;
    struct ss_signals signals;
    struct ss_scheduling *scheduling;
    struct ssactuate_binding binding;
    const struct stat *unbound_program; /* processes of this program are not bound; may be NULL */
    int signals_received;               /* signals that have arrived to end the run */
    struct ssactuate_end_signal last_end;
    bool warned_oversubscribed; /* warned that threads share CPUs */

    void (*forked)(void *context, pid_t pid); /* before the command is executed; may be NULL */
    /* Called after each event. Returns when it must be called again. */
    ss_time (*wake)(void *context, ss_time now);
    void *context;
};

/* Opens the machine; without --check, checks the file of --record, and takes over signals. */
SS_MUST_USE SS_NONNULL() int ssactuate_session_open(struct ssactuate_session *session,
    const struct ssactuate_options *options, struct ss_error *error);

/*
 * Finds where to create the control groups: with these limits (bits 1 << LIMIT_...) for the
 * command, and only with those of CPUs for the side. Changes nothing.
 */
SS_MUST_USE SS_NONNULL() int ssactuate_session_find_places(
    struct ssactuate_session *session, unsigned limits, struct ss_error *error);

/* Locks and saves what the run will change, creates the control groups, and starts the keeper. */
SS_MUST_USE SS_NONNULL(1, 2, 4) int ssactuate_session_keep(struct ssactuate_session *session,
    const struct ssactuate_plan *changes, char *const *command, struct ss_error *error);

/* Sets the levels of `plan`. If `moves`, also sets the affinity of running processes. */
SS_MUST_USE SS_NONNULL() int ssactuate_session_apply(
    struct ssactuate_session *session, bool moves, struct ss_error *error);

/* Starts the side, then the command, unless copies replace it. */
SS_MUST_USE SS_NONNULL() int ssactuate_session_start(
    struct ssactuate_session *session, struct ss_error *error);

/* Looks for new threads of the parties that are running process groups. */
SS_NONNULL() void ssactuate_session_scan(struct ssactuate_session *session);

/*
 * Runs the event loop until the command ends: handles signals, copies and new threads, and calls
 * wake(). Fails if a copy cannot be started, or a value cannot be restored after a signal.
 */
SS_MUST_USE SS_NONNULL() int ssactuate_session_watch(
    struct ssactuate_session *session, struct ss_error *error);

/* Ends the command of the side, if it is running, by SIGTERM and, after 2 s, by SIGKILL. */
SS_NONNULL() void ssactuate_session_end_side(struct ssactuate_session *session);

/* Returns the exit status of the command or, with copies, of the first one that was not surplus. */
SS_NONNULL() int ssactuate_session_status(const struct ssactuate_session *session);

/* Restores everything and frees the session, also after a failure. */
SS_MUST_USE SS_NONNULL() int ssactuate_session_close(
    struct ssactuate_session *session, struct ss_error *error);

#endif
