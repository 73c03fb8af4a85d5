/* SPDX-License-Identifier: Apache-2.0 */
#include "targets.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/owned.h"
#include "base/words.h"
#include "local_socket.h"
#include "show.h"

void ssrequest_targets_free(struct ssrequest_targets *targets) {
    for (uint32_t i = 0; i < targets->count; i++) {
        curl_url_cleanup(targets->list[i].url);
        free(targets->list[i].lookup_error);
    }
    free(targets->list);
    curl_slist_free_all(targets->addresses);
    *targets = (struct ssrequest_targets){0};
}

#define URL_FORMS "http://HOST[:PORT]/PATH or https://"

static int refuse_url(
    const char *url, const char *why, const char *instead, struct ss_error *error) {
    SS_OWNED(free) char *shown = request_show_url(url);
    return ss_error_fail(
        error, "'%s': %s: use %s", ss_words_show(shown ? shown : "the URL").text, why, instead);
}

static bool has_prefix(const char *text, const char *with) {
    return strncasecmp(text, with, strlen(with)) == 0;
}

/* Returns "HOST:PORT:ADDRESS,ADDRESS" for CURLOPT_RESOLVE, for the caller to free. */
static char *write_addresses(const char *host, const char *port, const struct addrinfo *found) {
    char *line = NULL;
    size_t size;
    FILE *stream = open_memstream(&line, &size);
    if (!stream)
        return NULL;

    fprintf(stream, "%s:%s:", host, port);
    for (const struct addrinfo *at = found; at; at = at->ai_next) {
        char text[NI_MAXHOST];
        if (getnameinfo(at->ai_addr, at->ai_addrlen, text, sizeof text, NULL, 0, NI_NUMERICHOST))
            continue;
        bool six = at->ai_family == AF_INET6;
        fprintf(stream, "%s%s%s%s", at == found ? "" : ",", six ? "[" : "", text, six ? "]" : "");
    }

    fclose(stream);
    return line;
}

static int add_addresses(
    struct ssrequest_targets *targets, const char *line, struct ss_error *error) {
    struct curl_slist *longer = line ? curl_slist_append(targets->addresses, line) : NULL;
    if (!longer)
        return ss_error_memory(error);
    targets->addresses = longer;
    return 0;
}

static int look_up(struct ssrequest_targets *targets, struct ssrequest_target *target,
    const char *host, const char *port, struct ss_error *error) {
    struct addrinfo *found = NULL;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};

    if (strcasecmp(host, "localhost") == 0) {
        /* The addresses of RFC 6761: /etc/hosts may be missing, or lack the one in use. */
        char local[64];
        snprintf(local, sizeof local, "localhost:%s:127.0.0.1,[::1]", port);
        return add_addresses(targets, local, error);
    }

    int why = getaddrinfo(host, NULL, &hints, &found);
    if (why) {
        const char *reason = why == EAI_SYSTEM ? strerror(errno) : gai_strerror(why);
        if (asprintf(&target->lookup_error, "%s: %s", ss_words_show(host).text, reason) < 0) {
            target->lookup_error = NULL;
            return ss_error_memory(error);
        }
        return 0;
    }

    SS_OWNED(free) char *line = write_addresses(host, port, found);
    freeaddrinfo(found);
    return add_addresses(targets, line, error);
}

static CURLUcode parse_url(CURLU *url, const char *text, char **host, char **port) {
    if (!url)
        return CURLUE_OUT_OF_MEMORY;
    CURLUcode why = curl_url_set(url, CURLUPART_URL, text, 0);
    if (!why)
        why = curl_url_get(url, CURLUPART_HOST, host, 0);
    if (!why)
        why = curl_url_get(url, CURLUPART_PORT, port, CURLU_DEFAULT_PORT);
    return why;
}

/* Parses the URL with libcurl, and looks up its host if that is a name. */
static int parse_target(struct ssrequest_targets *targets, struct ssrequest_target *target,
    const char *text, struct ss_error *error) {
    char *host = NULL, *port = NULL;

    target->tls = has_prefix(text, "https://");
    if (!target->tls && !has_prefix(text, "http://"))
        return refuse_url(text, "not an HTTP URL", URL_FORMS, error);
    bool has_tls = curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_SSL;
    if (target->tls && !has_tls)
        return refuse_url(text, "this libcurl was built without TLS", "http://", error);

    target->url = curl_url();
    CURLUcode why = parse_url(target->url, text, &host, &port);

    struct in_addr address;
    int result = 0;
    if (why)
        result = refuse_url(text, curl_url_strerror(why), URL_FORMS, error);
    else if (!targets->socket && *host != '[' && inet_pton(AF_INET, host, &address) != 1)
        result = look_up(targets, target, host, port, error);

    curl_free(host);
    curl_free(port);
    return result;
}

int ssrequest_targets_make(const char *const *urls, uint32_t count, const char *socket,
    struct ssrequest_targets *targets, struct ss_error *error) {
    *targets = (struct ssrequest_targets){0};
    if (socket && local_socket_check(socket, error) < 0)
        return -1;
    *targets = (struct ssrequest_targets){
        .list = calloc(count, sizeof *targets->list), .count = count, .socket = socket};
    if (!targets->list)
        return ss_error_memory(error);

    for (uint32_t i = 0; i < count; i++) {
        if (parse_target(targets, &targets->list[i], urls[i], error) < 0) {
            ssrequest_targets_free(targets);
            return -1;
        }
    }
    return 0;
}

static size_t resolve(const char *host, const char *port,
    struct service_address addresses[SSREQUEST_ADDRESSES_MAX], size_t count) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    if (getaddrinfo(host, port, &hints, &found))
        return count;

    for (const struct addrinfo *at = found; at && count < SSREQUEST_ADDRESSES_MAX;
         at = at->ai_next) {
        memcpy(&addresses[count].socket, at->ai_addr, at->ai_addrlen);
        addresses[count++].length = at->ai_addrlen;
    }

    freeaddrinfo(found);
    return count;
}

size_t ssrequest_target_addresses(const struct ssrequest_target *target,
    struct service_address addresses[SSREQUEST_ADDRESSES_MAX]) {
    char *host = NULL, *port = NULL;
    size_t count = 0;

    if (curl_url_get(target->url, CURLUPART_HOST, &host, 0) == 0 &&
        curl_url_get(target->url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == 0) {
        host[strcspn(host, "]")] = '\0';
        if (strcasecmp(host, "localhost") == 0)
            count = resolve("::1", port, addresses, resolve("127.0.0.1", port, addresses, 0));
        else
            count = resolve(host + (*host == '['), port, addresses, 0);
    }

    curl_free(host);
    curl_free(port);
    return count;
}
