/* SPDX-License-Identifier: Apache-2.0 */
#include "serve_http.h"

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* How long clients may take to read their answers when the server ends. */
#define LINGER_SECONDS 2

/* Descriptors to keep for purposes other than connections. */
#define DESCRIPTORS_KEPT 64

/*
 * The maximum number of connections, which limits memory: kernel and library use a few tens of
 * kilobytes for each.
 */
#define CONNECTIONS_MAX 65536

struct serve_request {
    struct serve_http *http;
    struct MHD_Connection *connection;
    enum serve_outcome outcome; /* SERVE_LOST until it has an answer */
    uint64_t number;
};

struct serve_http {
    struct MHD_Daemon *daemon;
    struct MHD_Response *page, *busy;
    char *bytes; /* body of `page` */
    struct serve_queue *queue;
    uint64_t request_count; /* number of requests so far */
    unsigned connections;
    atomic_bool ending;
    /* Protects all fields below. */
    pthread_mutex_t mutex;
    pthread_cond_t all_answered;
    uint64_t unanswered; /* number of requests whose answers have not been sent */
    struct serve_counts counts;
};

static enum MHD_Result answer(struct serve_request *request) {
    struct serve_http *http = request->http;
    if (request->outcome == SERVE_SERVED)
        return MHD_queue_response(request->connection, MHD_HTTP_OK, http->page);
    return MHD_queue_response(request->connection, MHD_HTTP_SERVICE_UNAVAILABLE, http->busy);
}

/*
 * Puts a request into the queue. Suspends its connection before a worker can see the request: the
 * request may be done, and the connection resumed, before serve_queue_put() returns.
 */
static void enqueue(struct serve_request *request) {
    struct serve_http *http = request->http;
    request->number = http->request_count++;
    MHD_suspend_connection(request->connection);
    if (serve_queue_put(http->queue, request))
        return;
    request->outcome = atomic_load(&http->ending) ? SERVE_DROPPED : SERVE_REFUSED;
    MHD_resume_connection(request->connection);
}

static struct serve_request *begin_request(
    struct serve_http *http, struct MHD_Connection *connection) {
    struct serve_request *request = calloc(1, sizeof *request);
    if (!request)
        return NULL;

    *request = (struct serve_request){.http = http, .connection = connection};

    pthread_mutex_lock(&http->mutex);
    http->unanswered++;
    pthread_mutex_unlock(&http->mutex);
    return request;
}

/*
 * Handles a request. Called when its header has arrived, for each piece of its body, at the end
 * of the body, and when its connection is resumed.
 */
static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
    const char *method, const char *version, const char *body, size_t *body_bytes, void **own) {
    struct serve_request *request = *own;
    (void)url;
    (void)method;
    (void)version;
    (void)body;

    if (!request) {
        *own = begin_request(context, connection);
        return *own ? MHD_YES : MHD_NO;
    }

    if (*body_bytes > 0) {
        *body_bytes = 0;
        return MHD_YES;
    }

    if (request->outcome != SERVE_LOST)
        return answer(request);
    enqueue(request);
    return MHD_YES;
}

static void end_request(void *context, struct MHD_Connection *connection, void **own,
    enum MHD_RequestTerminationCode how) {
    struct serve_http *http = context;
    struct serve_request *request = *own;
    (void)connection;
    if (!request)
        return;

    bool is_sent = how == MHD_REQUEST_TERMINATED_COMPLETED_OK;

    pthread_mutex_lock(&http->mutex);
    http->counts.of[is_sent ? request->outcome : SERVE_LOST]++;
    if (--http->unanswered == 0)
        pthread_cond_signal(&http->all_answered);
    pthread_mutex_unlock(&http->mutex);

    free(request);
    *own = NULL;
}

/* The functions above run in the acceptor thread, those below in other threads. */

uint64_t serve_request_number(const struct serve_request *request) {
    return request->number;
}

void serve_request_answer(struct serve_request *request, bool is_done) {
    request->outcome = is_done ? SERVE_SERVED : SERVE_DROPPED;
    MHD_resume_connection(request->connection);
}

/* Raises the limit on descriptors. Returns how many connections fit into it. */
static unsigned raise_connection_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return FD_SETSIZE - DESCRIPTORS_KEPT;

    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);

    if (limit.rlim_cur >= CONNECTIONS_MAX + DESCRIPTORS_KEPT)
        return CONNECTIONS_MAX;
    return limit.rlim_cur > 2 * DESCRIPTORS_KEPT ? (unsigned)limit.rlim_cur - DESCRIPTORS_KEPT
                                                 : DESCRIPTORS_KEPT;
}

static bool make_responses(struct serve_http *http, size_t bytes) {
    static char busy[] = "busy\n";
    http->bytes = malloc(bytes + 1);
    if (!http->bytes)
        return false;

    for (size_t i = 0; i < bytes; i++)
        http->bytes[i] = (i + 1) % 64 == 0 || i + 1 == bytes ? '\n' : 'x';

    http->page = MHD_create_response_from_buffer(bytes, http->bytes, MHD_RESPMEM_PERSISTENT);
    http->busy = MHD_create_response_from_buffer(sizeof busy - 1, busy, MHD_RESPMEM_PERSISTENT);
    return http->page && http->busy &&
           MHD_add_response_header(http->page, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain");
}

static void release(struct serve_http *http) {
    if (http->page)
        MHD_destroy_response(http->page);
    if (http->busy)
        MHD_destroy_response(http->busy);
    free(http->bytes);
    free(http);
}

static bool start_daemon(struct serve_http *http, int file) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&http->mutex, NULL);
    pthread_cond_init(&http->all_answered, &attributes);
    pthread_condattr_destroy(&attributes);

    http->connections = raise_connection_limit();
    http->daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0,
        NULL, NULL, handle, http, MHD_OPTION_LISTEN_SOCKET, file, MHD_OPTION_CONNECTION_LIMIT,
        http->connections, MHD_OPTION_NOTIFY_COMPLETED, end_request, http, MHD_OPTION_END);
    return http->daemon;
}

struct serve_http *serve_http_start(
    int file, struct serve_queue *queue, size_t bytes, struct ss_error *error) {
    struct serve_http *http = calloc(1, sizeof *http);
    if (http)
        http->queue = queue;

    if (!http || !make_responses(http, bytes))
        ss_error_memory(error);
    else if (start_daemon(http, file))
        return http;
    else
        ss_error_fail(error, "cannot start libmicrohttpd: the limit on open files may be too low");

    close(file);
    if (http)
        release(http);
    return NULL;
}

unsigned serve_http_connections(const struct serve_http *http) {
    return http->connections;
}

void serve_http_quiesce(struct serve_http *http) {
    atomic_store(&http->ending, true);
    int file = MHD_quiesce_daemon(http->daemon);
    if (file >= 0)
        close(file);
}

static void wait_for_answers(struct serve_http *http) {
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += LINGER_SECONDS;
    pthread_mutex_lock(&http->mutex);
    while (http->unanswered > 0 &&
           pthread_cond_timedwait(&http->all_answered, &http->mutex, &end) == 0)
        ;
    pthread_mutex_unlock(&http->mutex);
}

struct serve_counts serve_http_stop(struct serve_http *http) {
    wait_for_answers(http);
    MHD_stop_daemon(http->daemon);
    struct serve_counts counts = http->counts;
    release(http);
    return counts;
}
