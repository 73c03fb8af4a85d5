/* SPDX-License-Identifier: Apache-2.0 */
#include "generator_control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "base/owned.h"
#include "base/words.h"

/* Time limit for an answer of ssrequest. */
static const struct timeval patience = {.tv_sec = 2};

static int send_all(int connection, const char *text) {
    for (size_t left = strlen(text); left > 0;) {
        ssize_t sent = send(connection, text, left, MSG_NOSIGNAL);
        if (sent < 0)
            return -errno;
        text += sent;
        left -= (size_t)sent;
    }
    return 0;
}

/* Receives a line and drops its newline. */
static int receive_line(int connection, char *line, size_t size) {
    size_t used = 0;

    while (used + 1 < size) {
        ssize_t length = recv(connection, line + used, size - used - 1, 0);
        if (length <= 0)
            return length == 0 ? -ECONNRESET : -errno;
        used += (size_t)length;
        line[used] = '\0';
        char *end = strchr(line, '\n');
        if (end) {
            *end = '\0';
            return 0;
        }
    }

    return -EMSGSIZE;
}

/* Sends a line and receives the answer. Returns -ENOENT if no program is listening. */
static int ask(const char *path, const char *line, char *answer, size_t size) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    *answer = '\0';

    if (strlen(path) >= sizeof address.sun_path)
        return -ENAMETOOLONG;
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);

    SS_OWNED(close) int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection < 0 ||
        setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) < 0 ||
        setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) < 0)
        return -errno;
    if (connect(connection, (const struct sockaddr *)&address, sizeof address) < 0)
        return errno == ECONNREFUSED ? -ENOENT : -errno;

    int status = send_all(connection, line);
    return status < 0 ? status : receive_line(connection, answer, size);
}

int ssactuate_generator_set_urls(const char *path, const char *urls, char *answer, size_t size) {
    SS_OWNED(free) char *line = ss_words_format(NULL, "urls %s\n", urls);
    if (!line)
        return -ENOMEM;
    int status = ask(path, line, answer, size);
    if (status < 0)
        *answer = '\0';
    return status < 0 || strcmp(answer, "ok") == 0 ? status : -EINVAL;
}

int64_t ssactuate_generator_find_unfinished(const char *answer, const char *url) {
    static const char name[] = " unfinished_of=";
    size_t length = strlen(url);

    if (strncmp(answer, "ok ", 3) != 0)
        return strcmp(answer, "error: the run is over") == 0 ? 0 : -EINVAL;

    for (const char *at = strstr(answer, name); at; at = strstr(at + 1, name)) {
        char *comma;
        long long count = strtoll(at + sizeof name - 1, &comma, 10);
        if (*comma != ',' || count < 0)
            return -EINVAL;
        if (strncmp(comma + 1, url, length) == 0 &&
            (comma[length + 1] == ' ' || comma[length + 1] == '\0'))
            return count;
    }

    return strstr(answer, " left_out=") ? -EINVAL : 0;
}

int ssactuate_generator_status(const char *path, char answer[SSACTUATE_STATUS_SIZE]) {
    return ask(path, "status\n", answer, SSACTUATE_STATUS_SIZE);
}
