/* SPDX-License-Identifier: Apache-2.0 */
#include "messages.h"

#include "requests.h"
#include "tree.h"

static const char body[] = "a=1\nb=2\n";

TEST(method_and_data_options_make_one_message) {
    static const struct {
        const char *method, *data, *sent;
        int body_size; /* -1: no body */
    } all[] = {{NULL, NULL, "GET", -1}, {NULL, "a=1", "POST", 3}, {"PUT", "a=1", "PUT", 3},
        {"DELETE", NULL, "DELETE", -1}, {"POST", NULL, "POST", 0}, {NULL, "", "POST", 0},
        {"PURGE", "", "PURGE", 0}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct request_messages messages = {0};
        assert_int_equal(request_messages_open(&messages, all[i].method, all[i].data, NULL), 0);
        assert_int_equal(messages.count, 1);
        assert_string_equal(messages.list[0].method, all[i].sent);
        assert_int_equal(messages.list[0].body != NULL, all[i].body_size >= 0);
        assert_int_equal(messages.list[0].body_size, all[i].body_size > 0 ? all[i].body_size : 0);
        assert_null(messages.list[0].target);
        request_messages_close(&messages);
    }
}

TEST(body_from_a_file_is_sent_unchanged) {
    struct request_messages messages = {0};
    char data[300];
    tree_new();
    snprintf(data, sizeof data, "@%s", tree_write("body", body));
    assert_int_equal(request_messages_open(&messages, NULL, data, NULL), 0);
    assert_int_equal(messages.list[0].body_size, 8);
    assert_memory_equal(messages.list[0].body, body, 8);
    request_messages_close(&messages);
}

TEST(invalid_methods_and_bodies_are_refused) {
    static const char *const rows[][3] = {
        {"", NULL, "--method: '' is not an HTTP method"},
        {"GET /x", NULL, "--method: 'GET /x' is not an HTTP method"},
        {"CONNECT", NULL, "--method: CONNECT is for proxies"},
        {"HEAD", "x", "--data has no effect with --method HEAD"},
        {NULL, "@/nowhere/x", "--data: cannot read /nowhere/x: No such file"},
        {NULL, "@/tmp", "--data: cannot read /tmp: Is a directory"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct request_messages messages = {0};
        struct ss_error error = {0};
        assert_int_equal(request_messages_open(&messages, rows[i][0], rows[i][1], &error), -1);
        assert_says(error.message, rows[i][2]);
        request_messages_close(&messages);
    }
}

TEST(invalid_headers_are_refused) {
    static const char *const wrong[] = {"", "X", ": x", "X y: z", "X: a\r\nY: b", "X;y"};
    struct request_messages messages = {0};
    assert_int_equal(request_messages_add_header(&messages, "Authorization: Bearer x", NULL), 0);
    assert_int_equal(request_messages_add_header(&messages, "X-Empty;", NULL), 0);
    assert_int_equal(request_messages_add_header(&messages, "User-Agent:", NULL), 0);
    assert_int_equal(messages.header_count, 3);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ss_error error = {0};
        assert_int_equal(request_messages_add_header(&messages, wrong[i], &error), -1);
        assert_says(error.message, "is not a header");
    }
}

static void read_text(struct request_messages *messages, const char *text) {
    struct ss_error error = {0};
    *messages = (struct request_messages){0};
    assert_succeeds(request_messages_read(messages, tree_write("requests", text), &error), error);
}

TEST(message_file_with_paths_is_read) {
    struct request_messages messages;
    char text[1024];
    tree_new();
    const char *body_path = tree_write("body", body);
    snprintf(text, sizeof text,
        "# a comment\n\nGET /\nPOST /items?x=1#top @%s\r\nPUT '/items/2' '@%s'\nHEAD /x", body_path,
        body_path);
    read_text(&messages, text);
    assert_int_equal(messages.count, 4);
    assert_int_equal(messages.origin_count, 0);
    assert_string_equal(messages.list[0].target, "/");
    assert_null(messages.list[0].body);
    assert_string_equal(messages.list[1].target, "/items?x=1");
    assert_int_equal(messages.list[1].body_size, 8);
    assert_ptr_equal(messages.list[2].body, messages.list[1].body);
    assert_string_equal(messages.list[2].method, "PUT");
    assert_string_equal(messages.list[3].method, "HEAD");
    request_messages_close(&messages);
}

TEST(message_file_with_urls_lists_its_hosts) {
    struct request_messages messages;
    tree_new();
    read_text(
        &messages, "GET http://a:80/x\nGET https://b\nGET http://a:80/y?z\nGET http://a:80?q\n");
    assert_int_equal(messages.count, 4);
    assert_int_equal(messages.origin_count, 2);
    assert_string_equal(messages.origins[0], "http://a:80");
    assert_string_equal(messages.origins[1], "https://b");
    assert_int_equal(messages.order[0], 0);
    assert_int_equal(messages.order[1], 1);
    assert_int_equal(messages.order[2], 0);
    assert_string_equal(messages.list[0].target, "/x");
    assert_string_equal(messages.list[1].target, "/");
    assert_string_equal(messages.list[2].target, "/y?z");
    assert_string_equal(messages.list[3].target, "/?q");
    request_messages_close(&messages);
}

TEST(bad_message_lines_are_refused_with_their_number) {
    static const char *const all[][2] = {
        {"GET\n", "line 1: expected METHOD URL-or-PATH [@BODYFILE]"},
        {"GET /\nGET / x\n", "line 2: expected METHOD URL-or-PATH"},
        {"GET / @a b\n", "line 1: expected METHOD"},
        {"GET items\n", "line 1: 'items' is neither a URL nor a path"},
        {"GET /\nGET http://a/\n", "line 2: the file mixes paths and URLs"},
        {"GET http://a/\nGET /\n", "line 2: the file mixes paths and URLs"},
        {"G(T /\n", "line 1: 'G(T' is not an HTTP method"},
        {"GET '/a b'\n", "line 1: '/a b' contains a byte that is not allowed in a URL: use %20"},
        {"POST / @/nowhere/x\n", "line 1: cannot read /nowhere/x: No such file"},
        {"HEAD / @/nowhere/x\n", "line 1: HEAD requests have no body"},
        {"GET '/\n", "line 1: "},
        {"# nothing\n", "the file contains no requests"},
    };
    tree_new();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct request_messages messages = {0};
        struct ss_error error = {0};
        const char *path = tree_write("requests", all[i][0]);
        assert_int_equal(request_messages_read(&messages, path, &error), -1);
        assert_says(error.message, all[i][1]);
        request_messages_close(&messages);
    }
}

UNIT_RUN
