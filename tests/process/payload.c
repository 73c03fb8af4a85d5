/* SPDX-License-Identifier: Apache-2.0 */

/* The program that tests run as instances: `payload ACT ARGUMENT...`. */

#include "payload.h"
#include "run.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* LeakSanitizer traces this process, and hangs if the process is stopped meanwhile. */
const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void) {
    return "detect_leaks=0";
}

long payload_number(char **words, int which) {
    for (int i = 0; i <= which; i++) {
        if (!words[i]) {
            fprintf(stderr, "payload: expected %d numbers\n", which + 1);
            exit(98);
        }
    }
    return atol(words[which]);
}

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

/* Omits the standard descriptors and the one that lists the folder. */
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

static int print_environment(char **words) {
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
    for (; *words; words++)
        printf("argument=%s\n", *words);
    for (char **variable = environ; *variable; variable++)
        printf("variable %s\n", *variable);
    return 0;
}

bool payload_is_gentle(void) {
    return getenv(RUN_GREEDY) == NULL;
}

#define GENTLE_TURNS (1UL << 17) /* about a quarter of a millisecond */

_Noreturn void payload_spin(void) {
    bool gentle = payload_is_gentle();
    for (volatile unsigned long turns = 1;; turns++) {
        if (gentle && turns % GENTLE_TURNS == 0)
            payload_nap(4);
    }
}

void *payload_spin_in_thread(void *nothing) {
    payload_spin();
}

void payload_say(const char *text) {
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

void payload_nap(long milliseconds) {
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    while (nanosleep(&time, &time) < 0) {
    }
}

/* Prints a number of lines, with a pause of some milliseconds after each. */
static int print_lines(char **words) {
    for (long count = payload_number(words, 0); count > 0; count--) {
        payload_say("done 12.5 ms");
        payload_nap(payload_number(words, 1));
    }
    return 0;
}

/* Prints a line for each iteration of `interval` milliseconds; stdio buffers the lines. */
static void print_ticks(long interval) {
    for (;;) {
        printf("tick %0200d\n", 1);
        payload_nap(interval);
    }
}

/* Describes standard output on standard error, which a test reads separately. */
static void describe_output(void) {
    int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    fprintf(stderr, "output %d error %d controlling %d\n", isatty(STDOUT_FILENO),
        isatty(STDERR_FILENO), terminal >= 0 && tcgetsid(STDOUT_FILENO) >= 0);
}

/* Writes until a write fails because the reader has gone. */
static void flood(void) {
    static char text[4096];
    memset(text, 'x', sizeof text);
    while (write(STDOUT_FILENO, text, sizeof text) > 0) {
    }
}

/* A sensor: prints the same number repeatedly while its output is read. */
static int print_value(char **words) {
    while (!ferror(stdout)) {
        payload_say(*words);
        payload_nap(20);
    }
    return 1;
}

#define SHARE_SECONDS 0.1

/*
 * Prints the percentage of the elapsed time during which the process ran. Continues until it has
 * run for SHARE_SECONDS: a shorter measurement is imprecise.
 */
static void print_share(long milliseconds) {
    double begin = seconds(CLOCK_MONOTONIC);
    double before = seconds(CLOCK_PROCESS_CPUTIME_ID);
    double now, used;
    do {
        now = seconds(CLOCK_MONOTONIC);
        used = seconds(CLOCK_PROCESS_CPUTIME_ID) - before;
    } while (now < begin + (double)milliseconds / 1e3 || used < SHARE_SECONDS);
    printf("\"share\": %.1f\n", 100 * used / (now - begin));
}

static volatile sig_atomic_t caught;

static void on_signal(int number) {
    caught = number;
}

/* `stops MS [MAX]`: counts how often it is continued within MS milliseconds, up to MAX times. */
static int count_continuations(char **words) {
    double end = seconds(CLOCK_MONOTONIC) + (double)payload_number(words, 0) / 1e3;
    long times = 0, max = words[1] ? payload_number(words, 1) : LONG_MAX;
    signal(SIGCONT, on_signal);
    while (times < max && seconds(CLOCK_MONOTONIC) < end) {
        times += caught == SIGCONT;
        caught = 0;
    }
    printf("\"continued\": %ld\n", times);
    return 0;
}

/* Waits for a termination signal and prints its number. */
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
    payload_say("ready");
    while (!caught)
        sigsuspend(&all);
    printf("caught %d\n", (int)caught);
}

/* Starts a child and a grandchild, which outlive the first process. */
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
    payload_spin();
}

/* After the signal, takes `milliseconds` to exit. */
static void catch_slowly(long milliseconds) {
    catch ();
    payload_nap(milliseconds);
    payload_say("went in peace");
}

/* Spins and uses memory in small pages, which the kernel needs time to free. */
static void spin_with(long megabytes) {
    size_t size = (size_t)megabytes << 20;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) {
        madvise(memory, size, MADV_NOHUGEPAGE);
        memset(memory, 1, size);
        payload_say("ready");
    }
    payload_spin();
}

/* `count FILE MAX`: adds a byte to the file. Exits with 7 once it has MAX bytes, else with 0. */
static int count(char **words) {
    struct stat status;
    int file = open(*words, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0 || write(file, "x", 1) != 1 || fstat(file, &status) < 0)
        return 99;
    run_for(100);
    return status.st_size >= payload_number(words, 1) ? 7 : 0;
}

/* Prints every byte, without a line feed at the end. */
static void print_binary(void) {
    for (int byte = 255; byte >= 0; byte--)
        putchar(byte);
    fputs("end without a line feed", stdout);
}

static void ignore_term(void) {
    static const int polite[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    for (int i = 0; i < 4; i++)
        signal(polite[i], SIG_IGN);
    payload_say("ready");
    payload_spin();
}

static void start_threads(void) {
    pthread_t thread;
    for (int i = 0; i < 2; i++)
        pthread_create(&thread, NULL, payload_spin_in_thread, NULL);
    payload_say("ready");
    pause();
}

static int do_exit(char **words) {
    return (int)payload_number(words, 0);
}

static int do_signal(char **words) {
    return kill(getpid(), (int)payload_number(words, 0));
}

static int do_spin(char **words) {
    payload_spin();
}

static int do_stop(char **words) {
    payload_say("ready");
    raise(SIGSTOP);
    pause();
    return 0;
}

static int do_touch(char **words) {
    return open(*words, O_WRONLY | O_CREAT | O_CLOEXEC, 0666) < 0;
}

static int do_say(char **words) {
    payload_say(*words);
    return 0;
}

static const struct payload_act acts[] = {
    {"exit", .act = do_exit},
    {"signal", .act = do_signal},
    {"spin", .act = do_spin},
    {"stop", .act = do_stop},
    {"touch", .act = do_touch},
    {"say", .act = do_say},
    {"sensor", .act = print_value},
    {"run-ms", .act_for = run_for},
    {"share", .act_for = print_share},
    {"slow-catch", .act_for = catch_slowly},
    {"spin-with-mb", .act_for = spin_with},
    {"ticks", .act_for = print_ticks},
    {"ignore-term", .act_alone = ignore_term},
    {"catch", .act_alone = catch},
    {"flood", .act_alone = flood},
    {"threads", .act_alone = start_threads},
    {"tree", .act_alone = grow_tree},
    {"binary", .act_alone = print_binary},
    {"output", .act_alone = describe_output},
    {"env", .act = print_environment},
    {"stops", .act = count_continuations},
    {"count", .act = count},
    {"lines", .act = print_lines},
    {0},
};

static const struct payload_act *const tables[] = {
    acts,
    payload_tree_acts,
    payload_tty_acts,
    payload_rights_acts,
};

static int carry_out(const struct payload_act *act, char **words) {
    if (act->act)
        return act->act(words);
    if (act->act_for)
        act->act_for(payload_number(words, 0));
    else
        act->act_alone();
    return 0;
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    alarm(LIFE_SECONDS);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        for (const struct payload_act *act = tables[i]; act->name; act++) {
            if (strcmp(act->name, name) == 0)
                return carry_out(act, argv + 2);
        }
    }
    fprintf(stderr, "payload: unknown act '%s'\n", name);
    return 98;
}
