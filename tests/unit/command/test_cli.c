/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "command/cli.h"
#include "text.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct ss_cli cli;
static char **words; /* cli.command points into these words */

/* Parses a line after splitting it as a shell would. */
static int parse_line(const char *line, struct ss_error *error) {
    char whole[4096];
    ss_cli_free(&cli);
    free(words);
    snprintf(whole, sizeof whole, "showstopper %s", line);
    words = ss_words_split(whole, NULL, NULL);
    assert_non_null(words);
    return ss_cli_parse(&cli, words, error);
}

static void parse(const char *line) {
    struct ss_error error = {0};
    assert_succeeds(parse_line(line, &error), error);
    assert_int_equal(error.status, 0);
}

/* Checks that the line is refused with a one-line message that begins with these words. */
static void refuse(const char *line, const char *begin) {
    struct ss_error error = {0};
    if (parse_line(line, &error) == 0)
        fail_msg("'%s' was accepted", line);
    if (strncmp(error.message, begin, strlen(begin)) != 0 || strpbrk(error.message, "\r\n"))
        fail_msg("'%s': the message does not begin with '%s': %s", line, begin, error.message);
    assert_int_equal(error.status, SS_ERROR_FAILED);
}

TEST(default_modules_are_the_recommended_ones) {
    parse("");
    assert_string_equal(cli.modules[SS_KIND_TRACE], "constant");
    assert_string_equal(cli.modules[SS_KIND_FEEDBACK], "exact");
    assert_null(cli.modules[SS_KIND_CONTROL]); /* the default depends on the feedback */
    assert_string_equal(cli.modules[SS_KIND_SPACE], "even");
    assert_string_equal(cli.modules[SS_KIND_DITHERING], "stagger");
    for (int kind = 0; kind < SS_KINDS; kind++)
        assert_null(cli.options[kind]);
    assert_that(cli.grace, ==, 5 * SS_SECOND);
    assert_string_equal(cli.placeholder, "%");
    assert_int_equal(cli.progress, SS_PROGRESS_AUTO);
    assert_that(cli.duration, ==, SS_TIME_NEVER);
    assert_true(isnan(cli.tolerance_percent));
    assert_int_equal(cli.instances, 0);
    assert_null(cli.command[0]);
}

struct text_option {
    const char *letter, *name;
    const char *const *place;
};

static const struct text_option texts[] = {
    {"-t", "trace", &cli.modules[SS_KIND_TRACE]},
    {"-f", "feedback", &cli.modules[SS_KIND_FEEDBACK]},
    {"-c", "control", &cli.modules[SS_KIND_CONTROL]},
    {"-s", "space", &cli.modules[SS_KIND_SPACE]},
    {"-d", "dithering", &cli.modules[SS_KIND_DITHERING]},
    {"-T", "trace-options", &cli.options[SS_KIND_TRACE]},
    {"-F", "feedback-options", &cli.options[SS_KIND_FEEDBACK]},
    {"-C", "control-options", &cli.options[SS_KIND_CONTROL]},
    {"-S", "space-options", &cli.options[SS_KIND_SPACE]},
    {"-D", "dithering-options", &cli.options[SS_KIND_DITHERING]},
    {"-l", "load", &cli.options[SS_KIND_TRACE]},
    {"-w", "workloads", &cli.workloads},
    {"-p", "placeholder", &cli.placeholder},
    {NULL, "cpus", &cli.cpus},
    {NULL, "start-at", &cli.start_at},
    {NULL, "iteration", &cli.iteration},
    {"-o", "output", &cli.output},
    {NULL, "json", &cli.json},
    {NULL, "help-module", &cli.help_module},
};

static void assert_text(const struct text_option *option, const char *form, const char *name) {
    char line[128];
    snprintf(line, sizeof line, form, name);
    parse(line);
    if (!*option->place || strcmp(*option->place, "a=b-c") != 0)
        fail_msg("'%s' set '%s', not 'a=b-c'", line, *option->place ? *option->place : "(nothing)");
}

TEST(text_options_accept_every_form) {
    for (size_t i = 0; i < COUNT(texts); i++) {
        assert_text(&texts[i], "--%s a=b-c", texts[i].name);
        assert_text(&texts[i], "--%s=a=b-c", texts[i].name);
        if (texts[i].letter) {
            assert_text(&texts[i], "%s a=b-c", texts[i].letter);
            assert_text(&texts[i], "%sa=b-c", texts[i].letter);
        }
    }
}

TEST(counts_and_times_of_options_are_parsed) {
    static const char *const twelve[] = {
        "-n 12", "-n12", "--instances 12", "--instances=12", "-n 3 -n 12"};
    for (size_t i = 0; i < COUNT(twelve); i++) {
        parse(twelve[i]);
        assert_int_equal(cli.instances, 12);
    }
    parse("--warmup 20s --settle=107m --duration 1h --grace 0 --tolerance 1.5 --progress always");
    assert_that(cli.warmup, ==, 20 * SS_SECOND);
    assert_that(cli.settle, ==, 107 * SS_MILLISECOND);
    assert_that(cli.duration, ==, 3600 * SS_SECOND);
    assert_that(cli.grace, ==, 0);
    assert_that(cli.tolerance_percent, ==, 1.5);
    assert_int_equal(cli.progress, SS_PROGRESS_ALWAYS);
    parse("--progress=never");
    assert_int_equal(cli.progress, SS_PROGRESS_NEVER);
}

static const struct {
    const char *letter, *name;
    const int *place;
} flags[] = {
    {"-q", "--quiet", &cli.quiet},
    {"-v", "--verbose", &cli.verbose},
    {"-h", "--help", &cli.help},
    {NULL, "--version", &cli.version},
    {NULL, "--fail-fast", &cli.fail_fast},
    {NULL, "--repeat", &cli.repeat},
    {NULL, "--keep", &cli.keep},
    {NULL, "--dry-run", &cli.dry_run},
    {NULL, "--list-modules", &cli.list_modules},
};

TEST(flags_are_set) {
    for (size_t i = 0; i < 2 * COUNT(flags); i++) {
        const char *word = i % 2 ? flags[i / 2].letter : flags[i / 2].name;
        if (!word)
            continue;
        parse(word);
        for (size_t other = 0; other < COUNT(flags); other++)
            assert_int_equal(*flags[other].place, other == i / 2);
    }
}

TEST(options_end_where_the_command_begins) {
    static const struct {
        const char *line;
        int quiet, verbose;
        const char *placeholder, *command[4];
    } cases[] = {
        {"-qv x", 1, 1, "%", {"x"}},
        {"-vqn 12 x", 1, 1, "%", {"x"}},
        {"-qn12 x", 1, 0, "%", {"x"}},
        {"-pqv x", 0, 0, "qv", {"x"}}, /* a text joined to an option is its value */
        {"-p -- x", 0, 0, "--", {"x"}},
        {"--placeholder= x", 0, 0, "", {"x"}},
        {"-q java -v --version", 1, 0, "%", {"java", "-v", "--version"}},
        {"-q - -v", 1, 0, "%", {"-", "-v"}},
        {"-q '' -v", 1, 0, "%", {"", "-v"}},
        {"-q -- -v x", 1, 0, "%", {"-v", "x"}},
        {"-- --", 0, 0, "%", {"--"}},
        {"-q --", 1, 0, "%", {NULL}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        parse(cases[i].line);
        assert_int_equal(cli.quiet, cases[i].quiet);
        assert_int_equal(cli.verbose, cases[i].verbose);
        assert_string_equal(cli.placeholder, cases[i].placeholder);
        size_t word = 0;
        for (; cases[i].command[word]; word++)
            assert_string_equal(cli.command[word], cases[i].command[word]);
        assert_null(cli.command[word]);
    }
}

TEST(set_option_takes_two_values) {
    parse("--set 123 60%");
    assert_string_equal(cli.set_pid, "123");
    assert_string_equal(cli.set_load, "60%");
    assert_null(cli.command[0]);
    parse("--set=123 trace");
    assert_string_equal(cli.set_pid, "123");
    assert_string_equal(cli.set_load, "trace");
}

/* A row per option that needs or excludes others: a line that is refused, and one that is not. */
TEST(conflicting_or_incomplete_options_are_refused) {
    static const struct {
        const char *refused, *accepted;
    } cases[] = {
        {"-l 50% -t sine x", "-t sine x"},
        {"-l 50% -T 50% x", "-T 50% x"},
        {"-w x -n 3", "-w x"},
        {"-w x command", "-n 3 command"},
        {"--record-decisions none x", "--record-decisions none --record r x"},
        {"--counters x", "--counters --record r x"},
        {"--force x", "--force --record r x"},
        {"--replay r x", "--replay r -n 3"},
        {"--keep --isolate x", "--isolate x"},
        {"--keep --iteration x", "--iteration x"},
        {"--keep --output x", "--output x"},
        {"--keep --tty x", "--tty x"},
        {"--attach 9 x", "--attach 9"},
        {"--attach 9 -n 1", "--attach 9 -q"},
        {"--attach-name a -w x", "--attach-name a --json -"},
        {"--attach 9 --cpus 0", "--attach 9 --end"},
        {"--attach 9 --fail-fast", "--attach-name a --end"},
        {"--attach 9 --isolate", "--fail-fast x"},
        {"--attach 9 --repeat", "--repeat x"},
        {"--attach 9 --iteration x", "--attach 9"},
        {"--attach 9 --output x", "--attach 9"},
        {"--attach 9 --tty", "--attach 9"},
        {"--attach 9 --keep", "--keep x"},
        {"--end x", "--attach 9 --attach-name a --end"},
        {"--attach-group g x", "--attach-group g"},
        {"--attach-group g -n 1", "--attach-group g -q"},
        {"--attach-group g -w x", "--attach-group g --json -"},
        {"--attach-group g --attach 9", "--attach 9"},
        {"--attach-group g --attach-name a", "--attach-name a"},
        {"--attach-group g --end", "--attach 9 --end"},
        {"--attach-group g --record r --counters", "--attach-group g --record r"},
        {"--set 9 50% --status 9", "--set 9 50% -qv --"},
        {"--set 9 50% --dry-run", "--dry-run x"},
        {"--set 9 50% x", "--set 9 50%"},
        {"--status 9 -l50%", "-q --status 9 -v --"},
        {"--status 9 x", "--status 9 --openmetrics -"},
        {"--openmetrics - x", "--openmetrics - --status 9"},
        {"--openmetrics - --set 9 50%", "--help --end --keep --isolate"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        refuse(cases[i].refused, "--");
        parse(cases[i].accepted);
    }
}

static void assert_label(size_t index, const char *name, const char *value) {
    assert_that(index, <, cli.labels.count);
    assert_string_equal(cli.labels.items[index].name, name);
    assert_string_equal(cli.labels.items[index].value, value);
}

TEST(label_options_are_collected) {
    parse("");
    assert_int_equal(cli.labels.count, 0);
    parse(
        "--label pair=a-b --label=round_2=3 -q --label 'a-9=\"x=y\" \xc3\xa4, z' --label empty= x");
    assert_int_equal(cli.labels.count, 4);
    assert_label(0, "pair", "a-b");
    assert_label(1, "round_2", "3");
    assert_label(2, "a-9", "\"x=y\" \xc3\xa4, z");
    assert_label(3, "empty", "");
    assert_string_equal(cli.command[0], "x");
}

TEST(invalid_labels_are_refused) {
    char line[2048], value[SS_LABEL_VALUE_MAX + 2], name[SS_LABEL_NAME_MAX + 2];
    static const struct {
        const char *line, *begin;
    } cases[] = {
        {"--label pair", "--label: 'pair' has no value: use NAME=VALUE"},
        {"--label '' x", "--label: '' has no value"},
        {"--label =x", "--label: '=x' does not begin with a name: use NAME=VALUE"},
        {"--label 'a b=x'", "--label: 'a b=x' does not begin with a name"},
        {"--label a.b=x", "--label: 'a.b=x' does not begin with a name"},
        {"--label --record=x", "--label: '--record=x' does not begin with a name"},
        {"--label 'a=1\n2'", "--label: the value of 'a' contains a control character"},
        {"--label a=\x7f", "--label: the value of 'a' contains a control character"},
        {"--label a=1 --label ab=1 --label a=1", "--label: 'a' is given twice: give each name"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        refuse(cases[i].line, cases[i].begin);
    memset(value, 'v', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    snprintf(line, sizeof line, "--label a=%s", value + 1);
    parse(line);
    snprintf(line, sizeof line, "--label a=%s", value);
    refuse(line, "--label: the value of 'a' is too long: 1025 bytes (at most 1024)");
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    snprintf(line, sizeof line, "--label %s=1", name + 1);
    parse(line);
    snprintf(line, sizeof line, "--label %s=1", name);
    refuse(line, "--label: the name in '");
    char *end = line;
    for (int i = 0; i <= SS_LABELS_MAX; i++) {
        if (i == SS_LABELS_MAX)
            parse(line);
        end += sprintf(end, "--label n%d= ", i);
    }
    refuse(line, "--label: 'n64': too many labels (at most 64)");
}

/* The types and bounds of options are tested in test_option.c. */
TEST(invalid_options_are_refused) {
    static const struct {
        const char *line, *begin;
    } cases[] = {
        {"--instnaces 3", "unknown option '--instnaces': did you mean '--instances'?"},
        {"--instnaces=3", "unknown option '--instnaces': did you mean '--instances'?"},
        {"--zzzzzzzz", "unknown option '--zzzzzzzz': see --help"},
        {"--=x", "unknown option '--': see --help"},
        {"-qz", "unknown option '-z': see --help"},
        {"-q=1", "unknown option '-=': see --help"},
        /* Prefixes are refused: an option added later could change the meaning of a script. */
        {"--inst 3", "unknown option '--inst"},
        {"'--a\nb'", "unknown option '--a b"},
        {"-qn", "--instances requires a value: use --instances N"},
        {"--set 123", "--set requires two values: use --set PID LOAD"},
        {"'--quiet=a\nb'", "--quiet takes no value, but got 'a?b'"},
        {"-n 0", "--instances: '0' is too small: use at least 1"},
        {"--instances=1000001", "--instances: '1000001' is too large: use at most 1000000"},
        {"--duration 999n", "--duration: '999n' is too small: use at least 1us"},
        {"--progress sometimes", "--progress: 'sometimes' is not one of: auto always never"},
        {"--tolerance -1", "--tolerance: '-1' is negative"},
        {"--record ''", "--record is empty: use --record DIR"},
        {"-w ''", "--workloads is empty: use --workloads FILE"},
        {"-c ''", "--control is empty: use --control NAME"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        refuse(cases[i].line, cases[i].begin);
    parse("-n 1000000 --duration 1u --tolerance 5%");
    assert_that(cli.tolerance_percent, ==, 5);
    parse("-p '' -C '' --iteration ''");
    assert_string_equal(cli.options[SS_KIND_CONTROL], "");
}

TEST(command_line_times_in_milliseconds_cause_a_warning) {
    static const char *const options[] = {"--warmup", "--settle", "--duration", "--grace"};
    for (size_t i = 0; i < COUNT(options); i++) {
        char line[64];
        snprintf(line, sizeof line, "%s 2m", options[i]);
        parse(line);
        assert_int_equal(cli.store.warning_count, 1);
        assert_says(cli.store.warnings[0], ": 2m is 2 milliseconds; use 2min for minutes");
    }
    parse("--warmup 3M --settle 3ms --duration 500m --grace 100m");
    assert_int_equal(cli.store.warning_count, 0);
    parse("--duration 20");
    assert_that(cli.duration, ==, 20 * SS_SECOND);
}

TEST(trailing_slashes_of_folders_are_removed) {
    parse("--output dir// --record a/b/");
    assert_string_equal(cli.output, "dir");
    assert_string_equal(cli.record, "a/b");
    parse("--output // --record .");
    assert_string_equal(cli.output, "/");
    assert_string_equal(cli.record, ".");
}

TEST(help_fits_80_columns) {
    ss_cli_help(text_begin());
    char *help = text_end();
    assert_non_null(strstr(help, "\n  -n, --instances N "));
    assert_fits(help, 80);
}

UNIT_RUN
