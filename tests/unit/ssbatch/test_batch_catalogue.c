/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue.h"
#include "text.h"
#include "tree.h"
#include "workload.h"

static int add(struct ssbatch_catalogue *catalogue, const char *text, struct ss_error *error) {
    tree_new();
    return ssbatch_catalogue_read(catalogue, tree_write("catalogue", text), error);
}

static struct ssbatch_catalogue *read_text(const char *text) {
    static struct ssbatch_catalogue catalogue;
    struct ss_error error = {0};
    assert_succeeds(add(&catalogue, text, &error), error);
    return &catalogue;
}

static const struct ssbatch_workload *find(
    const struct ssbatch_catalogue *catalogue, const char *name) {
    struct ss_error error = {0};
    const struct ssbatch_workload *workload = ssbatch_catalogue_find(catalogue, name, &error);
    if (!workload)
        fail_msg("%s", error.message);
    return workload;
}

enum printed { WORDS, SETUP, ONCE, MISSING, LIST };

static void assert_printed(const struct ssbatch_catalogue *catalogue, enum printed what,
    const struct ssbatch_use *use, const char *expected) {
    static const struct ssbatch_use no_role;
    const struct ssbatch_workload *workload = catalogue->items;
    struct ss_error error = {0};
    FILE *stream = text_begin();
    use = use ? use : &no_role;
    if (what == WORDS)
        assert_int_equal(ssbatch_workload_print(stream, workload, use, "", &error), 0);
    else if (what == SETUP)
        assert_int_equal(ssbatch_workload_print_setup(stream, workload, use, 11, &error), 0);
    else if (what == ONCE)
        ssbatch_workload_print_once(stream, workload, use);
    else if (what == MISSING) {
        char *lacks;
        assert_int_equal(ssbatch_workload_find_lacks(workload, &lacks, &error), 0);
        assert_true(!lacks == !*expected);
        fputs(lacks ? lacks : "", stream);
        free(lacks);
    } else
        assert_int_equal(ssbatch_catalogue_list(stream, catalogue, &error), 0);
    char *text = text_end();
    if (what == SETUP)
        text[strcspn(text, "\n") + 1] = '\0';
    assert_string_equal(text, expected);
}

TEST(adjacent_headings_share_the_lines_below_them) {
    struct ssbatch_catalogue *catalogue = read_text("# comment\n\n"
                                                    "[a b]\n[c/d]\n"
                                                    "command = x  \r\n"
                                                    "  y\n\tz\n"
                                                    "memory=1g\n"
                                                    "[e]\n"
                                                    "command = w\n");
    assert_int_equal(catalogue->count, 4);
    assert_string_equal(find(catalogue, "b")->values[SSBATCH_COMMAND], "x y z");
    assert_string_equal(find(catalogue, "c/d")->values[SSBATCH_COMMAND], "x y z");
    assert_string_equal(find(catalogue, "c/d")->values[SSBATCH_MEMORY], "1g");
    assert_null(find(catalogue, "e")->values[SSBATCH_MEMORY]);
    struct ss_error error = {0};
    assert_null(ssbatch_catalogue_find(catalogue, "c/e", &error));
    assert_says(error.message, "did you mean 'c/d'");
    ssbatch_catalogue_free(catalogue);
}

TEST(invalid_lines_are_refused_with_their_number) {
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"[a]\ncomand = x\n", ":2: unknown key 'comand': did you mean 'command'?"},
        {"[a]\ncommand = x\ncommand = y\n", ":3: command appears twice"},
        {"[a]\ncommand = x\njust words\n", ":3: the line is neither"},
        {"command = x\n", ":1: command appears before the first [NAME]"},
        {"[a]\ncommand =\n\n", ":2: command: the value is missing"},
        {"[a]\nrepeat = perhaps\n", ":2: repeat: 'perhaps'"},
        {"[a]\nwarmup = soon\n", ":2: warmup: 'soon'"},
        {"[a]\nstop = 3 weeks\n", ":2: stop: '3 weeks'"},
        {"[a]\nmemory = 0g\n", ":2: memory: '0g'"},
        {"[a]\nmemory = much\n", ":2: memory: 'much'"},
        {"[a]\npublished = h2\n", ":2: published: 'h2'"},
        {"[a]\nscratch = mine\n", ":2: scratch: 'mine' would be the folder of several instances"},
        {"[a]\nscratch = ../{side}/{instance}\n", ":2: scratch: '../{side}/{instance}' is not"},
        {"[]\n", ":1: [] has no name"},
        {"[a]\ncommand = x\n\n[b a]\n", ":4: the workload 'a' is in this file twice"},
        {"[a]\ncommand = x\n[a/../b c d!]\n", ":3: 'd!' cannot name a workload"},
        {"[a]\nnote = b\n\n[b]\ncommand = x\n", ":1: [a] has no command"},
        {"[a]\ncommand = x\n\n  y\n", ":4: the line begins with a blank"},
        {"[a]\ncommand = sh -c 'x\n", ":2: command: the quote ' at column 7"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ssbatch_catalogue catalogue = {0};
        struct ss_error error = {0};
        assert_fails(add(&catalogue, rows[i].text, &error), error, rows[i].says);
        ssbatch_catalogue_free(&catalogue);
    }
}

TEST(printed_words_count_iterations_and_name_the_command) {
    struct ssbatch_catalogue *catalogue =
        read_text("[a/b]\n"
                  "command = x {name} {side} {instance} {memory}\n"
                  "iteration = ^done{2} '(.)'$\n"
                  "memory = 1g\nstop = 10\n");
    assert_printed(catalogue, WORDS, NULL,
        "--iteration '^done{{2} '\\''(.)'\\''$' --grace 10s -- x b alone % 1g\n");
    assert_printed(catalogue, WORDS, &(struct ssbatch_use){"background", "2M"},
        "--iteration '^done{{2} '\\''(.)'\\''$' --grace 10s -- x b background % 2M\n");
    ssbatch_catalogue_free(catalogue);
}

TEST(workloads_without_counted_iterations_are_repeated) {
    static const char *const cases[][2] = {
        {"[a]\ncommand = x\n", "--repeat -- x\n"},
        {"[a]\ncommand = x\nrepeat = yes\n", "--repeat -- x\n"},
        {"[a]\ncommand = x\nrepeat = no\n", "-- x\n"},
        {"[a]\ncommand = x\niteration = y\n", "--iteration y -- x\n"},
        {"[a]\ncommand = x\niteration = y\nrepeat = yes\n", "--iteration y --repeat -- x\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ssbatch_catalogue *catalogue = read_text(cases[i][0]);
        assert_printed(catalogue, WORDS, NULL, cases[i][1]);
        ssbatch_catalogue_free(catalogue);
    }
}

TEST(literal_braces_and_percent_signs_are_kept) {
    assert_int_equal(setenv("BATCH_TEST", "1%{run}", 1), 0);
    struct ssbatch_catalogue *catalogue =
        read_text("[a]\ncommand = x%{record}{a $BATCH_TEST/$BATCH_TESTS. $x {scratch}/$\n");
    assert_printed(catalogue, WORDS, NULL,
        "--repeat -- 'x%%{{record}{{a' '1%%{{run}/.' '$x' '{scratch}/data/alone-%/$'\n");
    ssbatch_catalogue_free(catalogue);
    assert_int_equal(unsetenv("BATCH_TEST"), 0);
}

TEST(percent_sign_of_a_typed_command_is_the_index) {
    struct ssbatch_catalogue catalogue = {0};
    struct ss_error error = {0};
    const struct ssbatch_definition definition = {.name = "a", .command = "x%{record} {instance}"};
    assert_int_equal(ssbatch_catalogue_define(&catalogue, &definition, &error), 0);
    assert_printed(&catalogue, WORDS, NULL, "--repeat -- 'x%{{record}' %\n");
    ssbatch_catalogue_free(&catalogue);
}

TEST(setup_runs_in_the_folder_of_each_instance) {
    struct ssbatch_catalogue *catalogue =
        read_text("[a]\ncommand = x {scratch}\nscratch = i{instance}.{side}\n"
                  "setup = f() {{ :; } # $PATH 5% {scratch}\n");
    assert_printed(catalogue, WORDS, NULL, "--repeat -- x '{scratch}/data/i%.alone'\n");
    assert_printed(catalogue, SETUP, &(struct ssbatch_use){.role = "fg"},
        "before -- sh -c 'mkdir -p -- \"$1\" && cd -- \"$1\" || exit; f() {{{{ :; } # $PATH 5% "
        "{scratch}/data/i00.fg' sh '{scratch}/data/i00.fg'\n");
    ssbatch_catalogue_free(catalogue);
    catalogue = read_text("[a]\ncommand = x\n");
    assert_printed(catalogue, SETUP, NULL, "before -- mkdir -p '{scratch}/data/alone-00'\n");
    ssbatch_catalogue_free(catalogue);
}

TEST(calibrated_work_is_a_value_of_the_study) {
    struct ssbatch_catalogue *catalogue =
        read_text("[c/seri.al]\ncommand = ssburn {name} --work {work}\n");
    assert_printed(catalogue, WORDS, NULL, "--repeat -- ssburn seri.al --work '{work-seri_al}'\n");
    assert_printed(catalogue, ONCE, NULL,
        "once work-seri_al match='^# work (.+)$' -- ssburn seri.al --iterations 0\n");
    const struct ssbatch_use use = {.memory = "1g"};
    assert_printed(catalogue, WORDS, &use,
        "--repeat -- ssburn seri.al --work '{work-seri_al-1g}' --memory 1g\n");
    assert_printed(catalogue, ONCE, &use,
        "once work-seri_al-1g match='^# work (.+)$' -- ssburn seri.al --iterations 0 --memory "
        "1g\n");
    ssbatch_catalogue_free(catalogue);
    catalogue = read_text("[a]\ncommand = x\n");
    assert_printed(catalogue, ONCE, NULL, "");
    ssbatch_catalogue_free(catalogue);
}

TEST(missing_programs_files_and_variables_are_listed) {
    assert_int_equal(setenv("BATCH_TEST", "/none/file", 1), 0);
    struct ssbatch_catalogue *catalogue =
        read_text("[a]\ncommand = no-program-1 x\n"
                  "needs = sh $BATCH_NONE $BATCH_TEST / no-program-2 no-program-1\n");
    assert_printed(catalogue, MISSING, NULL,
        "$BATCH_NONE is not set, no file /none/file, no no-program-2, no no-program-1");
    ssbatch_catalogue_free(catalogue);
    catalogue = read_text("[a]\ncommand = 'no program'\n");
    assert_printed(catalogue, MISSING, NULL, "");
    ssbatch_catalogue_free(catalogue);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(setenv("BATCH_TEST", i ? "no-program-3" : "4", 1), 0);
        catalogue = read_text("[a]\ncommand = sh\nneeds = $BATCH_TEST\n");
        assert_printed(catalogue, MISSING, NULL, "");
        ssbatch_catalogue_free(catalogue);
    }
    assert_int_equal(setenv("BATCH_TEST", "", 1), 0);
    catalogue = read_text("[a]\ncommand = sh\nneeds = $BATCH_TEST x$BATCH_TEST\n");
    assert_printed(catalogue, MISSING, NULL, "$BATCH_TEST is not set, no x");
    ssbatch_catalogue_free(catalogue);
    assert_int_equal(unsetenv("BATCH_TEST"), 0);
}

TEST(workload_list_fits_in_80_columns) {
    struct ssbatch_catalogue *catalogue = read_text(
        "[a]\ncommand = sh\n[b]\ncommand = no-program\nnote = unfit: x\n[c]\ncommand = sh\n"
        "note = 0123456789 123456789 123456789 123456789 123456789\n");
    assert_printed(catalogue, LIST, NULL,
        "a                            ready\n"
        "b                            missing  no no-program; unfit\n"
        "c                            ready    0123456789 123456789 123456789 12345678...\n");
    assert_string_equal(ssbatch_workload_unfit(find(catalogue, "b")), "x");
    assert_null(ssbatch_workload_unfit(find(catalogue, "c")));
    ssbatch_catalogue_free(catalogue);
}

UNIT_RUN
