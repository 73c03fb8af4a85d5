/* SPDX-License-Identifier: Apache-2.0 */
#include "requests.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "listener.h"

static ss_time lateness;      /* added to the clock whenever it is read */
static int chatterbox = -1;   /* a client that then reads its answers and sends lines, or -1 */
static unsigned chatter_left; /* how many times it still does so */

static void chatter(void) {
    char answers[8192], lines[7 * 100];
    for (size_t i = 0; i < sizeof lines; i += 7)
        memcpy(lines + i, "status\n", 7);
    while (recv(chatterbox, answers, sizeof answers, MSG_DONTWAIT) > 0)
        continue;
    send(chatterbox, lines, sizeof lines, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* The linker replaces ss_platform_now() with this function in the listener. */
ss_time __real_ss_platform_now(void);
ss_time __wrap_ss_platform_now(void);
ss_time __wrap_ss_platform_now(void) {
    static ss_time late;
    late += lateness;
    if (chatterbox >= 0 && chatter_left > 0) {
        chatter_left--;
        chatter();
    }
    return __real_ss_platform_now() + late;
}

static int asked;

static int execute(void *context, const struct request_control *control,
    char answer[SSREQUEST_ANSWER_ROOM], struct ss_error *error) {
    (void)context;
    asked++;
    if (control->command == REQUEST_CONTROL_URLS)
        return SSREQUEST_ANSWER_LATER;
    if (control->command == REQUEST_CONTROL_STOP)
        return ss_error_fail(error, "not now");
    if (control->command == REQUEST_CONTROL_STATUS)
        snprintf(answer, SSREQUEST_ANSWER_ROOM, "x=1");
    return 0;
}

static char folder[64], path[96];

static struct ssrequest_listener *listener;

static int set_up(void **state) {
    struct ss_error error = {0};
    (void)state;
    asked = 0;
    strcpy(folder, "/tmp/ssrequest-listener-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/control", folder);
    assert_succeeds(ssrequest_listener_open(&listener, path, execute, NULL, &error), error);
    return 0;
}

static void close_it(void) {
    ssrequest_listener_close(listener);
    listener = NULL;
    assert_int_equal(rmdir(folder), 0);
}

static int tear_down(void **state) {
    (void)state;
    if (listener)
        close_it();
    return 0;
}

static int connect_to(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    strcpy(address.sun_path, path);
    assert_int_equal(connect(connection, (struct sockaddr *)&address, sizeof address), 0);
    ssrequest_listener_serve(listener);
    return connection;
}

static void ask(int connection, const char *text) {
    assert_int_equal(write(connection, text, strlen(text)), strlen(text));
    struct pollfd ready = {.fd = ssrequest_listener_descriptor(listener), .events = POLLIN};
    assert_int_equal(poll(&ready, 1, 1000), 1);
    ssrequest_listener_serve(listener);
}

static void assert_answers(int connection, const char *expected) {
    char text[4096] = "";
    ssize_t length = recv(connection, text, sizeof text - 1, MSG_DONTWAIT);
    text[length > 0 ? length : 0] = '\0';
    assert_string_equal(text, expected);
}

TEST_WITH(every_control_line_is_answered, set_up, tear_down) {
    struct stat status;
    int connection = connect_to();
    ask(connection, "rate 5\nstat");
    assert_answers(connection, "ok\n");
    ask(connection, "us\r\nstop\nfaster\n");
    assert_answers(connection, "ok x=1\nerror: not now\nerror: unknown command 'faster': use rate, "
                               "urls, stop or status\n");
    assert_int_equal(asked, 3);
    close(connection);
    /* Only the user of the program may connect. */
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
}

/* Like printf 'status' | nc -N -U. */
TEST_WITH(final_control_line_needs_no_line_feed, set_up, tear_down) {
    char last;
    int connection = connect_to();
    ask(connection, "rate 5\nstatus");
    assert_int_equal(shutdown(connection, SHUT_WR), 0);
    ssrequest_listener_serve(listener);
    assert_answers(connection, "ok\nok x=1\n");
    assert_int_equal(recv(connection, &last, 1, 0), 0);
    assert_int_equal(asked, 2);
    close(connection);
    /* A client must not receive bytes of another. */
    connection = connect_to();
    ask(connection, "status\n");
    assert_answers(connection, "ok x=1\n");
    close(connection);
}

static bool has_something_to_do(void) {
    struct pollfd ready = {.fd = ssrequest_listener_descriptor(listener), .events = POLLIN};
    return poll(&ready, 1, 0) == 1;
}

/* Commands of one client are answered in order; other clients are answered in the meantime. */
TEST_WITH(delayed_answers_keep_the_order_of_a_client, set_up, tear_down) {
    char last;
    int slow = connect_to(), quick = connect_to();
    ask(slow, "urls http://a/\nstatus\n");
    ask(quick, "rate 5\n");
    assert_answers(slow, "");
    assert_answers(quick, "ok\n");
    assert_int_equal(write(slow, "stop", 4), 4);
    assert_int_equal(shutdown(slow, SHUT_WR), 0);
    assert_false(has_something_to_do());
    ssrequest_listener_answer(listener, 0, "");
    assert_answers(slow, "ok\nok x=1\nerror: not now\n");
    assert_int_equal(recv(slow, &last, 1, 0), 0);
    /* No client waits for this answer. */
    ssrequest_listener_answer(listener, 0, "");
    assert_answers(quick, "");
    close(slow);
    close(quick);
}

TEST_WITH(late_answer_to_a_closed_client_is_dropped, set_up, tear_down) {
    int slow = connect_to(), quick = connect_to();
    ask(slow, "urls http://a/\n");
    close(slow);
    assert_false(has_something_to_do());
    ask(quick, "status\n");
    assert_answers(quick, "ok x=1\n");
    ssrequest_listener_answer(listener, -1, "no such host");
    ask(quick, "urls http://a/");
    assert_int_equal(shutdown(quick, SHUT_WR), 0);
    ssrequest_listener_serve(listener);
    assert_answers(quick, "");
    ssrequest_listener_answer(listener, -1, "no such host");
    assert_answers(quick, "error: no such host\n");
    close(quick);
    quick = connect_to();
    ask(quick, "urls http://a/\n");
    close_it();
    assert_answers(quick, "error: the run is over\n");
    close(quick);
}

static void note_ready(void *context) {
    (void)context;
    asked += 100;
}

TEST_WITH(attached_descriptor_is_polled, set_up, tear_down) {
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(ssrequest_listener_watch(listener, ends[0], note_ready, NULL), 0);
    ssrequest_listener_serve(listener);
    assert_int_equal(asked, 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    assert_true(has_something_to_do());
    ssrequest_listener_serve(listener);
    assert_int_equal(asked, 100);
    close(ends[0]);
    close(ends[1]);
}

/* Serves until no work is left and returns all answers, which are valid until the next call. */
static char *gather(int connection) {
    FILE *stream = text_begin();
    for (bool busy = true; busy;) {
        char bytes[4096];
        ssize_t length;
        busy = has_something_to_do();
        ssrequest_listener_serve(listener);
        for (; (length = recv(connection, bytes, sizeof bytes, MSG_DONTWAIT)) > 0; busy = true)
            fwrite(bytes, 1, (size_t)length, stream);
    }
    return text_end();
}

static void assert_gathers(int connection, const char *expected) {
    assert_string_equal(gather(connection), expected);
}

TEST_WITH(bad_control_line_is_refused_and_the_next_is_executed, set_up, tear_down) {
    static const char lines[] = "rate 5\0 6\n\0\nrate 5\n";
    int connection = connect_to();
    static char much[40001];
    memset(much, 'x', sizeof much - 1);
    assert_int_equal(write(connection, much, 40000), 40000);
    assert_gathers(connection, "error: a line is longer than 16 KiB\n");
    assert_int_equal(write(connection, "x\nrate 5\n", 9), 9);
    assert_gathers(connection, "ok\n");
    /* A line of the maximum length, including its line feed. */
    memset(much, ' ', 16384);
    memcpy(much, "status", 6);
    much[16383] = '\n';
    assert_int_equal(write(connection, much, 16384), 16384);
    assert_gathers(connection, "ok x=1\n");
    assert_int_equal(write(connection, lines, sizeof lines - 1), sizeof lines - 1);
    assert_gathers(connection, "error: a line contains a null byte\n"
                               "error: a line contains a null byte\nok\n");
    assert_int_equal(asked, 3);
    close(connection);
}

/* The answers exceed the socket buffer. */
TEST_WITH(burst_of_control_lines_is_answered_in_order, set_up, tear_down) {
    int connection = connect_to();
    char *lines = NULL, *expected = NULL;
    size_t lines_size, expected_size;
    FILE *to = open_memstream(&lines, &lines_size),
         *from = open_memstream(&expected, &expected_size);
    for (int i = 0; i < 5000; i++) {
        fprintf(to, i % 3 ? "status\n" : "word%d\n", i);
        if (i % 3)
            fprintf(from, "ok x=1\n");
        else
            fprintf(from, "error: unknown command 'word%d': use rate, urls, stop or status\n", i);
    }
    fclose(to);
    fclose(from);
    assert_int_equal(write(connection, lines, lines_size), lines_size);
    assert_int_equal(shutdown(connection, SHUT_WR), 0);
    assert_gathers(connection, expected);
    char last;
    assert_int_equal(recv(connection, &last, 1, 0), 0);
    free(lines);
    free(expected);
    close(connection);
}

/* Other clients and requests must get their turn. */
TEST_WITH(burst_of_control_lines_is_answered_in_parts, set_up, tear_down) {
    int connection = connect_to();
    char lines[7000];
    for (int i = 0; i < 1000; i++)
        memcpy(lines + (ptrdiff_t)i * 7, "status\n", 7);
    assert_int_equal(write(connection, lines, sizeof lines), sizeof lines);
    ssrequest_listener_serve(listener);
    assert_in_range(asked, 1, 256);
    gather(connection);
    assert_int_equal(asked, 1000);
    close(connection);
}

TEST_WITH(pending_control_lines_are_answered_at_the_end, set_up, tear_down) {
    for (int late = 0; late < 2; late++) { /* the second time by a late process */
        if (late)
            set_up(NULL);
        lateness = late ? 2 * SS_SECOND : 0;
        int connection = connect_to();
        for (int i = 0; i < 100; i++)
            assert_int_equal(write(connection, "status\n", 7), 7);
        close_it();
        char text[8192] = "";
        size_t used = 0;
        for (ssize_t length;
             (length = recv(connection, text + used, sizeof text - 1 - used, 0)) > 0;)
            used += (size_t)length;
        assert_int_equal(used, 100 * strlen("error: the run is over\n"));
        assert_int_equal(asked, 0);
        close(connection);
    }
    lateness = 0;
}

TEST_WITH(client_that_sends_forever_cannot_prevent_the_end, set_up, tear_down) {
    chatterbox = connect_to();
    lateness = 2 * SS_SECOND;
    chatter_left = 100000;
    chatter();
    close_it();
    assert_in_range(chatter_left, 90000, 99900);
    lateness = 0;
    close(chatterbox);
    chatterbox = -1;
}

TEST_WITH(number_of_control_clients_is_limited, set_up, tear_down) {
    int connections[8];
    for (int i = 0; i < 8; i++)
        connections[i] = connect_to();
    int refused = connect_to();
    assert_answers(refused, "error: too many connections (at most 8): close one\n");
    close(refused);
    ask(connections[7], "rate 1\n");
    assert_answers(connections[7], "ok\n");
    close(connections[0]);
    ssrequest_listener_serve(listener);
    connections[0] = connect_to();
    ask(connections[0], "rate 1\n");
    assert_answers(connections[0], "ok\n");
    for (int i = 0; i < 8; i++)
        close(connections[i]);
}

/* This bounds the memory per client; no command is lost, and others are served. */
TEST_WITH(clients_that_do_not_read_are_not_served, set_up, tear_down) {
    int connection = connect_to(), other = connect_to(), written = 0;
    assert_int_equal(fcntl(connection, F_SETFL, O_NONBLOCK), 0);
    for (int idle = 0; idle < 100 && written < 1000000;) {
        bool sent = send(connection, "status\n", 7, MSG_NOSIGNAL) == 7;
        written += sent;
        idle = sent ? 0 : idle + 1;
        ssrequest_listener_serve(listener);
    }
    assert_that(written, <, 1000000);
    assert_false(has_something_to_do());
    ask(other, "rate 1\n");
    assert_answers(other, "ok\n");
    assert_int_equal(strlen(gather(connection)), written * strlen("ok x=1\n"));
    close(connection);
    close(other);
}

UNIT_RUN
