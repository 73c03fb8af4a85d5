/* SPDX-License-Identifier: Apache-2.0 */

/* Tests how `instances` uses ssrequest, and reads the unfinished requests from its answers. */

#include "copies.h"
#include "generator_control.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "tree.h"

TEST(unfinished_requests_are_found_by_exact_url) {
    static const struct {
        const char *answer;
        int64_t unfinished; /* -1: unknown */
    } rows[] = {
        {"ok unfinished=9 unfinished_of=4,http://127.0.0.1:80/", 4},
        {"ok unfinished_of=1,http://127.0.0.1:80/a "
         "unfinished_of=2,http://127.0.0.1:80/ unfinished_of=3,http://b/",
            2},
        {"ok unfinished_of=1,http://127.0.0.1:80/a", 0},
        {"error: the run is over", 0},
        {"error: unknown command", -1},
        {"ok unfinished_of=1,http://b/ left_out=1", -1},
        {"ok unfinished_of=x", -1},
        {"", -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t found = ssactuate_generator_find_unfinished(rows[i].answer, "http://127.0.0.1:80/");
        if (rows[i].unfinished < 0 ? found >= 0 : found != rows[i].unfinished)
            fail_msg("'%s' has %lld", rows[i].answer, (long long)found);
    }
}

static int sent;          /* the latest signal */
static _Atomic int asked; /* number of questions for the status */

/* Replaces kill(): the copies do not exist. */
int kill(pid_t process, int number) {
    (void)process;
    sent = number;
    return 0;
}

/* An ssrequest without unfinished requests, until its socket is shut down. */
static void *generate(void *context) {
    char line[1000];
    for (int connection; (connection = accept(*(int *)context, NULL, NULL)) >= 0;) {
        ssize_t length = read(connection, line, sizeof line);
        if (length > 0 && *line == 'u') /* urls */
            send(connection, "ok\n", 3, MSG_NOSIGNAL);
        else if (length > 0) { /* status */
            asked++;
            send(connection, "ok unfinished=0\n", 16, MSG_NOSIGNAL);
        }
        close(connection);
    }
    return NULL;
}

static struct sockaddr_un address;
static pthread_t thread;
static int listener;

static void open_generator(void) {
    address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%.90s/control", tree_new());
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listener, 5), 0);
    assert_int_equal(pthread_create(&thread, NULL, generate, &listener), 0);
    sent = asked = 0;
}

static void close_generator(void) {
    shutdown(listener, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(listener);
}

/* A copy of this URL that waits for its last requests. */
static struct ssactuate_copy leaving(void) {
    return (struct ssactuate_copy){.state = SSACTUATE_LEAVING,
        .url = "http://127.0.0.1:9/",
        .child = {.process = {.pid = INT_MAX}}};
}

/* The first copy starts slowly, so ssrequest still sends requests to the second, which leaves. */
TEST(copy_leaves_after_its_url_is_withdrawn) {
    static struct ssactuate_copies copies;
    struct ss_error error = {0};
    open_generator();
    copies = (struct ssactuate_copies){.control = address.sun_path, .requested = 1};
    copies.urls = strdup("http://127.0.0.1:7/ http://127.0.0.1:9/");
    copies.copies[0] =
        (struct ssactuate_copy){.state = SSACTUATE_STARTING, .since = ss_platform_now()};
    copies.copies[1] = leaving();
    assert_int_equal(ssactuate_copies_advance(&copies, &error), 0);
    assert_true(copies.are_urls_sent);
    assert_int_equal(copies.copies[1].state, SSACTUATE_LEAVING);
    assert_int_equal(sent, 0);
    free(copies.urls);
    copies.urls = strdup("http://127.0.0.1:7/ http://127.0.0.1:99/");
    assert_int_equal(ssactuate_copies_advance(&copies, &error), 0);
    assert_int_equal(copies.copies[1].state, SSACTUATE_ENDING);
    assert_int_equal(sent, SIGTERM);
    free(copies.urls);
    close_generator();
}

/* ssrequest may take 2 s to answer. */
TEST(generator_is_asked_once_for_all_leaving_copies) {
    static struct ssactuate_copies copies;
    struct ss_error error = {0};
    open_generator();
    copies = (struct ssactuate_copies){.control = address.sun_path, .requested = 0};
    copies.urls = strdup("");
    for (int i = 0; i < 3; i++)
        copies.copies[i] = leaving();
    assert_int_equal(ssactuate_copies_advance(&copies, &error), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(copies.copies[i].state, SSACTUATE_ENDING);
    assert_int_equal(asked, 1);
    free(copies.urls);
    close_generator();
}

UNIT_RUN
