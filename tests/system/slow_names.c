/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Preloaded into ssrequest, replaces name resolution: slow.test resolves to this machine once a
 * process has opened the FIFO SS_TEST_NAMES for writing; no other name has an address.
 */

#include <fcntl.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

static struct sockaddr_in here = {.sin_family = AF_INET};
static struct addrinfo answer = {.ai_family = AF_INET,
    .ai_socktype = SOCK_STREAM,
    .ai_addrlen = sizeof here,
    .ai_addr = (struct sockaddr *)&here};

PUBLIC int getaddrinfo(const char *restrict host, const char *restrict service,
    const struct addrinfo *restrict hints, struct addrinfo **restrict found) {
    (void)service, (void)hints;
    if (strcmp(host, "slow.test") != 0)
        return EAI_NONAME;
    int file = open(getenv("SS_TEST_NAMES"), O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return EAI_FAIL;
    close(file);
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *found = &answer;
    return 0;
}

PUBLIC void freeaddrinfo(struct addrinfo *found) {
    (void)found;
}
