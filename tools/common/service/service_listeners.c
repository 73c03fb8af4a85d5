/* SPDX-License-Identifier: Apache-2.0 */
#include "service_listeners.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/owned.h"
#include "base/words.h"
#include "proc_tree.h"

/* States and flags of sockets in /proc/net. */
#define LISTENING         0x0a
#define ACCEPTS           0x10000
#define LISTENING_STATES  (1 << LISTENING)
#define GROUP_ATTRIBUTE   21 /* INET_DIAG_CGROUP_ID, which the headers of Linux 5.8 lack */
#define DUMP_BUFFER       16384
#define ABSTRACT_MARK     '@' /* in place of the null byte before the name */
#define ADDRESS_TEXT_SIZE 64
#define UNIX_PATH_COLUMNS " %*s %*s %*s %x %*s %*s %" SCNu64 " %n"

/* An address and a port; an IPv4 address is mapped to IPv6. */
struct endpoint {
    struct in6_addr address;
    uint16_t port;
};

static const struct in6_addr any_mapped = {{{[10] = 0xff, [11] = 0xff}}};

static bool is_mapped(const struct in6_addr *address) {
    return memcmp(address, &any_mapped, 12) == 0;
}

static bool equals(const struct in6_addr *one, const struct in6_addr *other) {
    return memcmp(one, other, sizeof *one) == 0;
}

static bool is_any(const struct in6_addr *address) {
    return equals(address, &in6addr_any) || equals(address, &any_mapped);
}

static bool is_loopback(const struct in6_addr *address) {
    return equals(address, &in6addr_loopback) ||
           (is_mapped(address) && address->s6_addr[12] == 127);
}

static struct in6_addr map_ipv4(const void *bytes) {
    struct in6_addr address = any_mapped;
    memcpy(address.s6_addr + 12, bytes, 4);
    return address;
}

/* Replaces the address of all interfaces: connections to it go to the loopback interface. */
static struct endpoint endpoint_of(const struct service_address *address) {
    static const uint8_t loopback[4] = {127, 0, 0, 1};
    struct endpoint endpoint = {.address = in6addr_any};

    if (address->socket.ss_family == AF_INET6) {
        struct sockaddr_in6 six;
        memcpy(&six, &address->socket, sizeof six);
        endpoint = (struct endpoint){six.sin6_addr, ntohs(six.sin6_port)};
        if (equals(&endpoint.address, &in6addr_any))
            endpoint.address = in6addr_loopback;
    } else {
        struct sockaddr_in four;
        memcpy(&four, &address->socket, sizeof four);
        endpoint = (struct endpoint){map_ipv4(&four.sin_addr), ntohs(four.sin_port)};
    }

    if (equals(&endpoint.address, &any_mapped) && address->socket.ss_family != AF_UNSPEC)
        endpoint.address = map_ipv4(loopback);
    return endpoint;
}

int service_address_of_path(
    struct service_address *address, const char *path, struct ss_error *error) {
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    size_t length = strlen(path);

    if (length == 0 || length >= sizeof local.sun_path)
        return ss_error_fail(error, "'%s' cannot be the path of a socket: use 1 to %zu characters",
            ss_words_show(path).text, sizeof local.sun_path - 1);

    memcpy(local.sun_path, path, length);
    if (*path == ABSTRACT_MARK)
        *local.sun_path = '\0';
    memcpy(&address->socket, &local, sizeof local);
    address->length =
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (*path != ABSTRACT_MARK));
    return 0;
}

void service_address_of_port(struct service_address *address, uint16_t port) {
    const struct sockaddr_in any = {.sin_family = AF_UNSPEC, .sin_port = htons(port)};
    *address = (struct service_address){.length = sizeof any};
    memcpy(&address->socket, &any, sizeof any);
}

/* Writes the name of a Unix socket as /proc/net/unix does. */
static void write_path(
    const struct service_address *address, char path[sizeof(struct sockaddr_un)]) {
    struct sockaddr_un local;
    size_t begin = offsetof(struct sockaddr_un, sun_path);
    size_t length = address->length > begin ? address->length - begin : 0;

    memcpy(&local, &address->socket, sizeof local);
    if (length > sizeof local.sun_path)
        length = sizeof local.sun_path;

    memcpy(path, local.sun_path, length);
    path[length] = '\0';
    for (size_t i = 0; length > 0 && !local.sun_path[0] && i < length; i++)
        path[i] = path[i] ? path[i] : ABSTRACT_MARK;
}

struct service_address_text service_address_show(const struct service_address *address) {
    struct service_address_text shown;
    char text[ADDRESS_TEXT_SIZE];

    if (address->socket.ss_family == AF_UNIX) {
        char path[sizeof(struct sockaddr_un)];
        write_path(address, path);
        snprintf(shown.text, sizeof shown.text, "%s", ss_words_show(path).text);
        return shown;
    }

    struct endpoint endpoint = endpoint_of(address);
    bool four = is_mapped(&endpoint.address);
    inet_ntop(
        four ? AF_INET : AF_INET6, endpoint.address.s6_addr + (four ? 12 : 0), text, sizeof text);

    if (address->socket.ss_family == AF_UNSPEC)
        snprintf(shown.text, sizeof shown.text, "port %u", endpoint.port);
    else
        snprintf(shown.text, sizeof shown.text, four ? "%s:%u" : "[%s]:%u", text, endpoint.port);
    return shown;
}

static int add(struct service_listeners *listeners, const struct service_listener *one,
    struct ss_error *error) {
    if (!SS_GROW(listeners->items, listeners->count + 1, listeners->room))
        return ss_error_memory(error);
    listeners->items[listeners->count++] = *one;
    return 0;
}

void service_listeners_free(struct service_listeners *listeners) {
    free(listeners->items);
    *listeners = (struct service_listeners){0};
}

/* ---- tables of a network namespace ---- */

/* How well a socket matches an address. The kernel gives connections to the best match. */
enum fit {
    FIT_NONE,
    FIT_OTHER_FAMILY, /* listens on all IPv6 addresses, and therefore accepts IPv4, too */
    FIT_ALL,          /* listens on all addresses of the family */
    FIT_EXACT,
};

struct table {
    char folder[PATH_MAX]; /* such as /proc/net */
    struct endpoint endpoint;
    bool any;       /* match each address; with `elsewhere`, except for loopback addresses */
    bool elsewhere; /* in another namespace */
    enum fit best;
    struct service_listeners *found;
};

static enum fit fit_of(const struct table *table, const struct endpoint *local) {
    const struct in6_addr *target = &table->endpoint.address;
    if (local->port != table->endpoint.port || (table->elsewhere && is_loopback(&local->address)))
        return FIT_NONE;

    if (table->any || equals(&local->address, target))
        return FIT_EXACT;
    if (!is_any(&local->address))
        return FIT_NONE;
    if (is_mapped(&local->address) == is_mapped(target))
        return FIT_ALL;
    return is_mapped(target) ? FIT_OTHER_FAMILY : FIT_NONE;
}

/* Reads an address, which the kernel prints as 32-bit words in the byte order of this machine. */
static bool read_address(const char *text, struct in6_addr *address) {
    size_t length = strlen(text);
    uint32_t words[4];

    for (size_t i = 0; 8 * i < length && i < 4; i++) {
        if (sscanf(text + 8 * i, "%8" SCNx32, &words[i]) != 1)
            return false;
    }

    if (length == 32)
        memcpy(address, words, sizeof *address);
    else
        *address = map_ipv4(words);
    return length == 32 || length == 8;
}

static int read_socket(struct table *table, const char *line, int family, struct ss_error *error) {
    struct service_listener one = {.family = family, .elsewhere = table->elsewhere};
    struct endpoint local;
    char address[33];
    unsigned port, state, user;

    if (sscanf(line, " %*d: %32[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*s %*s %*s %u %*u %" SCNu64,
            address, &port, &state, &user, &one.inode) != 5 ||
        state != LISTENING || !read_address(address, &local.address))
        return 0;
    local.port = (uint16_t)port;
    one.user = user;

    enum fit fit = fit_of(table, &local);
    if (fit == FIT_NONE || fit < table->best)
        return 0;
    if (fit > table->best)
        table->found->count = 0;
    table->best = fit;
    return add(table->found, &one, error);
}

static int read_tables(struct table *table, struct ss_error *error) {
    static const struct {
        const char *name;
        int family;
    } names[] = {{"tcp", AF_INET}, {"tcp6", AF_INET6}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[PATH_MAX + 8], line[512];
        snprintf(path, sizeof path, "%s/%s", table->folder, names[i].name);
        SS_OWNED(fclose) FILE *file = fopen(path, "re");
        while (file && fgets(line, sizeof line, file)) {
            if (read_socket(table, line, names[i].family, error) < 0)
                return -1;
        }
    }
    return 0;
}

/* Returns whether one of the first `bits` bits differs. */
static bool differs(const uint8_t *one, const uint8_t *other, unsigned bits) {
    for (unsigned i = 0; i < bits; i++) {
        if ((one[i / 8] ^ other[i / 8]) & (0x80 >> i % 8))
            return true;
    }
    return false;
}

/*
 * Returns whether an IPv4 address belongs to the namespace. If the routing table is not available,
 * assumes that it does.
 */
static bool has_ipv4_address(const char *folder, const uint8_t *address) {
    char path[PATH_MAX + 16], line[128], text[INET_ADDRSTRLEN];
    struct in_addr at = {0};
    unsigned bits;

    snprintf(path, sizeof path, "%s/fib_trie", folder);
    SS_OWNED(fclose) FILE *file = fopen(path, "re");

    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, " |-- %15s", text) == 1)
            inet_pton(AF_INET, text, &at);
        else if (strstr(line, "host LOCAL") && sscanf(line, " /%u", &bits) == 1 && bits <= 32 &&
                 !differs((const uint8_t *)&at, address, bits))
            return true;
    }
    return !file;
}

static bool has_ipv6_address(const char *folder, const struct in6_addr *address) {
    char path[PATH_MAX + 16], line[128], digits[33];

    snprintf(path, sizeof path, "%s/if_inet6", folder);
    for (size_t i = 0; i < sizeof *address; i++)
        snprintf(digits + 2 * i, 3, "%02x", address->s6_addr[i]);

    SS_OWNED(fclose) FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, digits, 32) == 0)
            return true;
    }
    return false;
}

static bool has_address(const char *folder, const struct in6_addr *address) {
    if (is_loopback(address))
        return true;
    return is_mapped(address) ? has_ipv4_address(folder, address->s6_addr + 12)
                              : has_ipv6_address(folder, address);
}

/* ---- other network namespaces ---- */

struct namespace {
    char name[64]; /* such as net:[4026531840] */
    pid_t pid;     /* one of its processes */
};

struct namespaces {
    const struct ss_platform_roots *roots;
    struct namespace *items;
    size_t count, room;
    bool incomplete; /* memory was exhausted */
};

static void add_namespace(void *context, pid_t pid) {
    struct namespaces *namespaces = context;
    struct namespace one = {.pid = pid};
    if (!proc_tree_link(namespaces->roots, pid, "ns/net", one.name, sizeof one.name))
        return;

    for (size_t i = 0; i < namespaces->count; i++) {
        if (strcmp(namespaces->items[i].name, one.name) == 0)
            return;
    }

    namespaces->incomplete |= !SS_GROW(namespaces->items, namespaces->count + 1, namespaces->room);
    if (!namespaces->incomplete)
        namespaces->items[namespaces->count++] = one;
}

/* Reads the link in "self": a recorded tree may have no folder for the pid of this process. */
static bool add_own_namespace(struct namespaces *namespaces) {
    struct namespace own = {0};
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/self/ns/net", proc_tree_root(namespaces->roots));
    if (readlink(path, own.name, sizeof own.name - 1) < 0)
        return false;

    if (!SS_GROW(namespaces->items, 1, namespaces->room)) {
        namespaces->incomplete = true;
        return false;
    }
    namespaces->items[namespaces->count++] = own;
    return true;
}

/*
 * Searches a namespace. A container may publish a port at an address of ours: the kernel then
 * forwards connections to the container. Assumes that the port is the same there, as is usual.
 */
static int search_namespace(struct service_listeners *listeners, const struct namespace *namespace,
    const struct service_address *addresses, size_t count, const struct ss_platform_roots *roots,
    struct ss_error *error) {
    size_t before = listeners->count;

    for (size_t i = 0; i < count && listeners->count == before; i++) {
        struct service_listeners found = {0};
        struct table table = {
            .endpoint = endpoint_of(&addresses[i]), .elsewhere = true, .found = &found};
        char own[PATH_MAX];
        snprintf(own, sizeof own, "%s/net", proc_tree_root(roots));
        snprintf(table.folder, sizeof table.folder, "%s/%d/net", proc_tree_root(roots),
            (int)namespace->pid);

        bool published = has_address(own, &table.endpoint.address);
        bool theirs = !is_loopback(&table.endpoint.address) &&
                      has_address(table.folder, &table.endpoint.address);
        table.any = published && !theirs;

        int result = published || theirs ? read_tables(&table, error) : 0;
        listeners->local |= theirs;
        for (size_t j = 0; result == 0 && j < found.count; j++)
            result = add(listeners, &found.items[j], error);
        service_listeners_free(&found);
        if (result < 0)
            return -1;
    }
    return 0;
}

static int search_elsewhere(struct service_listeners *listeners,
    const struct service_address *addresses, size_t count, const struct ss_platform_roots *roots,
    struct ss_error *error) {
    struct namespaces namespaces = {.roots = roots};
    size_t matching = 0;
    int result = 0;

    if (add_own_namespace(&namespaces))
        proc_tree_each(roots, add_namespace, &namespaces);
    if (namespaces.incomplete)
        result = ss_error_memory(error);

    for (size_t i = 1; result == 0 && i < namespaces.count; i++) {
        size_t before = listeners->count;
        result = search_namespace(listeners, &namespaces.items[i], addresses, count, roots, error);
        matching += listeners->count > before;
    }

    free(namespaces.items);
    if (result == 0 && matching > 1)
        return ss_error_fail(error,
            "%s: %zu containers listen on this port: choose with --of group:PATH or --of pid:PID",
            service_address_show(addresses).text, matching);
    return result;
}

/* ---- Unix sockets ---- */

static int find_in_table(struct service_listeners *listeners, const char *socket_path,
    const struct ss_platform_roots *roots, struct ss_error *error) {
    char name[PATH_MAX];
    SS_OWNED(free) char *line = NULL;
    size_t size = 0;
    ssize_t length;

    snprintf(name, sizeof name, "%s/net/unix", proc_tree_root(roots));
    SS_OWNED(fclose) FILE *file = fopen(name, "re");

    while (file && (length = getline(&line, &size, file)) > 0) {
        struct service_listener one = {.family = AF_UNIX};
        unsigned flags;
        int path = 0;

        line[length - (line[length - 1] == '\n')] = '\0';
        if (sscanf(line, UNIX_PATH_COLUMNS, &flags, &one.inode, &path) == 2 && path > 0 &&
            flags & ACCEPTS && strcmp(line + path, socket_path) == 0 &&
            add(listeners, &one, error) < 0)
            return -1;
    }
    return 0;
}

/*
 * Connects, and asks the kernel who called listen(). The table is not enough: the socket may have
 * been bound by another path or in another namespace, and the files of its process may not be
 * readable.
 */
static int ask_peer(struct service_listeners *listeners, const struct service_address *address,
    struct ss_error *error) {
    struct service_listener one = {.family = AF_UNIX};
    struct ucred peer;
    socklen_t size = sizeof peer;
    SS_OWNED(close) int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (client < 0 ||
        connect(client, (const struct sockaddr *)&address->socket, address->length) < 0 ||
        getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 || peer.pid <= 0)
        return 0;

    if (listeners->count > 0)
        one = listeners->items[--listeners->count];
    one.pid = peer.pid;
    one.user = peer.uid;
    return add(listeners, &one, error);
}

static int find_unix(struct service_listeners *listeners, const struct service_address *address,
    const struct ss_platform_roots *roots, struct ss_error *error) {
    char socket_path[sizeof(struct sockaddr_un)];
    write_path(address, socket_path);
    listeners->local = true;
    if (find_in_table(listeners, socket_path, roots, error) < 0)
        return -1;
    bool found = listeners->count > 0 && geteuid() == 0;
    return found ? 0 : ask_peer(listeners, address, error);
}

/* ---- all addresses of a service ---- */

static int find_tcp(struct service_listeners *listeners, const struct service_address *address,
    const struct ss_platform_roots *roots, struct ss_error *error) {
    struct service_listeners found = {0};
    struct table table = {.endpoint = endpoint_of(address),
        .any = address->socket.ss_family == AF_UNSPEC,
        .found = &found};

    snprintf(table.folder, sizeof table.folder, "%s/net", proc_tree_root(roots));
    if (!table.any && !has_address(table.folder, &table.endpoint.address))
        return 0;

    listeners->local = true;
    int result = read_tables(&table, error);
    for (size_t i = 0; result == 0 && i < found.count; i++)
        result = add(listeners, &found.items[i], error);
    service_listeners_free(&found);
    return result;
}

int service_listeners_find(struct service_listeners *listeners,
    const struct service_address *addresses, size_t count, const struct ss_platform_roots *roots,
    struct ss_error *error) {
    bool network = false;

    for (size_t i = 0; i < count && listeners->count == 0; i++) {
        int family = addresses[i].socket.ss_family;
        network |= family == AF_INET || family == AF_INET6;
        int result = family == AF_UNIX ? find_unix(listeners, &addresses[i], roots, error)
                                       : find_tcp(listeners, &addresses[i], roots, error);
        if (result < 0)
            return -1;
    }

    if (!network || listeners->count > 0)
        return 0;
    return search_elsewhere(listeners, addresses, count, roots, error);
}

/* ---- control groups of sockets ---- */

struct socket_query {
    struct nlmsghdr header;
    struct inet_diag_req_v2 request;
};

/* Returns the group in one answer of the kernel; 0 if it is of another socket or has no group. */
static uint64_t group_in(const struct nlmsghdr *header, uint64_t inode) {
    const struct inet_diag_msg *answer = NLMSG_DATA(header);
    if (header->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
        header->nlmsg_len < NLMSG_LENGTH(sizeof *answer) || answer->idiag_inode != inode)
        return 0;

    int rest = (int)(header->nlmsg_len - NLMSG_LENGTH(sizeof *answer));
    const struct rtattr *attribute = (const struct rtattr *)(answer + 1);
    for (; RTA_OK(attribute, rest); attribute = RTA_NEXT(attribute, rest)) {
        uint64_t group;
        if (attribute->rta_type != GROUP_ATTRIBUTE || RTA_PAYLOAD(attribute) < sizeof group)
            continue;
        memcpy(&group, RTA_DATA(attribute), sizeof group);
        return group;
    }
    return 0;
}

/* Reads one datagram of answers. Returns whether to read another one. */
static bool read_answers(int diagnosis, uint64_t inode, uint64_t *group) {
    _Alignas(struct nlmsghdr) char answers[DUMP_BUFFER];
    ssize_t length = recv(diagnosis, answers, sizeof answers, 0);
    if (length <= 0)
        return false;

    size_t rest = (size_t)length;
    for (const struct nlmsghdr *at = (const void *)answers; NLMSG_OK(at, rest);
         at = NLMSG_NEXT(at, rest)) {
        if (at->nlmsg_type == NLMSG_DONE || at->nlmsg_type == NLMSG_ERROR)
            return false;
        if (*group == 0)
            *group = group_in(at, inode);
    }

    return *group == 0;
}

uint64_t service_listener_group(const struct service_listener *listener) {
    const struct socket_query question = {
        .header =
            {
                .nlmsg_len = sizeof question,
                .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
            },
        .request =
            {
                .sdiag_family = (uint8_t)listener->family,
                .sdiag_protocol = IPPROTO_TCP,
                .idiag_states = LISTENING_STATES,
            },
    };
    uint64_t group = 0;

    if (listener->elsewhere || listener->family == AF_UNIX)
        return 0;

    SS_OWNED(close)
    int diagnosis = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (diagnosis < 0 || send(diagnosis, &question, sizeof question, 0) < 0)
        return 0;

    while (read_answers(diagnosis, listener->inode, &group)) {
    }
    return group;
}
