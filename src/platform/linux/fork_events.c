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

/* More than can be pending: others may cause events faster than we read them. */
#define MESSAGES_MOST 1024

/* Distinguishes answers to us from answers to other listeners, which get the same events. */
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

/* Returns false if no message is pending. `length` is not positive if some were lost. */
static bool receive(int forks, struct message *message, ssize_t *length) {
    *length = recv(forks, message, sizeof *message, 0);
    return *length > 0 || errno == EINTR || errno == ENOBUFS;
}

/* Discards events from before, which must not be taken for new ones. */
static void forget(int forks) {
    struct message message;
    ssize_t length;
    for (int i = 0; i < MESSAGES_MOST && receive(forks, &message, &length); i++) {
    }
}

/* The answer is there as soon as the request has been sent, unless the kernel has ignored it. */
static bool is_granted(int forks) {
    struct message message;
    struct cn_msg connector;
    struct proc_event event;
    ssize_t length;
    for (int i = 0; i < MESSAGES_MOST && receive(forks, &message, &length); i++) {
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

bool ss_platform_fork_events_listen(int forks, bool on) {
    uint32_t operation = on ? PROC_CN_MCAST_LISTEN : PROC_CN_MCAST_IGNORE;
    struct message message = {0};
    serial = serial ? serial + 1 : (uint32_t)getpid() << 8;
    struct cn_msg connector = {
        .id = {.idx = CN_IDX_PROC, .val = CN_VAL_PROC},
        .ack = serial,
        .len = sizeof operation,
    };
    message.header = (struct nlmsghdr){
        .nlmsg_len = NLMSG_LENGTH(sizeof connector + sizeof operation),
        .nlmsg_type = NLMSG_DONE,
    };
    char *data = NLMSG_DATA(&message.header);
    memcpy(data, &connector, sizeof connector);
    memcpy(data + sizeof connector, &operation, sizeof operation);
    forget(forks);
    if (send(forks, &message, message.header.nlmsg_len, 0) < 0)
        return false;
    return !on || is_granted(forks);
}
