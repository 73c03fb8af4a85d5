/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A large tree of idle processes. The first process and each of its children that leads a session
 * have groups of equal size. No process of the tree outlives the process that started it, however
 * that ends.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Each process exits after this time, in case it misses its parent's death. Benches are shorter. */
#define LIFE_SECONDS 7200

struct tree {
    unsigned sessions; /* includes the first process's */
    unsigned processes;
    int reports; /* every process writes a byte here after joining its group */
};

_Noreturn static void rest(void) {
    for (;;)
        pause();
}

static bool be_mortal(pid_t parent) {
    alarm(LIFE_SECONDS);
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent;
}

/* Reports to the first process, which reads end of file when no other process can write. */
static bool report(const struct tree *tree, char word) {
    return write(tree->reports, &word, 1) == 1 && close(tree->reports) == 0;
}

/* Exits after reporting a failure, so that the first process fails, too. */
_Noreturn static void give_up(const struct tree *tree) {
    report(tree, '!');
    _exit(1);
}

/* Returns the number of processes in the group, including its leader. */
static unsigned group_size(const struct tree *tree, unsigned session) {
    return tree->processes / tree->sessions + (session < tree->processes % tree->sessions);
}

static void fill_group(const struct tree *tree, unsigned session) {
    pid_t leader = getpid();
    for (unsigned i = 1; i < group_size(tree, session); i++) {
        pid_t member = fork();
        if (member < 0)
            give_up(tree);
        if (member > 0)
            continue;
        if (!be_mortal(leader) || !report(tree, '.'))
            give_up(tree);
        rest();
    }
}

_Noreturn static void lead(const struct tree *tree, unsigned session, pid_t first) {
    if (!be_mortal(first) || setsid() < 0)
        give_up(tree);
    fill_group(tree, session);
    if (!report(tree, '.'))
        give_up(tree);
    rest();
}

/* Starts all processes; with `leaders`, prints the group of each leader. */
static bool grow(const struct tree *tree, bool leaders) {
    pid_t self = getpid();
    if (leaders)
        printf("%d\n", (int)getpgrp());
    for (unsigned session = 1; session < tree->sessions; session++) {
        pid_t leader = fork();
        if (leader == 0)
            lead(tree, session, self);
        if (leader < 0)
            return false;
        if (leaders)
            printf("%d\n", (int)leader);
    }
    fill_group(tree, 0);
    return true;
}

static bool await_all(const struct tree *tree, int reports) {
    for (unsigned there = 1; there < tree->processes; there++) {
        char word;
        if (read(reports, &word, 1) != 1 || word != '.')
            return false;
    }
    return true;
}

static int run(struct tree *tree, bool leaders) {
    int ends[2];
    if (pipe(ends) < 0)
        return 1;
    tree->reports = ends[1];
    bool grown = grow(tree, leaders);
    close(ends[1]);
    if (!grown || !await_all(tree, ends[0])) {
        fprintf(stderr, "tree: cannot start %u processes\n", tree->processes);
        return 1;
    }
    close(ends[0]);
    puts("ready");
    if (fflush(stdout))
        return 1;
    rest();
}

int main(int argc, char **argv) {
    struct tree tree = {
        .sessions = argc > 2 ? (unsigned)atoi(argv[1]) : 0,
        .processes = argc > 2 ? (unsigned)atoi(argv[2]) : 0,
    };
    bool leaders = argc == 4 && strcmp(argv[3], "leaders") == 0;
    if (argc < 3 || argc > 4 || (argc == 4 && !leaders) || tree.sessions < 1 ||
        tree.processes < tree.sessions || tree.processes > 30000) {
        fprintf(stderr,
            "Usage: tree SESSIONS PROCESSES [leaders]\n"
            "Starts PROCESSES that sleep, in this number of SESSIONS. Prints `ready` when all of\n"
            "them exist; with `leaders`, first the IDs of their process groups, one per line.\n");
        return 2;
    }
    if (!be_mortal(getppid()))
        return 1;
    return run(&tree, leaders);
}
