/* SPDX-License-Identifier: Apache-2.0 */

/* Instances that are slow to end, leave something behind, or become somebody else. */

#include "payload.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <unistd.h>

static volatile sig_atomic_t told;

static void on_term(int number) {
    told = number;
}

/* `linger MS`: told to end, needs so long for it, by the clock. */
static int do_linger(char **words) {
    char text[32];
    sigset_t term;
    sigset_t before;
    struct sigaction action = {.sa_handler = on_term};
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, &before);
    sigaction(SIGTERM, &action, NULL);
    payload_say("ready");
    while (!told)
        sigsuspend(&before);
    payload_nap(words[0] ? atol(words[0]) : 0);
    snprintf(text, sizeof text, "ended late by %d", (int)told);
    payload_say(text);
    return 0;
}

/*
 * `heir FILE MS`: leaves a process in a session of its own that holds a lock on the file as long as
 * it lives. Ends after so long; with 7 where that of somebody before still lives.
 */
static int do_heir(char **words) {
    int file = words[0] ? open(words[0], O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (file < 0)
        return 98;
    if (flock(file, LOCK_EX | LOCK_NB) < 0)
        return 7;
    pid_t child = fork();
    if (child < 0)
        return 98;
    if (child > 0) {
        payload_nap(words[1] ? atol(words[1]) : 0);
        return 0;
    }
    alarm(LIFE_SECONDS);
    setsid();
    prctl(PR_SET_NAME, "payload-heir");
    payload_spin();
}

#define SPAWNED_MOST 40

/* `spawn MS`: another child in a session of its own so often. */
static int do_spawn(char **words) {
    for (int i = 0; i < SPAWNED_MOST; i++) {
        pid_t child = fork();
        if (child < 0)
            return 98;
        if (child == 0) {
            alarm(LIFE_SECONDS);
            setsid();
            prctl(PR_SET_NAME, "payload-spawned");
            payload_spin();
        }
        payload_nap(words[0] ? atol(words[0]) : 0);
    }
    payload_spin();
}

static void *wait_in_thread(void *nothing) {
    for (;;)
        pause();
    return nothing;
}

/* `become-root [THREADS]`: as a program that root has marked so can. */
static int do_become_root(char **words) {
    pthread_t thread;
    if (setgid(0) < 0 || setuid(0) < 0) {
        payload_say("refused");
        return 98;
    }
    if (getpgrp() != getpid())
        setsid();
    alarm(LIFE_SECONDS);
    prctl(PR_SET_NAME, "payload-root");
    for (long i = words[0] ? atol(words[0]) : 0; i > 0; i--) {
        if (pthread_create(&thread, NULL, wait_in_thread, NULL) != 0)
            return 98;
    }
    payload_say("ready");
    payload_spin();
}

static void *spin_before_all(void *nothing) {
    struct sched_param parameters = {.sched_priority = sched_get_priority_min(SCHED_FIFO)};
    bool allowed = sched_setscheduler(0, SCHED_FIFO, &parameters) == 0;
    payload_say(allowed ? "ready" : "refused");
    payload_spin();
    return nothing;
}

/* `deaf`: its first thread waits for the one CPU that its second one, at real-time priority, uses.
 */
static int do_deaf(char **words) {
    cpu_set_t cpus;
    int cpu = 0;
    pthread_t thread;
    (void)words;
    alarm(LIFE_SECONDS);
    sched_getaffinity(0, sizeof cpus, &cpus);
    while (!CPU_ISSET(cpu, &cpus))
        cpu++;
    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    sched_setaffinity(0, sizeof cpus, &cpus);
    pthread_create(&thread, NULL, spin_before_all, NULL);
    return pause();
}

const struct payload_act payload_more_acts[] = {
    {"deaf", do_deaf},
    {"linger", do_linger},
    {"heir", do_heir},
    {"spawn", do_spawn},
    {"become-root", do_become_root},
    {0},
};
