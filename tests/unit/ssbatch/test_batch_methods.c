/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "catalogue.h"
#include "planned_run.h"
#include "text.h"

static const struct ssbatch_method *find(const char *name) {
    struct ss_error error = {0};
    const struct ssbatch_method *method = ssbatch_method_find(name, &error);
    if (!method)
        fail_msg("%s", error.message);
    return method;
}

TEST(nbench_rounds_a_load_to_whole_instances) {
    static const struct {
        uint64_t cpus;
        double load;
        uint64_t instances;
    } cases[] = {{12, 0.25, 3}, {12, 0.33, 4}, {12, 0.375, 5}, {12, 0.66, 8}, {12, 1, 12},
        {4, 0.625, 3}, {2, 0.25, 1}, {2, 0.75, 2}, {2, 0.1, 1}, {10, 0.35, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct ssbatch_control control = {
            .method = find("nbench"), .target = cases[i].load, .cpus = cases[i].cpus};
        assert_int_equal(ssbatch_control_instances(&control), cases[i].instances);
        assert_near(ssbatch_control_stands_for(&control),
            (double)cases[i].instances / (double)cases[i].cpus, 1e-12);
    }
}

TEST(nbench_fit_divides_by_the_load_of_one_instance) {
    struct ssbatch_control control = {
        .method = find("nbench-fit"), .target = 0.5, .cpus = 4, .one = 0.2};
    assert_int_equal(ssbatch_control_instances(&control), 3);
    assert_near(ssbatch_control_stands_for(&control), 0.6, 1e-12);
    control.target = 1;
    control.one = 0.4;
    assert_near(ssbatch_control_stands_for(&control), 1, 0);
}

TEST(other_methods_use_the_given_number_of_instances) {
    struct ssbatch_control control = {
        .method = find("default"), .target = 0.66, .cpus = 12, .instances = 7};
    assert_int_equal(ssbatch_control_instances(&control), 7);
    assert_true(isnan(ssbatch_control_stands_for(&control)));
    control.method = find("1cdc");
    assert_int_equal(ssbatch_control_instances(&control), 1);
}

static const struct ssbatch_workload *define(const char *command, const char *iteration) {
    static struct ssbatch_catalogue catalogue;
    const struct ssbatch_definition definition = {
        .name = "own/word", .command = command, .iteration = iteration};
    struct ss_error error = {0};
    ssbatch_catalogue_free(&catalogue);
    assert_succeeds(ssbatch_catalogue_define(&catalogue, &definition, &error), error);
    return ssbatch_catalogue_find(&catalogue, "own/word", &error);
}

static void assert_plan(const struct ssbatch_planned_run *run, const char *expected) {
    struct ss_error error = {0};
    assert_succeeds(ssbatch_planned_run_print(text_begin(), run, &error), error);
    assert_string_equal(text_end(), expected);
}

TEST(method_sets_columns_and_options_of_a_run) {
    const struct ssbatch_control control = {.method = find("cdc"),
        .tau = "107m",
        .cdc = "phase=hash",
        .target = 0.25,
        .cpus = 2,
        .instances = 2};
    const struct ssbatch_use use = {.role = NULL};
    char target[] = "target={target}", empty[] = "empty=", dashes[] = "--", option[] = "-l";
    char load[] = "{target}";
    char *columns[] = {target, empty, dashes, option, load, NULL};
    const struct ssbatch_planned_run run = {
        .workload = define("sleep 9 $HOME {work} {side}", "took ([0-9]+)"),
        .use = &use,
        .control = &control,
        .name = "own/word-n{instances}-1",
        .takes = "9s",
        .round = "1",
        .lines = "before -- true",
        .tools = "/tools",
        .pinned = "0-1",
        .columns = columns};
    assert_plan(&run,
        "run own.word-n2-1 takes 9s method=cdc workload=own/word round=1 tau_seconds=0.107 "
        "instances=2 target=0.25\n"
        "before -- mkdir -p '{scratch}/data/alone-0'\n"
        "before -- mkdir -p '{scratch}/data/alone-1'\n"
        "before -- true\n"
        "main -- showstopper --quiet --fail-fast --record '{record}' --output '{out}/output' -n 2 "
        "--cpus 0-1 -f realtime -d averageq -D 107m,phase=hash -c fixed -s even -l 0.25 "
        "--iteration 'took ([0-9]+)' -- sleep 9 '$HOME' '{{work}' alone\n");
}

TEST(quota_method_runs_the_command_in_a_control_group) {
    const struct ssbatch_control control = {
        .method = find("quota"), .target = 0.75, .cpus = 2, .instances = 1};
    const struct ssbatch_use use = {.role = NULL};
    char *columns[] = {NULL};
    const struct ssbatch_planned_run run = {.workload = define("ssburn serial", NULL),
        .use = &use,
        .control = &control,
        .name = "quota",
        .takes = "9s",
        .tools = "/100%",
        .columns = columns};
    assert_plan(&run,
        "run quota takes 9s method=quota workload=own/word instances=1\n"
        "before -- mkdir -p '{scratch}/data/alone-0'\n"
        "beside group 'ready=^open$' -- /100%/env/group hold '{place}.{run}' --quota 1.5\n"
        "main -- showstopper --quiet --fail-fast --record '{record}' --output '{scratch}/output' "
        "-n 1 -f realtime -c fixed -C duty=100% --repeat -- /100%%/env/group enter '{place}.{run}' "
        "-- "
        "ssburn "
        "serial\n"
        "after -- /100%/env/group close '{place}.{run}'\n");
}

TEST(columns_of_a_side_replace_those_of_the_run) {
    const struct ssbatch_control control = {
        .method = find("default"), .feedback = "-f own", .target = 1, .cpus = 1, .instances = 3};
    const struct ssbatch_use use = {.role = "background"};
    char cpus[] = "cpus=0 1";
    char *columns[] = {cpus, NULL};
    const struct ssbatch_planned_run run = {.workload = define("true {side}", NULL),
        .use = &use,
        .control = &control,
        .around = "env lxc",
        .entering = "enter --",
        .counters = true,
        .columns = columns};
    assert_plan(&run,
        "main background workload=own/word method=default instances=3 cpus='0 1' -- env lxc "
        "showstopper --quiet --fail-fast --counters --record '{record}' --output "
        "'{out}/background.output' -n 3 -f own --repeat -- enter -- true background\n");
}

TEST(expressions_of_typed_workloads_are_checked) {
    struct ssbatch_catalogue catalogue = {0};
    const struct ssbatch_definition definition = {.name = "a", .command = "true", .iteration = "("};
    struct ss_error error = {0};
    assert_fails(ssbatch_catalogue_define(&catalogue, &definition, &error), error,
        "--iteration: '(': Unmatched ( or \\(");
    ssbatch_catalogue_free(&catalogue);
}

UNIT_RUN
