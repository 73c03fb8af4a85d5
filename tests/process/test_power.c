/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A power cut at any moment of a study. Each case tries combinations of unsynced changes on the
 * disk. In all of them, results are complete, runs that were reported as done are done, and
 * journals list whatever must be undone.
 */

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "power_cut.h"
#include "process.h"
#include "run.h"
#include "sandbox.h"

#define SSBATCH TEST_BIN_DIR "/ssbatch"

static const char *folder, *log_path, *root;

/*
 * A command whose `after` removes a folder makes that folder. Run b fails once; its second attempt
 * continues with the ledger that the first one synced.
 */
static const char plan[] =
    "once base match='^(.*)$' -- echo 17\n"
    "before -- mkdir made-study\n"
    "after -- rm -rf made-study\n"
    "run a takes 1s\n"
    "  before -- mkdir made-a\n"
    "  main -- sh -c 'mkdir {record}; cat version >{record}/data; echo said {base}'\n"
    "  after -- rm -rf made-a\n"
    "run b takes 1s keep\n"
    "  before -- mkdir made-b\n"
    "  main -- sh -c 'cd {out}; [ ! -e record/ledger ] || exec touch record/data; mkdir record; "
    "echo half >record/ledger; sync record/ledger record .; mkdir \"$OLDPWD/noted\"; exit 1'\n"
    "  after -- rm -rf made-b\n";

static void begin_study(void) {
    SKIP_UNLESS(SHIMS_WORK, "sanitizer: must be the first preloaded library");
    folder = run_make_folder();
    root = run_path(folder, "root");
    log_path = run_path(folder, "log");
    ck_assert_int_eq(mkdir(root, 0777), 0);
    run_write_file(run_path(folder, "plan"), plan);
    run_write_file(run_path(root, "version"), "version 1\n");
}

/* Returns the status of a call. Unless 0, `killed_at` is the sync at which it is killed. */
static int call(const char *const *words, int killed_at) {
    char disk[9000], at[64];
    snprintf(disk, sizeof disk, "SS_TEST_DISK=%s:%s", log_path, root);
    snprintf(at, sizeof at, "SS_TEST_DISK_KILL=%d", killed_at);
    const char *const environment[] = {SHIM("shim_disk"), disk, at, NULL};
    const struct run_setup setup = {.folder = root, .environment = environment};
    power_log_mark(log_path, "call");
    struct run *run = run_wait(run_start(&setup, words));
    int status = run->status;
    run_free_clean(run);
    return status;
}

static int call_plan(int killed_at) {
    return call(WORDS(SSBATCH, "s", "../plan"), killed_at);
}

/* Logs three calls: run b fails, run b is completed, run a is repeated. */
static struct power_log *make_log(void) {
    begin_study();
    ck_assert_int_eq(call_plan(0), 1);
    power_log_mark(log_path, "failed");
    ck_assert_int_eq(call_plan(0), 0);
    power_log_mark(log_path, "completed");
    run_write_file(run_path(root, "version"), "version 2\n");
    ck_assert_int_eq(call(WORDS(SSBATCH, "--redo", "a", "--ram", "s", "../plan"), 0), 0);
    power_log_mark(log_path, "repeated");
    return power_log_read(log_path, root);
}

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), size = strlen(end);
    return length >= size && strcmp(text + length - size, end) == 0;
}

/* Returns whether this operation, at or after `from`, was completed before the cut. */
static bool is_past(
    const struct power_cut *cut, size_t from, enum power_operation operation, const char *path) {
    return power_log_find(cut->log, from, operation, path) < cut->at;
}

static bool is_marked(const struct power_cut *cut, const char *text) {
    return is_past(cut, 0, POWER_MARK, text);
}

/* Returns the contents of a file of a result, "" without a name; NULL if absent. */
static const char *read_of(const struct power_cut *cut, const char *run, const char *name) {
    char path[300];
    snprintf(path, sizeof path, "s/%s%s%s", run, name ? "/" : "", name ? name : "");
    return power_read(cut, path);
}

static bool says_done(const char *document) {
    return document && ends_with(document, "}\n") && strstr(document, "\"status\": \"done\"");
}

static bool is_done(const struct power_cut *cut, const char *run) {
    return says_done(read_of(cut, run, "run.json"));
}

/* Returns whether the next call finds the result that --redo was about to replace. */
static bool is_displaced(const struct power_cut *cut, const char *run) {
    char path[300];
    snprintf(path, sizeof path, "s/.study/old-%s/run.json", run);
    return says_done(power_read(cut, path));
}

/* Returns the index of the mark at which this call begins. Calls are numbered from 1. */
static size_t find_call(const struct power_log *log, int number) {
    size_t begin = power_log_find(log, 0, POWER_MARK, "call");
    while (--number > 0)
        begin = power_log_find(log, begin + 1, POWER_MARK, "call");
    return begin;
}

/* Returns whether a result exists of which a file is missing. */
static bool is_result_wrong(const struct power_cut *cut, const char *name) {
    static const char *const complete[][3] = {
        {"a", "record/data", "version"},
        {"a", "record.stdout", "said 17\n"},
        {"b", "record/data", ""},
        {"b", "record/ledger", "half\n"},
    };
    if (!read_of(cut, name, NULL))
        return false;
    const char *document = read_of(cut, name, "run.json");
    if (!document || !ends_with(document, "}\n"))
        return true;
    if (!is_done(cut, name))
        return false;
    for (size_t i = 0; i < sizeof complete / sizeof *complete; i++) {
        const char *text = read_of(cut, name, complete[i][1]);
        if (strcmp(complete[i][0], name) == 0 &&
            (!text || strncmp(text, complete[i][2], strlen(complete[i][2])) != 0))
            return true;
    }
    return false;
}

/*
 * Returns whether a run that ssbatch reported as done is not done. Run b begins after run a is
 * reported. A run that is being repeated may be missing only if the next call restores it.
 */
static bool is_result_lost(const struct power_cut *cut) {
    const char *data = read_of(cut, "a", "record/data");
    size_t second = find_call(cut->log, 2), third = find_call(cut->log, 3);
    if (is_past(cut, 0, POWER_MAKE, "made-b") && cut->at <= third && !is_done(cut, "a"))
        return true;
    if (cut->at > third && !is_done(cut, "a") && !is_displaced(cut, "a"))
        return true;
    if (is_marked(cut, "repeated") && (!data || strcmp(data, "version 2\n") != 0))
        return true;
    if (is_marked(cut, "failed") && cut->at <= second && !read_of(cut, "b", NULL))
        return true;
    if (is_marked(cut, "only") && !is_done(cut, "a"))
        return true;
    return is_marked(cut, "completed") && !is_done(cut, "b");
}

/* Plan and values must be complete, and on disk before the first result. */
static bool is_plan_wrong(const struct power_cut *cut) {
    const char *text = power_read(cut, "s/.study/plan");
    const char *values = power_read(cut, "s/.study/values");
    bool has_results = read_of(cut, "a", NULL) || read_of(cut, "b", NULL);
    bool has_plan = text && ends_with(text, "-- rm -rf made-b\n");
    bool has_values = values && strcmp(values, "base 17\n") == 0;
    return (!has_plan && (text || has_results)) || (!has_values && (values || has_results));
}

/* A file that the command synced must be in the result, or in the folder of the next attempt. */
static bool is_ledger_lost(const struct power_cut *cut) {
    const char *text = read_of(cut, "b", "record/ledger");
    if (!text)
        text = power_read(cut, "s/.b.part/result/record/ledger");
    return is_past(cut, 0, POWER_MAKE, "noted") && (!text || strcmp(text, "half\n") != 0);
}

struct search {
    const struct power_cut *cut;
    const char *name, *line; /* NULL: any */
    size_t count;
};

static void see_journal(void *context, const char *path) {
    struct search *search = context;
    const char *slash = strrchr(path, '/');
    if (search->name ? strcmp(slash + 1, search->name) == 0 : ends_with(path, ".undo"))
        search->count += !search->line || strstr(power_read(search->cut, path), search->line);
}

static void see_call(void *context, const char *path) {
    struct search *search = context;
    power_each(search->cut, path, see_journal, search);
}

/* Counts the journals of this name that contain this line. */
static size_t count_journals(const struct power_cut *cut, const char *name, const char *line) {
    struct search search = {.cut = cut, .name = name, .line = line};
    power_each(cut, "s/.study/calls", see_call, &search);
    return search.count;
}

/* Returns whether the folder of this operation must still be removed, but no journal says so. */
static bool is_journal_missing(const struct power_cut *cut, size_t made) {
    const struct power_log *log = cut->log;
    char name[300], line[300];
    const char *path = power_log_path(log, made);
    if (strncmp(path, "made-", 5) == 0) {
        snprintf(name, sizeof name, "%s%s.undo", path[5] == 's' ? "." : "", path + 5);
        snprintf(line, sizeof line, "after rm -rf %s\n", path);
    } else if (strncmp(path, "ssbatch-", 8) == 0 && !strchr(path, '/')) { /* in /dev/shm */
        snprintf(name, sizeof name, "%s.undo", strrchr(path, '-') + 1);
        snprintf(line, sizeof line, "remove /dev/shm/%s\n", path);
    } else {
        return false;
    }
    return made < cut->at && cut->at <= power_log_find(log, made, POWER_DROP, path) &&
           count_journals(cut, name, line) == 0;
}

static bool are_journals_wrong(const struct power_cut *cut) {
    for (size_t i = 0; i < cut->at; i++) {
        if (power_log_operation(cut->log, i) == POWER_MAKE && is_journal_missing(cut, i))
            return true;
    }
    /* After a call or its keeper has exited, its journals must not reappear. */
    return cut->at > 0 && power_log_operation(cut->log, cut->at - 1) == POWER_MARK &&
           strcmp(power_log_path(cut->log, cut->at - 1), "call") != 0 &&
           count_journals(cut, NULL, NULL) > 0;
}

/* Returns a description of the first fault, or NULL. */
static const char *find_fault(const struct power_cut *cut) {
    power_cut(cut);
    return is_result_wrong(cut, "a") || is_result_wrong(cut, "b") ? "a result is incomplete"
           : is_result_lost(cut)                                  ? "a reported result is lost"
           : is_plan_wrong(cut)      ? "the plan or a value is missing or incomplete"
           : is_ledger_lost(cut)     ? "what the command synced is lost"
           : are_journals_wrong(cut) ? "a journal is missing, or left"
                                     : NULL;
}

/* Tries each of the latest unsynced changes alone, and all but it. */
#define LATEST 30

static const char *find_fault_of_one(struct power_cut *cut) {
    const char *fault = NULL;
    size_t tried = 0;
    for (cut->chosen = cut->at; !fault && cut->chosen-- > 0 && tried < LATEST;) {
        if (!power_is_free(cut, cut->chosen))
            continue;
        tried++;
        cut->choice = POWER_ONLY;
        cut->contents = POWER_OLD;
        fault = find_fault(cut);
        cut->choice = POWER_ALL_BUT;
        cut->contents = POWER_NEW;
        if (!fault)
            fault = find_fault(cut);
    }
    return fault;
}

/* Returns a fault in one of the possible states after a cut at this moment, or NULL. */
static const char *find_fault_at(struct power_log *log, size_t at) {
    struct power_cut cut = {.log = log, .at = at};
    const char *fault = NULL;
    for (int choice = POWER_NONE; choice <= POWER_ALL && !fault; choice++) {
        for (int contents = POWER_OLD; contents <= POWER_NEW && !fault; contents++) {
            cut.choice = (enum power_choice)choice;
            cut.contents = (enum power_contents)contents;
            fault = find_fault(&cut);
        }
    }
    return fault ? fault : find_fault_of_one(&cut);
}

static void expect_no_fault(struct power_log *log) {
    for (size_t at = 0; at <= power_log_count(log); at++) {
        const char *fault = find_fault_at(log, at);
        ck_assert_msg(!fault, "%s after a power cut before operation %zu, %s", fault, at,
            at < power_log_count(log) ? power_log_path(log, at) : "the end");
    }
}

TEST_CASE(results_and_journals_survive_a_power_cut) {
    expect_no_fault(make_log());
}

/* Later calls find folders that the killed call made but did not sync. */
#define KILL_STEP 4

TEST_CASE(results_survive_a_power_cut_after_a_kill) {
    int killed = 1;
    for (int at = 1; killed; at += KILL_STEP) {
        begin_study();
        killed = call_plan(at) == -SIGKILL;
        if (call_plan(0) == 1) /* run b fails once */
            ck_assert_int_eq(call_plan(0), 0);
        power_log_mark(log_path, "completed");
        expect_no_fault(power_log_read(log_path, root));
    }
}

/* Number of the sync that puts the name of the plan on disk. */
#define PLAN_SYNC 4

TEST_CASE(the_whole_plan_is_synced_even_if_only_one_run_is_selected) {
    begin_study();
    ck_assert_int_eq(call_plan(PLAN_SYNC), -SIGKILL);
    ck_assert(run_exists(run_path(root, "s/.study/plan")));
    ck_assert_int_eq(call(WORDS(SSBATCH, "--only", "a", "s"), 0), 0);
    power_log_mark(log_path, "only");
    expect_no_fault(power_log_read(log_path, root));
}

/* Number of the sync of the first file in the result of run a. */
#define RESULT_SYNC 12

TEST_CASE(a_keeper_that_exits_leaves_no_journal) {
    begin_study();
    ck_assert_int_eq(call_plan(RESULT_SYNC), -SIGKILL);
    ck_assert(run_exists(run_path(root, "s/.a.part/result/run.json")));
    ck_assert(!run_exists(run_path(root, "made-study")));
    power_log_mark(log_path, "undone");
    expect_no_fault(power_log_read(log_path, root));
}

static struct run *run_quietly(const char *const *words) {
    const struct run_setup setup = {.folder = root, .environment = WORDS(SHIM("shim_disk"))};
    return run_wait(run_start(&setup, words));
}

static void expect_list(const struct power_cut *cut) {
    struct run *run = run_quietly(WORDS(SSBATCH, "--list", "--csv", "s"));
    if (!power_read(cut, "s/.study/plan")) {
        run_expect(run, 125);
    } else {
        ck_assert_int_eq(run_count_text(&run->out, "\na,,done,"), is_done(cut, "a"));
        ck_assert_int_eq(run_count_text(&run->out, "\nb,,done,"), is_done(cut, "b"));
        ck_assert_int_eq(run_count_text(&run->out, "\na,,to come,"), !is_done(cut, "a"));
    }
}

static void expect_completion(const struct power_cut *cut) {
    run_remove_folder(root);
    ck_assert_int_eq(mkdir(root, 0777), 0);
    power_write(cut, root);
    run_write_file(run_path(root, "version"), "version 1\n");
    expect_list(cut);
    struct run *run = run_quietly(WORDS(SSBATCH, "--retries", "1", "s", "../plan"));
    run_expect(run, 0);
    run_free_clean(run);
    run = run_quietly(WORDS(SSBATCH, "--list", "s"));
    run_expect(run, 0);
    run_expect_text(&run->out, "2 done, 0 failed, 0 skipped, 0 to come");
    ck_assert(run_exists(run_path(root, "s/b/record/ledger")));
    ck_assert(!run_exists(run_path(root, "made-a")));
    ck_assert(!run_exists(run_path(root, "made-study")));
}

#define CUT_STEP 20

TEST_CASE(the_next_call_completes_a_study_after_a_power_cut) {
    struct power_cut cut = {.log = make_log()};
    for (; cut.at <= power_log_count(cut.log); cut.at += CUT_STEP) {
        cut.choice = cut.at / CUT_STEP % 2 ? POWER_ALL : POWER_NONE;
        power_cut(&cut);
        expect_completion(&cut);
    }
}
