/* SPDX-License-Identifier: Apache-2.0 */
#include "http.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/version.h"
#include "platform/platform.h"

#define NO_TARGET   UINT32_MAX
#define HEADERS_MAX (256 * 1024) /* bytes; larger headers are invalid */
#define BUFFER_SIZE (64 * 1024)  /* bytes per read */

/* Descriptors to leave for everything other than idle connections. */
#define DESCRIPTORS_KEPT 64

/* Descriptors to leave for --control, lookups and the files of the result. */
#define DESCRIPTORS_RESERVED 16

/* CURLE_TOO_LARGE: headers before 8.6 lack it, but the library may be newer than its headers. */
#define TOO_LARGE ((CURLcode)100)

/* Holds one request at a time. Its handle is reused. */
struct slot {
    CURL *easy;
    struct ssrequest_http *http;
    struct request_in_flight *one; /* NULL if idle */
    CURLU *url; /* a copy, because targets may be freed before their requests end */
    const struct request_message *message; /* the message set in the handle; NULL if none */
    uint32_t target; /* index of the target set in the handle, in the set with number `set` */
    uint64_t set;    /* number of a set of targets, see `set_number` */
    bool tls;        /* the target uses TLS */
    uint32_t origin; /* number of the struct origin of the target, as in struct watch */
    long version;    /* the HTTP version set in the handle, a constant of libcurl */
    struct slot *prev, *next; /* list of requests in progress, in order of sending */
    struct slot *next_done;   /* list of ended requests that are not reported yet */
    enum request_outcome outcome;
    uint64_t bytes;
    ss_time finished;

    /* The current request: */
    bool begun;  /* libcurl sent it, or was about to */
    bool resent; /* libcurl tried to send it again */
    bool final;  /* the last status line was that of a final response, not of an interim one */
    bool headers_done;   /* the headers are complete */
    int socket_errno;    /* errno of a failed socket(), or 0 */
    bool is_unix_socket; /* the last socket opened for the request is a Unix socket */
    uint64_t header_bytes;
    uint64_t content_length; /* Content-Length; 0 if absent, UINT64_MAX if it overflows */
    bool chunked;            /* has Transfer-Encoding, which overrides Content-Length */
};

/* The state of a descriptor in epoll. */
struct watch {
    uint32_t requested; /* events that libcurl waits for; 0 if none */
    uint32_t armed;     /* events set in epoll; 0 if not registered */
    uint32_t number;    /* number of the socket, because descriptors are reused */
    uint32_t origin;    /* number of the struct origin, from 1; 0 if unknown or not open */
};

/* A scheme, host and port. libcurl keeps its connections when the set of targets changes. */
struct origin {
    char *name;
    uint64_t connections; /* number of open connections */
};

struct ssrequest_http {
    const struct ssrequest_options *options;
    ss_time begin; /* time from which all others count; monotonic clock */
    ssrequest_http_ended *ended;
    void *context;
    CURLM *multi;
    struct curl_slist *headers; /* headers of all requests */
    int poll;
    char agent[32];
    struct slot *slots; /* handles are created on first use */
    struct slot *oldest, *newest;
    struct slot *done, *last_done;
    struct watch *watches; /* indexed by descriptor */
    size_t watch_count;
    uint64_t opened;    /* number of sockets opened so far */
    rlim_t files_limit; /* limit on open descriptors */
    rlim_t files_max;   /* sockets have smaller descriptors than this */
    ss_time timer;      /* time of libcurl's next timeout */
    struct ssrequest_targets targets;
    uint64_t set_number;    /* number of the current set of targets, from 1 */
    struct origin *origins; /* origins of all targets so far */
    uint32_t origin_count, origin_room;
    uint64_t http1_answers; /* number of responses over HTTP/1 because the server declined HTTP/2 */
    bool is_before_8;       /* libcurl is older than 8.0, see version_for() */
};

static ss_time now_of(const struct ssrequest_http *http) {
    return ss_time_since(ss_platform_now(), http->begin);
}

static enum request_outcome outcome_of_errno(int err) {
    switch (err) {
    case ECONNREFUSED:
        return REQUEST_CONNECTION_REFUSED;
    case ECONNRESET:
    case EPIPE:
        return REQUEST_RESET;
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
    case EADDRNOTAVAIL: /* all ports are in use */
        return REQUEST_RESOURCES;
    case ETIMEDOUT:
        return REQUEST_TIMEOUT;
    default:
        return REQUEST_UNREACHABLE;
    }
}

/*
 * Codes that always map to the same outcome, whatever the state of the request. Codes of features
 * that no request uses, such as proxies and client certificates, are omitted.
 */
static const struct {
    CURLcode code;
    enum request_outcome outcome;
} code_outcomes[] = {
    {CURLE_UNSUPPORTED_PROTOCOL, REQUEST_GARBLED}, /* an HTTP/0.9 response */
    {CURLE_WEIRD_SERVER_REPLY, REQUEST_GARBLED},
    {CURLE_HTTP2, REQUEST_GARBLED},
    {TOO_LARGE, REQUEST_GARBLED},         /* an overlong header line */
    {CURLE_WRITE_ERROR, REQUEST_GARBLED}, /* see take_header() */
    {CURLE_COULDNT_RESOLVE_HOST, REQUEST_UNREACHABLE},
    {CURLE_PARTIAL_FILE, REQUEST_CUT},
    {CURLE_OPERATION_TIMEDOUT, REQUEST_TIMEOUT},
    {CURLE_SSL_CONNECT_ERROR, REQUEST_TLS},
    {CURLE_PEER_FAILED_VERIFICATION, REQUEST_TLS},
    {CURLE_SSL_CIPHER, REQUEST_TLS},
    {CURLE_SSL_CACERT_BADFILE, REQUEST_TLS},
    {CURLE_SSL_ISSUER_ERROR, REQUEST_TLS},
    {CURLE_FAILED_INIT, REQUEST_RESOURCES},
};

static enum request_outcome outcome_of_connecting(const struct slot *slot) {
    long why = slot->socket_errno;
    if (!why)
        curl_easy_getinfo(slot->easy, CURLINFO_OS_ERRNO, &why);
    /* libcurl reports no errno for EAGAIN: the backlog of the Unix socket is full. */
    if (!why && slot->is_unix_socket)
        return REQUEST_CONNECTION_REFUSED;
    return outcome_of_errno((int)why);
}

static enum request_outcome outcome_of_answer(const struct slot *slot) {
    const struct ssrequest_http *http = slot->http;
    long status = 0, version = 0;
    curl_easy_getinfo(slot->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(slot->easy, CURLINFO_HTTP_VERSION, &version);

    /*
     * libcurl accepts a response that ends within its headers, and any length if Content-Length
     * overflows.
     */
    if (!slot->headers_done || (slot->content_length == UINT64_MAX && !slot->chunked))
        return REQUEST_CUT;
    /* Without TLS the version is not negotiated: the response must be HTTP/2. */
    if (http->options->http2 && version < CURL_HTTP_VERSION_2_0 && !slot->tls)
        return REQUEST_GARBLED;
    return status >= 400 ? REQUEST_STATUS : REQUEST_SUCCESS;
}

/*
 * For an invalid chunk, libcurl returns the same code as for a reset, but no errno. TLS failures
 * have no errno either.
 */
static bool is_invalid_chunk(const struct slot *slot, CURLcode code) {
    long why = 0;
    curl_easy_getinfo(slot->easy, CURLINFO_OS_ERRNO, &why);
    return code == CURLE_RECV_ERROR && slot->headers_done && slot->chunked && !slot->tls &&
           why == 0;
}

static enum request_outcome outcome_of(const struct slot *slot, CURLcode code) {
    /* libcurl also resends a request that was answered with 417, without its Expect. */
    if (slot->resent)
        return slot->headers_done ? outcome_of_answer(slot) : REQUEST_RESET;
    if (is_invalid_chunk(slot, code))
        return REQUEST_GARBLED;

    switch (code) {
    case CURLE_OK:
        return outcome_of_answer(slot);
    case CURLE_COULDNT_CONNECT:
        return outcome_of_connecting(slot);
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2_STREAM:
        return slot->header_bytes > 0 ? REQUEST_CUT : REQUEST_RESET;
    case CURLE_OUT_OF_MEMORY:
        /* libcurl also returns this code for an overlong header line. */
        return slot->begun ? REQUEST_GARBLED : REQUEST_RESOURCES;
    default:
        break;
    }

    for (size_t i = 0; i < sizeof code_outcomes / sizeof *code_outcomes; i++) {
        if (code_outcomes[i].code == code)
            return code_outcomes[i].outcome;
    }
    return REQUEST_OTHER;
}

/*
 * Called whenever libcurl is about to send a request. Aborts the second attempt: if a reused
 * connection breaks, libcurl resends the request by itself, so a failure would look like a slow
 * response, and the server would receive more requests than were counted.
 */
static int before_sending(void *context, char *address, char *own_address, int port, int own_port) {
    struct slot *slot = context;
    (void)address, (void)own_address, (void)port, (void)own_port;
    slot->resent = slot->begun;
    slot->begun = true;
    return slot->resent ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

/*
 * Returns whether the status is 1xx, as in "HTTP/1.1 103 Early Hints": the final response follows.
 */
static bool is_interim(const char *line, size_t length) {
    const char *blank = memchr(line, ' ', length);
    return blank && blank + 1 < line + length && blank[1] == '1';
}

static bool is_field(const char *line, size_t length, const char *name) {
    size_t size = strlen(name);
    return length > size && line[size] == ':' && strncasecmp(line, name, size) == 0;
}

/*
 * Parses the value of Content-Length; UINT64_MAX if it overflows. Returns false if the value does
 * not begin with a digit.
 */
static bool read_length(const char *value, size_t length, uint64_t *announced) {
    const char *end = value + length;
    while (value < end && (*value == ' ' || *value == '\t'))
        value++;

    if (value == end || *value < '0' || *value > '9')
        return false;

    for (*announced = 0; value < end && *value >= '0' && *value <= '9'; value++) {
        if (*announced > (INT64_MAX - 9) / 10)
            *announced = UINT64_MAX;
        else
            *announced = *announced * 10 + (uint64_t)(*value - '0');
    }
    return true;
}

static bool is_late(const struct slot *slot) {
    return now_of(slot->http) >= ss_time_add(slot->one->sent, slot->http->options->given.timeout);
}

/* Reads a header field that determines the length of the body. Returns false if it is invalid. */
static bool take_length(struct slot *slot, const char *line, size_t length) {
    static const char name[] = "Content-Length", coding[] = "Transfer-Encoding";
    slot->chunked |= is_field(line, length, coding);
    return !is_field(line, length, name) ||
           read_length(line + sizeof name, length - sizeof name, &slot->content_length);
}

static size_t take_header(char *line, size_t one, size_t length, void *context) {
    struct slot *slot = context;
    (void)one;

    slot->header_bytes += length;
    if (length > 5 && strncmp(line, "HTTP/", 5) == 0)
        slot->final = !is_interim(line, length);
    else if (length > 0 && (line[0] == '\r' || line[0] == '\n'))
        slot->headers_done |= slot->final;
    else if (!take_length(slot, line, length))
        return 0;

    return slot->header_bytes > HEADERS_MAX || is_late(slot) ? 0 : length;
}

/*
 * Receives a part of the body. Aborts a late response, because libcurl reads as long as data
 * arrives, and a server may never stop. See collect().
 */
static size_t take_body(char *bytes, size_t one, size_t length, void *context) {
    struct slot *slot = context;
    (void)bytes, (void)one;
    return is_late(slot) ? 0 : length;
}

static struct watch *watch_of(struct ssrequest_http *http, int descriptor) {
    size_t count = http->watch_count;
    if ((size_t)descriptor < count)
        return &http->watches[descriptor];

    if (!SS_GROW(http->watches, (size_t)descriptor + 1, http->watch_count))
        return NULL;
    memset(http->watches + count, 0, (http->watch_count - count) * sizeof *http->watches);
    return &http->watches[descriptor];
}

/* Returns the number of a new socket, never 0. */
static uint32_t next_number(struct ssrequest_http *http) {
    return (uint32_t)(http->opened++ % UINT32_MAX) + 1;
}

/* Replaces libcurl's socket(), because libcurl does not report errno if it fails. */
static curl_socket_t open_socket(
    void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    struct slot *slot = context;
    struct ssrequest_http *http = slot->http;
    bool is_unix = address->family == AF_UNIX;
    (void)purpose;

    int opened = socket(address->family, address->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
        is_unix ? 0 : address->protocol);
    if (opened >= 0 && (rlim_t)opened >= http->files_max) {
        close(opened);
        opened = -1;
        errno = EMFILE;
    }

    struct watch *watch = opened < 0 ? NULL : watch_of(http, opened);
    if (!watch) {
        slot->socket_errno = errno;
        if (opened >= 0)
            close(opened);
        return CURL_SOCKET_BAD;
    }

    *watch = (struct watch){.number = next_number(http)};
    watch->origin = slot->origin;
    if (slot->origin > 0)
        http->origins[slot->origin - 1].connections++;
    slot->is_unix_socket = is_unix;
    return opened;
}

static int close_socket(void *context, curl_socket_t descriptor) {
    struct ssrequest_http *http = context;
    struct watch *watch = &http->watches[descriptor];
    if (watch->origin > 0)
        http->origins[watch->origin - 1].connections--;
    *watch = (struct watch){0}; /* epoll forgets the descriptor on close() */
    return close(descriptor);
}

static void arm(struct ssrequest_http *http, int descriptor, uint32_t events) {
    struct watch *watch = &http->watches[descriptor];
    uint64_t tag = (uint64_t)watch->number << 32 | (uint32_t)descriptor;
    struct epoll_event event = {.events = events, .data.u64 = tag};
    int how = events ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;
    if (!watch->armed)
        how = EPOLL_CTL_ADD;
    watch->armed = epoll_ctl(http->poll, how, descriptor, &event) == 0 ? events : 0;
}

/*
 * Sets the events of a socket. Leaves idle connections registered, which saves two system calls per
 * request: see ssrequest_http_handle_event().
 */
static int watch_socket(
    CURL *easy, curl_socket_t descriptor, int what, void *context, void *of_socket) {
    struct ssrequest_http *http = context;
    (void)easy, (void)of_socket;

    struct watch *watch = watch_of(http, descriptor);
    if (!watch)
        return -1;
    if (watch->number == 0) /* libcurl opened this descriptor itself */
        watch->number = next_number(http);

    bool reads = what == CURL_POLL_IN || what == CURL_POLL_INOUT;
    bool writes = what == CURL_POLL_OUT || what == CURL_POLL_INOUT;
    watch->requested = (reads ? EPOLLIN : 0) | (writes ? EPOLLOUT : 0);

    bool may_stay = !watch->requested && (watch->armed & EPOLLOUT) == 0;
    if (watch->armed != watch->requested && !may_stay)
        arm(http, descriptor, watch->requested);
    return 0;
}

static int set_timer(CURLM *multi, long milliseconds, void *context) {
    struct ssrequest_http *http = context;
    (void)multi;
    http->timer = SS_TIME_NEVER;
    if (milliseconds >= 0)
        http->timer = ss_time_add(now_of(http), (ss_time)milliseconds * SS_MILLISECOND);
    return 0;
}

/*
 * Lets libcurl keep a connection from each slot to each target, if descriptors allow. With fewer, a
 * request to one target would close a connection to another.
 */
static void keep_connections(struct ssrequest_http *http) {
    rlim_t files = http->files_limit;
    rlim_t room = files > 2 * DESCRIPTORS_KEPT ? files - DESCRIPTORS_KEPT : DESCRIPTORS_KEPT;
    uint64_t needed = http->options->given.cap * http->targets.count;
    curl_multi_setopt(http->multi, CURLMOPT_MAXCONNECTS, (long)(needed < room ? needed : room));
}

static char *name_origin(const struct ssrequest_target *target) {
    char *host = NULL, *port = NULL, *name = NULL;
    if (!curl_url_get(target->url, CURLUPART_HOST, &host, 0) &&
        !curl_url_get(target->url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) &&
        asprintf(&name, "%d %s %s", target->tls, host, port) < 0)
        name = NULL;

    curl_free(host);
    curl_free(port);
    return name;
}

/*
 * Returns the number of the target's origin, from 1, and adds the origin if it is new. Returns 0 if
 * memory is exhausted: the origin's connections are then not counted.
 */
static uint32_t find_or_add_origin(
    struct ssrequest_http *http, const struct ssrequest_target *target) {
    char *name = name_origin(target);
    for (uint32_t i = 0; name && i < http->origin_count; i++) {
        if (strcmp(http->origins[i].name, name) == 0) {
            free(name);
            return i + 1;
        }
    }

    if (!name || !SS_GROW(http->origins, http->origin_count + 1, http->origin_room)) {
        free(name);
        return 0;
    }
    http->origins[http->origin_count++] = (struct origin){name, 0};
    return http->origin_count;
}

void ssrequest_http_retarget(struct ssrequest_http *http, struct ssrequest_targets *targets) {
    ssrequest_targets_free(&http->targets);
    http->targets = *targets;
    *targets = (struct ssrequest_targets){0};

    http->set_number++;
    for (uint32_t i = 0; i < http->targets.count; i++)
        http->targets.list[i].origin = find_or_add_origin(http, &http->targets.list[i]);
    keep_connections(http);
}

static void set_options(struct slot *slot) {
    CURL *easy = slot->easy;
    const struct ssrequest_options *options = slot->http->options;
    bool fresh = options->connections == SSREQUEST_FRESH;

    curl_easy_setopt(easy, CURLOPT_PRIVATE, slot);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    /* Ignore http_proxy and the like: requests must go to the service itself. */
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_USERAGENT, slot->http->agent);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, slot->http->headers);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)BUFFER_SIZE);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, before_sending);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, slot);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, slot);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, slot);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, slot);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, slot->http);

    /* Our own timeout comes first: see expire(). */
    curl_easy_setopt(
        easy, CURLOPT_CONNECTTIMEOUT_MS, (long)(options->given.timeout / SS_MILLISECOND + 1000));

    if (fresh) {
        curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
        curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
    }
    /* Without this, an initial burst would open a connection for each request. */
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, options->http2 && !fresh ? 1L : 0L);

    if (options->insecure) {
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    if (options->authorities) {
        curl_easy_setopt(easy, CURLOPT_CAINFO, options->authorities);
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    }
}

/* Creates the handle on first use. Returns false if memory is exhausted. */
static bool ensure_handle(struct ssrequest_http *http, struct slot *slot) {
    if (slot->easy)
        return true;
    slot->easy = curl_easy_init();
    if (!slot->easy)
        return false;

    slot->http = http;
    slot->target = NO_TARGET;
    set_options(slot);
    return true;
}

/*
 * Returns the HTTP version to request. Works around a bug of libcurl before 8.0: with prior
 * knowledge of HTTP/2 it fails to reuse a connection without TLS. It does reuse the connection if
 * an upgrade is requested instead, and then sends no upgrade. The server receives an upgrade
 * request only if libcurl has to open a new connection after all.
 */
static long version_for(const struct slot *slot, const struct ssrequest_target *target) {
    const struct ssrequest_http *http = slot->http;
    if (!http->options->http2)
        return CURL_HTTP_VERSION_1_1;
    if (target->tls)
        return CURL_HTTP_VERSION_2TLS;

    bool reuses = http->is_before_8 && http->options->connections == SSREQUEST_REUSE &&
                  target->origin > 0 && http->origins[target->origin - 1].connections > 0;
    return reuses ? CURL_HTTP_VERSION_2_0 : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
}

static bool set_target(struct slot *slot, uint32_t number) {
    const struct ssrequest_http *http = slot->http;
    const struct ssrequest_target *target = &http->targets.list[number];

    long version = version_for(slot, target);
    if (version != slot->version && curl_easy_setopt(slot->easy, CURLOPT_HTTP_VERSION, version))
        return false;
    slot->version = version;

    if (slot->set == http->set_number && slot->target == number)
        return true;
    if (slot->set != http->set_number)
        curl_easy_setopt(slot->easy, CURLOPT_RESOLVE, http->targets.addresses);
    slot->set = http->set_number;
    slot->target = NO_TARGET;

    CURLU *url = curl_url_dup(target->url);
    if (!url || curl_easy_setopt(slot->easy, CURLOPT_UNIX_SOCKET_PATH, http->targets.socket) ||
        curl_easy_setopt(slot->easy, CURLOPT_CURLU, url)) {
        curl_url_cleanup(url);
        return false;
    }

    curl_url_cleanup(slot->url);
    slot->url = url;
    slot->target = number;
    slot->origin = target->origin;
    slot->tls = target->tls;
    return true;
}

/* Sets method, path and body. The body is not copied, because messages outlive handles. */
static bool set_message(struct slot *slot, const struct request_message *message) {
    CURL *easy = slot->easy;
    if (slot->message == message)
        return true;

    slot->message = NULL;
    bool head = strcmp(message->method, "HEAD") == 0;
    bool named = message->body || (!head && strcmp(message->method, "GET") != 0);

    /* HTTPGET comes first, because it resets the options of the previous message. */
    bool set = !curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L) &&
               !curl_easy_setopt(easy, CURLOPT_REQUEST_TARGET, message->target) &&
               !curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, named ? message->method : NULL);
    if (set && head)
        set = !curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    if (set && message->body)
        set =
            !curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)message->body_size) &&
            !curl_easy_setopt(easy, CURLOPT_POSTFIELDS, message->body);

    slot->message = set ? message : NULL;
    return set;
}

static void link_slot(struct slot *slot) {
    struct ssrequest_http *http = slot->http;
    slot->prev = http->newest;
    slot->next = NULL;
    *(http->newest ? &http->newest->next : &http->oldest) = slot;
    http->newest = slot;
}

static void unlink_slot(struct slot *slot) {
    struct ssrequest_http *http = slot->http;
    *(slot->prev ? &slot->prev->next : &http->oldest) = slot->next;
    *(slot->next ? &slot->next->prev : &http->newest) = slot->prev;
}

static void socket_action(struct ssrequest_http *http, int descriptor, int events) {
    int running;
    curl_multi_socket_action(http->multi, descriptor, events, &running);
}

static void timeout_action(struct ssrequest_http *http) {
    http->timer = SS_TIME_NEVER; /* libcurl sets it again if it needs to */
    socket_action(http, CURL_SOCKET_TIMEOUT, 0);
}

/* Queues a request that ended, or could not be started, for report_ended(). */
static void queue_done(
    struct ssrequest_http *http, struct slot *slot, enum request_outcome outcome) {
    slot->outcome = outcome;
    slot->finished = now_of(http);
    slot->next_done = NULL;
    *(http->done ? &http->last_done->next_done : &http->done) = slot;
    http->last_done = slot;
}

/*
 * Drops the handle of a request that failed with an errno: libcurl would report that errno for
 * later requests, too. Connections stay open, because they belong to the multi handle.
 */
static void drop_handle(struct slot *slot) {
    curl_easy_cleanup(slot->easy);
    curl_url_cleanup(slot->url);
    slot->easy = NULL;
    slot->url = NULL;
    slot->message = NULL;
    slot->target = NO_TARGET;
    slot->set = 0;
    slot->version = 0;
}

static void end_request(struct slot *slot, enum request_outcome outcome) {
    struct ssrequest_http *http = slot->http;
    long status = 0, why = 0;
    curl_off_t body = 0;
    if (outcome == REQUEST_SUCCESS || outcome == REQUEST_STATUS)
        curl_easy_getinfo(slot->easy, CURLINFO_RESPONSE_CODE, &status);
    slot->one->status = (uint32_t)status;
    curl_easy_getinfo(slot->easy, CURLINFO_SIZE_DOWNLOAD_T, &body);
    slot->bytes = slot->header_bytes + (uint64_t)body;

    unlink_slot(slot);
    curl_multi_remove_handle(http->multi, slot->easy);
    curl_easy_getinfo(slot->easy, CURLINFO_OS_ERRNO, &why);
    if (why != 0)
        drop_handle(slot);
    queue_done(http, slot, outcome);
}

static void collect(struct ssrequest_http *http) {
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(http->multi, &left))) {
        struct slot *slot = NULL;
        long version = 0;
        CURLcode code = message->data.result;

        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &slot);
        curl_easy_getinfo(slot->easy, CURLINFO_HTTP_VERSION, &version);
        http->http1_answers += http->options->http2 && code == CURLE_OK && slot->tls &&
                               version < CURL_HTTP_VERSION_2_0;

        /* A late request is a timeout, whatever its result. */
        end_request(slot, is_late(slot) ? REQUEST_TIMEOUT : outcome_of(slot, code));
    }
}

/* Ends requests that timed out. All have the same timeout, so the oldest one expires first. */
static void expire(struct ssrequest_http *http, ss_time now) {
    while (
        http->oldest && ss_time_add(http->oldest->one->sent, http->options->given.timeout) <= now)
        end_request(http->oldest, REQUEST_TIMEOUT);
}

static void report_ended(struct ssrequest_http *http) {
    struct slot *slot;
    while ((slot = http->done)) {
        struct request_in_flight *one = slot->one;
        http->done = slot->next_done;
        slot->one = NULL;
        http->ended(http->context, one, slot->outcome, slot->bytes, slot->finished);
    }
}

void ssrequest_http_send(void *context, struct request_in_flight *one) {
    struct ssrequest_http *http = context;
    struct slot *slot = &http->slots[one->slot];
    const struct request_messages *messages = &http->options->messages;
    one->sent = now_of(http);
    slot->one = one;
    slot->begun = slot->resent = slot->final = slot->headers_done = slot->is_unix_socket =
        slot->chunked = false;
    slot->socket_errno = 0;
    slot->header_bytes = slot->bytes = slot->content_length = 0;

    if (http->targets.list[one->target].lookup_error) {
        queue_done(http, slot, REQUEST_UNREACHABLE);
        return;
    }
    if (!ensure_handle(http, slot) || !set_target(slot, one->target) ||
        !set_message(slot, &messages->list[one->number % messages->count]) ||
        curl_multi_add_handle(http->multi, slot->easy)) {
        queue_done(http, slot, REQUEST_RESOURCES);
        return;
    }

    link_slot(slot);
    timeout_action(http); /* do not wait for the other requests of a burst */
    collect(http);        /* the request may already have ended */
}

bool ssrequest_http_handle_event(struct ssrequest_http *http, uint64_t tag, uint32_t events) {
    int descriptor = (int)(uint32_t)tag;
    uint32_t number = tag >> 32;
    if (number == 0)
        return false;

    const struct watch *watch = &http->watches[descriptor];
    if (watch->number != number || !watch->armed)
        return true; /* a stale event of a socket that was closed */
    if (!watch->requested) {
        /* The connection is idle. libcurl checks it before reusing it. */
        arm(http, descriptor, 0);
        return true;
    }

    socket_action(http, descriptor,
        (events & EPOLLIN ? CURL_CSELECT_IN : 0) | (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
            (events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0));
    return true;
}

void ssrequest_http_advance(struct ssrequest_http *http, ss_time now) {
    if (http->timer <= now)
        timeout_action(http);
    collect(http);
    expire(http, now);
    report_ended(http);
}

ss_time ssrequest_http_deadline(const struct ssrequest_http *http) {
    if (http->done)
        return 0;
    ss_time limit = http->oldest
                        ? ss_time_add(http->oldest->one->sent, http->options->given.timeout)
                        : SS_TIME_NEVER;
    return http->timer < limit ? http->timer : limit;
}

void ssrequest_http_abandon(struct ssrequest_http *http) {
    while (http->oldest) {
        struct slot *slot = http->oldest;
        unlink_slot(slot);
        curl_multi_remove_handle(http->multi, slot->easy);
        slot->one = NULL;
    }
    for (; http->done; http->done = http->done->next_done)
        http->done->one = NULL;
}

uint64_t ssrequest_http_connections(const struct ssrequest_http *http) {
    return http->opened;
}

uint64_t ssrequest_http_downgraded(const struct ssrequest_http *http) {
    return http->http1_answers;
}

static bool add_header(struct ssrequest_http *http, const char *header) {
    struct curl_slist *longer = curl_slist_append(http->headers, header);
    if (longer)
        http->headers = longer;
    return longer;
}

/*
 * Adds the headers, and an empty "Expect": without that, libcurl waits up to 1 s before sending a
 * large body.
 */
static bool add_headers(struct ssrequest_http *http) {
    const struct request_messages *messages = &http->options->messages;
    bool expects = false;
    for (size_t i = 0; i < messages->header_count; i++) {
        if (!add_header(http, messages->headers[i]))
            return false;
        expects |= is_field(messages->headers[i], strlen(messages->headers[i]), "Expect");
    }
    return expects || add_header(http, "Expect:");
}

/* Creates the multi handle, which owns the connections. */
static int open_multi(struct ssrequest_http *http, struct ss_error *error) {
    http->multi = curl_multi_init();
    if (!http->multi)
        return ss_error_memory(error);
    curl_multi_setopt(http->multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
    curl_multi_setopt(http->multi, CURLMOPT_SOCKETDATA, http);
    curl_multi_setopt(http->multi, CURLMOPT_TIMERFUNCTION, set_timer);
    curl_multi_setopt(http->multi, CURLMOPT_TIMERDATA, http);
    return 0;
}

int ssrequest_http_open(struct ssrequest_http **http, const struct ssrequest_options *options,
    int poll, struct ss_error *error) {
    *http = NULL;
    if (curl_global_init(CURL_GLOBAL_DEFAULT))
        return ss_error_fail(error, "cannot initialize libcurl");

    const curl_version_info_data *library = curl_version_info(CURLVERSION_NOW);
    if (options->http2 && !(library->features & CURL_VERSION_HTTP2))
        return ss_error_fail(error, "--http2: this libcurl was built without HTTP/2");

    struct ssrequest_http *opened = calloc(1, sizeof *opened);
    if (!opened)
        return ss_error_memory(error);
    opened->options = options;
    opened->poll = poll;
    snprintf(opened->agent, sizeof opened->agent, "ssrequest/%s", ss_version());
    opened->timer = SS_TIME_NEVER;

    /* Sockets get the lowest free descriptor, so a bound keeps the highest ones for other files. */
    struct rlimit files = {.rlim_cur = RLIM_INFINITY};
    getrlimit(RLIMIT_NOFILE, &files);
    rlim_t part = files.rlim_cur / 4;
    opened->files_limit = files.rlim_cur;
    opened->files_max =
        files.rlim_cur - (part < DESCRIPTORS_RESERVED ? part : DESCRIPTORS_RESERVED);
    opened->is_before_8 = library->version_num < 0x080000;

    opened->slots = calloc(options->given.cap, sizeof *opened->slots);
    if (!opened->slots || !add_headers(opened) || open_multi(opened, error) < 0) {
        ssrequest_http_close(opened);
        return ss_error_memory(error);
    }

    *http = opened;
    return 0;
}

int ssrequest_http_renew(struct ssrequest_http *http, struct ss_error *error) {
    curl_multi_cleanup(http->multi);
    http->timer = SS_TIME_NEVER;
    if (open_multi(http, error) < 0)
        return -1;
    http->set_number++; /* the new handle does not know the addresses */
    keep_connections(http);
    return 0;
}

void ssrequest_http_begin(
    struct ssrequest_http *http, ss_time begin, ssrequest_http_ended *ended, void *context) {
    http->begin = begin;
    http->ended = ended;
    http->context = context;
}

void ssrequest_http_close(struct ssrequest_http *http) {
    if (!http)
        return;

    ssrequest_http_abandon(http);
    for (uint64_t i = 0; http->slots && i < http->options->given.cap; i++) {
        curl_easy_cleanup(http->slots[i].easy);
        curl_url_cleanup(http->slots[i].url);
    }

    curl_multi_cleanup(http->multi);
    curl_slist_free_all(http->headers);
    ssrequest_targets_free(&http->targets);
    for (uint32_t i = 0; i < http->origin_count; i++)
        free(http->origins[i].name);
    free(http->origins);
    free(http->slots);
    free(http->watches);
    free(http);
    curl_global_cleanup();
}
