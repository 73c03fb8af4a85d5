/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "unit.h"

static int read_text(struct ssbatch_plan *plan, const char *text, struct ss_error *error) {
    FILE *stream = fmemopen((char *)text, strlen(text), "r");
    assert_non_null(stream);
    int status = ssbatch_plan_read(plan, stream, "plan", error);
    fclose(stream);
    return status;
}

static struct ssbatch_plan *parse(const char *text) {
    static struct ssbatch_plan plan;
    struct ss_error error = {0};
    if (read_text(&plan, text, &error) < 0)
        fail_msg("a plan was refused: %s", error.message);
    return &plan;
}

static void assert_refused(const char *text, const char *message) {
    struct ssbatch_plan plan;
    struct ss_error error = {0};
    if (read_text(&plan, text, &error) == 0)
        fail_msg("a plan was accepted: %s", text);
    ssbatch_plan_free(&plan);
    assert_string_equal(error.message, message);
    assert_int_equal(error.status, SS_ERROR_FAILED);
}

/* Expects the words, and NULL after them. */
static void assert_words(char **words, const char *expected) {
    char found[256] = "";
    for (; *words; words++) {
        strcat(found, "[");
        strcat(found, *words);
        strcat(found, "]");
    }
    assert_string_equal(found, expected);
}

typedef void printer(FILE *stream, const struct ssbatch_plan *plan, const struct ssbatch_run *run);

static void assert_printed(
    printer *print, const struct ssbatch_plan *plan, const char *name, const char *expected) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    print(stream, plan, *name ? ssbatch_plan_find(plan, name) : NULL);
    assert_int_equal(fclose(stream), 0);
    assert_string_equal(text, expected);
    free(text);
}

static void print_all(
    FILE *stream, const struct ssbatch_plan *plan, const struct ssbatch_run *run) {
    (void)run;
    fputs("plan 1\n", stream);
    ssbatch_plan_print_study(stream, plan);
    for (size_t i = 0; i < plan->run_count; i++)
        ssbatch_plan_print_run(stream, &plan->runs[i]);
}

static void print_run(
    FILE *stream, const struct ssbatch_plan *plan, const struct ssbatch_run *run) {
    (void)plan;
    ssbatch_plan_print_run(stream, run);
}

static void simplest_plan_has_one_run_with_one_command(void **state) {
    (void)state;
    struct ssbatch_plan *plan = parse("run a takes 70s size=big load=20\nmain -- ./bench --big\n");
    assert_int_equal(plan->run_count, 1);
    assert_int_equal(plan->study.count, 0);
    const struct ssbatch_run *run = ssbatch_plan_find(plan, "a");
    assert_ptr_equal(run, plan->runs);
    assert_string_equal(run->name, "a");
    assert_int_equal(run->number, 1);
    assert_null(run->reason);
    assert_int_equal(run->takes, 70 * SS_SECOND);
    assert_int_equal(run->limit, 0);
    assert_false(run->keep);
    assert_int_equal(run->need_count, 0);
    assert_int_equal(run->columns.count, 2);
    assert_string_equal(ssbatch_columns_get(&run->columns, "load"), "20");
    assert_null(ssbatch_columns_get(&run->columns, "lo"));
    assert_int_equal(run->lines.count, 1);
    const struct ssbatch_line *line = run->lines.items;
    assert_int_equal(line->kind, SSBATCH_MAIN);
    assert_int_equal(line->number, 2);
    assert_null(line->role);
    assert_null(line->pattern);
    assert_false(line->has_ok);
    assert_true(ssbatch_line_accepts(line, 0));
    assert_false(ssbatch_line_accepts(line, 1));
    assert_words(line->words, "[./bench][--big]");
    assert_null(ssbatch_plan_find(plan, "b"));
    ssbatch_plan_free(plan);
}

static void commands_of_a_run_keep_roles_patterns_statuses_and_columns(void **state) {
    (void)state;
    struct ssbatch_plan *plan = parse("plan 1\n"
                                      "run x takes 2M limit 4M keep target=0.5\n"
                                      "  before -- mkdir {scratch}/a\n"
                                      "  beside server ready='^on (.+)$' ok=0,143 -- serve\n"
                                      "  beside log ready-file={record}/samples.csv -- log\n"
                                      "  main requests ok=0,1 rate=20 -- ask -- {server.1}\n"
                                      "  after -- close {run}\n");
    const struct ssbatch_run *run = plan->runs;
    assert_int_equal(run->limit, 240 * SS_SECOND);
    assert_true(run->keep);
    assert_int_equal(run->lines.count, 5);
    const struct ssbatch_line *line = run->lines.items;
    assert_int_equal(line[0].kind, SSBATCH_BEFORE);
    assert_int_equal(line[1].kind, SSBATCH_BESIDE);
    assert_string_equal(line[1].role, "server");
    assert_string_equal(line[1].pattern, "^on (.+)$");
    assert_int_equal(line[1].regex->re_nsub, 1);
    assert_true(ssbatch_line_accepts(&line[1], 0));
    assert_true(ssbatch_line_accepts(&line[1], 143));
    assert_false(ssbatch_line_accepts(&line[1], 1));
    assert_string_equal(line[2].ready_file, "{record}/samples.csv");
    assert_int_equal(line[2].columns.count, 0);
    assert_string_equal(ssbatch_columns_get(&line[3].columns, "rate"), "20");
    assert_words(line[3].words, "[ask][--][{server.1}]");
    assert_int_equal(line[4].kind, SSBATCH_AFTER);
    assert_string_equal(ssbatch_kind_name(line[4].kind), "after");
    ssbatch_plan_free(plan);
}

static void set_adds_columns_to_all_runs_below_it(void **state) {
    (void)state;
    struct ssbatch_plan *plan = parse("set a=1 b=2\n"
                                      "run x takes 1s b=3\n main -- x\n"
                                      "set a= c=4\n"
                                      "skip y reason='not here' d=5\n");
    assert_printed(print_run, plan, "x", "run x takes 1s a=1 b=3\n  main -- x\n");
    assert_printed(print_run, plan, "y", "skip y reason='not here' a='' b=2 c=4 d=5\n");
    assert_string_equal(plan->runs[1].reason, "not here");
    ssbatch_plan_free(plan);
}

static void lines_above_the_first_run_belong_to_the_study(void **state) {
    (void)state;
    struct ssbatch_plan *plan =
        parse("once work match='work ([0-9]+)' -- calibrate\n"
              "before -- mount\n"
              "beside net ready=up -- net\n"
              "after -- umount\n"
              "run a takes 1s\n main -- x {work}\n"
              "once more match=(.) -- y\n"
              "run b takes 1s needs=work,more,a,work needs=a\n main -- z\n");
    assert_int_equal(plan->study.count, 5);
    assert_int_equal(plan->study.items[0].kind, SSBATCH_ONCE);
    assert_string_equal(plan->study.items[0].role, "work");
    assert_string_equal(plan->study.items[0].pattern, "work ([0-9]+)");
    assert_int_equal(plan->study.items[3].kind, SSBATCH_AFTER);
    assert_string_equal(plan->study.items[4].role, "more");
    assert_int_equal(plan->runs[0].lines.count, 1);
    assert_int_equal(plan->runs[1].need_count, 3);
    assert_string_equal(plan->runs[1].needs[2], "a");
    ssbatch_plan_free(plan);
}

static void backslashes_comments_and_quotes_work_as_in_a_shell(void **state) {
    (void)state;
    struct ssbatch_plan *plan = parse("# run no takes 1s \\\n"
                                      "\r\n"
                                      "run a \\\n  takes 1s \\\r\n  note='a b' # not this \\\n"
                                      "main -- sh -c \\\n"
                                      "  $'it\\'s\\n' \"a\\\n"
                                      "b\"");
    assert_int_equal(plan->runs[0].number, 3);
    assert_string_equal(ssbatch_columns_get(&plan->runs[0].columns, "note"), "a b");
    assert_int_equal(plan->runs[0].lines.items[0].number, 6);
    assert_words(plan->runs[0].lines.items[0].words, "[sh][-c][it's\n][ab]");
    ssbatch_plan_free(plan);
}

static void printed_plan_reads_back_as_the_same(void **state) {
    (void)state;
    static const char text[] = "plan 1\n"
                               "once n match='([0-9]+)' -- nbench\n"
                               "before -- mkdir 'a b'\n"
                               "run a takes 90M limit 2h keep needs=n w='x y'\n"
                               "  beside s ready-file=/tmp/f -- s\n"
                               "  beside t ready='^a$' ok=0,1,255 k='' -- $'a\\012b'\n"
                               "  main -- '{n}' '{{' '' '#' 'k=v' --\n"
                               "skip b reason=$'two\\012lines'\n";
    struct ssbatch_plan *plan = parse(text);
    assert_printed(print_all, plan, "", text);
    ssbatch_plan_free(plan);
}

static void identity_of_a_run_excludes_its_times(void **state) {
    (void)state;
    struct ssbatch_plan *plan = parse("once n match=(.) -- nbench\n"
                                      "once m match=(.) -- mbench\n"
                                      "set b=2\n"
                                      "run a takes 1s limit 2s keep needs=m a=1\n"
                                      "main x d=4 c=3 -- w {n}\n");
    static const char expected[] = "run a a=1 b=2\n"
                                   "main x -- w '{n}'\n"
                                   "  columns c=3 d=4\n"
                                   "once n match='(.)' -- nbench\n"
                                   "  columns\n"
                                   "once m match='(.)' -- mbench\n"
                                   "  columns\n";
    assert_printed(ssbatch_plan_print_identity, plan, "a", expected);
    ssbatch_plan_free(plan);
    plan = parse("once m match=(.) -- mbench\n"
                 "run a takes 2s needs=m b=2 a=1\n"
                 "main x c=3 d=4 -- w {{n}}\n");
    assert_printed(ssbatch_plan_print_identity, plan, "a",
        "run a a=1 b=2\nmain x -- w '{{n}}'\n  columns c=3 d=4\n"
        "once m match='(.)' -- mbench\n  columns\n");
    ssbatch_plan_free(plan);
}

static void identity_of_a_skipped_run_includes_its_reason(void **state) {
    (void)state;
    struct ssbatch_plan *plan = parse("skip a reason='not here' b=1 a=2\n");
    assert_printed(ssbatch_plan_print_identity, plan, "a", "run a reason='not here' a=2 b=1\n");
    ssbatch_plan_free(plan);
}

static void milliseconds_meant_as_minutes_cause_a_warning(void **state) {
    (void)state;
    struct ssbatch_plan *plan = parse("run a takes 2m limit 6m\nmain -- x\n");
    assert_int_equal(plan->runs[0].takes, 2 * SS_MILLISECOND);
    assert_int_equal(plan->doubt_count, 2);
    assert_string_equal(plan->doubt, "plan:1: takes 2m is 2 milliseconds; for minutes write 2M");
    ssbatch_plan_free(plan);
}

static void ten_thousand_runs_are_found_by_name(void **state) {
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    for (int i = 0; i < 10000; i++)
        fprintf(stream, "run r%d takes 1s i=%d\nmain -- true\n", i, i);
    fclose(stream);
    struct ssbatch_plan *plan = parse(text);
    free(text);
    assert_int_equal(plan->run_count, 10000);
    for (int i = 0; i < 10000; i++) {
        char name[16];
        snprintf(name, sizeof name, "r%d", i);
        assert_ptr_equal(ssbatch_plan_find(plan, name), &plan->runs[i]);
    }
    ssbatch_plan_free(plan);
}

static void lines_that_cannot_be_read_are_refused(void **state) {
    (void)state;
    assert_refused("run a takes 1s\nmian -- x\n",
        "plan:2: unknown first word 'mian': did you mean 'main'? Available: run, before, beside, "
        "main, after, set, once, skip, plan");
    assert_refused("\xef\xbb\xbf# A comment\nrun a takes 1s\nmain -- x\n",
        "plan:1: the line begins with a byte order mark, which some editors add: save the plan as "
        "UTF-8 without it");
    assert_refused("\nrun a takes 1s 'b\n",
        "plan:2: the quote ' at column 16 is not closed: close it, or write \\' for the character "
        "itself");
    assert_refused("run a \\\n takes 1s \\\n",
        "plan:1: the plan ends with a backslash, which continues a line: the next line is missing");
    assert_refused("plan 2\n", "plan:1: the plan has version '2', but this program reads only "
                               "version 1: use the program that the plan was written for");
    assert_refused("plan\n", "plan:1: expected the version of the plan: write 'plan 1'");
    assert_refused(
        "set a=1\nplan 1\n", "plan:2: the version of the plan must be in its first line");
    assert_refused("set a\n", "plan:1: 'a' is not a column: write KEY=VALUE");
    assert_refused("set\n", "plan:1: set has no column: write 'set KEY=VALUE...'");
}

static void null_bytes_are_refused(void **state) {
    (void)state;
    struct ssbatch_plan plan;
    struct ss_error error = {0};
    char text[] = "set a=1\nset\0b=1\n";
    FILE *stream = fmemopen(text, sizeof text - 1, "r");
    assert_int_equal(ssbatch_plan_read(&plan, stream, "plan", &error), -1);
    assert_string_equal(error.message, "plan:2: the line contains a null byte: a plan is text");
    ssbatch_plan_free(&plan);
    fclose(stream);
}

/*
 * A script may have read a value from a DOS file. The rest of the line must not be lost.
 */
static void carriage_returns_within_a_line_are_refused(void **state) {
    (void)state;
    const char *const message =
        "plan:2: the line contains a carriage return, perhaps from a value that was read from a "
        "DOS file: remove it, or write $'\\r'";
    assert_refused("run a takes 1s\nmain -- x small\r --load 20\n", message);
    assert_refused("run a takes 1s\nmain -- x 'small\r'\n", message);
    assert_refused("run a takes 1s\nmain -- x small\r\r\n", message);
    struct ssbatch_plan *plan = parse("run a takes 1s\r\nmain -- x $'small\\r' y\r");
    assert_words(plan->runs[0].lines.items[0].words, "[x][small\r][y]");
    assert_printed(print_run, plan, "a", "run a takes 1s\n  main -- x $'small\\015' y\n");
    ssbatch_plan_free(plan);
}

static void runs_that_cannot_be_carried_out_are_refused(void **state) {
    (void)state;
    assert_refused("# nothing\n", "plan:2: the plan has no run: add a line 'run NAME takes TIME' "
                                  "and, below it, 'main -- COMMAND'");
    assert_refused("run\n", "plan:1: the run has no name: write 'run NAME'");
    assert_refused("run a load=3\nmain -- x\n",
        "plan:1: run a has no duration: add 'takes TIME', such as 'takes 70s'");
    assert_refused("run a takes\n", "plan:1: takes has no time: write 'takes 70s'");
    assert_refused("run a takes 10x\n",
        "plan:1: takes: '10x' has an unknown unit, 'x': units are n, u, m "
        "(milliseconds), s, M (minutes), h and d, or ns, us, ms and min");
    assert_refused("run a takes 10s limit 9s\n", "plan:1: run a has a limit that is shorter than "
                                                 "the time it takes: write a longer limit");
    assert_refused("run a take 1s\n", "plan:1: unknown word 'take': did you mean 'takes'? "
                                      "Available: takes, limit, keep, needs=NAME, KEY=VALUE");
    assert_refused("run a takes 1s\nbefore -- x\nrun b takes 1s\nmain -- x\n",
        "plan:1: run a has no main: add a line 'main -- COMMAND' below it");
    assert_refused("skip a\n", "plan:1: skip a has no reason: add reason=TEXT");
    assert_refused("skip a reason=no cpus\n",
        "plan:1: 'cpus' is not reason=TEXT or KEY=VALUE: quote the reason");
}

/* None of them is ignored. */
static void words_that_appear_twice_are_refused(void **state) {
    (void)state;
    assert_refused("run a takes 1s takes 2s\n", "plan:1: takes appears twice: remove one of them");
    assert_refused(
        "run a takes 1s limit 2s limit 3s\n", "plan:1: limit appears twice: remove one of them");
    assert_refused("run a takes 0s limit 0s\n",
        "plan:1: run a has a limit of 0: write a longer limit, or leave it out");
    assert_refused("run a takes 1s keep keep\n", "plan:1: keep appears twice: remove one of them");
    assert_refused("run a takes 1s\nbeside ready=x ready=y -- z\n",
        "plan:2: ready= appears twice: remove one of them");
    assert_refused(
        "once a match=(x) match=(y) -- z\n", "plan:1: match= appears twice: remove one of them");
    assert_refused(
        "run a takes 1s\nmain ok=1 ok=0 -- x\n", "plan:2: ok= appears twice: remove one of them");
    assert_refused(
        "skip a reason=x reason=y\n", "plan:1: reason= appears twice: remove one of them");
}

static void names_must_be_unique_and_usable_as_file_names(void **state) {
    (void)state;
    assert_refused("run a takes 1s\nmain -- x\nskip a reason=y\n",
        "plan:3: the name 'a' is already used in line 1: give each run a name of its own");
    assert_refused("run .a takes 1s\n", "plan:1: the name '.a' begins with '.': begin it with a "
                                        "letter or a digit, because a folder has this name");
    assert_refused(
        "run '' takes 1s\n", "plan:1: the name is empty: write a name that a file can have");
    static const char *const names[] = {"a/b", "a,b", "a%b", "'a b'", "{a}", "a\xc3\xa4"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct ssbatch_plan plan;
        struct ss_error error = {0};
        char text[64];
        snprintf(text, sizeof text, "run %s takes 1s\nmain -- x\n", names[i]);
        assert_int_equal(read_text(&plan, text, &error), -1);
        assert_non_null(strstr(error.message, "cannot name a run"));
        ssbatch_plan_free(&plan);
    }
    char text[260];
    snprintf(text, sizeof text, "run %0201d takes 1s\nmain -- x\n", 1);
    struct ssbatch_plan plan;
    struct ss_error error = {0};
    assert_int_equal(read_text(&plan, text, &error), -1);
    assert_non_null(strstr(error.message, "too long: use at most 200 bytes"));
    ssbatch_plan_free(&plan);
    snprintf(text, sizeof text, "run %0200d takes 1s\nmain -- x\n", 1);
    ssbatch_plan_free(parse(text));
}

static void commands_that_are_incomplete_are_refused(void **state) {
    (void)state;
    assert_refused("run a takes 1s\nmain ./bench\n",
        "plan:2: the line has no command: end it with -- COMMAND");
    assert_refused(
        "run a takes 1s\nmain x --\n", "plan:2: the line has no command: end it with -- COMMAND");
    assert_refused(
        "run a takes 1s\nmain -- ''\n", "plan:2: the line has no command: end it with -- COMMAND");
    assert_refused(
        "main -- x\n", "plan:1: the main is outside of a run: put it below a line 'run NAME'");
    assert_refused("run a takes 1s\nmain -- x\nset b=1\nafter -- x\n",
        "plan:4: the after is outside of a run: put it below a line 'run NAME'");
    assert_refused("once a -- x\n",
        "plan:1: a value needs a name and a pattern: write 'once NAME match=REGEX -- COMMAND'");
    assert_refused("once a match=b -- x\n",
        "plan:1: match: 'b' has no group: put parentheses around the part that is the value");
    assert_refused(
        "once a match=(b) c=1 -- x\n", "plan:1: 'c' is not match=REGEX: a value has no columns");
}

static void roles_must_be_unique_and_usable_in_placeholders(void **state) {
    (void)state;
    assert_refused("run a takes 1s\nmain x -- x\nmain x -- x\n",
        "plan:3: the name 'x' is already used in line 2: choose another name");
    assert_refused("beside x -- x\nrun a takes 1s\nmain x -- x\n",
        "plan:3: the name 'x' is already used in line 1: choose another name");
    assert_refused("run a takes 1s\nmain x -- x\nonce x match=(.) -- x\n",
        "plan:3: the name 'x' is already used in line 2: choose another name");
    assert_refused("run a takes 1s\nmain -- x\nmain -- x\n",
        "plan:3: a main without a role is already in line 2: write 'main ROLE -- COMMAND', so that "
        "each has a record of its own");
    assert_refused("run a takes 1s\nmain 1x -- x\n",
        "plan:2: '1x' cannot be a role or name a value: use letters, digits, _ and -, and begin "
        "with a letter");
    assert_refused("run a takes 1s\nmain x.pid -- x\n",
        "plan:2: 'x.pid' cannot be a role or name a value: use letters, digits, _ and -, and begin "
        "with a letter");
    assert_refused("run a takes 1s\nmain x ./bench -- x\n",
        "plan:2: './bench' follows the role 'x', but only KEY=VALUE and -- COMMAND may: write -- "
        "before the command");
    assert_refused("once run match=(.) -- x\n",
        "plan:1: 'run' is the placeholder {run} in commands: choose another name");
    ssbatch_plan_free(parse(
        "run a takes 1s\nmain x -- x\nrun b takes 1s\nbefore -- x\nbefore -- x\nmain x -- x\n"));
}

static void invalid_readiness_conditions_are_refused(void **state) {
    (void)state;
    assert_refused("run a takes 1s\nbeside ready=a ready-file=b -- x\n",
        "plan:2: the line has ready= and ready-file=: remove one of them");
    assert_refused("run a takes 1s\nmain ready-file=b -- x\n",
        "plan:2: ready-file= is for a beside, but this is a main: remove ready-file=");
    assert_refused("run a takes 1s\nmain ready=a ready=b -- x\n",
        "plan:2: ready= appears twice: remove one of them");
    assert_refused("run a takes 1s\nmain ready='(' -- x\n",
        "plan:2: ready: '(': Unmatched ( or \\(: write an extended regular expression");
    assert_refused("run a takes 1s\nmain ok=256 -- x\n",
        "plan:2: '256' is not a list of exit statuses: write numbers from 0 to 255, such as "
        "ok=0,1");
    assert_refused("run a takes 1s\nmain ok=00000000001 -- x\n",
        "plan:2: '00000000001' is not a list of exit statuses: write numbers from 0 to 255, such "
        "as ok=0,1");
}

static void columns_must_be_usable_in_a_table(void **state) {
    (void)state;
    assert_refused("run a takes 1s 2=3\n", "plan:1: '2' cannot name a column: use letters, digits, "
                                           "_ and -, and begin with a letter");
    assert_refused("run a takes 1s b=3 b=3\n",
        "plan:1: the column 'b' appears twice in this line: remove one of them");
    assert_refused("set status=3\n", "plan:1: the column 'status' is filled in when the run is "
                                     "done: choose another name");
}

static void needs_of_a_run_is_not_the_name_of_a_column(void **state) {
    (void)state;
    static const char why[] = "plan:1: needs= is allowed only in the line of a run: write it "
                              "there, or give the column another name";
    assert_refused("set a=1 needs=b\n", why);
    assert_refused("before needs=b -- x\n", why);
    assert_refused("skip a reason=x needs=b\n", why);
}

static void needed_runs_must_be_declared_above(void **state) {
    (void)state;
    assert_refused("run a takes 1s needs=b\nmain -- x\n",
        "plan:1: run a needs 'b', but no line above it is 'once b' or 'run b'");
    assert_refused("run a takes 1s needs=a\nmain -- x\n",
        "plan:1: run a needs 'a', but no line above it is 'once a' or 'run a'");
    assert_refused("run a takes 1s needs=b\nmain -- x\nrun b takes 1s\nmain -- x\n",
        "plan:1: run a needs 'b', but no line above it is 'once b' or 'run b'");
    assert_refused("beside b -- x\nrun a takes 1s needs=b\nmain -- x\n",
        "plan:2: run a needs 'b', but no line above it is 'once b' or 'run b'");
    assert_refused("skip b reason=x\nrun a takes 1s needs=b\nmain -- x\n",
        "plan:2: run a needs b, which is skipped in line 1: skip this run, too");
    assert_refused("run a takes 1s needs=,\n", "plan:1: needs= is empty: name what the run needs");
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(simplest_plan_has_one_run_with_one_command),
    cmocka_unit_test(commands_of_a_run_keep_roles_patterns_statuses_and_columns),
    cmocka_unit_test(set_adds_columns_to_all_runs_below_it),
    cmocka_unit_test(lines_above_the_first_run_belong_to_the_study),
    cmocka_unit_test(backslashes_comments_and_quotes_work_as_in_a_shell),
    cmocka_unit_test(printed_plan_reads_back_as_the_same),
    cmocka_unit_test(identity_of_a_run_excludes_its_times),
    cmocka_unit_test(identity_of_a_skipped_run_includes_its_reason),
    cmocka_unit_test(milliseconds_meant_as_minutes_cause_a_warning),
    cmocka_unit_test(ten_thousand_runs_are_found_by_name),
    cmocka_unit_test(lines_that_cannot_be_read_are_refused),
    cmocka_unit_test(null_bytes_are_refused),
    cmocka_unit_test(carriage_returns_within_a_line_are_refused),
    cmocka_unit_test(runs_that_cannot_be_carried_out_are_refused),
    cmocka_unit_test(words_that_appear_twice_are_refused),
    cmocka_unit_test(names_must_be_unique_and_usable_as_file_names),
    cmocka_unit_test(commands_that_are_incomplete_are_refused),
    cmocka_unit_test(roles_must_be_unique_and_usable_in_placeholders),
    cmocka_unit_test(invalid_readiness_conditions_are_refused),
    cmocka_unit_test(columns_must_be_usable_in_a_table),
    cmocka_unit_test(needs_of_a_run_is_not_the_name_of_a_column),
    cmocka_unit_test(needed_runs_must_be_declared_above))
