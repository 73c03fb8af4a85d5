/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"
#include "text.h"

static int read_text(struct ssbatch_plan *plan, const char *text, struct ss_error *error) {
    FILE *stream = text_read(text);
    int status = ssbatch_plan_read(plan, stream, "plan", error);
    fclose(stream);
    return status;
}

/* The plan is valid until the next call. */
static struct ssbatch_plan *parse(const char *text) {
    static struct ssbatch_plan plan;
    struct ss_error error = {0};
    ssbatch_plan_free(&plan);
    assert_succeeds(read_text(&plan, text, &error), error);
    return &plan;
}

/* A plan, and parts of the message by which it is refused: its line and what is wrong. */
struct refusal {
    const char *text;
    unsigned line;
    const char *says;
};

static void assert_refused(const struct refusal *refusals, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct ssbatch_plan plan;
        struct ss_error error = {0};
        char begin[32];
        if (read_text(&plan, refusals[i].text, &error) == 0)
            fail_msg("a plan was accepted: %s", refusals[i].text);
        ssbatch_plan_free(&plan);
        snprintf(begin, sizeof begin, "plan:%u: ", refusals[i].line);
        if (strncmp(error.message, begin, strlen(begin)) != 0 ||
            !strstr(error.message, refusals[i].says))
            fail_msg("%s: %s", refusals[i].text, error.message);
        assert_int_equal(error.status, SS_ERROR_FAILED);
    }
}

#define ASSERT_REFUSED(refusals) assert_refused(refusals, sizeof(refusals) / sizeof *(refusals))

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
    print(text_begin(), plan, *name ? ssbatch_plan_find(plan, name) : NULL);
    assert_string_equal(text_end(), expected);
}

static void print_all(
    FILE *stream, const struct ssbatch_plan *plan, const struct ssbatch_run *run) {
    fputs("plan 1\n", stream);
    ssbatch_plan_print_study(stream, plan);
    for (size_t i = 0; i < plan->run_count; i++)
        ssbatch_plan_print_run(stream, &plan->runs[i]);
}

static void print_run(
    FILE *stream, const struct ssbatch_plan *plan, const struct ssbatch_run *run) {
    ssbatch_plan_print_run(stream, run);
}

TEST(simplest_plan_has_one_run_with_one_command) {
    struct ssbatch_plan *plan = parse("run a takes 70s size=big load=20\nmain -- ./bench --big\n");
    assert_int_equal(plan->run_count, 1);
    assert_int_equal(plan->study.count, 0);
    const struct ssbatch_run *run = ssbatch_plan_find(plan, "a");
    assert_ptr_equal(run, plan->runs);
    assert_int_equal(run->number, 1);
    assert_int_equal(run->takes, 70 * SS_SECOND);
    assert_string_equal(ssbatch_columns_get(&run->columns, "load"), "20");
    assert_null(ssbatch_columns_get(&run->columns, "lo"));
    assert_int_equal(run->lines.items[0].number, 2);
    assert_false(ssbatch_line_accepts(run->lines.items, 1));
    assert_printed(
        print_run, plan, "a", "run a takes 70s size=big load=20\n  main -- ./bench --big\n");
    assert_null(ssbatch_plan_find(plan, "b"));
}

TEST(set_adds_columns_to_all_runs_below_it) {
    struct ssbatch_plan *plan = parse("set a=1 b=2\n"
                                      "run x takes 1s b=3\n main -- x\n"
                                      "set a= c=4\n"
                                      "skip y reason='not here' d=5\n");
    assert_printed(print_run, plan, "x", "run x takes 1s a=1 b=3\n  main -- x\n");
    assert_printed(print_run, plan, "y", "skip y reason='not here' a='' b=2 c=4 d=5\n");
    assert_string_equal(plan->runs[1].reason, "not here");
}

TEST(lines_above_the_first_run_belong_to_the_study) {
    struct ssbatch_plan *plan =
        parse("once work match='work ([0-9]+)' -- calibrate\n"
              "before -- mount\n"
              "beside net ready=up -- net\n"
              "after -- umount\n"
              "run a takes 1s\n main -- x {work}\n"
              "once more match=(.) -- y\n"
              "run b takes 1s needs=work,more,a,work needs=a\n main -- z\n"
              /* Runs may have the same roles, and commands without a role. */
              "run c takes 1s\n main x -- x\n"
              "run d takes 1s\n before -- x\n before -- x\n main x -- x\n");
    assert_int_equal(plan->study.count, 5);
    assert_int_equal(plan->study.items[0].kind, SSBATCH_ONCE);
    assert_string_equal(plan->study.items[0].role, "work");
    assert_string_equal(plan->study.items[0].pattern, "work ([0-9]+)");
    assert_int_equal(plan->study.items[3].kind, SSBATCH_AFTER);
    assert_string_equal(plan->study.items[4].role, "more");
    assert_int_equal(plan->runs[0].lines.count, 1);
    assert_int_equal(plan->runs[1].need_count, 3);
    assert_string_equal(plan->runs[1].needs[2], "a");
}

TEST(backslashes_comments_and_quotes_work_as_in_a_shell) {
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
}

TEST(printed_plan_reads_back_as_the_same) {
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
}

TEST(identity_of_a_run_excludes_its_times) {
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
    plan = parse("once m match=(.) -- mbench\n"
                 "run a takes 2s needs=m b=2 a=1\n"
                 "main x c=3 d=4 -- w {{n}}\n");
    assert_printed(ssbatch_plan_print_identity, plan, "a",
        "run a a=1 b=2\nmain x -- w '{{n}}'\n  columns c=3 d=4\n"
        "once m match='(.)' -- mbench\n  columns\n");
    plan = parse("skip a reason='not here' b=1 a=2\n");
    assert_printed(ssbatch_plan_print_identity, plan, "a", "run a reason='not here' a=2 b=1\n");
}

TEST(milliseconds_meant_as_minutes_cause_a_warning) {
    struct ssbatch_plan *plan = parse("run a takes 2m limit 6m\nmain -- x\n");
    assert_int_equal(plan->runs[0].takes, 2 * SS_MILLISECOND);
    assert_int_equal(plan->doubt_count, 2);
    assert_non_null(strstr(plan->doubt, "plan:1: takes 2m"));
}

TEST(ten_thousand_runs_are_found_by_name) {
    FILE *stream = text_begin();
    for (int i = 0; i < 10000; i++)
        fprintf(stream, "run r%d takes 1s i=%d\nmain -- true\n", i, i);
    struct ssbatch_plan *plan = parse(text_end());
    assert_int_equal(plan->run_count, 10000);
    for (int i = 0; i < 10000; i++) {
        char name[16];
        snprintf(name, sizeof name, "r%d", i);
        assert_ptr_equal(ssbatch_plan_find(plan, name), &plan->runs[i]);
    }
}

/* Nothing in a plan is ignored. */
TEST(invalid_lines_are_refused) {
    static const struct refusal refusals[] = {
        {"run a takes 1s\nmian -- x\n", 2, "'mian': did you mean 'main'?"},
        {"\xef\xbb\xbf# A comment\nrun a takes 1s\nmain -- x\n", 1, "byte order mark"},
        {"\nrun a takes 1s 'b\n", 2, "the quote ' at column 16"},
        {"run a \\\n takes 1s \\\n", 1, "the next line is missing"},
        {"plan 2\n", 1, "version '2'"},
        {"plan\n", 1, "'plan 1'"},
        {"set a=1\nplan 1\n", 2, "in its first line"},
        {"set a\n", 1, "'a' is not a column"},
        {"set\n", 1, "set has no column"},

        {"# nothing\n", 2, "no run"},
        {"run\n", 1, "no name"},
        {"run a load=3\nmain -- x\n", 1, "no duration"},
        {"run a takes\n", 1, "takes has no time"},
        {"run a takes 10x\n", 1, "takes: '10x' has an unknown unit"},
        {"run a takes 10s limit 9s\n", 1, "shorter than the time it takes"},
        {"run a takes 0s limit 0s\n", 1, "limit of 0"},
        {"run a take 1s\n", 1, "'take': did you mean 'takes'?"},
        {"run a takes 1s\nbefore -- x\nrun b takes 1s\nmain -- x\n", 1, "run a has no main"},
        {"skip a\n", 1, "no reason"},
        {"skip a reason=no cpus\n", 1, "'cpus'"},

        {"run a takes 1s takes 2s\n", 1, "takes appears twice"},
        {"run a takes 1s limit 2s limit 3s\n", 1, "limit appears twice"},
        {"run a takes 1s keep keep\n", 1, "keep appears twice"},
        {"run a takes 1s\nbeside ready=x ready=y -- z\n", 2, "ready= appears twice"},
        {"run a takes 1s\nbeside ready-file=x ready-file=y -- z\n", 2, "ready-file= appears twice"},
        {"once a match=(x) match=(y) -- z\n", 1, "match= appears twice"},
        {"run a takes 1s\nmain ok=1 ok=0 -- x\n", 2, "ok= appears twice"},
        {"skip a reason=x reason=y\n", 1, "reason= appears twice"},

        {"run a takes 1s\nmain -- x\nskip a reason=y\n", 3, "already used in line 1"},
        {"run .a takes 1s\n", 1, "'.a' begins with '.'"},
        {"run '' takes 1s\n", 1, "the name is empty"},
        {"run a/b takes 1s\n", 1, "'a/b' cannot name a run"},
        {"run a,b takes 1s\n", 1, "'a,b' cannot name a run"},
        {"run a%b takes 1s\n", 1, "'a%b' cannot name a run"},
        {"run 'a b' takes 1s\n", 1, "'a b' cannot name a run"},
        {"run {a} takes 1s\n", 1, "'{a}' cannot name a run"},
        {"run a\xc3\xa4 takes 1s\n", 1, "cannot name a run"},
        {"run plan.json takes 1s\n", 1, "'plan.json' cannot name a run"},

        {"run a takes 1s\nmain ./bench\n", 2, "no command"},
        {"run a takes 1s\nmain x --\n", 2, "no command"},
        {"run a takes 1s\nmain -- ''\n", 2, "no command"},
        {"main -- x\n", 1, "outside of a run"},
        {"run a takes 1s\nmain -- x\nset b=1\nafter -- x\n", 4, "outside of a run"},
        {"once a -- x\n", 1, "'once NAME match=REGEX -- COMMAND'"},
        {"once a match=b -- x\n", 1, "match: 'b' has no group"},
        {"once a match=(b) c=1 -- x\n", 1, "'c' is not match=REGEX"},

        {"run a takes 1s\nmain x -- x\nmain x -- x\n", 3, "'x' is already used in line 2"},
        {"beside x -- x\nrun a takes 1s\nmain x -- x\n", 3, "'x' is already used in line 1"},
        {"run a takes 1s\nmain x -- x\nonce x match=(.) -- x\n", 3,
            "'x' is already used in line 2"},
        {"run a takes 1s\nmain -- x\nmain -- x\n", 3, "already in line 2"},
        {"run a takes 1s\nmain 1x -- x\n", 2, "'1x' cannot be a role"},
        {"run a takes 1s\nmain x.pid -- x\n", 2, "'x.pid' cannot be a role"},
        {"run a takes 1s\nmain x ./bench -- x\n", 2, "'./bench' follows the role 'x'"},
        {"once run match=(.) -- x\n", 1, "the placeholder {run}"},

        {"run a takes 1s\nbeside ready=a ready-file=b -- x\n", 2, "ready= and ready-file="},
        {"run a takes 1s\nbeside ready-file= -- x\n", 2, "ready-file= is empty"},
        {"run a takes 1s\nmain ready-file=b -- x\n", 2, "ready-file= is for `beside`"},
        {"run a takes 1s\nmain ready='(' -- x\n", 2, "ready: '('"},
        {"run a takes 1s\nmain ok=256 -- x\n", 2, "'256'"},
        {"run a takes 1s\nmain ok=00000000001 -- x\n", 2, "'00000000001'"},

        {"run a takes 1s 2=3\n", 1, "'2' cannot name a column"},
        {"run a takes 1s b=3 b=3\n", 1, "'b' appears twice"},
        {"set status=3\n", 1, "'status' is filled in"},
        {"set a=1 needs=b\n", 1, "needs= is allowed only"},
        {"before needs=b -- x\n", 1, "needs= is allowed only"},
        {"skip a reason=x needs=b\n", 1, "needs= is allowed only"},

        {"run a takes 1s needs=b\nmain -- x\n", 1, "run a needs 'b'"},
        {"run a takes 1s needs=a\nmain -- x\n", 1, "run a needs 'a'"},
        {"run a takes 1s needs=b\nmain -- x\nrun b takes 1s\nmain -- x\n", 1, "run a needs 'b'"},
        {"beside b -- x\nrun a takes 1s needs=b\nmain -- x\n", 2, "run a needs 'b'"},
        {"skip b reason=x\nrun a takes 1s needs=b\nmain -- x\n", 2, "skipped in line 1"},
        {"run a takes 1s needs=,\n", 1, "needs= is empty"},
    };
    ASSERT_REFUSED(refusals);
}

TEST(null_bytes_are_refused) {
    struct ssbatch_plan plan;
    struct ss_error error = {0};
    char text[] = "set a=1\nset\0b=1\n";
    FILE *stream = fmemopen(text, sizeof text - 1, "r");
    assert_fails(ssbatch_plan_read(&plan, stream, "plan", &error), error,
        "plan:2: the line contains a null byte");
    ssbatch_plan_free(&plan);
    fclose(stream);
}

/* A script may have read a value from a DOS file. The rest of the line must not be lost. */
TEST(carriage_returns_within_a_line_are_refused) {
    static const struct refusal refusals[] = {
        {"run a takes 1s\nmain -- x small\r --load 20\n", 2, "carriage return"},
        {"run a takes 1s\nmain -- x 'small\r'\n", 2, "carriage return"},
        {"run a takes 1s\nmain -- x small\r\r\n", 2, "carriage return"},
    };
    ASSERT_REFUSED(refusals);
    struct ssbatch_plan *plan = parse("run a takes 1s\r\nmain -- x $'small\\r' y\r");
    assert_words(plan->runs[0].lines.items[0].words, "[x][small\r][y]");
    assert_printed(print_run, plan, "a", "run a takes 1s\n  main -- x $'small\\015' y\n");
}

TEST(names_have_up_to_200_bytes) {
    char text[260];
    snprintf(text, sizeof text, "run %0201d takes 1s\nmain -- x\n", 1);
    const struct refusal refusals[] = {{text, 1, "too long"}};
    ASSERT_REFUSED(refusals);
    snprintf(text, sizeof text, "run %0200d takes 1s\nmain -- x\n", 1);
    parse(text);
}

UNIT_RUN
