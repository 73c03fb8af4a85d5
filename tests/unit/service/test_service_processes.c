/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/un.h>

#include "service_processes.h"
#include "service_world.h"
#include "unit.h"

#define INIT  1
#define NGINX 800
#define NODE  900

static struct service service;
static struct ss_error error;

static struct service_address address_of(const char *host, uint16_t port) {
    struct service_address address = {0};
    if (*host == '/' || *host == '@') {
        assert_int_equal(service_address_of_path(&address, host, NULL), 0);
    } else if (strchr(host, ':')) {
        struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
        assert_int_equal(inet_pton(AF_INET6, host, &six.sin6_addr), 1);
        memcpy(&address.socket, &six, address.length = sizeof six);
    } else {
        struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
        assert_int_equal(inet_pton(AF_INET, host, &four.sin_addr), 1);
        memcpy(&address.socket, &four, address.length = sizeof four);
    }
    return address;
}

static int find(const char *of, const char *host, uint16_t port) {
    struct service_selector parsed;
    struct service_address address = address_of(host, port);
    service_free(&service);
    error = (struct ss_error){0};
    if (service_selector_parse(&parsed, of, &error) < 0)
        return -1;
    return service_find(&service, &parsed, &address, 1, &world_roots, &error);
}

/* Fails unless the address is served by the tree of this process. */
static void expect(const char *host, uint16_t port, pid_t root) {
    if (find(NULL, host, port) < 0)
        fail_msg("%s", error.message);
    assert_int_equal(service.roots.count, 1);
    assert_int_equal(service.roots.items[0], root);
    assert_string_equal(service.group, "");
}

static void check_refusal(const char *words) {
    assert_int_equal(error.status, SS_ERROR_FAILED);
    assert_says(error.message, words);
}

static void refuse(const char *host, uint16_t port, const char *words) {
    assert_int_equal(find(NULL, host, port), -1);
    check_refusal(words);
}

/* Two unrelated processes, both children of process 1. */
static int set_up(void **state) {
    (void)state;
    world_new();
    world_process(INIT, 0, "systemd");
    world_process(NGINX, INIT, "nginx");
    world_process(NODE, INIT, "node");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    service_free(&service);
    return 0;
}

#define CASE(name) TEST_WITH(name, set_up, tear_down)

#define LISTENS   "0A"
#define CONNECTED "01"

/* Sockets, and the processes that serve addresses. */
struct layout {
    struct {
        const char *host;
        uint16_t port;
        pid_t process;
        const char *state;
    } sockets[4];
    struct {
        const char *host;
        uint16_t port;
        pid_t process;
        const char *refusal; /* if no process can be named */
    } services[6];
};

static void check_layout(const struct layout *layout) {
    for (unsigned i = 0; i < 4 && layout->sockets[i].host; i++) {
        const char *host = layout->sockets[i].host, *state = layout->sockets[i].state;
        unsigned inode = 11 + i;
        if (*host == '/' || *host == '@')
            world_listen_unix(host, strcmp(state, LISTENS) == 0 ? "00010000" : "00000000", inode);
        else
            world_row("net", host, layout->sockets[i].port, state, inode);
        world_hold(layout->sockets[i].process, inode);
    }
    for (unsigned i = 0; i < 6 && layout->services[i].host; i++) {
        const char *host = layout->services[i].host;
        if (layout->services[i].refusal)
            refuse(host, layout->services[i].port, layout->services[i].refusal);
        else
            expect(host, layout->services[i].port, layout->services[i].process);
    }
}

CASE(listener_of_an_address_is_found) {
    static const struct layout layouts[] = {
        {{{"127.0.0.1", 8080, NGINX, LISTENS}, {"127.0.0.1", 8081, NODE, LISTENS},
             {"127.0.0.1", 8082, NODE, CONNECTED}},
            {{"127.0.0.1", 8080, NGINX}, {"127.0.0.1", 8081, NODE},
                {"127.0.0.1", 8082, 0, "no process listens"}}},
        {{{"127.0.0.1", 8080, NGINX, LISTENS}, {WORLD_HOST, 8080, NODE, LISTENS}},
            {{"127.0.0.1", 8080, NGINX}, {WORLD_HOST, 8080, NODE},
                {"127.0.0.2", 8080, 0, "127.0.0.2:8080: no process listens"}}},
        /* A listener on the exact address precedes one on all addresses. */
        {{{"0.0.0.0", 8080, NGINX, LISTENS}, {WORLD_HOST, 8080, NODE, LISTENS}},
            {{"127.0.0.1", 8080, NGINX}, {WORLD_HOST, 8080, NODE}, {"0.0.0.0", 8080, NGINX},
                {"198.51.100.1", 8080, 0, "198.51.100.1:8080 is not an address of this machine"},
                /* This one is for broadcasts. */
                {"10.0.0.9", 8080, 0, "not an address of this machine"}}},
        {{{"::1", 8080, NGINX, LISTENS}, {"2001:db8::7", 8080, NODE, LISTENS}},
            {{"::1", 8080, NGINX}, {"::", 8080, NGINX}, {"2001:db8::7", 8080, NODE},
                {"127.0.0.1", 8080, 0, "no process listens"},
                {"2001:db8::8", 8080, 0, "[2001:db8::8]:8080 is not an address of this machine"}}},
        /* IPv4 requests reach listeners of IPv6, but not the other way round. */
        {{{"::", 8080, NGINX, LISTENS}, {"::ffff:127.0.0.1", 8081, NODE, LISTENS},
             {"0.0.0.0", 8082, NODE, LISTENS}},
            {{"127.0.0.1", 8080, NGINX}, {"127.0.0.1", 8081, NODE},
                {"::ffff:127.0.0.1", 8081, NODE}, {"::1", 8081, 0, "no process listens"},
                {"::1", 8082, 0, "no process listens"}}},
        /* A listener of the address's own family precedes it. */
        {{{"::", 8080, NGINX, LISTENS}, {"0.0.0.0", 8080, NODE, LISTENS}},
            {{"127.0.0.1", 8080, NODE}, {"::1", 8080, NGINX}}},
        {{{"/run/web.sock", 0, NGINX, LISTENS}, {"/run/web.sock", 0, NODE, CONNECTED},
             {"@web app", 0, NODE, LISTENS}},
            {{"/run/web.sock", 0, NGINX}, {"@web app", 0, NODE},
                {"/run/web.soc", 0, 0, "/run/web.soc: no process listens"},
                {"@web", 0, 0, "@web: no process listens"}}},
    };
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        print_message("layout %zu\n", i);
        set_up(NULL);
        check_layout(&layouts[i]);
    }
}

CASE(first_address_with_a_listener_decides) {
    const struct service_selector of = {.kind = SERVICE_OF_URL};
    const struct service_address both[] = {
        address_of("127.0.0.1", 8080), address_of("::1", 8080), address_of("127.0.0.1", 8081)};
    world_listen("::1", 8080, 11);
    world_listen("127.0.0.1", 8081, 12);
    world_hold(NGINX, 11);
    world_hold(NODE, 12);
    assert_int_equal(service_find(&service, &of, both, 3, &world_roots, NULL), 0);
    assert_int_equal(service.roots.count, 1);
    assert_int_equal(service.roots.items[0], NGINX);
}

CASE(workers_that_inherited_the_socket_belong_to_their_ancestor) {
    world_process(810, NGINX, "nginx");
    world_process(811, 810, "worker");
    world_listen("0.0.0.0", 8080, 11);
    world_hold(811, 11);
    world_hold(811, 11);
    world_hold(NGINX, 11);
    world_hold(NGINX, 11);
    world_hold(810, 11);
    expect("127.0.0.1", 8080, NGINX);
}

static void listen_twice(pid_t one, pid_t other) {
    world_listen("0.0.0.0", 8080, 11);
    world_listen("0.0.0.0", 8080, 12);
    world_hold(one, 11);
    world_hold(other, 12);
}

CASE(workers_with_a_socket_each_belong_to_their_parent) {
    world_process(810, NGINX, "nginx");
    world_process(811, NGINX, "nginx");
    listen_twice(810, 811);
    expect("127.0.0.1", 8080, NGINX);
}

CASE(supervisor_of_other_programs_is_not_part_of_the_service) {
    world_process(910, NODE, "web");
    world_process(911, NODE, "web");
    listen_twice(910, 911);
    assert_int_equal(find(NULL, "127.0.0.1", 8080), 0);
    assert_int_equal(service.roots.count, 2);
}

CASE(two_services_on_one_port_are_refused) {
    listen_twice(NGINX, NODE);
    refuse("127.0.0.1", 8080, "2 services listen");
    check_refusal("800 (nginx)");
    check_refusal("900 (node)");
    check_refusal("--of");
}

CASE(services_that_our_shell_started_are_refused) {
    world_process(700, INIT, "bash");
    world_process(getpid(), 700, "ssrequest");
    world_process(710, 700, "bash");
    world_process(711, 700, "bash");
    listen_twice(710, 711);
    refuse("127.0.0.1", 8080, "2 services listen");
}

CASE(listeners_in_one_control_group_are_one_service) {
    listen_twice(NGINX, NODE);
    world_group(NGINX, "/system.slice/web.service");
    world_group(NODE, "/system.slice/web.service/workers");
    world_group(getpid(), "/user.slice/user-0.slice/session-1.scope");
    assert_int_equal(find(NULL, "127.0.0.1", 8080), 0);
    assert_int_equal(service.roots.count, 2);
    world_group(getpid(), "/system.slice/web.service");
    refuse("127.0.0.1", 8080, "2 services listen");
}

CASE(programs_that_listen_for_others_are_refused) {
    static const char *const names[] = {"docker-proxy", "rootlessport", "rootlessport-ch",
        "slirp4netns", "ssh", "sshd", "sshd-session", "systemd-socket-", "pasta.avx2"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        set_up(NULL);
        world_process(500, INIT, names[i]);
        world_listen("0.0.0.0", 8080, 11);
        world_hold(500, 11);
        refuse("127.0.0.1", 8080, names[i]);
        check_refusal("process 500");
        check_refusal("--of");
    }
    set_up(NULL);
    world_process(500, INIT, "systemd-journal");
    world_listen("0.0.0.0", 8080, 11);
    world_hold(500, 11);
    expect("127.0.0.1", 8080, 500);
}

CASE(socket_of_process_1_is_that_of_the_service_it_has_started) {
    world_listen("0.0.0.0", 8080, 11);
    world_hold(INIT, 11);
    refuse("127.0.0.1", 8080, "process 1 (systemd) listens on behalf of another process");
    world_hold(NODE, 11);
    expect("127.0.0.1", 8080, NODE);
}

CASE(process_1_of_a_container_may_be_the_service) {
    world_new();
    world_process(1, 0, "node");
    world_listen("0.0.0.0", 8080, 11);
    world_hold(1, 11);
    expect("127.0.0.1", 8080, 1);
}

/* Makes a process listen in a container. */
static void contain(pid_t pid, const char *space, const char *address, const char *listens) {
    char net[32];
    snprintf(net, sizeof net, "%d/net", (int)pid);
    world_enclose(pid, space);
    world_address(net, address);
    world_row(net, listens, 8080, "0A", (unsigned)pid);
    world_hold(pid, (unsigned)pid);
}

CASE(listener_in_a_container_is_found) {
    contain(NODE, "net:[2]", WORLD_CONTAINER, "0.0.0.0");
    expect(WORLD_CONTAINER, 8080, NODE);
    refuse("172.17.0.3", 8080, "not an address of this machine");
    refuse(WORLD_CONTAINER, 8081, "no process listens");
    /* The loopback of a container cannot be reached. */
    set_up(NULL);
    contain(NODE, "net:[2]", WORLD_CONTAINER, "127.0.0.1");
    refuse("127.0.0.1", 8080, "no process listens");
}

CASE(published_port_of_a_container_is_found) {
    contain(NODE, "net:[2]", WORLD_CONTAINER, WORLD_CONTAINER);
    expect("127.0.0.1", 8080, NODE);
    expect(WORLD_HOST, 8080, NODE);
    refuse("127.0.0.1", 8081, "no process listens");
    /* A listener in our own namespace precedes it. */
    world_listen("127.0.0.1", 8080, 11);
    world_hold(NGINX, 11);
    expect("127.0.0.1", 8080, NGINX);
}

CASE(two_containers_on_one_port_are_refused) {
    contain(NODE, "net:[2]", WORLD_CONTAINER, "0.0.0.0");
    contain(NGINX, "net:[3]", "172.17.0.3", "0.0.0.0");
    expect(WORLD_CONTAINER, 8080, NODE);
    refuse(WORLD_HOST, 8080, "2 containers listen");
}

CASE(socket_without_a_process_is_refused) {
    world_listen("0.0.0.0", 8080, 11);
    refuse("127.0.0.1", 8080, "cannot find the process of user 33 that listens");
}

CASE(garbled_tables_are_skipped) {
    tree_write("proc/net/tcp", "  sl  local_address\n   0: 0100007F:1F90\n   1: xyz:1F90 0 0A\n"
                               "   2: 0100:1F90 00000000:0000 0A 0:0 0:0 0 0 0 11 1\n");
    world_hold(NGINX, 11);
    refuse("127.0.0.1", 8080, "no process listens");
}

CASE(of_names_a_process) {
    static const struct {
        const char *stat; /* of process 900; NULL if unchanged */
        const char *of, *refusal;
    } rows[] = {
        {NULL, "pid:901", "no process has pid 901"},
        {NULL, "pid:1", "--of machine"},
        {"900 (node) Z 1 1 1 0 -1 4194304 0\n", "pid:900", "already ended"},
        {"900 (kworker) S 2 0 0 0 -1 69238880 0\n", "pid:900", "kernel thread"},
    };
    char own[32];
    assert_int_equal(find("pid:900", "127.0.0.1", 8080), 0);
    assert_int_equal(service.roots.count, 1);
    assert_int_equal(service.roots.items[0], NODE);
    assert_string_equal(service.first, "node");
    world_process(950, NODE, "a) Z 7 (b");
    assert_int_equal(find("pid:950", "127.0.0.1", 8080), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].stat)
            tree_write("proc/900/stat", rows[i].stat);
        assert_int_equal(find(rows[i].of, "127.0.0.1", 8080), -1);
        check_refusal(rows[i].refusal);
    }
    world_process(getpid(), 1, "ssrequest");
    snprintf(own, sizeof own, "pid:%d", (int)getpid());
    assert_int_equal(find(own, "127.0.0.1", 8080), -1);
    check_refusal("is this program");
}

CASE(of_names_a_group_or_the_machine) {
    assert_int_equal(find("group:/web", "127.0.0.1", 8080), 0);
    assert_string_equal(service.group, "/web");
    assert_int_equal(service.roots.count, 0);
    assert_int_equal(find("machine", "127.0.0.1", 8080), 0);
    assert_string_equal(service.group, "");
    assert_int_equal(service.roots.count, 0);
}

TEST(invalid_of_is_refused) {
    static const char *const texts[] = {"", "web", "group", "group:", "pid:", "pid:0", "pid:x",
        "pid:-1", "pid:4294967297", "PID:1"};
    struct service_selector of;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct ss_error refused = {0};
        if (service_selector_parse(&of, texts[i], &refused) == 0)
            fail_msg("'%s' is accepted", texts[i]);
        assert_int_equal(refused.status, SS_ERROR_FAILED);
    }
}

CASE(services_are_compared) {
    struct service other = {0};
    world_listen("0.0.0.0", 8080, 11);
    world_listen("0.0.0.0", 8081, 12);
    world_listen("0.0.0.0", 8082, 13);
    world_hold(NGINX, 11);
    world_hold(NGINX, 12);
    world_hold(NODE, 13);
    expect("127.0.0.1", 8080, NGINX);
    other = service;
    service = (struct service){0};
    expect("127.0.0.1", 8081, NGINX);
    assert_true(service_is_same(&service, &other));
    expect("127.0.0.1", 8082, NODE);
    assert_false(service_is_same(&service, &other));
    service_free(&other);
}

CASE(all_processes_of_a_port_are_listed) {
    struct service_pids pids = {0};
    struct service_address address;
    world_process(810, NGINX, "nginx");
    world_listen("127.0.0.2", 8080, 11);
    world_listen("::1", 8080, 12);
    world_hold(NGINX, 11);
    world_hold(810, 11);
    world_hold(NODE, 12);
    service_address_of_port(&address, 8080);
    assert_string_equal(service_address_show(&address).text, "port 8080");
    assert_int_equal(service_add_listening(&pids, &address, 1, &world_roots, NULL), 0);
    assert_int_equal(pids.count, 3);
    free(pids.items);
}

TEST(paths_of_sockets_are_addresses) {
    char path[128] = "/";
    struct service_address address = address_of("@web", 0);
    struct sockaddr_un local;
    struct ss_error refused = {0};
    memcpy(&local, &address.socket, sizeof local);
    assert_memory_equal(local.sun_path, "\0web", 4);
    assert_int_equal(address.length, offsetof(struct sockaddr_un, sun_path) + 4);
    assert_string_equal(service_address_show(&address).text, "@web");
    memset(path + 1, 'x', 107);
    assert_int_equal(service_address_of_path(&address, path, &refused), -1);
    path[107] = '\0';
    assert_int_equal(service_address_of_path(&address, path, NULL), 0);
    assert_int_equal(service_address_of_path(&address, "", NULL), -1);
}

UNIT_RUN
