/* SPDX-License-Identifier: Apache-2.0 */

/* A run in virtual time: no process is started. */

#include <stdlib.h>
#include <unistd.h>

#include "quiet.h"
#include "replace.h"
#include "stage.h"
#include "unit.h"

#define COMMANDS 32

/* Behavior of commands whose first word is `name`. */
struct script {
    const char *name;
    ss_time lasts; /* SS_TIME_NEVER: until it is asked to end */
    int status;
    const char *says;      /* at once, on standard output */
    ss_time ends_in;       /* after it was asked to end */
    int ended_status;      /* if it was asked to end */
    bool leaves;           /* whether a daemon remains */
    const char *complains; /* on standard error */
};

struct command {
    const struct script *script;
    ss_time end;  /* when it ends */
    ss_time gone; /* when nothing is left of it */
    int status;
    bool used;
};

static struct {
    ss_time now;
    ss_time signal_at;  /* 0: no signal */
    ss_time busy_until; /* when other processes no longer use one of the two CPUs; 0: unknown */
    const struct script *scripts;
    struct command commands[COMMANDS];
    int count;
    char log[2000]; /* commands started and asked to end */
    char last[500]; /* the words of the command started last */
} world;

static void note(const char *what, const char *name) {
    size_t length = strlen(world.log);
    snprintf(
        world.log + length, sizeof world.log - length, "%s%s%s", length ? " " : "", what, name);
}

static int start(void *context, const struct ssbatch_order *order, struct ss_error *error) {
    const struct script *script = world.scripts;
    (void)context;
    while (script->name && strcmp(script->name, order->words[0]) != 0)
        script++;
    if (!script->name)
        return ss_error_set(error, SS_ERROR_NOT_FOUND, "%s: not found", order->words[0]);
    note("+", script->name);
    world.last[0] = '\0';
    for (char *const *word = order->words; *word; word++) {
        size_t length = strlen(world.last);
        snprintf(world.last + length, sizeof world.last - length, "%s%s", length ? " " : "", *word);
    }
    if (script->says)
        assert_int_equal(write(order->output, script->says, strlen(script->says)),
            (ssize_t)strlen(script->says));
    if (script->complains)
        assert_int_equal(write(order->errors, script->complains, strlen(script->complains)),
            (ssize_t)strlen(script->complains));
    assert_that(world.count, <, COMMANDS);
    struct command *command = &world.commands[world.count];
    *command = (struct command){.script = script, .status = script->status, .used = true};
    command->end = script->lasts == SS_TIME_NEVER ? SS_TIME_NEVER : world.now + script->lasts;
    command->gone = script->leaves ? SS_TIME_NEVER : command->end;
    return world.count++;
}

static struct ssbatch_state look(void *context, int number) {
    const struct command *command = &world.commands[number];
    (void)context;
    assert_true(command->used);
    return (struct ssbatch_state){
        .life = world.now >= command->gone  ? SSBATCH_GONE
                : world.now >= command->end ? SSBATCH_ENDED
                                            : SSBATCH_RUNS,
        .pid = 1000 + number,
        .status = command->status,
        .signal = command->status == 143 ? 15 : 0,
        .cpu_time = SS_SECOND,
    };
}

static void end(void *context, int number, ss_time grace) {
    struct command *command = &world.commands[number];
    (void)context;
    (void)grace;
    note("-", command->script->name);
    if (world.now < command->end) {
        command->end = world.now + command->script->ends_in;
        command->status = command->script->ended_status;
    }
    command->gone = world.now > command->end ? world.now : command->end;
}

static void forget(void *context, int number) {
    (void)context;
    world.commands[number].used = false;
}

static void clear(void *context) {
    (void)context;
}

/* Advances to the next event, or to the deadline. */
static int wait_for_events(void *context, ss_time deadline) {
    ss_time next = deadline;
    (void)context;
    for (int i = 0; i < world.count; i++) {
        const struct command *command = &world.commands[i];
        if (command->end > world.now && command->end < next)
            next = command->end;
        if (command->gone > world.now && command->gone < next)
            next = command->gone;
    }
    if (world.signal_at > world.now && world.signal_at < next)
        next = world.signal_at;
    assert_that(next, <, SS_TIME_NEVER);
    world.now = next;
    return world.signal_at && world.now >= world.signal_at ? 15 : 0;
}

static ss_time now(void *context) {
    (void)context;
    return world.now;
}

static int64_t wallclock(void *context) {
    (void)context;
    return INT64_C(1700000000000000000) + (int64_t)world.now;
}

/* Until a command is gone, half of its 1 s of CPU time counts. */
static ss_time cpu_time(void *context, int number) {
    (void)context;
    assert_that(world.now, <, world.commands[number].gone);
    return SS_SECOND / 2;
}

static ss_time machine_time(void *context) {
    (void)context;
    if (world.busy_until == 0)
        return SS_TIME_NEVER;
    return world.now < world.busy_until ? world.now : world.busy_until;
}

static struct ssbatch_spawner spawner = {
    .start = start,
    .look = look,
    .end = end,
    .forget = forget,
    .clear = clear,
    .wait = wait_for_events,
    .now = now,
    .wallclock = wallclock,
    .cpu_time = cpu_time,
    .machine_time = machine_time,
    .cpus = 2,
};

static char scratch[64];
static struct ssbatch_plan plan;
static struct ssbatch_values values;
static struct ssbatch_stage stage;

static int make_scratch(void **state) {
    (void)state;
    strcpy(scratch, "/tmp/ssbatch-stage-XXXXXX");
    return mkdtemp(scratch) ? 0 : -1;
}

static int remove_scratch(void **state) {
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", scratch);
    return system(command);
}

static void read_plan(const char *text) {
    struct ss_error error = {0};
    FILE *stream = fmemopen((char *)(uintptr_t)text, strlen(text), "r");
    if (ssbatch_plan_read(&plan, stream, "plan", &error) < 0)
        fail_msg("%s", error.message);
    fclose(stream);
}

static int open_stage(const struct script *scripts, struct ss_error *error) {
    memset(&world, 0, sizeof world);
    world.now = 1000 * SS_SECOND;
    world.scripts = scripts;
    stage = (struct ssbatch_stage){
        .spawner = &spawner,
        .lines = &plan.runs[0].lines,
        .name = plan.runs[0].name,
        .out = scratch,
        .scratch = "/scratch",
        .folder = "/",
        .values = &values,
        .limit = plan.runs[0].limit,
    };
    return ssbatch_stage_open(&stage, error);
}

static void carry_out(void) {
    if (ssbatch_stage_run(&stage) < 0)
        assert_int_not_equal(stage.why.status, 0);
    ssbatch_stage_end(&stage);
    for (int i = 0; i < world.count; i++) {
        if (world.commands[i].used)
            fail_msg("processes of %s are left", world.commands[i].script->name);
    }
}

static void close_stage(void) {
    ssbatch_stage_free(&stage);
    ssbatch_plan_free(&plan);
    ssbatch_values_free(&values);
}

/* Carries out the only run of a plan. `why` is "" if it should succeed. */
static void expect(
    const char *text, const struct script *scripts, const char *log, const char *why) {
    struct ss_error error = {0};
    read_plan(text);
    if (open_stage(scripts, &error) < 0)
        fail_msg("%s", error.message);
    carry_out();
    assert_string_equal(stage.why.message, why);
    assert_string_equal(world.log, log);
    close_stage();
}

#define FOREVER .lasts = SS_TIME_NEVER, .ended_status = 143

static const struct script usual[] = {
    {"prepare", .lasts = SS_SECOND},
    {"prepare2", .lasts = SS_SECOND},
    {"serve", FOREVER, .says = "port 80\n", .ends_in = SS_SECOND},
    {"serve2", FOREVER, .ends_in = SS_SECOND},
    {"work", .lasts = 5 * SS_SECOND},
    {"work2", .lasts = 3 * SS_SECOND},
    {"broken", .lasts = SS_SECOND, .status = 3, .complains = "a warning\nno disk\n\n"},
    {"hung", FOREVER, .ends_in = 2 * SS_SECOND},
    {"brief", .lasts = 2 * SS_SECOND},
    {"daemon", .lasts = SS_SECOND, .leaves = true},
    {"close", .lasts = SS_SECOND},
    {"close2", .lasts = SS_SECOND},
    {"showstopper", .lasts = SS_SECOND},
    {"tell", .lasts = SS_SECOND, .says = "a heading\nport 80\n"},
    {"signaled", .lasts = 2 * SS_SECOND, .status = 143},
    {"remote", .lasts = SS_SECOND, .status = 255},
    {"print", .lasts = SS_SECOND, .says = "seed\nbase 17 units\n"},
    {0},
};

static void lines_of_a_run_are_carried_out_in_order(void **state) {
    (void)state;
    expect("run a takes 1s\nbefore -- prepare\nbefore -- prepare2\nmain -- work\nafter -- close\n"
           "after -- close2\n",
        usual, "+prepare +prepare2 +work +close +close2", "");
}

static void besides_end_in_reverse_order_before_afters(void **state) {
    (void)state;
    expect("run a takes 1s\nbeside -- serve\nbeside -- serve2\nafter -- close\nmain -- work\n",
        usual, "+serve +serve2 +work -serve2 -serve +close", "");
}

static void cpu_time_includes_commands_that_run(void **state) {
    struct ss_error error = {0};
    (void)state;
    read_plan("run a takes 1s\nbeside -- serve\nmain -- work\n");
    assert_int_equal(open_stage(usual, &error), 0);
    assert_int_equal(ssbatch_stage_run(&stage), 0);
    assert_int_equal(ssbatch_stage_cpu_time(&stage), 3 * SS_SECOND / 2);
    ssbatch_stage_end(&stage);
    assert_int_equal(ssbatch_stage_cpu_time(&stage), 2 * SS_SECOND);
    close_stage();
}

static void adjacent_mains_run_simultaneously(void **state) {
    (void)state;
    read_plan("run a takes 1s\nmain x -- work\nmain y -- work2\n");
    assert_int_equal(open_stage(usual, NULL), 0);
    carry_out();
    assert_int_equal(world.now, 1005 * SS_SECOND);
    assert_int_equal(ssbatch_stage_cpu_time(&stage), 2 * SS_SECOND);
    close_stage();
}

static void mains_separated_by_other_lines_run_one_after_another(void **state) {
    (void)state;
    read_plan("run a takes 1s\nmain x -- work\nbefore -- prepare\nmain y -- work2\n");
    assert_int_equal(open_stage(usual, NULL), 0);
    carry_out();
    assert_int_equal(world.now, 1009 * SS_SECOND);
    close_stage();
}

static void a_failed_before_prevents_mains_but_not_afters(void **state) {
    (void)state;
    expect("run a takes 1s\nbeside -- serve\nbefore -- broken\nmain -- work\nafter -- close\n",
        usual, "+serve +broken -serve +close", "before ended with status 3: no disk");
}

static void the_reason_has_the_beginning_of_a_long_error(void **state) {
    char error[300], why[300];
    const struct script scripts[] = {
        {"broken", .lasts = SS_SECOND, .status = 1, .complains = error}, {0}};
    (void)state;
    snprintf(error, sizeof error, "disk %0250d\n\n", 7);
    snprintf(why, sizeof why, "main ended with status 1: %.199s", error);
    expect("run a takes 1s\nmain -- broken\n", scripts, "+broken", why);
}

static void a_failed_main_ends_the_other_mains(void **state) {
    (void)state;
    expect("run a takes 1s\nmain x -- hung\nmain y -- broken\n", usual, "+hung +broken -hung",
        "y ended with status 3: no disk");
}

/* Judges the record of `work2` as one without a result. */
static int judge(
    const struct ssbatch_stage *judged, const struct ssbatch_act *act, struct ss_error *error) {
    assert_ptr_equal(judged, &stage);
    note("?", act->line->role);
    return strcmp(act->words[0], "work2") == 0 ? ss_error_fail(error, "nothing was counted") : 0;
}

static void a_main_without_a_result_ends_the_other_mains(void **state) {
    (void)state;
    read_plan("run a takes 1s\nmain x -- hung\nmain y -- brief\nmain z -- work2\n");
    assert_int_equal(open_stage(usual, NULL), 0);
    stage.judge = judge;
    carry_out();
    assert_string_equal(stage.why.message, "nothing was counted");
    assert_string_equal(world.log, "+hung +brief +work2 ?y ?z -hung");
    close_stage();
}

static void a_missing_program_fails_the_run(void **state) {
    (void)state;
    expect("run a takes 1s\nbeside -- serve\nmain -- absent\nafter -- close\n", usual,
        "+serve -serve +close", "main: absent: not found");
}

static void a_beside_that_ends_before_the_run_fails_it(void **state) {
    (void)state;
    expect("run a takes 1s\nbeside srv -- broken\nmain -- work\n", usual, "+broken +work -work",
        "srv ended with status 3 before the run did: no disk");
}

static void a_beside_may_end_by_itself_with_an_expected_status(void **state) {
    (void)state;
    expect("run a takes 1s\nbeside srv ok=3 -- broken\nmain -- work\n", usual, "+broken +work", "");
}

static void a_beside_that_ends_before_it_is_ready_fails_the_run(void **state) {
    (void)state;
    expect("run a takes 1s\nbeside srv ready=never -- brief\nmain -- work\n", usual, "+brief",
        "srv ended before it was ready");
}

static void the_status_of_an_ended_beside_is_checked_only_with_ok(void **state) {
    (void)state;
    expect("run a takes 1s\nbeside -- serve\nmain -- work\n", usual, "+serve +work -serve", "");
    expect("run a takes 1s\nbeside srv ok=0 -- serve\nmain -- work\n", usual, "+serve +work -serve",
        "srv was ended by signal 15");
    expect("run a takes 1s\nbeside srv ok=0,143 -- serve\nmain -- work\n", usual,
        "+serve +work -serve", "");
}

static void a_failed_after_fails_the_run_and_leaves_its_journal(void **state) {
    (void)state;
    read_plan("run a takes 1s\nmain -- work\nafter -- broken\nafter -- close\n");
    assert_int_equal(open_stage(usual, NULL), 0);
    carry_out();
    assert_string_equal(stage.why.message, "after ended with status 3: no disk");
    assert_string_equal(world.log, "+work +broken +close");
    assert_int_not_equal(stage.left.status, 0);
    close_stage();
}

static void the_first_reason_for_a_failure_is_reported(void **state) {
    (void)state;
    expect("run a takes 1s\nmain x -- broken\nafter -- broken\n", usual, "+broken +broken",
        "x ended with status 3: no disk");
}

static void a_limit_ends_a_hung_run(void **state) {
    (void)state;
    read_plan("run a takes 1s limit 60s\nmain -- hung\nafter -- close\n");
    assert_int_equal(open_stage(usual, NULL), 0);
    carry_out();
    assert_string_equal(stage.why.message, "did not finish within its limit of 1 min");
    assert_string_equal(world.log, "+hung -hung +close");
    assert_int_equal(world.now, 1063 * SS_SECOND);
    close_stage();
}

static void a_signal_ends_commands_in_the_usual_order(void **state) {
    (void)state;
    read_plan("run a takes 1s\nbeside -- serve\nmain -- work\nafter -- close\n");
    assert_int_equal(open_stage(usual, NULL), 0);
    world.signal_at = 1002 * SS_SECOND;
    carry_out();
    assert_string_equal(world.log, "+serve +work -work -serve +close");
    assert_int_equal(stage.signal, 15);
    close_stage();
}

/* Signals to all processes of a job may reach the command first. */
static void command_that_ends_just_before_a_signal_has_not_failed(void **state) {
    (void)state;
    read_plan("run a takes 1s\nmain -- signaled\nafter -- close\n");
    assert_int_equal(open_stage(usual, NULL), 0);
    world.signal_at = 1002 * SS_SECOND + 100 * SS_MILLISECOND;
    carry_out();
    assert_string_equal(world.log, "+signaled +close");
    assert_int_equal(stage.signal, 15);
    close_stage();
    expect("run a takes 1s\nmain -- signaled\nafter -- close\n", usual, "+signaled +close",
        "main was ended by signal 15");
}

static void large_status_is_not_a_signal(void **state) {
    (void)state;
    expect("run a takes 1s\nmain -- remote\n", usual, "+remote", "main ended with status 255");
}

static void daemons_are_ended_after_the_last_after(void **state) {
    (void)state;
    expect("run a takes 1s\nbefore -- daemon\nmain -- work\nafter -- close\n", usual,
        "+daemon +work +close -daemon", "");
}

static void expect_words(const char *text, const char *words) {
    struct ss_error error = {0};
    char expected[500];
    read_plan(text);
    if (open_stage(usual, &error) < 0)
        fail_msg("%s", error.message);
    carry_out();
    assert_string_equal(stage.why.message, "");
    snprintf(expected, sizeof expected, words, scratch, scratch);
    assert_string_equal(world.last, expected);
    close_stage();
}

static void placeholders_of_runs_and_roles_are_replaced(void **state) {
    (void)state;
    expect_words("run a takes 1s\nmain fg -- work {record} {run} {out} {scratch}/x\n",
        "work %s/fg a %s /scratch/x");
    expect_words("run a takes 1s\nmain -- work {record} {out}\n", "work %s/record %s");
    expect_words("run a takes 1s\nbefore -- prepare\nmain -- work\nafter -- close {record}\n",
        "close %s/after.3");
}

static void braces_that_are_not_placeholders_are_kept(void **state) {
    (void)state;
    expect_words("run a takes 1s\nmain -- work {{run} {x} {} {a b} 'x{' {srv.pid} {{{run}\n",
        "work {run} {x} {} {a b} x{ {srv.pid} {a");
}

static void pid_and_group_of_a_role_are_known_once_it_is_ready(void **state) {
    (void)state;
    expect_words("run a takes 1s\nbeside srv ready='^port (.*)' -- serve\n"
                 "main -- work {srv.pid} {srv.1}\n",
        "work 1000 80");
}

static void a_command_that_prints_no_matching_line_fails_the_run(void **state) {
    (void)state;
    expect_words("run a takes 1s\nbefore found ready='^port (.*)' -- tell\n"
                 "main -- work {found.1}\n",
        "work 80");
    expect("run a takes 1s\nbefore found ready='^name' -- tell\nmain -- work\n", usual, "+tell",
        "found: no line of the output of 'tell' matched '^name'");
    expect("run a takes 1s\nmain found ready='^name' -- tell\n", usual, "+tell",
        "found: no line of the output of 'tell' matched '^name'");
}

static void a_matching_line_may_follow_much_output(void **state) {
    static const char line[] = "0123456789abcdefghijklmnopqrstuvwxyz\n", last[] = "port 80\n";
    static char text[4000000];
    const struct script flood[] = {
        {"flood", FOREVER, .says = text, .ends_in = SS_SECOND},
        {"flood2", .lasts = SS_SECOND, .says = text},
        {0},
    };
    char *end = text;
    (void)state;
    while (end + sizeof line + sizeof last < text + sizeof text)
        end = stpcpy(end, line);
    strcpy(end, last);
    expect("run a takes 1s limit 3s\nbeside x ready='^port' -- flood\n"
           "main ready='^port' -- flood2\n",
        flood, "+flood +flood2 -flood", "");
}

static void unmatched_output_of_a_main_ends_the_other_mains(void **state) {
    (void)state;
    expect("run a takes 1s\nmain y ready='^x$' -- print\nmain z -- hung\n", usual,
        "+print +hung -hung", "y: no line of the output of 'print' matched '^x$'");
    expect("run a takes 1s\nmain -- work\nafter ready='^x$' -- print\n", usual, "+work +print",
        "after: no line of the output of 'print' matched '^x$'");
}

static void a_role_that_has_not_started_has_no_pid(void **state) {
    (void)state;
    expect("run a takes 1s\nbefore -- prepare {srv.pid}\nbeside srv -- serve\nmain -- work\n",
        usual, "", "before: {srv.pid} is not known yet: use it only in later lines");
}

static void a_role_without_a_group_has_no_value(void **state) {
    (void)state;
    expect("run a takes 1s\nbeside srv ready=port -- serve\nmain -- work {srv.1}\n", usual,
        "+serve -serve",
        "main: {srv.1} is the group of ready= of srv, which has none: put parentheses around the "
        "part that is the value");
}

static void start_times_of_adjacent_mains_have_one_origin(void **state) {
    (void)state;
    expect_words("run a takes 1s\nbefore -- prepare\nmain x -- work {at} {at+25s}\n",
        "work 2023-11-14T22:30:01.000Z 2023-11-14T22:30:26.000Z");
    expect_words("run a takes 1s\nmain x -- work2\nbefore -- prepare\nmain y -- work {at}\n",
        "work 2023-11-14T22:30:00.000Z");
}

static void start_time_is_unknown_before_the_first_main(void **state) {
    (void)state;
    expect("run a takes 1s\nbefore -- prepare {at+1s}\nmain -- work\n", usual, "",
        "before: {at+1s} is known only once the first `main` starts: use it in a `main` or a later "
        "line");
}

static void afters_with_placeholders_known_only_during_the_run_are_refused(void **state) {
    struct ss_error error = {0};
    (void)state;
    read_plan("run a takes 1s\nbeside srv -- serve\nmain -- work\nafter -- close {srv.pid}\n");
    assert_int_equal(open_stage(usual, &error), -1);
    assert_string_equal(error.message,
        "line 4: {srv.pid} is unknown in an `after`, which may have to "
        "run when nothing else ran: use {run} to name what it "
        "undoes");
    close_stage();
}

static void only_showstopper_commands_get_a_record_option(void **state) {
    (void)state;
    expect_words(
        "run a takes 1s\nmain -- showstopper -n 1 x\n", "showstopper --record=%s/record -n 1 x");
    expect_words("run a takes 1s\nmain fg -- showstopper --record {record} x\n",
        "showstopper --record %s/fg x");
    expect_words("run a takes 1s\nmain -- showstopper -n 1 -- x --record d\n",
        "showstopper --record=%s/record -n 1 -- x --record d");
    expect_words("run a takes 1s\nmain -- showstopper -n 1 x --record d\n",
        "showstopper --record=%s/record -n 1 x --record d");
    expect_words("run a takes 1s\nmain -- showstopper --label a=--record -n1 x -l 1\n",
        "showstopper --record=%s/record --label a=--record -n1 x -l 1");
    expect_words("run a takes 1s\nmain -- showstopper -qn 1 --output --record x --record d\n",
        "showstopper --record=%s/record -qn 1 --output --record x --record d");
    expect_words("run a takes 1s\nmain -- showstopper -qn 1 --output o --record=d x\n",
        "showstopper -qn 1 --output o --record=d x");
    expect_words("run a takes 1s\nmain -- work showstopper\n", "work showstopper");
}

static void a_value_is_computed_only_once(void **state) {
    (void)state;
    read_plan("once base match='^base ([0-9]+)' -- print\nrun a takes 1s\nmain -- work {base}\n");
    assert_int_equal(open_stage(usual, NULL), 0);
    struct ssbatch_stage study = stage;
    study.lines = &plan.study;
    assert_int_equal(ssbatch_stage_open(&study, NULL), 0);
    assert_int_equal(ssbatch_stage_run(&study), 0);
    ssbatch_stage_end(&study);
    assert_string_equal(ssbatch_values_get(&values, "base"), "17");
    assert_int_equal(ssbatch_stage_run(&study), 0); /* the value is known now */
    stage.outer = &study;
    carry_out();
    assert_string_equal(world.log, "+print +work");
    assert_string_equal(world.last, "work 17");
    ssbatch_stage_free(&study);
    close_stage();
}

/* On the first call, the braces would remain in the command. */
static void values_that_are_not_found_yet_are_refused(void **state) {
    struct ss_error error = {0};
    (void)state;
    read_plan("after -- close {base}\nonce base match='^base ([0-9]+)' -- print\n"
              "run a takes 1s\nmain -- work {base}\n");
    assert_int_equal(open_stage(usual, NULL), 0);
    struct ssbatch_stage study = stage;
    study.lines = &plan.study;
    assert_int_equal(ssbatch_stage_open(&study, &error), -1);
    assert_string_equal(error.message,
        "line 1: {base} is unknown in an `after` above the first run, which may have to run "
        "before the value is found: write the `after` below the runs that use it");
    ssbatch_stage_free(&study);
    assert_int_equal(ssbatch_values_set(&values, "base", "17", NULL), 0);
    assert_int_equal(ssbatch_stage_open(&study, NULL), 0); /* as in a later call */
    assert_string_equal(study.acts[0].words[1], "17");
    ssbatch_stage_free(&study);
    close_stage();
    read_plan("before -- prepare {base}\nonce base match='^base ([0-9]+)' -- print\n"
              "run a takes 1s\nmain -- work {base}\n");
    assert_int_equal(open_stage(usual, NULL), 0);
    study = stage;
    study.lines = &plan.study;
    assert_int_equal(ssbatch_stage_open(&study, NULL), 0);
    assert_int_equal(ssbatch_stage_run(&study), -1);
    ssbatch_stage_end(&study);
    assert_string_equal(
        study.why.message, "before: {base} is not known yet: use it only in later lines");
    ssbatch_stage_free(&study);
    close_stage();
}

static void a_value_without_matching_output_fails(void **state) {
    (void)state;
    read_plan("once base match='^speed ([0-9]+)' -- print\nrun a takes 1s\nmain -- work\n");
    assert_int_equal(open_stage(usual, NULL), 0);
    struct ssbatch_stage study = stage;
    study.lines = &plan.study;
    assert_int_equal(ssbatch_stage_open(&study, NULL), 0);
    assert_int_equal(ssbatch_stage_run(&study), -1);
    ssbatch_stage_end(&study);
    assert_string_equal(
        study.why.message, "base: no line of the output of 'print' matched '^speed ([0-9]+)'");
    ssbatch_stage_free(&study);
    close_stage();
}

static void the_journal_has_the_afters_with_placeholders_replaced(void **state) {
    char *text = NULL;
    size_t size;
    (void)state;
    read_plan("run a takes 1s\nmain -- work\nafter -- close {run}.bg 'a b'\n"
              "after ok=7,0 -- close2\n");
    assert_int_equal(open_stage(usual, NULL), 0);
    FILE *stream = open_memstream(&text, &size);
    ssbatch_stage_print_journal(&stage, stream);
    fclose(stream);
    assert_string_equal(text, "after close a.bg 'a b'\nstatuses 0,7\nafter close2\n");
    free(text);
    close_stage();
}

static void count_announcement(void *context, const char *text) {
    unsigned *count = context;
    assert_non_null(strstr(text, *count == 0 ? "now 50 %" : "quiet after 30 s"));
    ++*count;
}

static void run_waits_until_the_machine_is_quiet(void **state) {
    struct ss_error error = {0};
    unsigned said = 0;
    double waited = 0;
    const struct ssbatch_quiet quiet = {0.03, count_announcement, &said};
    (void)state;
    read_plan("run a takes 1s\nmain -- work\n");
    assert_int_equal(open_stage(usual, &error), 0);
    world.busy_until = world.now + 30 * SS_SECOND;
    assert_int_equal(ssbatch_quiet_await(&quiet, &spawner, NULL, &waited), 0);
    assert_int_equal(world.now, world.busy_until + SS_SECOND);
    assert_near(waited, 30, 1e-9);
    assert_int_equal(said, 2);

    /* A quiet machine is not announced; a signal ends the wait. */
    assert_int_equal(ssbatch_quiet_await(&quiet, &spawner, NULL, &waited), 0);
    assert_near(waited, 30, 1e-9);
    assert_int_equal(said, 2);
    world.busy_until = world.now + 30 * SS_SECOND;
    world.signal_at = world.now + 5 * SS_SECOND;
    said = 0;
    assert_int_equal(ssbatch_quiet_await(&quiet, &spawner, NULL, &waited), 15);
    assert_int_equal(world.now, world.signal_at);
    assert_int_equal(said, 1);
    close_stage();
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test_setup_teardown(lines_of_a_run_are_carried_out_in_order, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(besides_end_in_reverse_order_before_afters, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(cpu_time_includes_commands_that_run, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(adjacent_mains_run_simultaneously, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(mains_separated_by_other_lines_run_one_after_another, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(a_failed_before_prevents_mains_but_not_afters, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(the_reason_has_the_beginning_of_a_long_error, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(a_failed_main_ends_the_other_mains, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(a_main_without_a_result_ends_the_other_mains, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(a_missing_program_fails_the_run, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(a_beside_that_ends_before_the_run_fails_it, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(a_beside_may_end_by_itself_with_an_expected_status, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(a_beside_that_ends_before_it_is_ready_fails_the_run, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(the_status_of_an_ended_beside_is_checked_only_with_ok, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(a_failed_after_fails_the_run_and_leaves_its_journal, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(the_first_reason_for_a_failure_is_reported, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(a_limit_ends_a_hung_run, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(a_signal_ends_commands_in_the_usual_order, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(command_that_ends_just_before_a_signal_has_not_failed, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(large_status_is_not_a_signal, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(daemons_are_ended_after_the_last_after, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(placeholders_of_runs_and_roles_are_replaced, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(braces_that_are_not_placeholders_are_kept, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(pid_and_group_of_a_role_are_known_once_it_is_ready, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(a_command_that_prints_no_matching_line_fails_the_run, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(a_matching_line_may_follow_much_output, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(unmatched_output_of_a_main_ends_the_other_mains, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(a_role_that_has_not_started_has_no_pid, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(a_role_without_a_group_has_no_value, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(start_times_of_adjacent_mains_have_one_origin, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(start_time_is_unknown_before_the_first_main, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(afters_with_placeholders_known_only_during_the_run_are_refused, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(only_showstopper_commands_get_a_record_option, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(a_value_is_computed_only_once, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(values_that_are_not_found_yet_are_refused, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(a_value_without_matching_output_fails, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(run_waits_until_the_machine_is_quiet, make_scratch, remove_scratch),
    cmocka_unit_test_setup_teardown(the_journal_has_the_afters_with_placeholders_replaced, make_scratch, remove_scratch))
