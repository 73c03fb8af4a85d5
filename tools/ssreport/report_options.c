/* SPDX-License-Identifier: Apache-2.0 */
#include "report_options.h"

#include <string.h>

#include "base/words.h"
#include "hypotheses.h"
#include "options/arguments.h"

static int add_folder(
    void *config, const struct ss_argument *row, char *word, struct ss_error *error) {
    struct ssreport_request *request = config;
    (void)row, (void)error;
    request->folders[request->count++] = word;
    return 0;
}

static int begin_second_set(
    void *config, const struct ss_argument *row, char *value, struct ss_error *error) {
    struct ssreport_request *request = config;
    (void)row, (void)value;
    if (request->against)
        return ss_error_fail(error, "is given twice");
    request->against = true;
    request->first_set = request->count;
    return 0;
}

/* Defaults. An option counts as given if its value differs. */
#define INTERVAL   (6 * SS_SECOND)
#define DEVIATION  0.05
#define CONFIDENCE 0.95

#define AT(member) .offset = offsetof(struct ssreport_request, member)

// clang-format off
static const struct ss_argument rows[] = {
    {'o', "DIR", {"output", SS_OPTION_TEXT, AT(output),
        .help = "write report.html and the tables as CSV files to this folder"}},
    {0, "TIME", {"edge", SS_OPTION_TIME, AT(edge), .sensible = "100m",
        .help = "leave out this much at both ends of every step; default: a sixth of the step, "
                "at most 30s"}},
    {0, "TIME", {"interval", SS_OPTION_TIME, AT(interval), .initial = "6s", .min = "10m",
        .sensible = "500m",
        .help = "count iterations in intervals of this length"}},
    {0, "PART", {"confidence", SS_OPTION_LOAD, AT(confidence), .initial = "95%", .min = "50%",
        .max = "99.99%", .help = "the confidence level of intervals and bands"}},
    {0, "PART", {"deviation", SS_OPTION_LOAD, AT(deviation), .initial = "5%",
        .help = "warn if the throughput of a replay differs by more than this"}},
    {0, "DIR", {"published", SS_OPTION_TEXT, AT(published),
        .help = "the folder with published figures; default: the installed one"}},
    {0, NULL, {"against",
        .help = "compare the records before this option with those after it"}, .take = begin_second_set},
    {0, "A/B", {"names", SS_OPTION_TEXT, AT(names),
        .help = "the names of the two sets; default: the names of their folders"}},
    {0, "TRACE", {"predict", SS_OPTION_TEXT, AT(predict),
        .help = "predict the throughput over this trace from throughput at constant loads, and "
                "compare with replays of it"}},
    {0, "FILE", {"profile", SS_OPTION_TEXT, AT(profile),
        .help = "write the profile of one instance of a run with counters to this file, for sssim"}},
    {0, "FILE", {"perfetto", SS_OPTION_TEXT, AT(perfetto),
        .help = "write the records over time to this file, for ui.perfetto.dev"}},
    {0, "FILE", {"policy", SS_OPTION_TEXT, AT(policy),
        .help = "write to this file, for ssactuate follow, which placement of a pair is best "
                "for both sides at which loads"}},
    {0, "PAIR", {"pair", SS_OPTION_TEXT, AT(pair),
        .help = "the pair for --policy: FOREGROUND,BACKGROUND[,ENVIRONMENT]; default: the only "
                "one"}},
    {0, "MEASURE", {"best-by", SS_OPTION_CHOICE, AT(best_by), .choices = "throughput energy",
        .help = "what makes a placement the best for --policy: the highest throughput, or the "
                "most work per watt-hour; default: throughput"}},
    {0, "NAME", {"table", SS_OPTION_TEXT, AT(table),
        .help = "print this table on standard output instead of the summary"}},
    {0, "FORMAT", {"format", SS_OPTION_CHOICE, AT(format), .choices = "csv md json",
        .help = "the format of that table; default: csv"}},
    {0, "NAME", {"column", SS_OPTION_TEXT, AT(column),
        .help = "print only this column of that table, one value per line, without unknown "
                "values"}},
    {0, "TEST", {"test", SS_OPTION_CHOICE, AT(test), .choices = "welch anova bartlett shapiro",
        .help = "test groups of values in a file instead of reporting records: which means "
                "differ, whether any do, whether variances do, or whether values are normally "
                "distributed"},
        .heading = "\nTests:"},
    {0, "COLUMN", {"value", SS_OPTION_TEXT, AT(value),
        .help = "the column of the file with the values"}},
    {0, "COLUMN", {"group", SS_OPTION_TEXT, AT(group),
        .help = "the column of the file with the groups; default: all values are one group"}},
    {0, "COLUMN", {"run", SS_OPTION_TEXT, AT(run),
        .help = "the column of the file with the runs: test the mean of each, because the values "
                "of one run are not independent"}},
    {0, NULL, {"of", AT(of),
        .help = "test groups given by mean, standard deviation and number of values: --of "
                "MEAN,SD,N NAME=MEAN,SD,N"}},
    {0, NULL, {"check", AT(check),
        .help = "print a verdict on each record, one per line; exit with 3 if a record is invalid"},
        .heading = "\nVerdicts:"},
    {0, NULL, {"decide", AT(decide),
        .help = "print the answer of a study of the experiment duet; exit with 2 if it needs "
                "more runs"}},
    {0, "WHICH", {"leave-out", SS_OPTION_CHOICE, AT(leave_out), .choices = "doubtful invalid",
        .help = "leave out invalid records, or doubtful and invalid ones"}},
    {'q', NULL, {"quiet", AT(quiet), .help = "print no summary or verdicts on standard output"},
        .heading = "\nOutput:"},
    {'h', NULL, {"help", AT(help), .help = "print this help"}},
    {0, NULL, {"version", AT(version), .help = "print the version"}},
    SS_ARGUMENTS_WORDS(add_folder),
};
// clang-format on

void ssreport_request_print_help(void) {
    printf("Usage: ssreport [OPTION]... RECORD...\n"
           "       ssreport [OPTION]... RECORD... --against RECORD...\n"
           "       ssreport --test TEST FILE --value COLUMN --group COLUMN\n"
           "       ssreport --test TEST --of MEAN,SD,N MEAN,SD,N...\n"
           "Reports records made by showstopper --record and ssrequest --record, files of\n"
           "ssrequest --json, a study made by ssbatch, or an experiment: a folder with a\n"
           "manifest.csv that names its records. With --test, tests groups of values in any\n"
           "table.\n\n");
    ss_arguments_print_help(stdout, rows);
    printf("\n"
           "The exit status is 0 if at least one reported record has results, 1 if none\n"
           "has, or if the table of --table has no rows, and 125 on any error. With\n"
           "--test, it is 1 if that test has no result; with --check, 3 if a record is\n"
           "invalid. With --decide, 2 means that more runs are needed; if the study has a\n"
           "limit, 1 means that it is exceeded, and 3 that the study ended undecided.\n");
}

/* Checks the options of --test, which cannot be combined with options of reports. */
static int check_test(const struct ssreport_request *request, struct ss_error *error) {
    const struct {
        const char *name;
        bool given;
    } others[] = {{"output", request->output}, {"edge", request->edge != SS_TIME_NEVER},
        {"interval", request->interval != INTERVAL}, {"deviation", request->deviation != DEVIATION},
        {"published", request->published}, {"against", request->against}, {"names", request->names},
        {"predict", request->predict}, {"profile", request->profile},
        {"perfetto", request->perfetto}, {"policy", request->policy}, {"check", request->check},
        {"decide", request->decide}, {"leave-out", request->leave_out >= 0}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i].given)
            return ss_error_fail(error, "--%s cannot be combined with --test", others[i].name);
    }
    if (request->of && (request->value || request->group || request->run))
        return ss_error_fail(error,
            "--of needs no file: leave out --value, --group and --run, which name its columns");
    if (request->of && request->test == HYPOTHESIS_NORMALITY)
        return ss_error_fail(error, "--test shapiro needs values: name a file instead of --of");
    if (request->of)
        return request->count > 1 ? 0 : ss_error_fail(error, "--of needs at least two groups");
    if (request->count != 1)
        return ss_error_fail(error, "--test needs one file: see --help");
    if (!request->value)
        return ss_error_fail(error, "--test needs the column of the values: --value COLUMN");
    if (!request->group && request->test != HYPOTHESIS_NORMALITY)
        return ss_error_fail(error, "--test needs the column of the groups: --group COLUMN");
    return 0;
}

/* Checks the options of --check and --decide, which make no report. */
static int check_printing(const struct ssreport_request *request, struct ss_error *error) {
    const char *name = request->output     ? "output"
                       : request->profile  ? "profile"
                       : request->perfetto ? "perfetto"
                       : request->policy   ? "policy"
                                           : NULL;
    if (request->check && request->decide)
        return ss_error_fail(error, "--check cannot be combined with --decide");
    if (request->check && request->table)
        return ss_error_fail(error, "--check prints the table verdicts: leave out --table");
    if (request->decide && (request->table || request->against))
        return ss_error_fail(
            error, "--%s cannot be combined with --decide", request->table ? "table" : "against");
    if (request->decide && request->format >= 0 && request->format != SSREPORT_FORMAT_MARKDOWN)
        return ss_error_fail(error,
            "--decide prints a line of text or, with --format md, of Markdown; --table duet has "
            "the numbers");
    const struct {
        const char *name;
        bool given;
    } ignored[] = {{"edge", request->edge != SS_TIME_NEVER},
        {"interval", request->interval != INTERVAL},
        {"confidence", request->confidence != CONFIDENCE},
        {"deviation", request->deviation != DEVIATION}, {"published", request->published},
        {"predict", request->predict}};
    for (size_t i = 0; request->decide && i < sizeof ignored / sizeof *ignored; i++) {
        if (ignored[i].given)
            return ss_error_fail(error, "--%s has no effect with --decide", ignored[i].name);
    }
    if ((request->check || request->decide) && name)
        return ss_error_fail(
            error, "--%s cannot be combined with --%s", name, request->check ? "check" : "decide");
    return 0;
}

static int check_names(const struct ssreport_request *request, struct ss_error *error) {
    const char *slash = request->names ? strchr(request->names, '/') : NULL;
    if (request->names &&
        (!slash || slash == request->names || !slash[1] || strchr(slash + 1, '/')))
        return ss_error_fail(error,
            "--names: \"%s\" is not a pair of names: write A/B, the names of the first and of the "
            "second set",
            ss_words_show(request->names).text);
    if (request->names && !request->against)
        return ss_error_fail(
            error, "--names requires --against: ssreport --names A/B A... --against B...");
    return 0;
}

static int check_report(struct ssreport_request *request, struct ss_error *error) {
    if (request->value || request->group || request->run || request->of)
        return ss_error_fail(error, "--%s requires --test",
            request->value   ? "value"
            : request->group ? "group"
            : request->run   ? "run"
                             : "of");
    if ((request->pair || request->best_by >= 0) && !request->policy)
        return ss_error_fail(error, "--%s requires --policy", request->pair ? "pair" : "best-by");
    if (check_printing(request, error) < 0 || check_names(request, error) < 0)
        return -1;
    if (!request->against)
        request->first_set = request->count;
    else if (request->first_set == 0 || request->first_set == request->count)
        return ss_error_fail(
            error, "--against must separate two sets: ssreport A... --against B...");
    return request->count > 0 ? 0 : ss_error_fail(error, "name at least one record: see --help");
}

int ssreport_request_parse(struct ssreport_request *request, char **argv, struct ss_error *error) {
    /* Folders are moved to the front of argv, over words that were already parsed. */
    *request = (struct ssreport_request){.edge = SS_TIME_NEVER,
        .format = -1,
        .leave_out = -1,
        .test = -1,
        .best_by = -1,
        .folders = argv + 1};
    if (ss_arguments_parse(rows, request, &request->store, argv, NULL, error) < 0)
        return -1;
    if (request->help || request->version)
        return 0;
    if (request->format >= 0 && !request->table && !request->check && !request->decide)
        return ss_error_fail(error, "--format needs a table: ssreport --table NAME RECORD...");
    if (request->column && (!request->table || request->format >= 0))
        return ss_error_fail(error,
            "--column needs a table and no format: ssreport --table NAME --column NAME RECORD...");
    return request->test >= 0 ? check_test(request, error) : check_report(request, error);
}
