/* SPDX-License-Identifier: Apache-2.0 */

/* A run in virtual time: no process is started. */

#include "placeholders.h"
#include "quiet.h"
#include "stage.h"
#include "text.h"
#include "tree.h"

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
    ss_time signal_at;  /* 0 without a signal */
    ss_time busy_until; /* until then, other processes use one of the two CPUs; 0 if unknown */
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

static int start(void *context, const struct ssbatch_command *order, struct ss_error *error) {
    const struct script *script = world.scripts;
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
        assert_int_equal(write(order->error_output, script->complains, strlen(script->complains)),
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
    note("-", command->script->name);
    if (world.now < command->end) {
        command->end = world.now + command->script->ends_in;
        command->status = command->script->ended_status;
    }
    command->gone = world.now > command->end ? world.now : command->end;
}

static void forget(void *context, int number) {
    world.commands[number].used = false;
}

static void clear(void *context) {
}

/* Advances to the next event, or to the deadline. */
static int wait_for_events(void *context, ss_time deadline) {
    ss_time next = deadline;
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
    return world.now;
}

static int64_t wallclock(void *context) {
    return INT64_C(1700000000000000000) + (int64_t)world.now;
}

/* Until a command is gone, half of its 1 s of CPU time counts. */
static ss_time cpu_time(void *context, int number) {
    assert_that(world.now, <, world.commands[number].gone);
    return SS_SECOND / 2;
}

static ss_time machine_time(void *context) {
    if (world.busy_until == 0)
        return SS_TIME_NEVER;
    return world.now < world.busy_until ? world.now : world.busy_until;
}

static struct ssbatch_spawner spawner = {
    .start = start,
    .get_state = look,
    .end = end,
    .forget = forget,
    .end_orphans = clear,
    .wait = wait_for_events,
    .now = now,
    .wallclock = wallclock,
    .cpu_time = cpu_time,
    .machine_time = machine_time,
    .cpus = 2,
};

static struct ssbatch_plan plan;
static struct ssbatch_values values;
static struct ssbatch_stage stage;

static void read_plan(const char *text) {
    struct ss_error error = {0};
    FILE *stream = text_read(text);
    assert_succeeds(ssbatch_plan_read(&plan, stream, "plan", &error), error);
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
        .out = tree_new(),
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

/* Opens the stage of the first run of a plan. */
static void begin(const char *text, const struct script *scripts) {
    struct ss_error error = {0};
    read_plan(text);
    assert_succeeds(open_stage(scripts, &error), error);
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

/* The lines of a run, the commands that are started (+) and asked to end (-), and why it fails. */
struct outcome {
    const char *lines;
    const char *log;
    const char *why; /* a part of the reason; "" if the run succeeds */
};

static void assert_outcomes(
    const struct outcome *outcomes, size_t count, const struct script *scripts) {
    for (size_t i = 0; i < count; i++) {
        char text[1000];
        snprintf(text, sizeof text, "run a takes 1s limit 60s\n%s", outcomes[i].lines);
        begin(text, scripts);
        carry_out();
        if (!*outcomes[i].why != !stage.why.status || !strstr(stage.why.message, outcomes[i].why) ||
            strcmp(world.log, outcomes[i].log) != 0)
            fail_msg("%s%s\n%s", text, world.log, stage.why.message);
        close_stage();
    }
}

#define ASSERT_OUTCOMES(outcomes, scripts)                                                         \
    assert_outcomes(outcomes, sizeof(outcomes) / sizeof *(outcomes), scripts)

TEST(lines_are_carried_out_in_order) {
    static const struct outcome outcomes[] = {
        {"before -- prepare\nbefore -- prepare2\nmain -- work\nafter -- close\nafter -- close2\n",
            "+prepare +prepare2 +work +close +close2", ""},
        /* Besides end in reverse order, before afters; daemons end last. */
        {"beside -- serve\nbeside -- serve2\nafter -- close\nmain -- work\n",
            "+serve +serve2 +work -serve2 -serve +close", ""},
        {"before -- daemon\nmain -- work\nafter -- close\n", "+daemon +work +close -daemon", ""},
        {"beside srv ok=3 -- broken\nmain -- work\n", "+broken +work", ""},
    };
    ASSERT_OUTCOMES(outcomes, usual);
}

TEST(failures_end_the_run_with_the_first_reason) {
    static const struct outcome outcomes[] = {
        {"beside -- serve\nbefore -- broken\nmain -- work\nafter -- close\n",
            "+serve +broken -serve +close", "before ended with status 3: no disk"},
        {"main x -- hung\nmain y -- broken\n", "+hung +broken -hung",
            "y ended with status 3: no disk"},
        {"beside -- serve\nmain -- absent\nafter -- close\n", "+serve -serve +close",
            "main: absent: not found"},
        {"main x -- broken\nafter -- broken\n", "+broken +broken", "x ended with status 3"},
        {"main -- work\nafter -- broken\nafter -- close\n", "+work +broken +close",
            "after ended with status 3: no disk"},
        {"main -- remote\n", "+remote", "ended with status 255"}, /* not a signal */
        {"main -- signaled\nafter -- close\n", "+signaled +close", "ended by signal 15"},
        {"main -- hung\nafter -- close\n", "+hung -hung +close", "its limit of 1 min"},
        {"beside srv -- broken\nmain -- work\n", "+broken +work -work",
            "srv ended with status 3 before the run did: no disk"},
        {"beside srv ready=never -- brief\nmain -- work\n", "+brief", "before it was ready"},
        /* The status of a beside that is asked to end counts only with ok=. */
        {"beside -- serve\nmain -- work\n", "+serve +work -serve", ""},
        {"beside srv ok=0 -- serve\nmain -- work\n", "+serve +work -serve",
            "srv was ended by signal 15"},
        {"beside srv ok=0,143 -- serve\nmain -- work\n", "+serve +work -serve", ""},
    };
    ASSERT_OUTCOMES(outcomes, usual);
}

/* A command with a pattern must print a line that matches. */
TEST(unmatched_output_fails_the_run) {
    static const struct outcome outcomes[] = {
        {"before found ready='^name' -- tell\nmain -- work\n", "+tell",
            "found: no line of the output of 'tell' matched '^name'"},
        {"main found ready='^name' -- tell\n", "+tell", "found: no line of the output of 'tell'"},
        {"main y ready='^x$' -- print\nmain z -- hung\n", "+print +hung -hung", "y: no line"},
        {"main -- work\nafter ready='^x$' -- print\n", "+work +print", "after: no line"},
    };
    ASSERT_OUTCOMES(outcomes, usual);
}

TEST(unknown_placeholders_of_a_run_fail_it) {
    static const struct outcome outcomes[] = {
        {"before -- prepare {srv.pid}\nbeside srv -- serve\nmain -- work\n", "",
            "{srv.pid} is not known yet"},
        {"beside srv ready=port -- serve\nmain -- work {srv.1}\n", "+serve -serve",
            "{srv.1} is the group of ready= of srv, which has no group"},
        {"before -- prepare {at+1s}\nmain -- work\n", "", "{at+1s} is known only once"},
        {"main -- work {at+1x}\n", "", "{at+1x}: "},
    };
    ASSERT_OUTCOMES(outcomes, usual);
}

TEST(cpu_time_includes_commands_that_run) {
    struct ss_error error = {0};
    read_plan("run a takes 1s\nbeside -- serve\nmain -- work\n");
    assert_int_equal(open_stage(usual, &error), 0);
    assert_int_equal(ssbatch_stage_run(&stage), 0);
    assert_int_equal(ssbatch_stage_cpu_time(&stage), 3 * SS_SECOND / 2);
    ssbatch_stage_end(&stage);
    assert_int_equal(ssbatch_stage_cpu_time(&stage), 2 * SS_SECOND);
    close_stage();
}

TEST(only_adjacent_mains_run_simultaneously) {
    begin("run a takes 1s\nmain x -- work\nmain y -- work2\n", usual);
    carry_out();
    assert_int_equal(world.now, 1005 * SS_SECOND);
    assert_int_equal(ssbatch_stage_cpu_time(&stage), 2 * SS_SECOND);
    close_stage();
    begin("run a takes 1s\nmain x -- work\nbefore -- prepare\nmain y -- work2\n", usual);
    carry_out();
    assert_int_equal(world.now, 1009 * SS_SECOND);
    close_stage();
}

TEST(reason_has_the_beginning_of_a_long_error) {
    char error[300], why[300];
    const struct script scripts[] = {
        {"broken", .lasts = SS_SECOND, .status = 1, .complains = error}, {0}};
    const struct outcome outcomes[] = {{"main -- broken\n", "+broken", why}};
    snprintf(error, sizeof error, "disk %0250d\n\n", 7);
    snprintf(why, sizeof why, "main ended with status 1: %.199s", error);
    ASSERT_OUTCOMES(outcomes, scripts);
}

/* Judges the record of `work2` as one without a result. */
static int judge(
    const struct ssbatch_stage *judged, const struct ssbatch_act *act, struct ss_error *error) {
    assert_ptr_equal(judged, &stage);
    note("?", act->line->role);
    return strcmp(act->words[0], "work2") == 0 ? ss_error_fail(error, "nothing was counted") : 0;
}

TEST(main_without_a_result_ends_the_other_mains) {
    begin("run a takes 1s\nmain x -- hung\nmain y -- brief\nmain z -- work2\n", usual);
    stage.judge = judge;
    carry_out();
    assert_string_equal(stage.why.message, "nothing was counted");
    assert_string_equal(world.log, "+hung +brief +work2 ?y ?z -hung");
    close_stage();
}

TEST(signal_ends_commands_in_the_usual_order) {
    static const struct {
        const char *lines;
        ss_time at;
        const char *log;
    } rows[] = {
        {"beside -- serve\nmain -- work\nafter -- close\n", 2 * SS_SECOND,
            "+serve +work -work -serve +close"},
        /* Signals to all processes of a job may reach the command first, which has not failed. */
        {"main -- signaled\nafter -- close\n", 2 * SS_SECOND + 100 * SS_MILLISECOND,
            "+signaled +close"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[200];
        snprintf(text, sizeof text, "run a takes 1s\n%s", rows[i].lines);
        begin(text, usual);
        world.signal_at = 1000 * SS_SECOND + rows[i].at;
        carry_out();
        assert_string_equal(world.log, rows[i].log);
        assert_int_equal(stage.signal, 15);
        close_stage();
    }
}

/* The words of the last command, in which each %s is the folder of the output. */
struct words {
    const char *lines, *words;
};

static void assert_words(const struct words *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char text[500], expected[500];
        snprintf(text, sizeof text, "run a takes 1s\n%s", rows[i].lines);
        begin(text, usual);
        snprintf(expected, sizeof expected, rows[i].words, tree_root, tree_root);
        carry_out();
        assert_string_equal(stage.why.message, "");
        assert_string_equal(world.last, expected);
        close_stage();
    }
}

#define ASSERT_WORDS(rows) assert_words(rows, sizeof(rows) / sizeof *(rows))

TEST(placeholders_are_replaced) {
    static const struct words rows[] = {
        {"main fg -- work {record} {run} {out} {scratch}/x\n", "work %s/fg a %s /scratch/x"},
        {"main -- work {record} {out}\n", "work %s/record %s"},
        {"before -- prepare\nmain -- work\nafter -- close {record}\n", "close %s/after.3"},
        {"main -- work {{run} {x} {} {a b} 'x{' {srv.pid} {{{run}\n",
            "work {run} {x} {} {a b} x{ {srv.pid} {a"},
        {"beside srv ready='^port (.*)' -- serve\nmain -- work {srv.pid} {srv.1} {srv.2}\n",
            "work 1000 80 {srv.2}"},
        {"before found ready='^port (.*)' -- tell\nmain -- work {found.1}\n", "work 80"},
        /* Start times of adjacent mains have one origin. */
        {"before -- prepare\nmain x -- work {at} {at+25s}\n",
            "work 2023-11-14T22:30:01.000Z 2023-11-14T22:30:26.000Z"},
        {"main x -- work2\nbefore -- prepare\nmain y -- work {at}\n",
            "work 2023-11-14T22:30:00.000Z"},
    };
    ASSERT_WORDS(rows);
}

TEST(matching_line_may_follow_much_output) {
    static const char line[] = "0123456789abcdefghijklmnopqrstuvwxyz\n", last[] = "port 80\n";
    static char text[4000000];
    const struct script flood[] = {
        {"flood", FOREVER, .says = text, .ends_in = SS_SECOND},
        {"flood2", .lasts = SS_SECOND, .says = text},
        {0},
    };
    char *end = text;
    while (end + sizeof line + sizeof last < text + sizeof text)
        end = stpcpy(end, line);
    strcpy(end, last);
    const struct outcome outcomes[] = {
        {"beside x ready='^port' -- flood\nmain ready='^port' -- flood2\n", "+flood +flood2 -flood",
            ""}};
    ASSERT_OUTCOMES(outcomes, flood);
}

TEST(afters_with_placeholders_of_the_run_are_refused) {
    struct ss_error error = {0};
    read_plan("run a takes 1s\nbeside srv -- serve\nmain -- work\nafter -- close {srv.pid}\n");
    assert_fails(open_stage(usual, &error), error, "line 4: {srv.pid} is unknown in an `after`");
    close_stage();
}

TEST(only_showstopper_commands_get_a_record_option) {
    static const struct words rows[] = {
        {"main -- showstopper -n 1 x\n", "showstopper --record=%s/record -n 1 x"},
        {"main fg -- showstopper --record {record} x\n", "showstopper --record %s/fg x"},
        {"main -- showstopper -n 1 -- x --record d\n",
            "showstopper --record=%s/record -n 1 -- x --record d"},
        {"main -- showstopper -n 1 x --record d\n",
            "showstopper --record=%s/record -n 1 x --record d"},
        {"main -- showstopper --label a=--record -n1 x -l 1\n",
            "showstopper --record=%s/record --label a=--record -n1 x -l 1"},
        {"main -- showstopper -qn 1 --output --record x --record d\n",
            "showstopper --record=%s/record -qn 1 --output --record x --record d"},
        {"main -- showstopper -qn 1 --output o --record=d x\n",
            "showstopper -qn 1 --output o --record=d x"},
        {"main -- work showstopper\n", "work showstopper"},
    };
    ASSERT_WORDS(rows);
}

/* Carries out the lines of a study, which must fail for this reason. */
static void assert_study_fails(const char *text, const char *why) {
    begin(text, usual);
    struct ssbatch_stage study = stage;
    study.lines = &plan.study;
    assert_int_equal(ssbatch_stage_open(&study, NULL), 0);
    assert_int_equal(ssbatch_stage_run(&study), -1);
    ssbatch_stage_end(&study);
    assert_non_null(strstr(study.why.message, why));
    ssbatch_stage_free(&study);
    close_stage();
}

TEST(value_that_is_not_found_fails_the_study) {
    assert_study_fails("once base match='^speed ([0-9]+)' -- print\nrun a takes 1s\nmain -- work\n",
        "base: no line of the output of 'print'");
    assert_study_fails("once base match='^seed( [0-9]+)?' -- print\nrun a takes 1s\nmain -- work\n",
        "base: the group of '^seed( [0-9]+)?' matched nothing");
    assert_study_fails("before -- prepare {base}\nonce base match='^base ([0-9]+)' -- print\n"
                       "run a takes 1s\nmain -- work {base}\n",
        "before: {base} is not known yet");
}

TEST(journal_has_afters_with_placeholders_replaced) {
    begin("run a takes 1s\nmain -- work\nafter -- close {run}.bg 'a b'\n"
          "after ok=7,0 -- close2\n",
        usual);
    ssbatch_stage_print_journal(&stage, text_begin());
    assert_string_equal(text_end(), "after close a.bg 'a b'\nstatuses 0,7\nafter close2\n");
    close_stage();
}

static void count_announcement(void *context, const char *text) {
    unsigned *count = context;
    assert_non_null(strstr(text, *count == 0 ? "now 50 %" : "quiet after 30 s"));
    ++*count;
}

TEST(run_waits_until_the_machine_is_quiet) {
    struct ss_error error = {0};
    unsigned said = 0;
    double waited = 0;
    const struct ssbatch_quiet quiet = {0.03, count_announcement, &said};
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

UNIT_RUN
