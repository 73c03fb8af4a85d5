/* SPDX-License-Identifier: Apache-2.0 */
#include "messages.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/owned.h"
#include "base/words.h"
#include "show.h"

#define BODY_MAX   (64 * 1024 * 1024) /* bytes */
#define METHOD_MAX 31                 /* bytes */

/* How many previous messages are searched for a body from the same file. */
#define SHARED_WITHIN 64

/* Characters of methods and header names: "token" in RFC 9110. */
static const char token_bytes[] =
    "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

static int read_stream(
    FILE *stream, const char *name, char **bytes, size_t *size, struct ss_error *error) {
    size_t room = 0;
    *size = 0;
    for (;;) {
        if (!SS_GROW(*bytes, *size + 4096, room))
            return ss_error_memory(error);
        size_t length = fread(*bytes + *size, 1, room - *size, stream);
        *size += length;
        if (length == 0)
            return ferror(stream)
                       ? ss_error_fail(error, "cannot read %s: %s", name, strerror(errno))
                       : 0;
        if (*size > BODY_MAX)
            return ss_error_fail(error, "%s: the body is larger than 64 MiB", name);
    }
}

/* `name` is that of the stream, which is NULL if it could not be opened, for messages. */
static int take_body(
    struct request_message *message, FILE *stream, const char *name, struct ss_error *error) {
    int result = stream ? read_stream(stream, name, &message->own_body, &message->body_size, error)
                        : ss_error_fail(error, "cannot read %s: %s", name, strerror(errno));
    message->body = message->own_body;
    return result;
}

static int read_body(struct request_message *message, const char *path, struct ss_error *error) {
    SS_OWNED(fclose) FILE *stream = fopen(path, "re");
    return take_body(message, stream, ss_words_show(path).text, error);
}

/* Sets the body from a file, or shares the body of a recent message from the same file. */
static int share_body(struct request_messages *messages, struct request_message *message,
    const char *path, struct ss_error *error) {
    size_t first = messages->count > SHARED_WITHIN ? messages->count - SHARED_WITHIN : 0;
    message->body_path = strdup(path);
    if (!message->body_path)
        return ss_error_memory(error);

    for (size_t i = first; i < messages->count; i++) {
        const struct request_message *before = &messages->list[i];
        if (before->body_path && strcmp(before->body_path, path) == 0) {
            message->body = before->body;
            message->body_size = before->body_size;
            return 0;
        }
    }

    return read_body(message, path, error);
}

/* Sets an empty body if the method usually has one, because servers then expect Content-Length. */
static void add_empty_body(struct request_message *message) {
    static const char *const methods[] = {"POST", "PUT", "PATCH"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (!message->body && strcmp(message->method, methods[i]) == 0)
            message->body = "";
    }
}

static int take_method(
    struct request_message *message, const char *method, struct ss_error *error) {
    size_t length = strlen(method);
    if (length == 0 || length > METHOD_MAX || strspn(method, token_bytes) < length)
        return ss_error_fail(error, "'%s' is not an HTTP method: use GET, POST or another one",
            ss_words_show(method).text);
    if (strcmp(method, "CONNECT") == 0)
        return ss_error_fail(error,
            "CONNECT is for proxies, but requests go to the service itself: choose another method");
    message->method = strdup(method);
    return message->method ? 0 : ss_error_memory(error);
}

static struct request_message *add_message(
    struct request_messages *messages, struct ss_error *error) {
    if (!SS_GROW(messages->list, messages->count + 1, messages->room) ||
        !SS_GROW(messages->order, messages->count + 1, messages->order_room)) {
        ss_error_memory(error);
        return NULL;
    }
    struct request_message *message = &messages->list[messages->count];
    *message = (struct request_message){0};
    return message;
}

/* Counts a message even if it is incomplete, so that request_messages_close() frees its parts. */
static int count_message(struct request_messages *messages, int result) {
    messages->count++;
    return result;
}

static int fill_from_options(
    struct request_message *message, const char *method, const char *data, struct ss_error *error) {
    if (!method)
        method = data ? "POST" : "GET";
    if (take_method(message, method, error) < 0)
        return ss_error_wrap(error, "--method");

    if (data && data[0] == '@') {
        bool standard = strcmp(data, "@-") == 0;
        if ((standard ? take_body(message, stdin, "standard input", error)
                      : read_body(message, data + 1, error)) < 0)
            return ss_error_wrap(error, "--data");
    } else if (data) {
        message->body = data;
        message->body_size = strlen(data);
    }

    if (message->body && strcmp(message->method, "HEAD") == 0)
        return ss_error_fail(
            error, "--data has no effect with --method HEAD, which has no body: leave out --data");

    add_empty_body(message);
    return 0;
}

int request_messages_open(struct request_messages *messages, const char *method, const char *data,
    struct ss_error *error) {
    struct request_message *message = add_message(messages, error);
    if (!message)
        return -1;
    return count_message(messages, fill_from_options(message, method, data, error));
}

/* Returns the end of "http://HOST:PORT" in a URL, which must contain "://". */
static const char *end_of_origin(const char *url) {
    const char *host = strstr(url, "://") + 3;
    return host + strcspn(host, "/?#");
}

static int find_or_add_origin(
    struct request_messages *messages, const char *url, uint32_t *number, struct ss_error *error) {
    size_t length = (size_t)(end_of_origin(url) - url);
    for (*number = 0; *number < messages->origin_count; ++*number) {
        const char *origin = messages->origins[*number];
        if (strlen(origin) == length && memcmp(origin, url, length) == 0)
            return 0;
    }

    if (messages->origin_count == REQUEST_TARGETS_MAX)
        return ss_error_fail(error, "too many hosts (at most %d)", REQUEST_TARGETS_MAX);

    char *origin = strndup(url, length);
    if (!origin)
        return ss_error_memory(error);
    messages->origins[messages->origin_count++] = origin;
    return 0;
}

/* Sets the target of the request line: path and query, without the fragment. */
static int take_target(struct request_message *message, const char *text, struct ss_error *error) {
    size_t length = strcspn(text, "#");
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] <= ' ' || (unsigned char)text[i] >= 0x7f)
            return ss_error_fail(error,
                "'%s' contains a byte that is not allowed in a URL: use %%%02X",
                ss_words_show(text).text, (unsigned char)text[i]);
    }

    message->target =
        ss_words_format(error, "%s%.*s", text[0] == '/' ? "" : "/", (int)length, text);
    return message->target ? 0 : -1;
}

static int take_place(struct request_messages *messages, struct request_message *message,
    const char *word, struct ss_error *error) {
    bool is_path = word[0] == '/', begins = messages->count == 0;

    if (!is_path && !strstr(word, "://")) {
        SS_OWNED(free) char *shown = request_show_url(word);
        return ss_error_fail(error,
            "'%s' is neither a URL nor a path: use http://HOST/PATH or /PATH",
            ss_words_show(shown ? shown : "the word").text);
    }

    if (!begins && is_path == (messages->origin_count > 0))
        return ss_error_fail(error, "the file mixes paths and URLs: use only paths or only URLs");

    messages->order[messages->count] = 0;
    if (!is_path &&
        find_or_add_origin(messages, word, &messages->order[messages->count], error) < 0)
        return -1;
    return take_target(message, is_path ? word : end_of_origin(word), error);
}

static int take_words(struct request_messages *messages, struct request_message *message,
    char **words, struct ss_error *error) {
    if (!words[1] || (words[2] && (words[2][0] != '@' || words[3])))
        return ss_error_fail(error, "expected METHOD URL-or-PATH [@BODYFILE]");

    if (take_method(message, words[0], error) < 0 ||
        take_place(messages, message, words[1], error) < 0)
        return -1;

    if (words[2] && strcmp(message->method, "HEAD") == 0)
        return ss_error_fail(error, "HEAD requests have no body: remove @BODYFILE");
    if (words[2] && share_body(messages, message, words[2] + 1, error) < 0)
        return -1;

    add_empty_body(message);
    return 0;
}

static int take_line(struct request_messages *messages, const char *line, struct ss_error *error) {
    size_t count;
    SS_OWNED(free) char **words = ss_words_split(line, &count, error);
    if (!words)
        return -1;
    if (count == 0)
        return 0;

    struct request_message *message = add_message(messages, error);
    if (!message)
        return -1;
    return count_message(messages, take_words(messages, message, words, error));
}

static int take_lines(struct request_messages *messages, FILE *stream, struct ss_error *error) {
    SS_OWNED(free) char *line = NULL;
    size_t room = 0;
    ssize_t length;

    for (unsigned number = 1; (length = getline(&line, &room, stream)) >= 0; number++) {
        while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r'))
            line[--length] = '\0';
        if (strlen(line) < (size_t)length)
            return ss_error_fail(error, "line %u contains a null byte", number);
        if (take_line(messages, line, error) < 0)
            return ss_error_wrap(error, "line %u", number);
    }

    if (ferror(stream))
        return ss_error_fail(error, "cannot read the file: %s", strerror(errno));

    if (messages->count == 0)
        return ss_error_fail(
            error, "the file contains no requests: put METHOD URL-or-PATH on each line");
    return 0;
}

int request_messages_read(
    struct request_messages *messages, const char *path, struct ss_error *error) {
    SS_OWNED(fclose) FILE *stream = fopen(path, "re");
    messages->file = path;
    if (!stream)
        return ss_error_fail(error, "--requests-file: cannot read %s: %s", ss_words_show(path).text,
            strerror(errno));
    if (take_lines(messages, stream, error) < 0)
        return ss_error_wrap(error, "--requests-file: %s", ss_words_show(path).text);
    return 0;
}

int request_messages_add_header(
    struct request_messages *messages, const char *header, struct ss_error *error) {
    size_t name = strspn(header, token_bytes);
    bool is_empty = header[name] == ';' && header[name + 1] == '\0';
    if (name == 0 || (header[name] != ':' && !is_empty) || strpbrk(header, "\r\n"))
        return ss_error_fail(error, "'%.*s%s' is not a header: use 'Name: value'",
            (int)(name < 40 ? name : 40), header,
            header[name] ? "..." : ""); /* a value may be secret */

    if (messages->header_count == REQUEST_HEADERS_MAX)
        return ss_error_fail(error, "too many headers (at most %d)", REQUEST_HEADERS_MAX);
    messages->headers[messages->header_count++] = header;
    return 0;
}

void request_messages_close(struct request_messages *messages) {
    for (size_t i = 0; i < messages->count; i++) {
        free(messages->list[i].method);
        free(messages->list[i].target);
        free(messages->list[i].body_path);
        free(messages->list[i].own_body);
    }
    for (uint32_t i = 0; i < messages->origin_count; i++)
        free(messages->origins[i]);

    free(messages->list);
    free(messages->order);
    *messages = (struct request_messages){0};
}
