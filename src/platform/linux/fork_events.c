/* SPDX-License-Identifier: Apache-2.0 */

/* The kernel's process events, see linux/cn_proc.h. Only root outside of containers gets them. */

#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/platform.h"

/*
 * More messages than the default buffer holds. Without a limit, the loops below might never end,
 * because processes may cause events faster than we read them.
 */
#define MESSAGES_MAX 1024

/* Maximum number of events that one call reads; each takes about 1 us. */
#define READ_MAX 16384

/* Distinguishes answers to us from answers to other listeners, which also arrive here. */
static uint32_t serial;

struct message {
    struct nlmsghdr header;
    char rest[NLMSG_ALIGN(sizeof(struct cn_msg)) + 128];
};

int ss_platform_fork_events_open(void) {
    int forks = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR);
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC};
    if (forks >= 0 && bind(forks, (struct sockaddr *)&address, sizeof address) == 0 &&
        ss_platform_fork_events_listen(forks, true) && ss_platform_fork_events_listen(forks, false))
        return forks;
    if (forks >= 0)
        close(forks);
    return -1;
}

/*
 * Receives a message. Returns false if none is pending. `length` is negative if messages were lost
 * (ENOBUFS) or a signal arrived (EINTR).
 */
static bool receive(int forks, struct message *message, ssize_t *length) {
    *length = recv(forks, message, sizeof *message, 0);
    return *length > 0 || errno == EINTR || errno == ENOBUFS;
}

/* Discards earlier events, so that they do not count as new ones. */
static void forget(int forks) {
    struct message message;
    ssize_t length;
    for (int i = 0; i < MESSAGES_MAX && receive(forks, &message, &length); i++) {
    }
}

/*
 * Returns whether the kernel granted the request. The answer is available as soon as the request
 * has been sent, unless the kernel ignored it.
 */
static bool is_granted(int forks) {
    struct message message;
    struct cn_msg connector;
    struct proc_event event;
    ssize_t length;
    for (int i = 0; i < MESSAGES_MAX && receive(forks, &message, &length); i++) {
        if (length < (ssize_t)(NLMSG_LENGTH(sizeof connector) + sizeof event))
            continue;

        const char *data = NLMSG_DATA(&message.header);
        memcpy(&connector, data, sizeof connector);
        memcpy(&event, data + sizeof connector, sizeof event);

        /* An acknowledgment carries the request's serial number plus one. */
        if (event.what == PROC_EVENT_NONE && connector.ack == serial + 1)
            return event.event_data.ack.err == 0;
    }
    return false;
}

/*
 * Requests fork events. From Linux 6.6 on, a second word selects the kind of events; `words` is the
 * number of words to send.
 */
static bool request(int forks, uint32_t operation, uint16_t words) {
    const uint32_t request[] = {operation, PROC_EVENT_FORK};
    uint16_t length = words * (uint16_t)sizeof *request;
    struct message message = {0};
    serial = serial ? serial + 1 : (uint32_t)getpid() << 8;

    struct cn_msg connector = {
        .id = {.idx = CN_IDX_PROC, .val = CN_VAL_PROC},
        .ack = serial,
        .len = length,
    };
    message.header = (struct nlmsghdr){
        .nlmsg_len = NLMSG_LENGTH(sizeof connector + length),
        .nlmsg_type = NLMSG_DONE,
    };

    char *data = NLMSG_DATA(&message.header);
    memcpy(data, &connector, sizeof connector);
    memcpy(data + sizeof connector, request, length);
    return send(forks, &message, message.header.nlmsg_len, 0) >= 0;
}

bool ss_platform_fork_events_listen(int forks, bool on) {
    forget(forks);
    if (!request(forks, on ? PROC_CN_MCAST_LISTEN : PROC_CN_MCAST_IGNORE, 1))
        return false;
    return !on || is_granted(forks);
}

/*
 * Requests forks in two steps, because older kernels ignore the second request; on these, other
 * events arrive as well.
 */
bool ss_platform_fork_events_record(int forks) {
    static const int room = 4 << 20;
    if (forks < 0)
        return false;
    if (setsockopt(forks, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) < 0)
        setsockopt(forks, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    return ss_platform_fork_events_listen(forks, true) && request(forks, PROC_CN_MCAST_LISTEN, 2);
}

static bool read_fork(const struct message *message, ssize_t length, struct proc_event *event) {
    const char *data = NLMSG_DATA(&message->header);
    if (length < (ssize_t)NLMSG_LENGTH(sizeof(struct cn_msg) + sizeof *event))
        return false;
    memcpy(event, data + sizeof(struct cn_msg), sizeof *event);
    return event->what == PROC_EVENT_FORK &&
           event->event_data.fork.child_pid == event->event_data.fork.child_tgid;
}

enum ss_births ss_platform_fork_events_read(
    int forks, void (*visit)(void *context, pid_t parent, pid_t child), void *context) {
    struct message message;
    struct proc_event event;
    ssize_t length;
    enum ss_births births = SS_BIRTHS_ALL;
    int count = 0;

    for (; count < READ_MAX && receive(forks, &message, &length); count++) {
        if (length < 0 && errno == ENOBUFS)
            births = SS_BIRTHS_LOST;
        else if (read_fork(&message, length, &event))
            visit(context, event.event_data.fork.parent_tgid, event.event_data.fork.child_tgid);
    }
    return count < READ_MAX ? births : SS_BIRTHS_LOST;
}
