/* SPDX-License-Identifier: Apache-2.0 */
#include "listener.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/local_socket.h"
#include "base/words.h"

#define CLIENTS   8
#define LINE_ROOM 16384

/* What epoll is told of those that are no clients. */
#define DOOR     CLIENTS
#define ATTENDED (CLIENTS + 1)

/* How much is read and how many are accepted in one call: requests must not wait for a talker. */
#define TURNS 4

struct client {
    int connection; /* -1: none */
    bool ended;     /* it has sent all that it will send */
    size_t used;
    char line[LINE_ROOM];
};

struct ssrequest_listener {
    struct ss_local_socket door;
    int events;
    ssrequest_obey *obey;
    void *context;
    void (*ready)(void *context); /* see ssrequest_listener_attend() */
    struct client *waiting;       /* for an answer that comes later; NULL: none does */
    struct client clients[CLIENTS];
};

/* ---- opening ---- */

static int watch(struct ssrequest_listener *listener, int descriptor, uint32_t which) {
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = which};
    return epoll_ctl(listener->events, EPOLL_CTL_ADD, descriptor, &event);
}

/* No other user may connect: a run does what it is told. */
static int open_all(struct ssrequest_listener *listener, const char *path, struct ss_error *error) {
    if (ss_local_socket_open(&listener->door, path, S_IRUSR | S_IWUSR, error) < 0)
        return -1;
    listener->events = epoll_create1(EPOLL_CLOEXEC);
    if (listener->events < 0 || listen(listener->door.file, CLIENTS) < 0 ||
        watch(listener, listener->door.file, DOOR) < 0)
        return ss_error_fail(error, "%s: %s", ss_words_show(path).text, strerror(errno));
    return 0;
}

int ssrequest_listener_open(struct ssrequest_listener **opened, const char *path,
    ssrequest_obey *obey, void *context, struct ss_error *error) {
    *opened = NULL;
    struct ssrequest_listener *listener = calloc(1, sizeof *listener);
    if (!listener)
        return ss_error_memory(error);
    listener->door.file = listener->events = -1;
    listener->obey = obey;
    listener->context = context;
    for (int i = 0; i < CLIENTS; i++)
        listener->clients[i].connection = -1;
    if (open_all(listener, path, error) < 0) {
        ssrequest_listener_close(listener);
        return ss_error_wrap(error, "--control");
    }
    *opened = listener;
    return 0;
}

/* ---- lines and answers ---- */

static void disconnect(struct client *client) {
    if (client->connection >= 0)
        close(client->connection);
    client->connection = -1;
    client->ended = false;
    client->used = 0;
}

static void answer(struct client *client, const char *verdict, const char *text) {
    char line[SSREQUEST_ANSWER_ROOM + sizeof((struct ss_error *)NULL)->message];
    size_t length =
        (size_t)snprintf(line, sizeof line, "%s%s%s\n", verdict, *text ? " " : "", text);
    /* A socket has room for hundreds of them: this client does not read. */
    if (send(client->connection, line, length, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)length)
        disconnect(client);
}

/* What it sends is not looked at any more, or epoll would tell of it all the time. */
static void hold(struct ssrequest_listener *listener, struct client *client) {
    listener->waiting = client;
    epoll_ctl(listener->events, EPOLL_CTL_DEL, client->connection, NULL);
}

static void obey(struct ssrequest_listener *listener, struct client *client, const char *line) {
    struct ssrequest_control control;
    struct ss_error error = {0};
    char text[SSREQUEST_ANSWER_ROOM] = "";
    int result = ssrequest_control_parse(&control, line, &error);
    if (result == 0) {
        result = listener->obey(listener->context, &control, text, &error);
        ssrequest_control_free(&control);
    }
    if (result == SSREQUEST_ANSWER_LATER)
        hold(listener, client);
    else
        answer(client, result == 0 ? "ok" : "error:", result == 0 ? text : error.message);
}

static bool is_served(const struct ssrequest_listener *listener, const struct client *client) {
    return client->connection >= 0 && client != listener->waiting;
}

static void take_lines(struct ssrequest_listener *listener, struct client *client) {
    char *line = client->line, *end;
    while (is_served(listener, client) &&
           (end = memchr(line, '\n', client->used - (size_t)(line - client->line)))) {
        *end = '\0';
        if (end > line && end[-1] == '\r')
            end[-1] = '\0';
        obey(listener, client, line);
        line = end + 1;
    }
    if (client->connection < 0)
        return;
    client->used -= (size_t)(line - client->line);
    memmove(client->line, line, client->used);
    if (client->used == LINE_ROOM) {
        answer(client, "error:", "a line is longer than 16 KiB");
        disconnect(client);
    }
}

/* A last line without a line feed is a line, too. */
static void take_end(struct ssrequest_listener *listener, struct client *client) {
    client->ended = true;
    if (client->used > 0)
        client->line[client->used++] = '\n';
    take_lines(listener, client);
    if (is_served(listener, client))
        disconnect(client);
}

static void read_from(struct ssrequest_listener *listener, struct client *client) {
    for (int turn = 0; turn < TURNS && is_served(listener, client); turn++) {
        ssize_t length = recv(client->connection, client->line + client->used,
            LINE_ROOM - client->used, MSG_DONTWAIT);
        if (length > 0) {
            client->used += (size_t)length;
            take_lines(listener, client);
        } else if (length == 0) {
            take_end(listener, client);
        } else if (errno == EAGAIN || errno == EINTR) {
            return;
        } else {
            disconnect(client);
        }
    }
}

void ssrequest_listener_answer(
    struct ssrequest_listener *listener, int result, const char *text, const char *reason) {
    struct client *client = listener->waiting;
    if (!client)
        return;
    listener->waiting = NULL;
    answer(client, result == 0 ? "ok" : "error:", result == 0 ? text : reason);
    take_lines(listener, client);
    if (!is_served(listener, client))
        return;
    if (client->ended ||
        watch(listener, client->connection, (uint32_t)(client - listener->clients)) < 0)
        disconnect(client);
}

static void accept_one(struct ssrequest_listener *listener) {
    int connection = accept4(listener->door.file, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (connection < 0)
        return;
    for (uint32_t i = 0; i < CLIENTS; i++) {
        struct client *client = &listener->clients[i];
        if (client->connection >= 0)
            continue;
        client->connection = connection;
        if (watch(listener, connection, i) < 0)
            disconnect(client);
        return;
    }
    struct client refused = {.connection = connection};
    answer(&refused, "error:", "8 connections are open already: close one");
    disconnect(&refused);
}

void ssrequest_listener_serve(struct ssrequest_listener *listener) {
    struct epoll_event events[TURNS];
    int count = epoll_wait(listener->events, events, TURNS, 0);
    for (int i = 0; i < count; i++) {
        if (events[i].data.u32 == DOOR)
            accept_one(listener);
        else if (events[i].data.u32 == ATTENDED)
            listener->ready(listener->context);
        else
            read_from(listener, &listener->clients[events[i].data.u32]);
    }
}

/* ---- the whole ---- */

int ssrequest_listener_descriptor(const struct ssrequest_listener *listener) {
    return listener->events;
}

int ssrequest_listener_attend(struct ssrequest_listener *listener, int descriptor,
    void (*ready)(void *context), struct ss_error *error) {
    listener->ready = ready;
    if (watch(listener, descriptor, ATTENDED) < 0)
        return ss_error_fail(error, "--control: %s", strerror(errno));
    return 0;
}

void ssrequest_listener_close(struct ssrequest_listener *listener) {
    if (!listener)
        return;
    if (listener->waiting)
        answer(listener->waiting, "error:", "the run is over");
    for (int i = 0; i < CLIENTS; i++)
        disconnect(&listener->clients[i]);
    ss_local_socket_remove(&listener->door);
    if (listener->door.file >= 0)
        close(listener->door.file);
    if (listener->events >= 0)
        close(listener->events);
    free(listener);
}
