/* SPDX-License-Identifier: Apache-2.0 */
#include "guest.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/reboot.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/paths.h"
#include "platform/child.h"

#define PORTS 3

/*
 * Number of checks for the end of the output: processes may outlive the command and keep it open.
 * Output that arrives until then is passed on, unless its reader is stuck for STUCK_TURNS.
 */
#define DRAIN_TURNS    40
#define STUCK_TURNS    200
#define DRAIN_INTERVAL 10 /* milliseconds */

/* Output is passed on in small pieces, so that a slow reader is not mistaken for a stuck one. */
#define PIECE 4096

/* The bytes that a forwarder has read and passed on. Shared by the forwarder and the server. */
struct flow {
    atomic_uint_fast64_t taken, passed;
    atomic_bool is_taking; /* it is reading, so `taken` may lack bytes */
};

struct server {
    const struct ssguest_serve_options *options;
    int port, signals; /* descriptors */
    char line[256];    /* the received part of a request */
    size_t length;
    pid_t command;       /* 0: not started, or exited */
    pid_t forwarders[2]; /* processes that pass on output and errors; 0: exited */
    int pipes[2];        /* read ends of the output pipes; -1: closed */
    struct flow *flows;
    bool is_off;
};

static void name_port(char path[256], const struct server *server, int number) {
    snprintf(path, 256, "%.200s%d", server->options->ports, number);
}

/* Waits for all ports: the kernel adds them one by one. */
static void await_ports(const struct server *server) {
    for (int number = 1; number <= PORTS;) {
        char path[256];
        struct stat status;

        name_port(path, server, number);
        if (stat(path, &status) == 0 && S_ISCHR(status.st_mode))
            number++;
        else
            poll(NULL, 0, 10);
    }
}

SS_FORMAT(2, 3) static void say(const struct server *server, const char *format, ...) {
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);

    ssize_t length = write(server->port, text, strlen(text));
    (void)length; /* a failure means that the driver is gone, and the guest is about to be killed */
}

static void send_time(const struct server *server) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    say(server, "clock %lld.%06ld\n", (long long)now.tv_sec, now.tv_nsec / 1000);
}

/*
 * Sets an invalid clock twice first: under emulation, code is slow when it first runs, which would
 * make the time wrong. Outside of a guest, does nothing.
 */
static void shift_clock(long long microseconds) {
    const clockid_t clocks[] = {99, 99, CLOCK_REALTIME};
    for (size_t i = 0; getpid() == 1 && i < sizeof clocks / sizeof *clocks; i++) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        long long moment = now.tv_sec * 1000000LL + now.tv_nsec / 1000 + microseconds;
        now = (struct timespec){moment / 1000000, moment % 1000000 * 1000};
        clock_settime(clocks[i], &now); /* `drive` measures the difference again */
    }
}

static void close_pipe(struct server *server, int index) {
    ss_owned_close(&server->pipes[index]);
    server->pipes[index] = -1;
}

/* Waits for output, reads and counts it. */
static ssize_t take(struct flow *flow, int from, char *block, size_t size) {
    poll(&(struct pollfd){from, POLLIN, 0}, 1, -1);
    atomic_store(&flow->is_taking, true);
    ssize_t length = read(from, block, size);
    if (length > 0)
        atomic_fetch_add(&flow->taken, (uint64_t)length);
    atomic_store(&flow->is_taking, false);
    return length;
}

_Noreturn static void forward(const struct server *server, int from, int index) {
    char path[256], block[65536];
    ssize_t length;
    struct flow *flow = &server->flows[index];

    name_port(path, server, index + 2);
    int to = open(path, O_WRONLY | O_CLOEXEC);

    while (to >= 0 && (length = take(flow, from, block, sizeof block)) > 0) {
        for (ssize_t done = 0, part; done < length; done += part) {
            ssize_t left = length - done;
            part = write(to, block + done, left < PIECE ? (size_t)left : PIECE);
            if (part < 0)
                _exit(1);
            atomic_fetch_add(&flow->passed, (uint64_t)part);
        }
    }

    _exit(0);
}

/* Executes the command. Returns its pid, or 0 after sending the exit status of the failure. */
static pid_t start_command(struct server *server, const int outputs[2]) {
    sigset_t none;

    sigemptyset(&none);
    SS_OWNED(close) int input = open("/dev/null", O_RDONLY | O_CLOEXEC);

    const struct ss_child_setup setup = {
        .words = server->options->command,
        .streams = {input, outputs[0], outputs[1]},
        .mask = &none,
    };

    struct ss_child child;
    struct ss_child_failure failure;
    struct ss_error error = {.status = 0};

    if (outputs[1] < 0 || input < 0 || ss_child_fork(&child, &setup) < 0)
        error.status = SS_ERROR_FAILED;
    else if (ss_child_execute(&child, &failure) < 0)
        ss_child_fail(&failure, setup.words[0], &error);
    else
        return child.pid;

    say(server, "status %d\n", error.status);
    return 0;
}

/* Starts the command and the processes that pass on its output. */
static void run_command(struct server *server) {
    int outputs[2] = {-1, -1};
    struct flow *flows = mmap(
        NULL, 2 * sizeof *server->flows, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    for (int i = 0; i < 2 && flows != MAP_FAILED; i++) {
        int ends[2];
        server->flows = flows;
        if (pipe2(ends, O_CLOEXEC) < 0)
            break;

        close_pipe(server, i);

        server->forwarders[i] = fork();
        if (server->forwarders[i] == 0) {
            close(ends[1]);
            ss_owned_close(&outputs[0]);
            /* Otherwise, writers to the first pipe would block after its forwarder exits. */
            ss_owned_close(&server->pipes[0]);
            forward(server, ends[0], i);
        }

        server->pipes[i] = ends[0];
        if (server->forwarders[i] < 0)
            close_pipe(server, i);
        outputs[i] = ends[1];
    }

    server->command = start_command(server, outputs);

    ss_owned_close(&outputs[0]);
    ss_owned_close(&outputs[1]);
}

/* Reaps children, and orphans from the whole guest. */
static void reap(struct server *server) {
    struct signalfd_siginfo arrived;
    pid_t pid;
    int status;

    while (read(server->signals, &arrived, sizeof arrived) == sizeof arrived)
        continue;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        for (int i = 0; i < 2; i++) {
            if (pid != server->forwarders[i])
                continue;
            server->forwarders[i] = 0;
            close_pipe(server, i); /* otherwise its writers would block */
        }

        if (pid != server->command)
            continue;
        server->command = 0;
        say(server, "status %d\n", ss_child_exit_status(status));
    }
}

/*
 * Returns how many bytes of output have arrived so far, except those that a forwarder is just
 * reading.
 */
static uint64_t count_arrived(const struct server *server, int index) {
    int unread = 0;
    if (ioctl(server->pipes[index], FIONREAD, &unread) < 0)
        unread = 0;
    return atomic_load(&server->flows[index].taken) + (uint64_t)unread;
}

/* Waits until the output is passed on. Meanwhile sends `left`, so that the driver waits, too. */
static void drain(struct server *server) {
    uint64_t arrived[2] = {0}, passed = 0;

    for (int turn = 0, stuck = 0; server->forwarders[0] > 0 || server->forwarders[1] > 0; turn++) {
        uint64_t before = passed;
        bool is_left = false;

        passed = 0;
        for (int i = 0; i < 2; i++) {
            if (server->forwarders[i] <= 0)
                continue;

            uint64_t now = count_arrived(server, i);
            if (turn < DRAIN_TURNS && now > arrived[i])
                arrived[i] = now;
            uint64_t done = atomic_load(&server->flows[i].passed);
            is_left = is_left || done < arrived[i] || atomic_load(&server->flows[i].is_taking);
            passed += done;
        }

        stuck = passed > before ? 0 : stuck + 1;
        if (turn >= DRAIN_TURNS && (!is_left || stuck >= STUCK_TURNS))
            break;

        if (is_left && turn % 10 == 0)
            say(server, "left\n");

        poll(NULL, 0, DRAIN_INTERVAL);
        reap(server);
    }

    sync();
}

static void answer(struct server *server, const char *line) {
    if (strcmp(line, "clock") == 0) {
        send_time(server);
    } else if (strncmp(line, "shift ", 6) == 0) {
        shift_clock(strtoll(line + 6, NULL, 10));
        send_time(server);
    } else if (strcmp(line, "run") == 0) {
        run_command(server);
    } else if (strcmp(line, "INT") == 0 || strcmp(line, "TERM") == 0) {
        if (server->command > 0)
            kill(server->command, *line == 'I' ? SIGINT : SIGTERM);
    } else if (strcmp(line, "off") == 0) {
        server->is_off = true;
    }
}

static void read_requests(struct server *server) {
    char *end;
    size_t used = server->length < sizeof server->line ? server->length : 0; /* drop long lines */
    ssize_t length = read(server->port, server->line + used, sizeof server->line - used);

    if (length <= 0) {
        poll(NULL, 0, DRAIN_INTERVAL);
        return;
    }

    server->length = used + (size_t)length;

    while ((end = memchr(server->line, '\n', server->length)) != NULL) {
        *end++ = '\0';
        answer(server, server->line);
        server->length -= (size_t)(end - server->line);
        memmove(server->line, end, server->length);
    }
}

int ssguest_serve(const struct ssguest_serve_options *options, struct ss_error *error) {
    struct server server = {.options = options, .pipes = {-1, -1}};
    char path[256];
    sigset_t child;

    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);

    await_ports(&server);
    name_port(path, &server, 1);
    server.port = open(path, O_RDWR | O_CLOEXEC);
    server.signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);

    if (server.port < 0 || server.signals < 0)
        return ss_paths_fail(path, error);

    if (options->missing)
        say(&server, "missing %s\n", options->missing);
    say(&server, "ready\n");

    struct pollfd files[] = {{server.port, POLLIN, 0}, {server.signals, POLLIN, 0}};

    while (!server.is_off) {
        poll(files, 2, -1);
        if (files[1].revents)
            reap(&server);
        if (files[0].revents)
            read_requests(&server);
    }

    drain(&server);
    if (getpid() == 1)
        reboot(RB_POWER_OFF);
    return 0;
}
