/* SPDX-License-Identifier: Apache-2.0 */
#include "listener.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/paths.h"
#include "local_socket.h"
#include "platform/platform.h"

#define CLIENTS_MAX 8
#define LINE_ROOM   16384

/* epoll tags. Those of clients are their indexes, which are below CLIENTS_MAX. */
#define LISTENING_TAG CLIENTS_MAX
#define WATCHED_TAG   (CLIENTS_MAX + 1)

/*
 * Maximum number of events per call, and of reads from a client per event: more would delay
 * requests.
 */
#define TURNS_MAX 4

/* Maximum number of lines of a client that are executed after a read, for the same reason. */
#define LINES_AT_ONCE 64

/* How long clients may take to read pending answers at the end of the run. */
#define ENDING_MAX SS_SECOND

/*
 * Minimum number of rounds of serving clients at the end of the run before ENDING_MAX applies, in
 * case this process is late: enough for a full socket buffer of lines.
 */
#define ENDING_ROUNDS 512

struct client {
    int connection;  /* -1 if the slot is free */
    uint32_t events; /* events set in epoll; 0 if not registered */
    bool ended;      /* the client has shut down its side */
    bool discards;   /* the line was too long, and the rest of it is ignored */
    size_t used;
    char line[LINE_ROOM];
    size_t answer_from, answer_end; /* the unsent part of `answer` */
    char answer[SSREQUEST_ANSWER_ROOM + sizeof((struct ss_error *)NULL)->message];
};

struct ssrequest_listener {
    struct local_socket local;
    int events;
    ssrequest_execute *execute;
    void *context;
    void (*ready)(void *context); /* see ssrequest_listener_watch() */
    struct client *waiting;       /* the client whose answer is pending; NULL if none */
    struct client clients[CLIENTS_MAX];
};

static int watch(struct ssrequest_listener *listener, int descriptor, uint32_t which) {
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = which};
    return epoll_ctl(listener->events, EPOLL_CTL_ADD, descriptor, &event);
}

/* Opens the socket. Only this user may connect, because a connection controls the run. */
static int open_all(struct ssrequest_listener *listener, const char *path, struct ss_error *error) {
    if (local_socket_open(&listener->local, path, S_IRUSR | S_IWUSR, error) < 0)
        return -1;
    listener->events = epoll_create1(EPOLL_CLOEXEC);
    if (listener->events < 0 || listen(listener->local.file, CLIENTS_MAX) < 0 ||
        watch(listener, listener->local.file, LISTENING_TAG) < 0)
        return ss_paths_fail(path, error);
    return 0;
}

int ssrequest_listener_open(struct ssrequest_listener **opened, const char *path,
    ssrequest_execute *execute, void *context, struct ss_error *error) {
    *opened = NULL;
    struct ssrequest_listener *listener = calloc(1, sizeof *listener);
    if (!listener)
        return ss_error_memory(error);

    listener->local.file = listener->events = -1;
    listener->execute = execute;
    listener->context = context;
    for (int i = 0; i < CLIENTS_MAX; i++)
        listener->clients[i].connection = -1;

    if (open_all(listener, path, error) < 0) {
        ssrequest_listener_close(listener);
        return ss_error_wrap(error, "--control");
    }
    *opened = listener;
    return 0;
}

static void disconnect(struct client *client) {
    if (client->connection >= 0)
        close(client->connection);
    client->connection = -1;
    client->events = 0;
    client->ended = client->discards = false;
    client->used = client->answer_from = client->answer_end = 0;
}

/* Sends the rest of the answer, and disconnects on an error. Returns whether all was sent. */
static bool send_answer(struct client *client) {
    while (client->answer_from < client->answer_end) {
        ssize_t sent = send(client->connection, client->answer + client->answer_from,
            client->answer_end - client->answer_from, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0) {
            if (errno != EAGAIN)
                disconnect(client);
            return false;
        }
        client->answer_from += (size_t)sent;
    }

    client->answer_from = client->answer_end = 0;
    return true;
}

/* Sends an answer through the buffer, which must be empty: see can_answer(). */
static void answer(struct client *client, const char *verdict, const char *text) {
    client->answer_end = (size_t)snprintf(
        client->answer, sizeof client->answer, "%s%s%s\n", verdict, *text ? " " : "", text);
    send_answer(client);
}

static void refuse_line(struct client *client, const char *why) {
    answer(client, "error:", why);
}

static void execute(struct ssrequest_listener *listener, struct client *client, const char *line) {
    struct request_control control;
    struct ss_error error = {0};
    char text[SSREQUEST_ANSWER_ROOM] = "";

    int result = request_control_parse(&control, line, &error);
    if (result == 0) {
        result = listener->execute(listener->context, &control, text, &error);
        request_control_free(&control);
    }

    if (result == SSREQUEST_ANSWER_LATER)
        listener->waiting = client;
    else
        answer(client, result == 0 ? "ok" : "error:", result == 0 ? text : error.message);
}

/*
 * Returns whether another line of this client may be executed. The client must read its previous
 * answer first, so that memory is bounded.
 */
static bool can_answer(const struct ssrequest_listener *listener, const struct client *client) {
    return client->connection >= 0 && client != listener->waiting && client->answer_end == 0;
}

/*
 * Executes a line of `length` bytes, unless it is the rest of an overlong one. Replaces its line
 * feed with a null byte.
 */
static void take_line(
    struct ssrequest_listener *listener, struct client *client, char *line, size_t length) {
    line[length] = '\0';
    if (client->discards) {
        client->discards = false;
    } else if (strlen(line) < length) {
        refuse_line(client, "a line contains a null byte");
    } else {
        if (length > 0 && line[length - 1] == '\r')
            line[length - 1] = '\0';
        execute(listener, client, line);
    }
}

static void drop_overlong(struct client *client) {
    client->used = 0;
    if (!client->discards)
        refuse_line(client, "a line is longer than 16 KiB");
    client->discards = client->connection >= 0;
}

static void take_lines(struct ssrequest_listener *listener, struct client *client) {
    char *line = client->line, *end;
    for (int i = 0; i < LINES_AT_ONCE && can_answer(listener, client); i++) {
        end = memchr(line, '\n', client->used - (size_t)(line - client->line));
        if (!end)
            break;
        take_line(listener, client, line, (size_t)(end - line));
        line = end + 1;
    }

    if (client->connection < 0)
        return;
    client->used -= (size_t)(line - client->line);
    memmove(client->line, line, client->used);
}

static bool has_line(const struct client *client) {
    return client->used > 0 && memchr(client->line, '\n', client->used);
}

/* Reads from a client, and disconnects on an error. Returns false if `line` did not grow. */
static bool read_some(struct client *client) {
    if (client->ended)
        return false;

    ssize_t length = recv(
        client->connection, client->line + client->used, LINE_ROOM - client->used, MSG_DONTWAIT);
    if (length > 0) {
        client->used += (size_t)length;
        return true;
    }

    if (length == 0) {
        client->ended = true;
        /* Complete a last line without a line feed. serve() leaves room for one. */
        if (client->used > 0)
            client->line[client->used++] = '\n';
        return client->used > 0;
    } else if (errno != EAGAIN && errno != EINTR) {
        disconnect(client);
    }
    return false;
}

/*
 * Updates the events of a client. Remaining lines wait until the client is writable, because each
 * needs room for its answer.
 */
static void rearm(struct ssrequest_listener *listener, struct client *client) {
    uint32_t events = client->answer_end > 0 || has_line(client) ? EPOLLOUT : EPOLLIN;
    if (client == listener->waiting)
        events = 0;

    if (client->connection < 0 || client->events == events)
        return;
    struct epoll_event event = {
        .events = events, .data.u32 = (uint32_t)(client - listener->clients)};

    /* Unregister a waiting client: epoll would report a hangup again and again. */
    int how = events ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;
    if (!client->events)
        how = EPOLL_CTL_ADD;

    client->events = events;
    if (epoll_ctl(listener->events, how, client->connection, &event) < 0)
        disconnect(client);
}

static void serve(struct ssrequest_listener *listener, struct client *client) {
    for (int turn = 0; turn < TURNS_MAX; turn++) {
        if (client->answer_end > 0 && !send_answer(client))
            break;
        take_lines(listener, client);
        if (!can_answer(listener, client) || has_line(client))
            break;
        if (client->used == LINE_ROOM)
            drop_overlong(client);
        else if (!read_some(client))
            break;
    }

    if (client->ended && can_answer(listener, client) && client->used == 0)
        disconnect(client);
    rearm(listener, client);
}

void ssrequest_listener_answer(
    struct ssrequest_listener *listener, int result, const char *reason) {
    struct client *client = listener->waiting;
    if (!client)
        return;
    listener->waiting = NULL;
    answer(client, result == 0 ? "ok" : "error:", result == 0 ? "" : reason);
    serve(listener, client);
}

static void accept_one(struct ssrequest_listener *listener) {
    int connection = accept4(listener->local.file, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (connection < 0)
        return;

    for (uint32_t i = 0; i < CLIENTS_MAX; i++) {
        struct client *client = &listener->clients[i];
        if (client->connection >= 0)
            continue;
        client->connection = connection;
        rearm(listener, client);
        return;
    }

    static struct client refused; /* static because it is too large for the stack */
    refused.connection = connection;
    refuse_line(&refused, "too many connections (at most 8): close one");
    disconnect(&refused);
}

void ssrequest_listener_serve(struct ssrequest_listener *listener) {
    struct epoll_event events[TURNS_MAX];
    int count = epoll_wait(listener->events, events, TURNS_MAX, 0);
    for (int i = 0; i < count; i++) {
        if (events[i].data.u32 == LISTENING_TAG)
            accept_one(listener);
        else if (events[i].data.u32 == WATCHED_TAG)
            listener->ready(listener->context);
        else
            serve(listener, &listener->clients[events[i].data.u32]);
    }
}

int ssrequest_listener_descriptor(const struct ssrequest_listener *listener) {
    return listener->events;
}

int ssrequest_listener_watch(struct ssrequest_listener *listener, int descriptor,
    void (*ready)(void *context), struct ss_error *error) {
    listener->ready = ready;
    if (watch(listener, descriptor, WATCHED_TAG) < 0)
        return ss_error_fail(error, "--control: %s", strerror(errno));
    return 0;
}

static int refuse_all(void *context, const struct request_control *control,
    char text[SSREQUEST_ANSWER_ROOM], struct ss_error *error) {
    (void)context, (void)control, (void)text;
    return ss_error_fail(error, "the run is over");
}

/* Returns whether a client has unexecuted lines or unsent answers. */
static bool is_busy(const struct ssrequest_listener *listener) {
    for (int i = 0; i < CLIENTS_MAX; i++) {
        if (listener->clients[i].events == EPOLLOUT)
            return true;
    }
    return false;
}

/* Answers pending lines of clients that still read. */
static void answer_remaining(struct ssrequest_listener *listener) {
    ss_time until = ss_platform_now() + ENDING_MAX, left = ENDING_MAX;
    struct epoll_event events[CLIENTS_MAX];

    listener->execute = refuse_all;
    epoll_ctl(listener->events, EPOLL_CTL_DEL, listener->local.file, NULL);
    ssrequest_listener_answer(listener, -1, "the run is over");
    for (int i = 0; i < CLIENTS_MAX; i++) {
        if (listener->clients[i].connection >= 0)
            serve(listener, &listener->clients[i]);
    }

    for (int round = 0; is_busy(listener); round++) {
        ss_time begin = ss_platform_now();
        if (round >= ENDING_ROUNDS && begin >= until)
            break;
        int count = epoll_wait(listener->events, events, CLIENTS_MAX,
            (int)((left + SS_MILLISECOND - 1) / SS_MILLISECOND));
        if (count == 0)
            break;

        /* Count only time spent waiting, because this process itself may be late. */
        left = ss_time_since(left, ss_time_since(ss_platform_now(), begin));
        for (int i = 0; i < count; i++) {
            if (events[i].data.u32 < CLIENTS_MAX)
                serve(listener, &listener->clients[events[i].data.u32]);
        }
    }
}

void ssrequest_listener_close(struct ssrequest_listener *listener) {
    if (!listener)
        return;
    if (listener->events >= 0)
        answer_remaining(listener);
    for (int i = 0; i < CLIENTS_MAX; i++)
        disconnect(&listener->clients[i]);

    local_socket_remove(&listener->local);
    if (listener->local.file >= 0)
        close(listener->local.file);
    if (listener->events >= 0)
        close(listener->events);
    free(listener);
}
