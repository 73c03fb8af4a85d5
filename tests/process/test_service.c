/* SPDX-License-Identifier: Apache-2.0 */

/* Finds services and measures their CPU time. The services are small servers, forked here. */

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#include "base/grow.h"
#include "family.h"
#include "kin.h"
#include "platform/platform.h"
#include "proc_tree.h"
#include "process.h"
#include "run.h"
#include "sandbox.h"
#include "service_usage.h"
#include "service_work.h"

#define WORK (200 * SS_MILLISECOND) /* CPU time of a request */

/* A measurement may miss this much: more than the resolution of its clocks, less than a request. */
#define LOST (60 * SS_MILLISECOND)

/* Readings enough to look at all processes of a usual machine. */
#define READINGS 500

enum order {
    ORDER_WORK = 'w',  /* works, then answers */
    ORDER_CHILD = 'c', /* starts a child that works, and waits for it */
    ORDER_START = 's', /* starts a child that works for ever */
};

static struct shared {
    uint16_t port;
    pid_t child;
} * shared;

static int listener;
static struct service service;

static ss_time own_time(void) {
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (ss_time)used.tv_sec * SS_SECOND + (ss_time)used.tv_nsec;
}

static void work(ss_time time) {
    ss_time begin = own_time();
    while (own_time() - begin < time) {
    }
}

static pid_t fork_worker(ss_time time) {
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        kin_begin(parent);
        work(time);
        _exit(0);
    }
    return child;
}

static void carry_out(char order) {
    pid_t child;
    switch (order) {
    case ORDER_WORK:
        work(WORK);
        break;
    case ORDER_CHILD:
        child = fork_worker(WORK);
        waitpid(child, NULL, 0);
        break;
    case ORDER_START:
        shared->child = fork_worker(SS_TIME_NEVER);
        break;
    default:
        break;
    }
}

_Noreturn static void serve(void) {
    for (;;) {
        char order;
        int connection = accept(listener, NULL, NULL);
        while (connection >= 0 && read(connection, &order, 1) == 1) {
            carry_out(order);
            if (write(connection, &order, 1) != 1)
                _exit(1);
        }
        close(connection);
    }
}

static void listen_at(const struct sockaddr *address, socklen_t length) {
    listener = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, address, length) < 0 || listen(listener, 5) < 0)
        _exit(98);
}

static struct sockaddr_in loopback(uint16_t port) {
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
}

static void listen_on_port(void) {
    struct sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    listen_at((const struct sockaddr *)&address, length);
    getsockname(listener, (struct sockaddr *)&address, &length);
    shared->port = ntohs(address.sin_port);
}

/* Listens, and starts two workers that serve. */
static void lead(void) {
    pid_t parent = getpid();
    listen_on_port();
    for (int i = 0; i < 2; i++) {
        if (fork() == 0) {
            kin_begin(parent);
            close(kin_gate[1]);
            serve();
        }
    }
}

static pid_t start(void (*act)(void)) {
    shared = kin_share(sizeof *shared);
    return kin_start(act);
}

static int find(const struct sockaddr *address, socklen_t length, struct ss_error *error) {
    const struct service_selector of = {.kind = SERVICE_OF_URL};
    struct service_address served = {.length = length};
    memcpy(&served.socket, address, length);
    return service_find(&service, &of, &served, 1, NULL, error);
}

static int find_port(struct ss_error *error) {
    struct sockaddr_in address = loopback(shared->port);
    return find((const struct sockaddr *)&address, sizeof address, error);
}

/* Fails unless the service is the tree of this process. */
static void expect_root(int result, const struct ss_error *error, pid_t root) {
    ck_assert_msg(result == 0, "%s", error->message);
    ck_assert_uint_eq(service.roots.count, 1);
    ck_assert_int_eq(service.roots.items[0], root);
}

static struct service_usage *open_usage(pid_t root) {
    struct service of = {.roots = {.items = &root, .count = 1}};
    struct ss_error error = {0};
    struct service_usage *usage = service_usage_open(&of, 2, 2, NULL, &error);
    ck_assert_msg(usage != NULL, "%s", error.message);
    return usage;
}

static uint64_t read_used(struct service_usage *usage) {
    struct ss_counters counters;
    ck_assert_int_eq(service_usage_read(usage, &counters), 0);
    return counters.used;
}

/* Sends a request. Returns the connection. */
static int send_order(char what) {
    struct sockaddr_in address = loopback(shared->port);
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(connect(client, (const struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(write(client, &what, 1), 1);
    return client;
}

static void order(char what) {
    char answer;
    int client = send_order(what);
    ck_assert_int_eq(read(client, &answer, 1), 1);
    close(client);
}

TEST_CASE(a_forking_server_is_found_and_measured) {
    struct ss_error error = {0};
    pid_t leader = start(lead);
    expect_root(find_port(&error), &error, leader);
    struct service_usage *usage = open_usage(leader);
    uint64_t begin = read_used(usage);
    order(ORDER_WORK);
    order(ORDER_WORK);
    uint64_t used = read_used(usage) - begin;
    ck_assert_uint_ge(used, 2 * WORK - LOST);
    ck_assert_uint_le(used, 3 * WORK);
    service_usage_close(usage);
    service_free(&service);
}

TEST_CASE(children_between_two_readings_count) {
    struct ss_counters first, last;
    struct service_usage *usage = open_usage(start(lead));
    ck_assert_int_eq(service_usage_read(usage, &first), 0);
    order(ORDER_CHILD);
    order(ORDER_CHILD);
    ck_assert_int_eq(service_usage_read(usage, &last), 0);
    ck_assert_uint_ge(last.grain, 10 * SS_MILLISECOND); /* that of waited-for times */
    ck_assert_uint_le(first.grain, last.grain);
    uint64_t used = last.used - first.used;
    ck_assert_uint_ge(used, 2 * WORK - LOST);
    ck_assert_uint_le(used, 3 * WORK);
    service_usage_close(usage);
}

TEST_CASE(new_descendants_are_found) {
    char text[64];
    pid_t leader = start(lead);
    struct service_usage *usage = open_usage(leader);
    service_usage_describe(usage, text, sizeof text);
    ck_assert_str_eq(text, "clocks of 3 processes");
    uint64_t begin = read_used(usage);
    order(ORDER_START);
    RUN_UNTIL(NULL, ss_platform_process_cpu_time(shared->child) > WORK);
    ck_assert_uint_ge(read_used(usage) - begin, WORK - LOST);
    /* It does not count twice when it ends. */
    kill(shared->child, SIGKILL);
    RUN_UNTIL(NULL, run_state(shared->child) == 'Z');
    uint64_t ended = read_used(usage);
    order(ORDER_WORK);
    uint64_t used = read_used(usage) - ended;
    ck_assert_uint_ge(used, WORK - LOST);
    ck_assert_uint_le(used, 2 * WORK);
    service_usage_close(usage);
}

/* Times that a parent has waited for are rounded down: the sum falls when a child ends. */
TEST_CASE(used_time_never_falls) {
    struct service_usage *usage = open_usage(start(lead));
    uint64_t before = 0;
    for (int i = 0; i < 5; i++) {
        char answer;
        int client = send_order(ORDER_CHILD);
        while (recv(client, &answer, 1, MSG_DONTWAIT) != 1) {
            uint64_t used = read_used(usage);
            EXPECT(used >= before, "%g s after %g s", (double)used / 1e9, (double)before / 1e9);
            before = used;
        }
        uint64_t used = read_used(usage);
        ck_assert_uint_ge(used, before);
        before = used;
        close(client);
    }
    service_usage_close(usage);
}

static pid_t latest; /* instead of the pid that was assigned last; 0: the real one */

pid_t __real_ss_platform_pid_latest(void);
pid_t __wrap_ss_platform_pid_latest(void);
pid_t __wrap_ss_platform_pid_latest(void) {
    return latest ? latest : __real_ss_platform_pid_latest();
}

/* The latest pid is unknown, does not change, or is far beyond those that can be examined. */
TEST_CASE(new_descendants_are_found_whatever_the_latest_pid) {
    pid_t real = ss_platform_pid_latest();
    const pid_t latests[] = {-1, 5, real > 10000 ? real - 9000 : real + 9000};
    for (size_t i = 0; i < sizeof latests / sizeof *latests; i++) {
        struct service_usage *usage = open_usage(start(lead));
        latest = latests[i] == latests[2] ? real : latests[i];
        read_used(usage);
        order(ORDER_START);
        uint64_t begin = read_used(usage);
        latest = latests[i];
        RUN_UNTIL(NULL, read_used(usage) - begin > WORK);
        service_usage_close(usage);
    }
}

/* A service whose requests another process works on: here a child that does not descend from it. */
TEST_CASE(processes_behind_a_proxy_are_named) {
    struct service_work work = {0};
    struct service proxy = {0}, whole = {0};
    char text[256];
    struct proc_tree_name name = proc_tree_name(NULL, getpid());
    pid_t server = start(lead);
    service_work_sample(&work, 1 * SS_SECOND);
    service_work_sample(&work, 2 * SS_SECOND);
    order(ORDER_WORK);
    service_work_sample(&work, 3 * SS_SECOND);
    size_t kept = 0; /* what else runs on this machine may use more */
    for (size_t i = 0; i < work.count; i++) {
        if (proc_tree_is_below(NULL, work.items[i].pid, getpid()))
            work.items[kept++] = work.items[i];
    }
    work.count = kept;
    ck_assert(service_work_describe_others(&work, &proxy, 0.05, text, sizeof text));
    ck_assert_msg(strstr(text, name.text) != NULL, "%s", text);

    ck_assert(SS_GROW(whole.roots.items, 1, whole.roots.room));
    whole.roots.items[whole.roots.count++] = server;
    ck_assert(!service_work_describe_others(&work, &whole, 0.05, text, sizeof text));
    ck_assert(!service_work_describe_others(&work, &proxy, 1e6, text, sizeof text));
    service_free(&whole);
    service_work_free(&work);
    kin_end(server);
}

TEST_CASE(a_process_that_does_most_of_the_work_is_named) {
    struct service_work workers = {0};
    struct service none = {0};
    struct ss_error error = {0};
    char text[96] = "";
    pid_t server = start(lead);
    ck_assert_msg(find_port(&error) == 0, "%s", error.message);
    service_work_sample(&workers, 1 * SS_SECOND);
    order(ORDER_WORK);
    service_work_sample(&workers, 2 * SS_SECOND);
    ck_assert(service_work_describe_uneven(&workers, &service, text, sizeof text));
    ck_assert_msg(strstr(text, ") did ") && strstr(text, "% of the work of "), "%s", text);
    ck_assert(!service_work_describe_uneven(&workers, &none, text, sizeof text));
    service_work_free(&workers);
    service_free(&service);
    kin_end(server);
}

TEST_CASE(a_service_that_ends_is_reported) {
    struct ss_counters counters;
    pid_t leader = start(lead);
    struct service_usage *usage = open_usage(leader);
    read_used(usage);
    kin_end_unreaped(leader); /* its workers die with it */
    RUN_UNTIL(NULL, service_usage_read(usage, &counters) == -ESRCH);
    kin_reap(leader);
    ck_assert_int_eq(service_usage_read(usage, &counters), -ESRCH);
    service_usage_close(usage);
}

TEST_CASE(our_own_time_is_not_that_of_an_ancestor) {
    struct service_usage *usage = open_usage(getppid());
    for (int i = 0; i < READINGS; i++)
        read_used(usage);
    uint64_t begin = read_used(usage);
    work(WORK);
    ck_assert_uint_lt(read_used(usage) - begin, WORK / 2);
    service_usage_close(usage);
}

static struct sockaddr_un local = {.sun_family = AF_UNIX};

static void listen_at_path(void) {
    listen_at((const struct sockaddr *)&local, sizeof local);
}

TEST_CASE(a_renamed_unix_socket_is_found_by_a_connection) {
    struct ss_error error = {0};
    const char *folder = getenv("TMPDIR");
    char old[sizeof local.sun_path];
    snprintf(local.sun_path, sizeof local.sun_path, "%s/service-%d", folder ? folder : "/tmp",
        (int)getpid());
    pid_t server = start(listen_at_path);
    expect_root(find((const struct sockaddr *)&local, sizeof local, &error), &error, server);
    service_free(&service);

    strcpy(old, local.sun_path);
    strcat(local.sun_path, "x");
    ck_assert_int_eq(rename(old, local.sun_path), 0);
    int result = find((const struct sockaddr *)&local, sizeof local, &error);
    unlink(local.sun_path);
    expect_root(result, &error, server);
    service_free(&service);
}

/* Searches as another user. Returns whether the root was found, or refused with these words. */
static bool finds_as_nobody(pid_t root, const char *refusal) {
    int status;
    pid_t other = fork();
    if (other == 0) {
        struct ss_error error = {0};
        family_become_nobody();
        int result = find((const struct sockaddr *)&local, sizeof local, &error);
        bool right = refusal ? result < 0 && strstr(error.message, refusal)
                             : result == 0 && service.roots.items[0] == root;
        _exit(right ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(other, &status, 0), other);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void listen_and_leave(void) {
    listen_at_path();
    pid_t parent = getppid();
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, 0);
        close(kin_gate[1]);
        while (kill(parent, 0) == 0)
            poll(NULL, 0, 10);
    }
    _exit(0);
}

TEST_CASE(a_unix_server_of_another_user_is_found) {
    SKIP_UNLESS(geteuid() == 0 && family_can_become_nobody(), "root: cannot become another user");
    memset(local.sun_path, 0, sizeof local.sun_path);
    snprintf(local.sun_path + 1, sizeof local.sun_path - 1, "service-%d", (int)getpid());
    pid_t server = start(listen_at_path);
    ck_assert(finds_as_nobody(server, NULL));
    kin_end(server);
    server = start(listen_and_leave);
    kin_reap(server);
    ck_assert(finds_as_nobody(0, "cannot examine the process"));
}

static void listen_in_namespace(void) {
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(shared->port)};
    if (!sandbox_unshare(CLONE_NEWNET))
        _exit(PROCESS_SKIPPED);
    listen_at((const struct sockaddr *)&any, sizeof any);
}

static void choose_port(void) {
    shared = kin_share(sizeof *shared);
    listen_on_port();
    close(listener);
}

TEST_CASE(a_listener_in_another_network_namespace_is_found) {
    struct ss_error error = {0};
    choose_port();
    ck_assert_int_lt(find_port(&error), 0);
    ck_assert_msg(strstr(error.message, "no process listens") != NULL, "%s", error.message);
    error = (struct ss_error){0};
    pid_t server = kin_start(listen_in_namespace);
    SKIP_UNLESS(run_state(server) != 'Z', "namespaces: no network namespace can be made");
    expect_root(find_port(&error), &error, server);
    service_free(&service);
}

#define GROUP "/sys/fs/cgroup%s/showstopper-service-%d"

static char group[128];

static bool make_group(const char *hierarchy) {
    char mark[192];
    snprintf(mark, sizeof mark, "/sys/fs/cgroup%s/cgroup.controllers", hierarchy);
    snprintf(group, sizeof group, GROUP, hierarchy, (int)getpid());
    return access(mark, F_OK) == 0 && mkdir(group, 0755) == 0;
}

static void enter_group(void) {
    char path[192];
    snprintf(path, sizeof path, "%s/cgroup.procs", group);
    FILE *file = fopen(path, "we");
    if (!file || fputs("0\n", file) < 0 || fclose(file) != 0)
        _exit(99);
}

static void listen_in_group(void) {
    enter_group();
    listen_on_port();
}

/* Searches as another user. Returns the exit status: 0 if the group was found. */
static int find_as_nobody(const char *refusal) {
    int status;
    pid_t other = fork();
    if (other == 0) {
        struct ss_error error = {0};
        family_become_nobody();
        int result = find_port(&error);
        if (refusal)
            _exit(result < 0 && strstr(error.message, refusal) ? 0 : 1);
        _exit(result == 0 && strcmp(service.group, group) == 0 ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(other, &status, 0), other);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

TEST_CASE(a_server_of_another_user_is_found_by_its_group) {
    SKIP_UNLESS(geteuid() == 0 && family_can_become_nobody(), "root: cannot become another user");
    start(lead);
    ck_assert_int_eq(find_as_nobody("cannot examine the process"), 0);
    ck_assert_int_eq(find_as_nobody("user 0"), 0);
    SKIP_UNLESS(
        make_group("/unified") || make_group(""), "cgroup-v2: no control group can be created");
    pid_t server = start(listen_in_group);
    int result = find_as_nobody(NULL);
    kin_end(server);
    RUN_UNTIL(NULL, rmdir(group) == 0 || errno != EBUSY);
    ck_assert_int_eq(result, 0);
}

static void lead_in_group(void) {
    enter_group();
    lead();
}

TEST_CASE(the_group_of_a_service_is_measured) {
    char expected[192], text[256] = "";
    struct ss_error error = {0};
    struct ss_counters counters;
    uint64_t used = 0;
    SKIP_UNLESS(
        make_group("/unified") || make_group(""), "cgroup-v2: no control group can be created");
    pid_t server = start(lead_in_group);
    int result = find_port(&error);
    struct service_usage *usage =
        result == 0 ? service_usage_open(&service, 2, 2, NULL, &error) : NULL;
    if (usage) {
        service_usage_describe(usage, text, sizeof text);
        used = read_used(usage);
        order(ORDER_WORK);
        used = read_used(usage) - used;
    }
    kin_end(server);
    if (usage)
        RUN_UNTIL(NULL, service_usage_read(usage, &counters) == -ESRCH);
    RUN_UNTIL(NULL, rmdir(group) == 0 || errno != EBUSY);
    ck_assert_msg(usage != NULL, "%s", error.message);
    snprintf(expected, sizeof expected, "control group %s", group);
    ck_assert_str_eq(text, expected);
    ck_assert_int_eq(service_usage_read(usage, &counters), -ESRCH); /* the group is gone */
    ck_assert_uint_ge(used, WORK - LOST);
    ck_assert_uint_le(used, 2 * WORK);
    service_usage_close(usage);
    service_free(&service);
}
