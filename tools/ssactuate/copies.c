/* SPDX-License-Identifier: Apache-2.0 */
#include "copies.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/words.h"
#include "generator_control.h"
#include "text_stream.h"

/* Ports below the ephemeral range, so that outgoing connections do not take them. */
#define PORT_MIN   16384
#define PORT_COUNT 16384

#define INTERVAL         20  /* milliseconds between checks of copies that start or end */
#define CONTROL_INTERVAL 200 /* milliseconds between checks for a new generator */

#define START_PATIENCE (60 * SS_SECOND)
#define END_PATIENCE   (10 * SS_SECOND)

int ssactuate_copies_open(struct ssactuate_copies *copies, struct ss_error *error) {
    bool has_port = false;
    for (char *const *word = copies->command; *word; word++)
        has_port |= strstr(*word, "{port}") != NULL;

    if (!has_port)
        return ss_error_fail(
            error, "instances: the command has no {port}: put {port} in place of its port number");

    void *shared = mmap(NULL, SSACTUATE_INSTANCES_MAX * sizeof *copies->kept,
        PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return ss_error_memory(error);

    copies->kept = shared;
    return 0;
}

static void free_words(struct ssactuate_copy *copy) {
    for (char **word = copy->words; word && *word; word++)
        free(*word);
    free(copy->words);
    copy->words = NULL;
}

void ssactuate_copies_close(struct ssactuate_copies *copies) {
    for (size_t i = 0; i < SSACTUATE_INSTANCES_MAX; i++)
        free_words(&copies->copies[i]);
    free(copies->urls);
    if (copies->kept)
        munmap(copies->kept, SSACTUATE_INSTANCES_MAX * sizeof *copies->kept);

    copies->urls = NULL;
    copies->kept = NULL;
}

static struct sockaddr_in loopback(unsigned port) {
    return (struct sockaddr_in){.sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static bool is_free(const struct ssactuate_copies *copies, unsigned port) {
    struct sockaddr_in address = loopback(port);
    for (size_t i = 0; i < SSACTUATE_INSTANCES_MAX; i++) {
        if (copies->copies[i].state != SSACTUATE_ABSENT && copies->copies[i].port == port)
            return false;
    }

    SS_OWNED(close) int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return probe >= 0 && bind(probe, (const struct sockaddr *)&address, sizeof address) == 0;
}

/* Returns a free port, or 0. Draws it at random, so that concurrent runs rarely collide. */
static unsigned find_port(const struct ssactuate_copies *copies) {
    for (int i = 0; i < 1000; i++) {
        uint32_t random = (uint32_t)ss_platform_now();
        if (getrandom(&random, sizeof random, GRND_NONBLOCK) < 0)
            random += (uint32_t)getpid();
        unsigned port = PORT_MIN + random % PORT_COUNT;
        if (is_free(copies, port))
            return port;
    }
    return 0;
}

static bool listens(unsigned port) {
    struct sockaddr_in address = loopback(port);
    const struct timeval patience = {.tv_usec = 100000};
    SS_OWNED(close) int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return probe >= 0 &&
           setsockopt(probe, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) == 0 &&
           connect(probe, (const struct sockaddr *)&address, sizeof address) == 0;
}

/* Replaces {port} and {instance}. Returns NULL with the error set if memory is exhausted. */
static char *replace(const char *text, unsigned port, size_t instance, struct ss_error *error) {
    struct ss_text result;
    if (ss_text_open(&result, error) < 0)
        return NULL;

    while (*text) {
        if (strncmp(text, "{port}", 6) == 0) {
            fprintf(result.stream, "%u", port);
            text += 6;
        } else if (strncmp(text, "{instance}", 10) == 0) {
            fprintf(result.stream, "%zu", instance);
            text += 10;
        } else {
            fputc(*text++, result.stream);
        }
    }

    return ss_text_close(&result, error);
}

static int make_words(struct ssactuate_copies *copies, size_t number, struct ssactuate_copy *copy,
    struct ss_error *error) {
    size_t count = ss_words_count(copies->command);
    copy->words = calloc(count + 1, sizeof *copy->words);
    SS_OWNED(free) char *url = replace(copies->url, copy->port, number + 1, error);
    if (!copy->words || !url)
        return ss_error_memory(error);

    snprintf(copy->url, sizeof copy->url, "%s", url);
    for (size_t i = 0; i < count; i++) {
        copy->words[i] = replace(copies->command[i], copy->port, number + 1, error);
        if (!copy->words[i])
            return -1;
    }
    return 0;
}

static void set_state(struct ssactuate_copy *copy, enum ssactuate_copy_state state) {
    copy->state = state;
    copy->since = ss_platform_now();
}

static int start(struct ssactuate_copies *copies, size_t number, struct ss_error *error) {
    struct ssactuate_copy *copy = &copies->copies[number];
    free_words(copy);

    copy->port = find_port(copies);
    if (copy->port == 0)
        return ss_error_fail(error, "instances: no free port from %d to %d on 127.0.0.1", PORT_MIN,
            PORT_MIN + PORT_COUNT - 1);
    if (make_words(copies, number, copy, error) < 0)
        return -1;

    copy->child = copies->template;
    copy->child.words = copy->words;
    if (ssactuate_child_fork(&copy->child, error) < 0)
        return -1;

    /* Publish the copy before exec, so that the keeper can end every copy that runs a command. */
    copies->kept[number].started = ss_platform_process_started(copy->child.process.pid);
    copies->kept[number].pid = copy->child.process.pid;

    if (copies->forked)
        copies->forked(copies->context, copy->child.process.pid);
    if (ssactuate_child_execute(&copy->child, error) < 0) {
        copies->kept[number].pid = 0;
        return -1;
    }

    set_state(copy, SSACTUATE_STARTING);
    copies->has_new_copy = true;
    return 0;
}

/* Kills the descendants first: once their parent is dead, they can no longer be found. */
static void kill_tree(void *context, pid_t pid) {
    uint64_t started = ss_platform_process_started(pid);
    ss_platform_process_children(pid, kill_tree, context);
    if (started > 0)
        ss_platform_process_signal_by_pid(pid, started, SIGKILL);
}

static void end(struct ssactuate_copy *copy, int signal) {
    set_state(copy, SSACTUATE_ENDING);
    if (signal > 0)
        kill(copy->child.process.pid, signal);
}

void ssactuate_copies_end(struct ssactuate_copies *copies, int signal) {
    copies->ending = true;
    for (size_t i = 0; i < SSACTUATE_INSTANCES_MAX; i++) {
        if (copies->copies[i].state != SSACTUATE_ABSENT &&
            copies->copies[i].state != SSACTUATE_ENDING)
            end(&copies->copies[i], signal);
    }
}

/* Orphans of copies have become children of this process, so this finds them as well. */
static void kill_unless_spared(void *context, pid_t pid) {
    const struct ssactuate_copies *copies = context;
    if (pid != *copies->spared && (!copies->side_pid || pid != *copies->side_pid))
        kill_tree(NULL, pid);
}

void ssactuate_copies_kill(struct ssactuate_copies *copies) {
    ss_platform_process_children(getpid(), kill_unless_spared, copies);
}

void ssactuate_copies_reaped(struct ssactuate_copies *copies, pid_t pid, int status) {
    for (size_t i = 0; i < SSACTUATE_INSTANCES_MAX; i++) {
        struct ssactuate_copy *copy = &copies->copies[i];
        if (copy->state == SSACTUATE_ABSENT || copy->child.process.pid != pid)
            continue;

        bool is_asked = copy->state == SSACTUATE_ENDING;
        ssactuate_child_reaped(&copy->child, status);
        copy->state = SSACTUATE_ABSENT;
        copies->kept[i].pid = 0;

        if (!copies->has_status && (copies->ending || !is_asked)) {
            copies->status = copy->child.status;
            copies->has_status = true;
        }

        if (is_asked)
            return;

        fprintf(stderr, "ssactuate: instance %zu exited with status %d: ending the others\n", i + 1,
            copy->child.status);
        ssactuate_copies_end(copies, SIGTERM);
    }
}

static size_t count_in(const struct ssactuate_copies *copies, enum ssactuate_copy_state state) {
    size_t count = 0;
    for (size_t i = 0; i < SSACTUATE_INSTANCES_MAX; i++)
        count += copies->copies[i].state == state;
    return count;
}

bool ssactuate_copies_are_over(const struct ssactuate_copies *copies) {
    return copies->ending && count_in(copies, SSACTUATE_ABSENT) == SSACTUATE_INSTANCES_MAX;
}

/* A new socket belongs to a new generator, which has not received the URLs yet. */
static void look_for_generator(struct ssactuate_copies *copies) {
    struct stat found;
    uint64_t identity[3] = {0};
    if (stat(copies->control, &found) == 0) {
        identity[0] = found.st_dev;
        identity[1] = found.st_ino;
        identity[2] = (uint64_t)found.st_ctim.tv_sec * SS_SECOND + (uint64_t)found.st_ctim.tv_nsec;
    }
    if (memcmp(identity, copies->generator_id, sizeof identity) == 0)
        return;
    memcpy(copies->generator_id, identity, sizeof identity);
    copies->are_urls_sent = false;
}

static void send_urls(struct ssactuate_copies *copies) {
    char answer[500];
    if (!copies->control || !copies->urls)
        return;

    look_for_generator(copies);
    if (copies->are_urls_sent)
        return;

    int status = ssactuate_generator_set_urls(copies->control, copies->urls, answer, sizeof answer);
    copies->are_urls_sent = status == 0;
    copies->has_generator = status != -ENOENT;

    if (status == 0 || status == -ENOENT || status == -EINTR) {
        copies->has_failed = false;
    } else if (!copies->has_failed) {
        copies->has_failed = true;
        fprintf(stderr, "ssactuate: warning: %s: cannot set the URLs of ssrequest: %s\n",
            copies->control, *answer ? answer : strerror(-status));
    }
}

/*
 * Ends leaving copies that have no unfinished requests or, without a generator, all of them. The
 * generator may still send requests to a leaving copy until it has accepted URLs without it.
 */
static void end_unused(struct ssactuate_copies *copies) {
    static char answer[SSACTUATE_STATUS_SIZE];
    bool has_generator = copies->control && copies->has_generator;
    int status = 1; /* 1: not asked yet. Ask once for all copies: an answer may take seconds. */

    for (size_t i = 0; i < SSACTUATE_INSTANCES_MAX; i++) {
        struct ssactuate_copy *copy = &copies->copies[i];
        bool has_left =
            copies->are_urls_sent && !(copies->urls && ss_words_has(copies->urls, ' ', copy->url));
        if (copy->state != SSACTUATE_LEAVING || (has_generator && !has_left))
            continue;

        if (has_generator && status == 1)
            status = ssactuate_generator_status(copies->control, answer);
        if (!has_generator || status == -ENOENT ||
            (status == 0 && ssactuate_generator_find_unfinished(answer, copy->url) == 0))
            end(copy, SIGTERM);
    }
}

/* Stores the URLs of the serving copies for send_urls(), and prints them if they have changed. */
static int announce(struct ssactuate_copies *copies, struct ss_error *error) {
    struct ss_text text;
    if (ss_text_open(&text, error) < 0)
        return -1;

    for (size_t i = 0, count = 0; i < SSACTUATE_INSTANCES_MAX; i++) {
        if (copies->copies[i].state == SSACTUATE_SERVING)
            fprintf(text.stream, "%s%s", count++ > 0 ? " " : "", copies->copies[i].url);
    }

    char *urls = ss_text_close(&text, error);
    if (!urls)
        return -1;

    if (copies->urls && strcmp(urls, copies->urls) == 0) {
        free(urls);
        return 0;
    }

    free(copies->urls);
    copies->urls = urls;
    copies->are_urls_sent = copies->has_failed = false;

    printf("urls %s\n", urls);
    fflush(stdout);
    return 0;
}

/* Starts copies, or makes the last ones leave, until `requested` copies are starting or serving. */
static int adjust(struct ssactuate_copies *copies, struct ss_error *error) {
    size_t count = count_in(copies, SSACTUATE_STARTING) + count_in(copies, SSACTUATE_SERVING);

    for (size_t i = 0; i < SSACTUATE_INSTANCES_MAX && count < copies->requested; i++) {
        if (copies->copies[i].state != SSACTUATE_ABSENT)
            continue;
        if (start(copies, i, error) < 0)
            return -1;
        count++;
    }

    for (size_t i = SSACTUATE_INSTANCES_MAX; i-- > 0 && count > copies->requested;) {
        if (copies->copies[i].state != SSACTUATE_STARTING &&
            copies->copies[i].state != SSACTUATE_SERVING)
            continue;
        set_state(&copies->copies[i], SSACTUATE_LEAVING);
        count--;
    }

    return 0;
}

static int await_start(struct ssactuate_copies *copies, struct ss_error *error) {
    for (size_t i = 0; i < SSACTUATE_INSTANCES_MAX; i++) {
        struct ssactuate_copy *copy = &copies->copies[i];
        if (copy->state != SSACTUATE_STARTING)
            continue;
        if (listens(copy->port))
            set_state(copy, SSACTUATE_SERVING);
        else if (ss_time_since(ss_platform_now(), copy->since) > START_PATIENCE)
            return ss_error_fail(error,
                "instance %zu has not started to listen on 127.0.0.1:%u within %u s: check "
                "its port option",
                i + 1, copy->port, (unsigned)(START_PATIENCE / SS_SECOND));
    }

    return count_in(copies, SSACTUATE_STARTING) == 0 ? announce(copies, error) : 0;
}

static void await_end(struct ssactuate_copies *copies) {
    end_unused(copies);
    for (size_t i = 0; i < SSACTUATE_INSTANCES_MAX; i++) {
        struct ssactuate_copy *copy = &copies->copies[i];
        if (copy->state == SSACTUATE_ENDING &&
            ss_time_since(ss_platform_now(), copy->since) > END_PATIENCE)
            kill_tree(NULL, copy->child.process.pid);
    }
}

int ssactuate_copies_advance(struct ssactuate_copies *copies, struct ss_error *error) {
    if (!copies->ending) {
        if (adjust(copies, error) < 0 || await_start(copies, error) < 0)
            return -1;
        send_urls(copies);
    }
    await_end(copies);
    return 0;
}

int ssactuate_copies_timeout(const struct ssactuate_copies *copies) {
    size_t settled = count_in(copies, SSACTUATE_ABSENT) + count_in(copies, SSACTUATE_SERVING);
    if (settled < SSACTUATE_INSTANCES_MAX)
        return INTERVAL;
    return copies->control && !copies->ending ? CONTROL_INTERVAL : -1;
}

static bool is_alive(const struct ssactuate_kept_copy *kept) {
    return kept->pid > 0 && ss_platform_process_is_alive(kept->pid, kept->started);
}

/* Gives copies time to exit: the kernel sent them SIGTERM when their parent died. */
void ssactuate_copies_end_orphaned(void *context) {
    const struct ssactuate_copies *copies = context;
    const struct timespec pause = {.tv_nsec = INTERVAL * 1000000L};
    ss_time begin = ss_platform_now();

    for (bool lives = true; lives;) {
        lives = false;
        for (size_t i = 0; i < SSACTUATE_INSTANCES_MAX; i++)
            lives |= is_alive(&copies->kept[i]);

        if (lives && ss_time_since(ss_platform_now(), begin) > END_PATIENCE)
            break;
        if (lives)
            nanosleep(&pause, NULL);
    }

    for (size_t i = 0; i < SSACTUATE_INSTANCES_MAX; i++) {
        if (is_alive(&copies->kept[i]))
            kill_tree(NULL, copies->kept[i].pid);
    }
}
