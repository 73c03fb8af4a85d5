/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A server that fails in one of the ways in which real servers fail, to test how a client reacts.
 * It prints its port when it listens, and at its end the numbers of connections and requests that
 * it received.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define ANSWER     "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"
#define REQUEST    4096 /* maximum length of the headers, in bytes */
#define STACK_SIZE (256 * 1024)

/* How many seconds to wait at the end for clients to close their connections. */
#define PATIENCE 10

static atomic_ulong connections, requests;

/* Connections that are served. Incremented with `door` locked, together with accepting one. */
static atomic_ulong active;
static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;

/* Reads up to the end of a request's headers. Returns false if the connection ends before. */
static bool read_request(int client) {
    char bytes[REQUEST + 1];
    size_t used = 0;
    do {
        ssize_t length = recv(client, bytes + used, REQUEST - used, 0);
        if (length <= 0)
            return false;
        used += (size_t)length;
        bytes[used] = '\0';
    } while (!strstr(bytes, "\r\n\r\n") && used < REQUEST);
    atomic_fetch_add(&requests, 1);
    return true;
}

static bool say_bytes(int client, const char *bytes, size_t length) {
    return send(client, bytes, length, MSG_NOSIGNAL) == (ssize_t)length;
}

static bool say(int client, const char *text) {
    return say_bytes(client, text, strlen(text));
}

static void nap(double seconds) {
    struct timespec length = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&length, NULL);
}

/* Closes the stream so that the client reads end of file instead of getting a reset. */
static void hang_up(int client) {
    char rest[REQUEST];
    shutdown(client, SHUT_WR);
    while (recv(client, rest, sizeof rest, 0) > 0)
        continue;
}

/* Makes close() send a reset. */
static void prepare_reset(int client) {
    struct linger now = {.l_onoff = 1, .l_linger = 0};
    setsockopt(client, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

/* Reads a request and sends only this text. */
static void answer_once(int client, const char *text) {
    if (read_request(client) && say(client, text))
        hang_up(client);
}

/* Ways to answer or to fail. The caller closes the connection. */

static void answer_well(int client) {
    while (read_request(client) && say(client, ANSWER))
        continue;
}

/* Answers each request after 100 ms, however many there are. */
static void answer_slowly(int client) {
    while (read_request(client)) {
        nap(0.1);
        if (!say(client, ANSWER))
            break;
    }
}

/* Answers one request at a time, each after 2 ms: a service of 500 requests per second. */
static void answer_in_turn(int client) {
    static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    bool answered = true;
    while (answered && read_request(client)) {
        pthread_mutex_lock(&turn);
        nap(0.002);
        answered = say(client, ANSWER);
        pthread_mutex_unlock(&turn);
    }
}

static void reset_at_once(int client) {
    prepare_reset(client);
}

static void reset_after_request(int client) {
    read_request(client);
    prepare_reset(client);
}

/* The connection was used successfully before, so libcurl would send the reset request again. */
static void reset_second(int client) {
    if (read_request(client) && say(client, ANSWER))
        reset_after_request(client);
}

/* Like reset_second(), but the stream ends without a reset. */
static void close_second(int client) {
    if (read_request(client) && say(client, ANSWER))
        answer_once(client, "");
}

static void close_without_answer(int client) {
    answer_once(client, "");
}

static void half_headers(int client) {
    answer_once(client, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-");
}

static void half_body(int client) {
    answer_once(client, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf of it");
}

static void half_chunk(int client) {
    answer_once(client, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n100\r\nhalf of it");
}

static void wrong_chunk(int client) {
    answer_once(
        client, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\nlength\r\n");
}

/* The length exceeds 64 bits: libcurl then reads until the end of the stream. */
static void absurd_length(int client) {
    answer_once(
        client, "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nhalf of it");
}

static void negative_length(int client) {
    answer_once(client, "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhalf of it");
}

static void reset_in_body(int client) {
    if (read_request(client) &&
        say(client, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf of it"))
        nap(0.1); /* the client must read the text first: a reset discards unread data */
    prepare_reset(client);
}

static void garbage(int client) {
    answer_once(client, "\x01\x02 220 mail.example ESMTP\r\nwhat do you want\r\n");
}

static void never_answer(int client) {
    read_request(client);
    while (read_request(client))
        continue;
}

static void endless_headers(int client) {
    if (!read_request(client) || !say(client, "HTTP/1.1 200 OK\r\n"))
        return;
    while (say(client, "X-More: and more and more and more and more and more\r\n"))
        continue;
}

static void endless_line(int client) {
    if (!read_request(client) || !say(client, "HTTP/1.1 200 OK\r\nX-More: "))
        return;
    while (say(client, "and more and more and more and more and more "))
        continue;
}

/*
 * Closes the connection although the answer lacks "Connection: close". The client reads the end of
 * the stream with the answer, so that it cannot send another request before.
 */
static void close_after_answer(int client) {
    static const char answer[] = ANSWER;
    if (read_request(client) &&
        send(client, answer, sizeof answer - 1, MSG_NOSIGNAL | MSG_MORE) > 0)
        hang_up(client);
}

/* Resets the first connection, sends a wrong chunk to the second, and so on. */
static void reset_or_wrong_chunk(int client) {
    static atomic_int visits;
    if (atomic_fetch_add(&visits, 1) % 2 == 0)
        reset_after_request(client);
    else
        wrong_chunk(client);
}

static void status_417(int client) {
    while (read_request(client) &&
           say(client, "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n"))
        continue;
}

static void status_500(int client) {
    while (read_request(client) &&
           say(client, "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 5\r\n\r\nsorry"))
        continue;
}

/* Fails during the second that follows the first request, like a service that restarts. */
static void recover(int client) {
    static atomic_llong begin;
    while (read_request(client)) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        long long time = now.tv_sec * 1000LL + now.tv_nsec / 1000000, unset = 0;
        atomic_compare_exchange_strong(&begin, &unset, time);
        bool failed = time < atomic_load(&begin) + 1000;
        if (!say(client, failed ? "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n" : ANSWER))
            break;
    }
}

static void redirect(int client) {
    while (read_request(client) && say(client, "HTTP/1.1 302 Found\r\nLocation: "
                                               "http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"))
        continue;
}

static void slow_body(int client) {
    if (!read_request(client) || !say(client, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"))
        return;
    while (say(client, "."))
        nap(0.05);
}

/* Sends chunks of one byte each, as fast as they are read. */
static void endless_chunks(int client) {
    char chunks[6 * 4096];
    for (size_t i = 0; i < sizeof chunks; i += 6)
        memcpy(chunks + i, "1\r\na\r\n", 6);
    if (!read_request(client) ||
        !say(client, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"))
        return;
    while (say_bytes(client, chunks, sizeof chunks))
        continue;
}

/* Sends an interim answer, which does not complete the request. */
static void only_interim(int client) {
    answer_once(client, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
}

/* Answers TLS like a server for plain HTTP: bad request. */
static void refuse_first_bytes(int client) {
    char bytes[REQUEST];
    if (recv(client, bytes, sizeof bytes, 0) > 0 &&
        say(client, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"))
        hang_up(client);
}

/* Answers plain HTTP like a server for TLS. */
static void tls_alert(int client) {
    static const char alert[] = "\x15\x03\x01\x00\x02\x02\x46";
    if (read_request(client) && say_bytes(client, alert, sizeof alert - 1))
        hang_up(client);
}

// clang-format off
static const struct way {
    const char *name;
    void (*serve)(int client);
    int backlog; /* of the listening socket; 0: the system's maximum */
} ways[] = {
    {"well", answer_well},
    {"in-turn", answer_in_turn},
    {"slowly", answer_slowly},
    {"reset-at-once", reset_at_once},
    {"reset-after-request", reset_after_request},
    {"reset-second", reset_second},
    {"close-second", close_second},
    {"close-without-answer", close_without_answer},
    {"half-headers", half_headers},
    {"half-body", half_body},
    {"half-chunk", half_chunk},
    {"wrong-chunk", wrong_chunk},
    {"absurd-length", absurd_length},
    {"negative-length", negative_length},
    {"reset-in-body", reset_in_body},
    {"garbage", garbage},
    {"never-answer", never_answer},
    {"endless-headers", endless_headers},
    {"endless-line", endless_line},
    {"close-after-answer", close_after_answer},
    {"reset-or-wrong-chunk", reset_or_wrong_chunk},
    {"status-417", status_417},
    {"status-500", status_500},
    {"recover", recover},
    {"redirect", redirect},
    {"slow-body", slow_body},
    {"endless-chunks", endless_chunks},
    {"only-interim", only_interim},
    {"tls-alert", tls_alert},
    {"refuse-first-bytes", refuse_first_bytes},
    {"refuse", NULL, -1}, /* has a port but does not listen */
    {"full", NULL, 1}, /* listens but accepts no connection */
};
// clang-format on

struct visit {
    int client;
    void (*serve)(int client);
};

static void *serve(void *context) {
    struct visit visit = *(struct visit *)context;
    free(context);
    visit.serve(visit.client);
    close(visit.client);
    atomic_fetch_sub(&active, 1);
    return NULL;
}

static void die(const char *what) {
    fprintf(stderr, "broken_server: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* Returns whether a client waits to be accepted. */
static bool await_client(int listener, int milliseconds) {
    struct pollfd input = {.fd = listener, .events = POLLIN};
    return poll(&input, 1, milliseconds) > 0;
}

static void accept_one(int listener, void (*way)(int client), const pthread_attr_t *attributes) {
    int client = accept(listener, NULL, NULL);
    if (client < 0)
        return;
    atomic_fetch_add(&connections, 1);
    atomic_fetch_add(&active, 1);
    struct visit *visit = malloc(sizeof *visit);
    pthread_t thread;
    if (!visit)
        die("memory");
    *visit = (struct visit){client, way};
    if (pthread_create(&thread, attributes, serve, visit) != 0)
        die("a thread");
}

static void accept_all(int listener, void (*way)(int client)) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    fcntl(listener, F_SETFL, O_NONBLOCK);
    for (;;) {
        await_client(listener, -1);
        pthread_mutex_lock(&door);
        accept_one(listener, way, &attributes);
        pthread_mutex_unlock(&door);
    }
}

static int open_port(int backlog) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, length) < 0 ||
        (backlog >= 0 && listen(listener, backlog) < 0) ||
        getsockname(listener, (struct sockaddr *)&address, &length) < 0)
        die("a port");
    printf("%d\n", ntohs(address.sin_port));
    return listener;
}

static int open_path(const char *path, int backlog) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) < 0 ||
        listen(listener, backlog) < 0)
        die(path);
    printf("%s\n", path);
    return listener;
}

struct ending {
    sigset_t signals;
    int listener; /* -1 if no client is accepted */
};

/* Returns whether every client was accepted and served. */
static bool is_idle(int listener) {
    pthread_mutex_lock(&door);
    bool idle = listener < 0 || (!await_client(listener, 0) && atomic_load(&active) == 0);
    pthread_mutex_unlock(&door);
    return idle;
}

/* On a busy machine, requests of a client that has ended may not have been read yet. */
static void *report_at_end(void *context) {
    const struct ending *ending = context;
    int number;
    sigwait(&ending->signals, &number);
    for (int i = 0; i < PATIENCE * 100 && !is_idle(ending->listener); i++)
        nap(0.01);
    printf("connections %lu requests %lu\n", atomic_load(&connections), atomic_load(&requests));
    fflush(stdout);
    _exit(0);
}

static const struct way *find_way(const char *name) {
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(ways[i].name, name) == 0)
            return &ways[i];
    }
    fprintf(stderr, "broken_server: unknown way '%s'\n", name);
    exit(2);
}

int main(int argc, char **argv) {
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "Usage: broken_server WAY [SOCKET]\n");
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const struct way *way = find_way(argv[1]);
    struct ending ending;
    pthread_t thread;
    sigemptyset(&ending.signals);
    sigaddset(&ending.signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ending.signals, NULL);
    int backlog = way->backlog ? way->backlog : SOMAXCONN;
    int listener = argc == 3 ? open_path(argv[2], backlog) : open_port(backlog);
    ending.listener = way->serve ? listener : -1;
    if (pthread_create(&thread, NULL, report_at_end, &ending) != 0)
        die("a thread");
    fflush(stdout);
    if (!way->serve)
        pause();
    accept_all(listener, way->serve);
}
