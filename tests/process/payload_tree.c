/* SPDX-License-Identifier: Apache-2.0 */

/* Instances whose processes leave the group or the session, are orphaned or live only briefly. */

#include "payload.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Forks a child and sets the child's alarm, which fork() clears. */
static pid_t fork_named(const char *name) {
    pid_t child = fork();
    if (child < 0) {
        perror("payload: fork");
        _exit(98);
    }
    if (child == 0) {
        alarm(LIFE_SECONDS);
        prctl(PR_SET_NAME, name);
    }
    return child;
}

/* Spins for a period of real time: time in which it is stopped counts, too. */
static void spin_for(long milliseconds) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long long end = now.tv_sec * 1000LL + now.tv_nsec / 1000000 + milliseconds;
    while (now.tv_sec * 1000LL + now.tv_nsec / 1000000 < end) {
        if (payload_is_gentle())
            payload_nap(1);
        clock_gettime(CLOCK_MONOTONIC, &now);
    }
}

/*
 * Processes started later inherit the writing end. Each closes it when it is ready or dies, so end
 * of file means that all are ready.
 */
struct gate {
    int ends[2];
};

static struct gate open_gate(void) {
    struct gate gate;
    if (pipe2(gate.ends, O_CLOEXEC) < 0) {
        perror("payload: pipe");
        exit(98);
    }
    return gate;
}

static void pass(const struct gate *gate) {
    close(gate->ends[0]);
    close(gate->ends[1]);
}

static void await_all(const struct gate *gate) {
    char byte;
    close(gate->ends[1]);
    while (read(gate->ends[0], &byte, 1) < 0 && errno == EINTR) {
    }
    close(gate->ends[0]);
    payload_say("ready");
}

/* Touches memory, so that the kernel needs a while to free it at exit. */
static void use_memory(long mebibytes) {
    size_t size = (size_t)mebibytes << 20;
    volatile char *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("payload: mmap");
        exit(98);
    }
    for (size_t i = 0; i < size; i += 4096)
        memory[i] = 1;
}

/* Starts children that call `leave` to leave the group, and uses memory; all processes spin. */
static int lead_leavers(long count, const char *name, void (*leave)(void), long mebibytes) {
    struct gate gate = open_gate();
    for (long i = 0; i < count; i++) {
        if (fork_named(name) == 0) {
            leave();
            pass(&gate);
            payload_spin();
        }
    }
    if (mebibytes > 0)
        use_memory(mebibytes);
    await_all(&gate);
    payload_spin();
}

static void leave_session(void) {
    setsid();
}

static void leave_group(void) {
    setpgid(0, 0);
}

static int do_setsid(char **words) {
    return lead_leavers(payload_number(words, 0), "payload-session", leave_session, 0);
}

/* `large-setsid COUNT MEBIBYTES` */
static int do_large_setsid(char **words) {
    long mebibytes = payload_number(words, 1);
    return lead_leavers(payload_number(words, 0), "payload-session", leave_session, mebibytes);
}

static int do_groups(char **words) {
    return lead_leavers(payload_number(words, 0), "payload-group", leave_group, 0);
}

/*
 * `bloom LEVELS CHILDREN`: grows a tree in which each process enters its own session or group as
 * soon as it runs; all processes spin.
 */
static int do_bloom(char **words) {
    long levels = payload_number(words, 0);
    long children = payload_number(words, 1);
    long child = 0;
    for (long level = 1; level <= levels; level++) {
        for (child = 0; child < children && fork_named("payload-bloom") != 0;)
            child++;
        if (child == children)
            break; /* the parent */
        if (child % 2)
            leave_group();
        else
            leave_session();
    }
    payload_spin();
}

static void forget_streams(void) {
    int nothing = open("/dev/null", O_RDWR);
    for (int i = 0; i < 3; i++)
        dup2(nothing, i);
    if (nothing > 2)
        close(nothing);
}

/* Forks a daemon, whose parent, the leader of its session, exits. Returns 0 in the daemon. */
static pid_t daemonise(void) {
    pid_t middle = fork_named("payload-middle");
    if (middle) {
        waitpid(middle, NULL, 0);
        return middle;
    }
    setsid();
    if (fork_named("payload-daemon"))
        _exit(0);
    while (getpgrp() == getppid())
        payload_nap(1);
    forget_streams();
    return 0;
}

static int do_daemon(char **words) {
    long count = payload_number(words, 0);
    struct gate gate = open_gate();
    for (long i = 0; i < count; i++) {
        if (daemonise() == 0) {
            pass(&gate);
            payload_spin();
        }
    }
    await_all(&gate);
    payload_spin();
}

static int do_daemon_storm(char **words) {
    long interval = payload_number(words, 0);
    for (bool first = true;; first = false) {
        if (daemonise() == 0) {
            spin_for(300);
            _exit(0);
        }
        if (first)
            payload_say("ready");
        payload_nap(interval);
    }
}

static volatile sig_atomic_t continued;

static void note_continue(int number) {
    continued = 1;
}

static void await_continue(void) {
    signal(SIGCONT, note_continue);
    payload_say("ready");
    while (!continued)
        payload_nap(5);
}

/* `late-daemons COUNT`: starts daemons after the first SIGCONT, which a run sends after a stop. */
static int do_late_daemons(char **words) {
    await_continue();
    for (long i = payload_number(words, 0); i > 0; i--) {
        if (daemonise() == 0)
            payload_spin();
        payload_nap(20);
    }
    payload_spin();
}

/* `late-sibling`: after the first SIGCONT, starts a child of its own parent in a new session. */
static int do_late_sibling(char **words) {
    struct clone_args arguments = {.flags = CLONE_PARENT};
    await_continue();
    if (syscall(SYS_clone3, &arguments, sizeof arguments) == 0) {
        alarm(LIFE_SECONDS);
        prctl(PR_SET_NAME, "payload-sibling");
        setsid();
    }
    payload_spin();
}

static volatile sig_atomic_t ended;

static void note_end(int number) {
    ended = 1;
}

/* Leaves a daemon at SIGTERM, like a program whose helper cleans up. */
static int do_daemon_at_end(char **words) {
    signal(SIGTERM, note_end);
    payload_say("ready");
    while (!ended)
        payload_nap(1);
    if (daemonise() == 0) {
        signal(SIGTERM, SIG_IGN);
        payload_spin();
    }
    return 0;
}

/* `outlast FILE`: after SIGTERM, lives until the file exists. */
static int do_outlast(char **words) {
    signal(SIGTERM, note_end);
    payload_say("ready");
    while (!ended || access(words[0], F_OK) < 0)
        payload_nap(5);
    payload_say("ended late");
    return 0;
}

static void reap_all(void) {
    while (waitpid(-1, NULL, WNOHANG) > 0) {
    }
}

static int do_fork_storm(char **words) {
    long interval = payload_number(words, 0);
    for (bool first = true;; first = false) {
        if (fork_named("payload-brief") == 0) {
            spin_for(5);
            _exit(0);
        }
        if (first)
            payload_say("ready");
        payload_nap(interval);
        reap_all();
    }
}

/*
 * `brood PARENTS`: each parent keeps forking children that live for 5 ms; every other child enters
 * a session of its own.
 */
static int do_brood(char **words) {
    pid_t child = 1;
    for (long i = payload_number(words, 0); i > 0 && child; i--)
        child = fork_named("payload-parent");
    if (child) {
        payload_say("ready");
        payload_spin();
    }
    for (int i = 0;; i++) {
        if (fork_named("payload-brief") == 0) {
            if (i % 2)
                leave_session();
            spin_for(5);
            _exit(0);
        }
        wait(NULL);
    }
}

/*
 * `gone MS`: starts one child after another, each in its own session, for MS milliseconds of real
 * time. Prints `gone NUMBER` as soon as its pid is free again.
 */
static int do_gone(char **words) {
    for (long milliseconds = payload_number(words, 0);;) {
        pid_t child = fork_named("payload-brief");
        if (child == 0) {
            leave_session();
            payload_nap(milliseconds);
            _exit(0);
        }
        waitpid(child, NULL, 0);
        printf("gone %d\n", (int)child);
        fflush(stdout);
    }
}

/*
 * `chain COUNT MS`: starts chains of processes. Each process enters a session of its own, and after
 * this many milliseconds forks the next one and exits. A chain ends after LIFE_SECONDS.
 */
static int do_chain(char **words) {
    long milliseconds = payload_number(words, 1);
    time_t end = time(NULL) + LIFE_SECONDS;
    pid_t child = 1;
    for (long i = payload_number(words, 0); i > 0 && child; i--)
        child = fork_named("payload-link");
    if (child) {
        payload_say("ready");
        payload_spin();
    }
    while (time(NULL) < end && !child) {
        leave_session();
        spin_for(milliseconds);
        child = fork_named("payload-link");
    }
    return 0;
}

/* `late-setsid MS|FILE`: a child leaves the group after MS milliseconds, or once FILE exists. */
static int do_late_setsid(char **words) {
    if (fork_named("payload-early") == 0) {
        if (*words[0] != '/')
            spin_for(payload_number(words, 0));
        else
            while (access(words[0], F_OK) < 0)
                spin_for(1);
        setsid();
        prctl(PR_SET_NAME, "payload-late");
        payload_spin();
    }
    payload_say("ready");
    payload_spin();
}

static int do_orphans(char **words) {
    long count = payload_number(words, 0);
    struct gate gate = open_gate();
    pid_t parent = fork_named("payload-parent");
    if (parent == 0) {
        pid_t self = getpid();
        for (long i = 0; i < count; i++) {
            if (fork_named("payload-orphan") == 0) {
                while (getppid() == self)
                    payload_nap(1);
                pass(&gate);
                payload_spin();
            }
        }
        _exit(0);
    }
    waitpid(parent, NULL, 0);
    await_all(&gate);
    payload_spin();
}

static void on_continue(int number) {
    static const char text[] = "again\n";
    if (write(STDOUT_FILENO, text, sizeof text - 1) < 0)
        _exit(98);
}

static void report_continuations(void) {
    struct sigaction action = {.sa_handler = on_continue, .sa_flags = SA_RESTART};
    sigaction(SIGCONT, &action, NULL);
}

static int do_stop_self(char **words) {
    report_continuations();
    payload_say("ready");
    raise(SIGSTOP);
    payload_spin();
}

/* Not an instance, so no run may signal it. Lives until its standard input is closed. */
static int do_bystander(char **words) {
    char text[32];
    report_continuations();
    snprintf(text, sizeof text, "%d", (int)getpid());
    payload_say(text);
    return read(STDIN_FILENO, text, 1) != 0;
}

/* A killed process keeps its lock until it gets a CPU to exit. */
#define LOCK_TRIES 3000
#define LOCK_NAP   20 /* milliseconds */

static bool lock(int file) {
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock(file, LOCK_EX | LOCK_NB) == 0)
            return true;
        payload_nap(LOCK_NAP);
    }
    return false;
}

/*
 * `heir FILE MS`: leaves behind a process in its own session that locks the file while it lives.
 * Exits after MS milliseconds, or with 7 if the process of an earlier run keeps the lock.
 */
static int do_heir(char **words) {
    int file = words[0] ? open(words[0], O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (file < 0)
        return 98;
    if (!lock(file))
        return 7;
    payload_say("ready");
    pid_t child = fork();
    if (child < 0)
        return 98;
    if (child > 0) {
        payload_nap(payload_number(words, 1));
        return 0;
    }
    alarm(LIFE_SECONDS);
    setsid();
    prctl(PR_SET_NAME, "payload-heir");
    payload_spin();
}

#define SPAWNED_MAX 40

/* `spawn MS`: starts a child in its own session every MS milliseconds. */
static int do_spawn(char **words) {
    for (int i = 0; i < SPAWNED_MAX; i++) {
        pid_t child = fork();
        if (child < 0)
            return 98;
        if (child == 0) {
            alarm(LIFE_SECONDS);
            setsid();
            prctl(PR_SET_NAME, "payload-spawned");
            payload_spin();
        }
        payload_nap(payload_number(words, 0));
    }
    payload_spin();
}

_Noreturn static void wait_for_the_end(void) {
    for (;;)
        pause();
}

static int do_threads_many(char **words) {
    long count = payload_number(words, 0);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 65536);
    for (long i = 0; i < count; i++) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, payload_spin_in_thread, NULL) != 0) {
            fprintf(stderr, "payload: only %ld threads\n", i);
            return 98;
        }
    }
    payload_say("ready");
    wait_for_the_end();
}

const struct payload_act payload_tree_acts[] = {
    {"setsid", .act = do_setsid},
    {"large-setsid", .act = do_large_setsid},
    {"groups", .act = do_groups},
    {"bloom", .act = do_bloom},
    {"daemon", .act = do_daemon},
    {"daemon-storm", .act = do_daemon_storm},
    {"late-daemons", .act = do_late_daemons},
    {"late-sibling", .act = do_late_sibling},
    {"daemon-at-end", .act = do_daemon_at_end},
    {"outlast", .act = do_outlast},
    {"fork-storm", .act = do_fork_storm},
    {"brood", .act = do_brood},
    {"gone", .act = do_gone},
    {"chain", .act = do_chain},
    {"late-setsid", .act = do_late_setsid},
    {"orphans", .act = do_orphans},
    {"heir", .act = do_heir},
    {"spawn", .act = do_spawn},
    {"stop-self", .act = do_stop_self},
    {"bystander", .act = do_bystander},
    {"threads-many", .act = do_threads_many},
    {0},
};
