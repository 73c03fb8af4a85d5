/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REQUEST_MESSAGES_H
#define REQUEST_MESSAGES_H

/* The content of requests: method, headers and body, from options or a file. */

#include <stddef.h>
#include <stdint.h>

#include <showstopper/contract.h>
#include <showstopper/error.h>

#include "generator.h"

#define REQUEST_HEADERS_MAX 64

struct request_message {
    char *method;
    char *target;     /* path and query of the request line; NULL: those of the URL */
    const char *body; /* NULL: no body */
    size_t body_size; /* bytes */
    char *body_path;  /* file of the body; NULL if it is not from a file */
    char *own_body;   /* the body if this message owns it; NULL if it is shared with a previous
                         message, or owned by the caller */
};

/*
 * Messages that are sent in turn. Zeroed: no messages; request_messages_open() or
 * request_messages_read() fills it.
 */
struct request_messages {
    struct request_message *list;
    size_t count, room;
    const char *headers[REQUEST_HEADERS_MAX]; /* headers of all messages; owned by the caller */
    size_t header_count;
    const char *file; /* path of the file, owned by the caller; NULL if the message is from
                         options */

    /*
     * For a file with whole URLs: their hosts as "http://host:port", and each message's index of
     * its host. Otherwise `origin_count` is 0.
     */
    char *origins[REQUEST_TARGETS_MAX];
    uint32_t origin_count;
    uint32_t *order;
    size_t order_room;
};

/*
 * Makes one message. If `method` is NULL, it is POST with data, otherwise GET. `data` is text,
 * which must remain valid, @FILE, or @- for standard input; NULL: no body.
 */
SS_MUST_USE SS_NONNULL(1) int request_messages_open(struct request_messages *messages,
    const char *method, const char *data, struct ss_error *error);

/* Reads messages from a file: METHOD URL-or-PATH [@BODYFILE] on each line. */
SS_MUST_USE SS_NONNULL(1, 2) int request_messages_read(
    struct request_messages *messages, const char *path, struct ss_error *error);

/*
 * Adds a header: "Name: value", "Name;" for an empty value, or "Name:" to remove a default header.
 */
SS_MUST_USE SS_NONNULL(1, 2) int request_messages_add_header(
    struct request_messages *messages, const char *header, struct ss_error *error);

SS_NONNULL() void request_messages_close(struct request_messages *messages);

#endif
