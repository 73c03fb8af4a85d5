/* SPDX-License-Identifier: Apache-2.0 */

/* What the tests run as instances: `payload WHAT ARGUMENT...`. */

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Nothing here outlives its test for long, whatever goes wrong. */
#define LIFE_SECONDS 100

extern char **environ;

static void print_limit(const char *name, int which) {
    struct rlimit limit;
    getrlimit(which, &limit);
    printf("%s=%llu/%llu\n", name, (unsigned long long)limit.rlim_cur,
        (unsigned long long)limit.rlim_max);
}

static void print_status_lines(void) {
    char line[1024];
    FILE *file = fopen("/proc/self/status", "re");
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, "SigBlk", 6) == 0 || strncmp(line, "SigIgn", 6) == 0 ||
            strncmp(line, "SigCgt", 6) == 0 || strncmp(line, "Cpus_allowed:", 13) == 0)
            fputs(line, stdout);
    }
    if (file)
        fclose(file);
}

/* Beyond the standard ones, and beyond that of the listing itself. */
static void print_descriptors(void) {
    DIR *directory = opendir("/proc/self/fd");
    struct dirent *entry;
    printf("descriptors:");
    while (directory && (entry = readdir(directory))) {
        int number = atoi(entry->d_name);
        if (number > 2 && number != dirfd(directory))
            printf(" %d", number);
    }
    printf("\n");
    if (directory)
        closedir(directory);
}

static int print_environment(int argc, char **argv) {
    char text[4096];
    struct sched_param parameters;
    sched_getparam(0, &parameters);
    mode_t mask = umask(0);
    printf("cwd=%s\n", getcwd(text, sizeof text));
    printf("nice=%d\n", getpriority(PRIO_PROCESS, 0));
    printf("policy=%d/%d\n", sched_getscheduler(0), parameters.sched_priority);
    printf("slack=%d\n", prctl(PR_GET_TIMERSLACK));
    printf("umask=%o\n", (unsigned)mask);
    print_limit("nofile", RLIMIT_NOFILE);
    print_limit("rttime", RLIMIT_RTTIME);
    print_status_lines();
    print_descriptors();
    ssize_t length = readlink("/proc/self/fd/0", text, sizeof text - 1);
    printf("stdin=%.*s\n", (int)length, text);
    printf("leads its group=%d\n", getpgrp() == getpid());
    for (int i = 1; i < argc; i++)
        printf("argument=%s\n", argv[i]);
    for (char **variable = environ; *variable; variable++)
        printf("variable %s\n", *variable);
    return 0;
}

_Noreturn static void spin(void) {
    for (volatile unsigned long turns = 0;; turns++) {
    }
}

static void *spin_in_thread(void *nothing) {
    (void)nothing;
    spin();
}

static void say(const char *text) {
    puts(text);
    fflush(stdout);
}

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void run_for(long milliseconds) {
    while (seconds(CLOCK_PROCESS_CPUTIME_ID) * 1e3 < (double)milliseconds) {
    }
}

static void nap(long milliseconds) {
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    while (nanosleep(&time, &time) < 0) {
    }
}

static void print_lines(long count, long interval) {
    for (long i = 0; i < count; i++) {
        say("done 12.5 ms");
        nap(interval);
    }
}

/* A sensor: one number for ever. */
static void print_value(const char *value) {
    for (;;) {
        say(value);
        nap(20);
    }
}

/* What part of the time it was given, in percent. */
static void print_share(long milliseconds) {
    double begin = seconds(CLOCK_MONOTONIC);
    double used = seconds(CLOCK_PROCESS_CPUTIME_ID);
    double now;
    do
        now = seconds(CLOCK_MONOTONIC);
    while (now < begin + (double)milliseconds / 1e3);
    used = seconds(CLOCK_PROCESS_CPUTIME_ID) - used;
    printf("\"share\": %.1f\n", 100 * used / (now - begin));
}

static volatile sig_atomic_t caught;

static void on_signal(int number) {
    caught = number;
}

/* How often it was continued. */
static void count_continuations(long milliseconds) {
    double begin = seconds(CLOCK_MONOTONIC);
    long times = 0;
    signal(SIGCONT, on_signal);
    while (seconds(CLOCK_MONOTONIC) < begin + (double)milliseconds / 1e3) {
        times += caught == SIGCONT;
        caught = 0;
    }
    printf("\"continued\": %ld\n", times);
}

/* Says which polite signal came, and ends well. */
static void catch (void) {
    static const int polite[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    for (int i = 0; i < 4; i++) {
        struct sigaction action = {.sa_handler = on_signal};
        sigaction(polite[i], &action, NULL);
        sigdelset(&all, polite[i]);
    }
    sigdelset(&all, SIGALRM);
    say("ready");
    while (!caught)
        sigsuspend(&all);
    printf("caught %d\n", (int)caught);
}

/* A child and a grandchild that stay when their parent goes. */
static void grow_tree(void) {
    for (int depth = 0; depth < 2; depth++) {
        pid_t child = fork();
        if (child != 0 && depth == 0)
            return;
        if (child == 0) {
            prctl(PR_SET_NAME, depth ? "payload-leaf" : "payload-branch");
            alarm(LIFE_SECONDS);
        }
    }
    spin();
}

/* Adds a byte to a file. Ends with 7 when it has grown to `most` bytes, else with 0. */
static int count(const char *path, long most) {
    struct stat status;
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0 || write(file, "x", 1) != 1 || fstat(file, &status) < 0)
        return 99;
    run_for(100);
    return status.st_size >= most ? 7 : 0;
}

/* Every byte there is, without a line feed at the end. */
static void print_binary(void) {
    for (int byte = 255; byte >= 0; byte--)
        putchar(byte);
    fputs("end without a line feed", stdout);
}

static void ignore_term(void) {
    static const int polite[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    for (int i = 0; i < 4; i++)
        signal(polite[i], SIG_IGN);
    say("ready");
    spin();
}

static void start_threads(void) {
    pthread_t thread;
    for (int i = 0; i < 2; i++)
        pthread_create(&thread, NULL, spin_in_thread, NULL);
    say("ready");
    pause();
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    const char *text = argc > 2 ? argv[2] : "";
    long number = strtol(text, NULL, 10);
    long other = argc > 3 ? strtol(argv[3], NULL, 10) : 0;
    if (strcmp(what, "env") == 0)
        return print_environment(argc, argv);
    alarm(LIFE_SECONDS);
    if (strcmp(what, "exit") == 0)
        return (int)number;
    if (strcmp(what, "count") == 0)
        return count(text, other);
    if (strcmp(what, "signal") == 0)
        kill(getpid(), (int)number);
    else if (strcmp(what, "spin") == 0)
        spin();
    else if (strcmp(what, "ignore-term") == 0)
        ignore_term();
    else if (strcmp(what, "catch") == 0)
        catch ();
    else if (strcmp(what, "lines") == 0)
        print_lines(number, other);
    else if (strcmp(what, "sensor") == 0)
        print_value(text);
    else if (strcmp(what, "say") == 0)
        say(text);
    else if (strcmp(what, "run-ms") == 0)
        run_for(number);
    else if (strcmp(what, "share") == 0)
        print_share(number);
    else if (strcmp(what, "stops") == 0)
        count_continuations(number);
    else if (strcmp(what, "threads") == 0)
        start_threads();
    else if (strcmp(what, "tree") == 0)
        grow_tree();
    else if (strcmp(what, "binary") == 0)
        print_binary();
    else if (strcmp(what, "touch") == 0)
        return open(text, O_WRONLY | O_CREAT | O_CLOEXEC, 0666) < 0;
    else if (strcmp(what, "stop") == 0) {
        say("ready");
        raise(SIGSTOP);
        pause();
    } else
        return 98;
    return 0;
}
