/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "measure/load_sample.h"
#include "measure/usage.h"
#include "unit.h"

/* Returns a board with guardian 11 and executors 20 and 21; the master will be 10. */
static struct ss_board *make_board(void) {
    struct ss_board *board = ss_board_allocate(2, 0, false);
    assert_non_null(board);
    atomic_store(&board->guardian, 11);
    atomic_store(&board->rows[0].executor, 20);
    atomic_store(&board->rows[1].executor, 21);
    return board;
}

static struct ss_usage_by_owner add_up(struct ss_process_usage *processes, size_t count) {
    struct ss_board *board = make_board();
    struct ss_usage_by_owner tree = ss_usage_add_up(board, 10, processes, count);
    free(board);
    return tree;
}

#define ADD_UP(...)                                                                                \
    add_up((struct ss_process_usage[]){__VA_ARGS__},                                               \
        sizeof((struct ss_process_usage[]){__VA_ARGS__}) / sizeof(struct ss_process_usage))

/*
 * Processes are in arbitrary order; 50 and 51 are descendants of 30, and 40 is an orphan adopted by
 * an executor.
 */
TEST(usage_includes_times_of_waited_children) {
    struct ss_usage_by_owner tree = ADD_UP({.times = {.pid = 51, .parent = 50, .used = 1}},
        {.times = {.pid = 20, .parent = 10, .used = 100, .waited = 2}},
        {.times = {.pid = 30, .parent = 20, .used = 4}},
        {.times = {.pid = 50, .parent = 30, .used = 8, .waited = 16}},
        {.times = {.pid = 40, .parent = 21, .used = 32}},
        {.times = {.pid = 21, .parent = 10, .used = 200}},
        {.times = {.pid = 10, .parent = 1, .used = 400}},
        {.times = {.pid = 11, .parent = 10, .used = 800}},
        {.times = {.pid = 1, .used = 5000, .waited = 5000}},
        {.times = {.pid = 60, .parent = 1, .used = 7000, .waited = 7000}});
    assert_int_equal(tree.instances, 1 + 2 + 4 + 8 + 16 + 32);
    assert_int_equal(tree.own, 100 + 200 + 400 + 800);
}

TEST(usage_keeps_the_time_of_ended_instances) {
    /* The master reaped the executor of the second instance. */
    struct ss_usage_by_owner tree =
        ADD_UP({.times = {.pid = 10, .parent = 1, .used = 1, .waited = 500}},
            {.times = {.pid = 20, .parent = 10, .used = 2, .waited = 30}},
            {.times = {.pid = 30, .parent = 20, .used = 4}});
    assert_int_equal(tree.instances, 500 + 30 + 4);
    assert_int_equal(tree.own, 1 + 2);
}

TEST(process_with_a_reused_executor_pid_or_an_unknown_ancestor_is_foreign) {
    struct ss_usage_by_owner tree =
        ADD_UP({.times = {.pid = 10, .parent = 1}}, {.times = {.pid = 20, .parent = 10}},
            {.times = {.pid = 21, .parent = 1, .used = 3000, .waited = 3000}},
            {.times = {.pid = 70, .parent = 21, .used = 5000}},
            {.times = {.pid = 80, .parent = 79, .used = 1}},
            {.times = {.pid = 90, .parent = 91, .used = 2}},
            {.times = {.pid = 91, .parent = 90, .used = 4}},
            {.times = {.pid = 92, .parent = 92, .used = 8}});
    assert_int_equal(tree.instances, 0);
    assert_int_equal(tree.own, 0);
}

/* Instances are programs of other parents; 42 and the members of group 50 were found in a tree. */
TEST(attached_trees_include_processes_that_left_them) {
    struct ss_board *board = make_board();
    struct ss_branch *branches = ss_board_branches(board);
    board->attached = true;
    atomic_store(&board->rows[0].leader, 40);
    branches[0].pid = 42;
    branches[0].owner = 1;
    branches[9].pid = 43; /* the slot is free */
    branches[4095].pid = 50;
    branches[4095].group = 1;
    branches[4095].owner = 1;
    struct ss_process_usage processes[] = {{.times = {.pid = 10, .parent = 1}},
        {.times = {.pid = 40, .parent = 2, .used = 1}},
        {.times = {.pid = 41, .parent = 40, .used = 2}},
        {.times = {.pid = 42, .parent = 1, .used = 4}},
        {.times = {.pid = 44, .parent = 42, .used = 8}},
        {.times = {.pid = 51, .parent = 1, .group = 50, .used = 16}},
        {.times = {.pid = 43, .parent = 1, .used = 1000}}};
    struct ss_usage_by_owner tree =
        ss_usage_add_up(board, 10, processes, sizeof processes / sizeof *processes);
    assert_int_equal(tree.instances, 1 + 2 + 4 + 8 + 16);
    assert_int_equal(tree.attached, 1);
    free(board);
}

/* --beside names this process, and one whose pid was reused and which therefore does not count. */
TEST(processes_of_beside_are_counted_separately) {
    struct ss_board *board = make_board();
    pid_t client = getpid();
    board->beside.count = 2;
    board->beside.items[0].pid = client;
    board->beside.items[0].started = ss_platform_process_started(client);
    board->beside.items[1].pid = getppid();
    board->beside.items[1].started = 1;
    struct ss_process_usage processes[] = {{.times = {.pid = 10, .parent = client, .used = 1}},
        {.times = {.pid = 20, .parent = 10, .used = 2}},
        {.times = {.pid = 30, .parent = 20, .used = 4}},
        {.times = {.pid = client, .parent = getppid(), .used = 8, .waited = 16}},
        {.times = {.pid = getppid(), .parent = 1, .used = 1000}},
        {.times = {.pid = client + 1, .parent = client, .used = 32}}};
    struct ss_usage_by_owner tree =
        ss_usage_add_up(board, 10, processes, sizeof processes / sizeof *processes);
    assert_int_equal(tree.beside, 8 + 16 + 32);
    assert_int_equal(tree.own, 1 + 2);
    assert_int_equal(tree.instances, 4);
    assert_int_equal(tree.attached, 1);
    free(board);
}

TEST(each_process_of_a_long_line_of_descent_is_visited_once) {
    static struct ss_process_usage processes[100000];
    size_t count = 0;
    processes[count++] = (struct ss_process_usage){.times = {.pid = 10, .parent = 1}};
    processes[count++] = (struct ss_process_usage){.times = {.pid = 20, .parent = 10}};
    for (pid_t pid = 100; pid < 99000; pid++)
        processes[count++] = (struct ss_process_usage){
            .times = {.pid = pid, .parent = pid % 100 ? pid - 1 : 20, .used = 1}};
    struct ss_usage_by_owner tree = add_up(processes, count);
    assert_int_equal(tree.instances, 99000 - 100);
}

static void work(ss_time length) {
    ss_time end = ss_platform_process_cpu_time(getpid()) + length;
    while (ss_platform_process_cpu_time(getpid()) < end) {
    }
}

TEST(cpu_time_of_this_process_is_read) {
    struct ss_process_times before, after;
    assert_true(ss_platform_process_times(getpid(), &before));
    assert_int_equal(before.pid, getpid());
    assert_int_equal(before.parent, getppid());
    work(50 * SS_MILLISECOND);
    assert_true(ss_platform_process_times(getpid(), &after));
    assert_that(after.used, >=, before.used + 30 * SS_MILLISECOND);
    assert_that(after.used, <=, ss_platform_process_cpu_time(getpid()) + 20 * SS_MILLISECOND);
    assert_false(ss_platform_process_times(0, &after));
}

/* The calling process is the master. */
TEST(load_of_other_processes_excludes_processes_of_the_run) {
    static struct ss_usage usage;
    struct ss_load_span span;
    struct ss_cpus cpus = {0};
    struct ss_board *board = make_board();
    for (long cpu = sysconf(_SC_NPROCESSORS_CONF) - 1; cpu >= 0; cpu--)
        ss_cpus_add(&cpus, (uint32_t)cpu);
    ss_usage_open(&usage, board, &cpus, false);
    ss_usage_begin(&usage, ss_platform_now());
    work(200 * SS_MILLISECOND);
    double others = ss_usage_of_others(&usage);
    assert_true(ss_load_span_between(
        &usage.counting_meter.previous, &usage.counting_meter.last, SS_LOAD_ALL_CPUS, &span));
    double idle = (double)(span.times.idle + span.times.iowait);
    double busy = span.capacity - idle - (double)(span.times.irq + span.times.steal);
    double most = busy - (double)(150 * SS_MILLISECOND);
    assert_true(others >= 0 && others * span.capacity <= (most > 0 ? most : 0));
    ss_usage_close(&usage);
    free(board);
}

/*
 * One CPU: hours until each reading, and the idle hours among them. This process uses hardly any
 * CPU time.
 */
static const unsigned script[][2] = {{0, 0}, {1, 1}, {11, 1}, {13, 2}};

static int read_script(void *context, struct ss_cpu_reading *reading) {
    size_t *next = context;
    reading->counters.time = (script[*next][0] + 1) * 3600 * SS_SECOND;
    reading->count = 1;
    reading->items[0] = (struct ss_cpu_times){.idle = script[*next][1] * 3600 * SS_SECOND};
    ++*next;
    return 0;
}

static void open_on_script(struct ss_usage *usage, struct ss_board *board, size_t *next) {
    struct ss_cpus cpus = {0};
    ss_cpus_add(&cpus, 0);
    ss_usage_open(usage, board, &cpus, false);
    assert_true(usage->measures);
    *next = 0;
    usage->counting_meter.read = read_script;
    usage->counting_meter.context = next;
}

TEST(pauses_do_not_count_as_load_of_other_processes) {
    static struct ss_usage usage;
    size_t next;
    struct ss_board *board = make_board();
    open_on_script(&usage, board, &next);
    ss_usage_pause(&usage); /* counting has not begun */
    ss_usage_continue(&usage);
    assert_true(isnan(ss_usage_of_others(&usage)));
    ss_usage_begin(&usage, ss_platform_now());
    ss_usage_pause(&usage);                                 /* after an idle hour */
    ss_usage_continue(&usage);                              /* ten busy hours later */
    assert_near(ss_usage_of_others(&usage), 1.0 / 3, 0.01); /* two more hours, half of them idle */
    assert_int_equal(next, 4);
    ss_usage_close(&usage);
    free(board);
}

TEST(others_are_blamed_while_they_keep_the_load_from_the_target) {
    struct ss_usage usage = {.latest_kind = SS_DOUBT_ABOVE,
        .latest = {.capacity = 100, .others = 60, .instances = 1, .idle = 39}};
    assert_near(ss_usage_blamed_on_others(&usage), 0.6, 1e-12);
    usage.latest_kind = SS_DOUBT_BELOW; /* more instances would help */
    assert_true(isnan(ss_usage_blamed_on_others(&usage)));
    usage.latest.instances = 39;
    usage.latest.idle = 1;
    assert_near(ss_usage_blamed_on_others(&usage), 0.6, 1e-12);
    ss_usage_follow(&usage, SS_DOUBT_NONE, SS_SECOND);
    assert_true(isnan(ss_usage_blamed_on_others(&usage)));
}

/* The calling process is the attached program: its CPU time is known until it leaves the board. */
TEST(use_of_others_is_unknown_after_the_end_of_an_attached_program) {
    static struct ss_usage usage;
    for (int ends = 0; ends < 2; ends++) {
        size_t next;
        struct ss_board *board = make_board();
        board->attached = true;
        atomic_store(&board->rows[0].leader, getpid());
        open_on_script(&usage, board, &next);
        ss_usage_begin(&usage, ss_platform_now());
        if (ends)
            atomic_store(&board->rows[0].leader, 0);
        assert_int_equal(isnan(ss_usage_of_others(&usage)), ends);
        ss_usage_close(&usage);
        free(board);
    }
}

UNIT_RUN
