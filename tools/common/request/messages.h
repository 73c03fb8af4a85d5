/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SSREQUEST_MESSAGES_H
#define SSREQUEST_MESSAGES_H

/* The requests that are sent: method, headers and body, as options or a file give them. */

#include <stddef.h>
#include <stdint.h>

#include <showstopper/error.h>

#include "generator.h"

#define SSREQUEST_HEADERS_MAX 64

struct ssrequest_message {
    char *method;
    char *target;     /* path and query of the request line; NULL: those of the URL */
    const char *body; /* NULL: no body */
    size_t body_size; /* bytes */
    char *body_path;  /* file that the body was read from; NULL: none */
    char *own_body;   /* owned body; NULL: shared with an earlier message */
};

/* They are sent in turn. Zeroed: empty; open() or read() fills it. */
struct ssrequest_messages {
    struct ssrequest_message *list;
    size_t count, room;
    const char *headers[SSREQUEST_HEADERS_MAX]; /* of all of them, the caller's */
    size_t header_count;
    const char *file; /* the caller's path of the file that was read; NULL: from options */

    /* For a file with whole URLs: their hosts as "http://host:port", and the host of each message
     * as an index. Otherwise 0 and NULL. */
    char *origins[SSREQUEST_TARGETS_MAX];
    uint32_t origin_count;
    uint32_t *order;
    size_t order_room;
};

/*
 * One message. `method` NULL: POST with data, else GET. `data` is text, or @FILE, or @- for
 * standard input; NULL: no body.
 */
int ssrequest_messages_open(struct ssrequest_messages *messages, const char *method,
    const char *data, struct ss_error *error);

/* Messages of a file: METHOD URL-or-PATH [@BODYFILE] in each line. */
int ssrequest_messages_read(
    struct ssrequest_messages *messages, const char *path, struct ss_error *error);

/* "Name: value", "Name;" for an empty value, or "Name:" to leave out what is sent otherwise. */
int ssrequest_messages_add_header(
    struct ssrequest_messages *messages, const char *header, struct ss_error *error);

void ssrequest_messages_close(struct ssrequest_messages *messages);

#endif
