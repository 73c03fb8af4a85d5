/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWSTOPPER_TESTS_RUN_H
#define SHOWSTOPPER_TESTS_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Programs that a test starts and watches. They and their descendants carry a mark in their
 * environment, by which a test finds what remains of a run, even orphans. A wait that times out
 * fails the test.
 */

/*
 * Timeout of waits, in seconds: a guard against hangs. Even on a busy machine most waits are far
 * shorter.
 */
#define RUN_PATIENCE 120.0

/*
 * Time within which the processes of a run must be gone, in seconds. Usually this takes less than
 * 1 s; a busy machine may need longer.
 */
#define RUN_CLEAN_PATIENCE 60.0

#define SHOWSTOPPER TEST_BIN_DIR "/showstopper"
#define SSBURN      TEST_BIN_DIR "/ssburn"
#define PAYLOAD     TEST_BUILD_DIR "/tests/payload"

/* Zero fields mean the defaults. */
struct run_setup {
    const char *const *environment; /* additional NAME=VALUE, ended by NULL */
    const char *folder;             /* its current folder; NULL: the test's */
    const char *input;              /* its standard input; NULL: /dev/null */
    void (*prepare)(void);          /* called in the child, as the last step before exec */
};

struct run_text {
    char *bytes; /* always ended by a zero byte */
    size_t length;
};

struct run {
    pid_t pid;
    int pipes[2]; /* -1 after the end of file */
    struct run_text out;
    struct run_text err;
    bool ended;
    int status; /* once ended: the exit status, or the negated signal number */
    struct run *next;
};

/*
 * Makes payloads that start later use all available CPU time. By default they nap between short
 * turns, because other tests run at the same time. Naps do not disturb tests of starts and ends,
 * but distort shares of CPU time.
 */
void run_greedily(void);

#define RUN_GREEDY "SS_TEST_GREEDY" /* the variable that makes the payload greedy */

#define WORDS(...)                                                                                 \
    (const char *const[]) {                                                                        \
        __VA_ARGS__, NULL                                                                          \
    }

/* Returns the words of both lists, in memory that is never freed. */
const char *const *run_join(const char *const *words, const char *const *more);

/*
 * Starts a program; the first word is its name or path. Skips the test if `setup` preloads a
 * library, with which a sanitizer does not work.
 */
struct run *run_start(const struct run_setup *setup, const char *const *words);

/* Starts showstopper with these options. */
#define START(...) run_start(NULL, WORDS(SHOWSTOPPER, __VA_ARGS__))

/* Starts showstopper with these options and waits for its end. */
#define RUN(...) run_wait(START(__VA_ARGS__))

/* The same, and fails the test unless the exit status is 0. */
#define SUCCEED(...) run_succeed(START(__VA_ARGS__))

/* These with a setup. */
#define START_IN(setup, ...)   run_start(setup, WORDS(SHOWSTOPPER, __VA_ARGS__))
#define RUN_IN(setup, ...)     run_wait(START_IN(setup, __VA_ARGS__))
#define SUCCEED_IN(setup, ...) run_succeed(START_IN(setup, __VA_ARGS__))

/* Starts any program and waits for its end. */
#define CALL(...) run_wait(run_start(NULL, WORDS(__VA_ARGS__)))

/* Waits until the program has ended. Returns its argument. */
struct run *run_wait(struct run *run);

/* The same, and fails the test unless the exit status is 0. */
struct run *run_succeed(struct run *run);

/* Reads pending output and notes whether the program has ended. */
void run_look(struct run *run);

/*
 * Sends this signal and fails the test unless the run dies from it. Also fails if the run has
 * already ended, because its pid may have been reused.
 */
void run_end(struct run *run, int signal);

/* The same, and fails the test unless nothing is left; frees `run`. */
void run_end_clean(struct run *run, int signal);

/* Waits until this text has appeared on either stream. */
void run_wait_text(struct run *run, const char *text);

/* Kills the program if it is still running, and frees `run`. */
void run_free(struct run *run);

/*
 * The end of each test: kills programs that still run. Fails the test if any other process or
 * shared memory of a run is left.
 */
void run_finish(void);

/* Fails the test, showing both streams, unless the exit status is this one. */
void run_expect(const struct run *run, int status);

/* Waits for the end; fails the test unless the status is 125 and an error contains this. */
void run_expect_refusal(struct run *run, const char *part);

void run_expect_text(const struct run_text *text, const char *part);

/* Returns the number of occurrences of `part`. */
size_t run_count_text(const struct run_text *text, const char *part);

/* Counts occurrences on both streams: with --json -, instances print to standard error. */
size_t run_count(const struct run *run, const char *part);

/* Waits for the condition and keeps reading the output of `run`, which may be NULL. */
#define RUN_UNTIL_WITHIN(seconds, run, condition)                                                  \
    do {                                                                                           \
        double run_deadline = run_now() + (seconds);                                               \
        while (!(condition)) {                                                                     \
            if (run_now() > run_deadline)                                                          \
                run_give_up(run, __FILE__, __LINE__, #condition);                                  \
            run_nap(run);                                                                          \
        }                                                                                          \
    } while (0)
#define RUN_UNTIL(run, condition) RUN_UNTIL_WITHIN(RUN_PATIENCE, run, condition)

/* Waits until instances have printed `ready` this many times. */
void run_wait_ready(struct run *run, size_t count);

/* Lets this time pass, unless the run ends before. `run` may be NULL. */
void run_let_pass(struct run *run, double seconds);

/* Lets this time pass without a system call that could take longer. */
void run_spin(double seconds);

/*
 * Prints the processes of this machine to standard error, with details of those of this test, so
 * that the output of a failed test shows why the run does not proceed.
 */
void run_print_processes(void);

/* Returns the number of a CPU that this process may use, for --cpus: it need not be CPU 0. */
const char *run_first_cpu(void);

const char *run_last_cpu(void);

/* Returns the number of CPUs that this process may use, which are those of a run. */
int run_cpu_count(void);

double run_now(void);          /* in seconds, monotonic */
void run_nap(struct run *run); /* for a few milliseconds */
void run_give_up(const struct run *run, const char *file, int line, const char *condition);

/* Returns the assignment in the environment that marks the processes of this test. */
char *run_mark(void);

#define RUN_PIDS_MAX 512

/* Finds the processes that carry our mark, except zombies. Returns their number. */
size_t run_alive(pid_t pids[RUN_PIDS_MAX]);

/* Finds marked processes whose name begins with `name` (`ss-executor`, `payload`). */
size_t run_named(const char *name, pid_t pids[RUN_PIDS_MAX]);

/*
 * Finds processes that are younger than the test and whose name begins with `name`, marked or not,
 * for which is_wanted(PID, what) returns true.
 */
size_t run_collect(const char *name, bool (*is_wanted)(pid_t pid, const char *what),
    const char *what, pid_t pids[RUN_PIDS_MAX]);

/* Waits for the one process with that name. */
pid_t run_find(struct run *run, const char *name);

/* Returns the state letter of the process as in ps, or 0 if there is no such process. */
char run_state(pid_t pid);

/* Returns the value of a field of its status in /proc as text; "" if it has none. */
const char *run_status(pid_t pid, const char *field);

/* Returns whether the process exists and is not a zombie. */
bool run_lives(pid_t pid);

/* Stops the process and waits until it has stopped. */
void run_stop(struct run *run, pid_t pid);

/* Returns the pid as text, for an argument. */
const char *run_pid_text(pid_t pid);

/* Waits until no marked process is alive; fails the test if one remains. */
void run_expect_nothing_left(void);

/* Fails the test if the run left a process or shared memory; frees `run`. */
void run_free_clean(struct run *run);

/* Returns the folder of temporary files. */
const char *run_temporary(void);

/* Makes an empty folder, which is removed with its contents when the test ends. */
const char *run_make_folder(void);
void run_remove_folder(const char *folder);

/* Makes such a folder and returns the path of NAME in it. */
const char *run_new_path(const char *name);

/* Returns formatted text in memory that is never freed, because a test is a short-lived process. */
__attribute__((format(printf, 1, 2))) const char *run_format(const char *format, ...);

/* Returns FOLDER/NAME in such memory. */
const char *run_path(const char *folder, const char *name);

void run_write_file(const char *path, const char *text);

/* Reads a whole file; length 0 if absent. */
struct run_text run_read_file(const char *path);

/* Fails the test unless this is the whole file. */
void run_expect_file(const char *path, const char *expected);

bool run_exists(const char *path);

/* Returns the text after the end of this line. */
const char *run_next_line(const char *line);

/* The rows of a table after its heading, for loops. */
#define RUN_EACH_ROW(row, text)                                                                    \
    const char *row = run_next_line((text).bytes);                                                 \
    *(row);                                                                                        \
    row = run_next_line(row)

/* Returns a cell of a row, counted from 0; NAN if it is empty or missing. */
double run_cell(const char *row, size_t index);

#endif
