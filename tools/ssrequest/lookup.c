/* SPDX-License-Identifier: Apache-2.0 */
#include "lookup.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct ssrequest_lookup {
    /*
     * Number of owners: the caller, and the thread while it runs. The last one frees the lookup,
     * because a thread in getaddrinfo() can be neither cancelled safely nor joined in time.
     */
    _Atomic int owners;
    const char *socket;
    int event;
    bool busy; /* only the caller uses this */
    char **urls;
    uint32_t count;
    /* Until the event, only the thread may access these: */
    int result;
    struct ssrequest_targets targets;
    struct ss_error error;
};

static void free_urls(struct ssrequest_lookup *lookup) {
    for (uint32_t i = 0; i < lookup->count; i++)
        free(lookup->urls[i]);
    free(lookup->urls);
    lookup->urls = NULL;
    lookup->count = 0;
}

static void release(struct ssrequest_lookup *lookup) {
    if (atomic_fetch_sub(&lookup->owners, 1) > 1)
        return;
    ssrequest_targets_free(&lookup->targets);
    free_urls(lookup);
    if (lookup->event >= 0)
        close(lookup->event);
    free(lookup);
}

static void *look_up(void *context) {
    struct ssrequest_lookup *lookup = context;
    lookup->result = ssrequest_targets_make((const char *const *)lookup->urls, lookup->count,
        lookup->socket, &lookup->targets, &lookup->error);

    for (uint32_t i = 0; lookup->result == 0 && i < lookup->targets.count; i++) {
        if (lookup->targets.list[i].lookup_error) {
            lookup->result =
                ss_error_fail(&lookup->error, "urls: %s", lookup->targets.list[i].lookup_error);
            ssrequest_targets_free(&lookup->targets);
        }
    }

    /* The write cannot block: the counter is 0. */
    if (eventfd_write(lookup->event, 1) < 0)
        abort();
    release(lookup);
    return NULL;
}

int ssrequest_lookup_open(
    struct ssrequest_lookup **opened, const char *socket, struct ss_error *error) {
    struct ssrequest_lookup *lookup = *opened = calloc(1, sizeof *lookup);
    if (!lookup)
        return ss_error_memory(error);

    lookup->owners = 1;
    lookup->socket = socket;
    lookup->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (lookup->event >= 0)
        return 0;

    ss_error_fail(error, "cannot create an eventfd: %s", strerror(errno));
    release(lookup);
    *opened = NULL;
    return -1;
}

void ssrequest_lookup_close(struct ssrequest_lookup *lookup) {
    if (lookup)
        release(lookup);
}

static int copy_urls(struct ssrequest_lookup *lookup, const char *const *urls, uint32_t count) {
    free_urls(lookup);
    lookup->urls = calloc(count, sizeof *lookup->urls);
    while (lookup->urls && lookup->count < count) {
        char *copy = strdup(urls[lookup->count]);
        if (!copy)
            return -1;
        lookup->urls[lookup->count++] = copy;
    }
    return lookup->urls ? 0 : -1;
}

static int start_thread(struct ssrequest_lookup *lookup) {
    pthread_t thread;
    pthread_attr_t attributes;
    int why = pthread_attr_init(&attributes);
    if (why)
        return why;

    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    lookup->owners++;
    why = pthread_create(&thread, &attributes, look_up, lookup);
    if (why)
        lookup->owners--;

    pthread_attr_destroy(&attributes);
    return why;
}

int ssrequest_lookup_begin(struct ssrequest_lookup *lookup, const char *const *urls, uint32_t count,
    struct ss_error *error) {
    if (lookup->busy)
        return ss_error_fail(error, "a lookup is in progress: wait for its answer");
    if (copy_urls(lookup, urls, count) < 0)
        return ss_error_memory(error);

    lookup->targets = (struct ssrequest_targets){0};
    lookup->error = (struct ss_error){0};

    int why = start_thread(lookup);
    if (why)
        return ss_error_fail(error, "cannot create a thread to look up names: %s", strerror(why));
    lookup->busy = true;
    return 0;
}

int ssrequest_lookup_descriptor(const struct ssrequest_lookup *lookup) {
    return lookup->event;
}

int ssrequest_lookup_take(
    struct ssrequest_lookup *lookup, struct ssrequest_targets *targets, struct ss_error *error) {
    eventfd_t count;
    *targets = (struct ssrequest_targets){0};
    if (eventfd_read(lookup->event, &count) < 0)
        return ss_error_fail(error, "no lookup has ended");

    lookup->busy = false;
    *targets = lookup->targets;
    lookup->targets = (struct ssrequest_targets){0};
    if (lookup->result < 0 && error)
        *error = lookup->error;
    return lookup->result;
}

char *const *ssrequest_lookup_urls(const struct ssrequest_lookup *lookup) {
    return lookup->urls;
}
