/* SPDX-License-Identifier: Apache-2.0 */
#include "wait.h"

#include <curl/curl.h>
#include <signal.h>
#include <string.h>

#include "base/end_signals.h"
#include "base/units.h"
#include "keeper/signals.h"
#include "platform/platform.h"

#define PAUSE (20 * SS_MILLISECOND)

/* The timeout of an attempt. Without it, a dropped first packet would use up the whole time. */
#define ATTEMPT_TIMEOUT SS_SECOND

struct attempts {
    CURL *easy;
    CURLU *url;
};

/*
 * Changes the URL to plain HTTP: an open port is enough here, and the TLS options apply only to the
 * requests of the run.
 */
static bool use_plain_http(CURLU *url) {
    char *port = NULL;
    bool done =
        curl_url_set(url, CURLUPART_PASSWORD, NULL, 0) == 0 && /* messages contain the URL */
        curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == 0 &&
        curl_url_set(url, CURLUPART_PORT, port, 0) == 0 &&
        curl_url_set(url, CURLUPART_SCHEME, "http", 0) == 0;

    curl_free(port);
    return done;
}

static bool begin_attempts(struct attempts *attempts, const struct ssrequest_targets *targets,
    const struct ssrequest_target *target) {
    attempts->easy = curl_easy_init();
    attempts->url = curl_url_dup(target->url);

    if (!attempts->easy || !attempts->url || !use_plain_http(attempts->url) ||
        curl_easy_setopt(attempts->easy, CURLOPT_UNIX_SOCKET_PATH, targets->socket) ||
        curl_easy_setopt(attempts->easy, CURLOPT_CURLU, attempts->url))
        return false;

    curl_easy_setopt(attempts->easy, CURLOPT_RESOLVE, targets->addresses);
    curl_easy_setopt(attempts->easy, CURLOPT_PROXY, "");
    curl_easy_setopt(attempts->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(attempts->easy, CURLOPT_CONNECT_ONLY, 1L);
    return true;
}

int ssrequest_pause(ss_time time) {
    const struct timespec pause = {.tv_nsec = (long)time};
    sigset_t set;
    ss_end_signals(&set);
    int number = sigtimedwait(&set, NULL, &pause);
    return number > 0 ? number : 0;
}

static int refuse(const struct attempts *attempts, ss_time patience, struct ss_error *error) {
    long why = 0;
    char *url = NULL;
    char time[SS_UNITS_TEXT_SIZE];

    curl_easy_getinfo(attempts->easy, CURLINFO_OS_ERRNO, &why);
    curl_url_get(attempts->url, CURLUPART_URL, &url, 0);

    ss_units_show_time(time, patience);
    ss_error_fail(error, "--wait-for: %s did not accept a connection within %s%s%s",
        url ? url : "the URL", time, why ? ": " : "", why ? strerror((int)why) : "");

    curl_free(url);
    return -1;
}

static int wait_for_target(
    const struct attempts *attempts, ss_time begin, ss_time patience, struct ss_error *error) {
    ss_time left = patience;
    do {
        ss_time limit = ssrequest_earlier(left, ATTEMPT_TIMEOUT) / SS_MILLISECOND;
        curl_easy_setopt(attempts->easy, CURLOPT_CONNECTTIMEOUT_MS, limit > 0 ? (long)limit : 1L);
        if (curl_easy_perform(attempts->easy) == CURLE_OK)
            return 0;

        ss_time passed = ss_time_since(ss_platform_now(), begin);
        left = passed < patience ? patience - passed : 0;

        int number = ssrequest_pause(ssrequest_earlier(left, PAUSE));
        if (number > 0)
            ss_signals_raise_default(number);
    } while (left > 0);
    return refuse(attempts, patience, error);
}

int ssrequest_wait_for_targets(
    const struct ssrequest_targets *targets, ss_time patience, struct ss_error *error) {
    ss_time begin = ss_platform_now();
    for (uint32_t i = 0; i < targets->count; i++) {
        struct attempts attempts = {0};
        if (targets->list[i].lookup_error)
            continue;

        int result = begin_attempts(&attempts, targets, &targets->list[i])
                         ? wait_for_target(&attempts, begin, patience, error)
                         : ss_error_memory(error);
        curl_easy_cleanup(attempts.easy);
        curl_url_cleanup(attempts.url);
        if (result < 0)
            return -1;
    }
    return 0;
}

/* Pauses are short, so that a change of the wall clock is noticed. */
int ssrequest_wait_until(int64_t time) {
    int64_t left;
    int number = ssrequest_pause(0); /* a signal may be pending */
    while (number == 0 && (left = time - ss_platform_wallclock()) > 0)
        number = ssrequest_pause(ssrequest_earlier((ss_time)left, SS_SECOND / 2));
    return number;
}
