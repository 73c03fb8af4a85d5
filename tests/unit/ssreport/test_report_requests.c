/* SPDX-License-Identifier: Apache-2.0 */

#include <showstopper/random.h>

#include "base/histogram.h"
#include "report_manifest.h"
#include "responses_plots.h"

/* Time at which the records of report_folder.h begin, in seconds since 1970. */
#define TEN 1795168800.0

#define HEADING                                                                                    \
    "epoch_seconds,elapsed_seconds,rate,due,sent,refused,waiting,unfinished,completed,failed,"     \
    "timeouts,bytes,lateness_most_seconds,intended_mean_seconds,intended_p50_seconds,"             \
    "intended_p95_seconds,intended_p99_seconds,intended_most_seconds,actual_mean_seconds,"         \
    "actual_p50_seconds,actual_p95_seconds,actual_p99_seconds,actual_most_seconds\n"

/*
 * Requests of one second. Response times are measured from the intended and from the actual
 * sending.
 */
struct second {
    double rate, intended, actual;
    int completed, failed, waiting, refused;
};

static void write_seconds(const char *name, double begin, const struct second *seconds, int count) {
    char path[64], *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    fputs(HEADING, stream);
    for (int i = 0; i < count; i++) {
        const struct second *second = &seconds[i];
        int sent = second->completed + second->failed;
        int due = sent + second->refused + second->waiting - (i > 0 ? second[-1].waiting : 0);
        fprintf(stream, "%.6f,%d.000000,%g,%d,%d,%d,%d,0,%d,%d,%d,1000,0.001", begin + i + 1, i + 1,
            second->rate, due, sent, second->refused, second->waiting, second->completed,
            second->failed, second->failed);
        for (int origin = 0; origin < 2; origin++) {
            double time = origin == 0 ? second->intended : second->actual;
            if (second->completed > 0)
                fprintf(stream, ",%g,%g,%g,%g,%g", time, time, 2 * time, 3 * time, 4 * time);
            else
                fputs(",,,,,", stream);
        }
        fputc('\n', stream);
    }
    fclose(stream);
    snprintf(path, sizeof path, "%s/requests.csv", name);
    folder_write(path, text);
    free(text);
}

/* Writes the figures of a run; `more` holds further members, each followed by a comma. */
static void write_figures(
    const char *name, double begin, double end, double succeeded, double failed, const char *more) {
    char path[64], text[2000];
    snprintf(text, sizeof text,
        "{%s \"program\": \"ssrequest\", \"begin_epoch_seconds\": %.6f, \"end_epoch_seconds\": "
        "%.6f, \"loop\": \"open\", \"targets\": [\"http://a/\", \"http://b/\"], \"arrival\": "
        "\"poisson\", \"intended\": %.0f, \"sent\": %.0f, \"succeeded\": %.0f, \"failed\": %.0f, "
        "\"causes\": {\"timeout\": %.0f, \"reset\": 0}, \"success_ratio\": %g, "
        "\"duration_seconds\": %.3f, \"throughput\": %g, \"lateness\": {\"p99_seconds\": 0.0002},"
        "\"response\": {\"successes\": {\"intended\": {\"mean_seconds\": 0.011, \"p50_seconds\": "
        "0.01, \"p95_seconds\": 0.022, \"p99_seconds\": 0.033, \"most_seconds\": 0.05}, "
        "\"actual\": {\"mean_seconds\": 0.01, \"p99_seconds\": 0.03}}, \"all\": {\"intended\": "
        "{\"p95_seconds\": 10}}}}",
        more, begin, end, succeeded + failed, succeeded + failed, succeeded, failed, failed,
        succeeded / (succeeded + failed), end - begin, succeeded / (end - begin));
    snprintf(path, sizeof path, "%s/requests.json", name);
    folder_write(path, text);
}

static void write_constant(const char *name, double begin, int rate, int count) {
    struct second seconds[64];
    for (int i = 0; i < count; i++)
        seconds[i] =
            (struct second){.rate = rate, .intended = 0.01, .actual = 0.01, .completed = rate};
    write_seconds(name, begin, seconds, count);
    write_figures(name, begin, begin + count, rate * count, 0,
        "\"profile\": {\"kind\": "
        "\"constant\"}, \"cap\": 200,");
}

static void assert_found(const struct ssreport_report *report, const char *part) {
    const struct table_sheet *sheet = ssreport_table(report, "findings");
    for (size_t i = 0; i < table_rows(sheet); i++) {
        if (strstr(table_cell_at(sheet, i, "sentence")->text, part))
            return;
    }
    for (size_t i = 0; i < table_rows(sheet); i++)
        print_message("%s\n", table_cell_at(sheet, i, "sentence")->text);
    fail_msg("no '%s' in the findings", part);
}

static struct ssreport_responses read_responses(const char *name, int result) {
    struct ssreport_responses responses;
    struct ss_error error = {0};
    assert_int_equal(
        ssreport_responses_read(&responses, folder_file(name), "name", &error), result);
    return responses;
}

static void seconds_and_figures_of_requests_are_read(void **state) {
    (void)state;
    folder_open();
    write_constant("a", TEN, 20, 10);
    assert_true(ssreport_responses_are_in(folder_file("a")));
    assert_false(ssreport_responses_are_in(folder_path));
    struct ssreport_responses responses = read_responses("a", 0);
    assert_string_equal(responses.notes.text, "");
    assert_int_equal(responses.count, 10);
    assert_true(responses.seconds[3].at == TEN + 4);
    assert_true(responses.seconds[3].begin == 3 && responses.seconds[3].end == 4);
    assert_true(responses.seconds[3].rate == 20 && responses.seconds[3].completed == 20);
    assert_true(responses.seconds[3].response[SSREPORT_INTENDED].p99 == 0.03);
    assert_true(responses.seconds[3].response[SSREPORT_ACTUAL].most == 0.04);
    assert_false(responses.interrupted || responses.closed);
    assert_string_equal(responses.profile, "constant");
    assert_string_equal(responses.targets, "http://a/ http://b/");
    assert_string_equal(responses.causes, "");
    assert_true(responses.succeeded == 200 && responses.throughput == 20);
    assert_true(responses.successes[SSREPORT_INTENDED].p95 == 0.022);
    assert_true(responses.all[SSREPORT_INTENDED].p95 == 10);
    ssreport_responses_free(&responses);
}

/* Each broken line is skipped, and the first one is quoted. */
static void damaged_request_lines_are_reported_by_number(void **state) {
    (void)state;
    static const struct {
        const char *from, *to, *note;
        int count;
    } cases[] = {
        {",4.000000,20,20,", ",4.000000,20,21,",
            "requests.csv:5: the numbers of requests do not add up, in \"", 9},
        {",4.000000,20,20,", ",4.000000,20,2x,", "requests.csv:5: invalid number of requests", 9},
        {",4.000000,20,20,20,0,0,0,20,", ",4.000000,20,20,20,0,0,0,2.5,",
            "requests.csv:5: invalid number of requests", 9},
        {",4.000000,20,", ",4.000000,-20,", "requests.csv:5: invalid rate", 9},
        {",4.000000,20,", ",2.000000,20,", "requests.csv:5: the time does not advance", 9},
        {",4.000000,20,", ",1e90,20,", "requests.csv:5: the time does not advance", 9},
        {",4.000000,20,", ",,20,", "requests.csv:5: invalid time", 9},
        {"0.04,0.01,0.01,0.02,0.03,0.04\n", "0.02,0.01,0.01,0.02,0.03,0.04\n",
            "requests.csv:2: invalid response times", 9},
        {",0.001,", ",-0.001,", "requests.csv:2: invalid lateness", 9},
        {",4.000000,20,", ",4.000000,", "requests.csv:5:", 9},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        folder_open();
        write_constant("a", TEN, 20, 10);
        folder_change("a/requests.csv", cases[i].from, cases[i].to);
        struct ssreport_responses responses = read_responses("a", 0);
        if (!strstr(responses.notes.text, cases[i].note))
            fail_msg("no '%s' in: %s", cases[i].note, responses.notes.text);
        assert_non_null(strstr(responses.notes.text,
            "the summary counts 200 sent requests, but the seconds add up to 180"));
        assert_int_equal(responses.count, cases[i].count);
        ssreport_responses_free(&responses);
    }
}

static void incomplete_request_record_is_reported(void **state) {
    (void)state;
    folder_open();
    write_constant("a", TEN, 20, 10);
    unlink(folder_file("a/requests.json"));
    struct ssreport_responses responses = read_responses("a", 0);
    assert_true(responses.interrupted);
    assert_non_null(strstr(responses.notes.text, "interrupted: "));
    assert_true(responses.succeeded == 200 && responses.success_ratio == 1);
    assert_true(responses.begin == TEN && responses.ended == TEN + 10);
    assert_true(fabs(responses.successes[SSREPORT_INTENDED].p95 - 0.02) < 1e-12);
    ssreport_responses_free(&responses);
    write_constant("a", TEN, 20, 10);
    unlink(folder_file("a/requests.csv"));
    responses = read_responses("a", 0);
    assert_non_null(strstr(responses.notes.text, "requests.csv: No such file"));
    assert_true(responses.count == 0 && responses.succeeded == 200);
    ssreport_responses_free(&responses);
    folder_write("a/requests.json", "{\"program\": ");
    responses = read_responses("a", -1);
    ssreport_responses_free(&responses);
}

static void damaged_document_makes_requests_invalid(void **state) {
    (void)state;
    static const char *const texts[] = {"", "{\"program\": ", "{\"a\": 1}"};
    folder_open();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_constant("a", TEN, 20, 10);
        folder_write("a/requests.json", texts[i]);
        struct ssreport_responses responses = read_responses("a", 0);
        assert_string_equal(ss_verdict_word(&responses.verdict.verdict), "invalid");
        assert_string_equal(responses.verdict.reasons, "requests.json is damaged");
        ssreport_responses_free(&responses);
    }
}

static void write_table(const char *name, const char *heading, const char *rows) {
    char path[64], text[4000];
    snprintf(path, sizeof path, "%s/response-times.csv", name);
    snprintf(text, sizeof text, "%s\n%s", heading, rows);
    folder_write(path, text);
}

static void write_times(const char *name, const char *rows) {
    write_table(name, "elapsed_seconds,bucket_seconds,intended,actual", rows);
}

/* Writes times as schema 1 does: middles of buckets that are eight times as wide. */
static void write_old_times(const char *name, const char *rows) {
    write_table(name, "elapsed_seconds,response_seconds,intended,actual", rows);
}

/* Two seconds of 10 requests: nine quick ones and a slow one, then one quick and nine slow ones. */
static const struct second uneven[] = {
    {10, 0.01, 0.01, 10, 0, 0}, {10, 0.1, 0.01, 10, 0, 0}, {10, 0, 0, 0, 10, 0}};

static int by_size(const void *left, const void *right) {
    double one = *(const double *)left, other = *(const double *)right;
    return (one > other) - (one < other);
}

static void percentiles_over_several_seconds_use_merged_buckets(void **state) {
    (void)state;
    folder_open();
    write_seconds("a", TEN, uneven, 3);
    write_times("a", "1.000000,0.010000000,9,10\n1.000000,0.040000000,1,0\n"
                     "2.000000,0.100000000,1,10\n2.000000,0.400000000,9,0\n");
    struct ssreport_responses responses = read_responses("a", 0);
    struct ssreport_response response =
        ssreport_responses_of(responses.seconds, 3, SSREPORT_INTENDED);
    assert_false(response.estimated);
    assert_true(fabs(response.mean - 0.055) < 1e-12);
    assert_near(response.p50, 0.04, 0.0005 * (0.04));
    assert_near(response.p95, 0.4, 0.0005 * (0.4));
    assert_true(response.p99 <= 0.4);
    response = ssreport_responses_of(responses.seconds, 3, SSREPORT_ACTUAL);
    assert_false(response.estimated);
    /* A bucket's middle may exceed the longest time in it, which is known exactly. */
    assert_near(response.p50, 0.01, 0.0005 * (0.01));
    assert_true(response.p95 == 0.04 && response.most == 0.04);
    /* A single second keeps its recorded percentiles. */
    response = ssreport_responses_of(responses.seconds, 1, SSREPORT_INTENDED);
    assert_true(response.p95 == 0.02 && !response.estimated);
    response = ssreport_responses_of(responses.seconds + 2, 1, SSREPORT_INTENDED);
    assert_true(isnan(response.p50));
    ssreport_responses_free(&responses);
}

/* With schema 1, percentiles are the middles of its wider buckets. */
static void wider_buckets_of_older_records_are_read(void **state) {
    (void)state;
    folder_open();
    write_seconds("a", TEN, uneven, 3);
    write_old_times("a", "1.000000,0.009994239,9,10\n1.000000,0.039976959,1,0\n"
                         "2.000000,0.099876863,1,10\n2.000000,0.399507455,9,0\n");
    struct ssreport_responses responses = read_responses("a", 0);
    struct ssreport_response response =
        ssreport_responses_of(responses.seconds, 3, SSREPORT_INTENDED);
    assert_false(response.estimated);
    assert_true(response.p50 == 0.039976959 && response.p95 == 0.399507455 && response.p99 == 0.4);
    response = ssreport_responses_of(responses.seconds, 3, SSREPORT_ACTUAL);
    assert_true(response.p50 == 0.009994239);
    ssreport_responses_free(&responses);
}

/*
 * Merging buckets gives the percentiles of all values to within a bucket, however the values are
 * spread over the seconds. Averaging the percentiles of single seconds would not.
 */
static void percentiles_of_merged_seconds_are_exact_to_a_bucket(void **state) {
    (void)state;
    enum { SECONDS = 3, EACH = 100 };
    struct ssreport_response_bucket buckets[SECONDS][EACH];
    struct ssreport_response_second seconds[SECONDS];
    double values[SECONDS * EACH], sorted[SECONDS * EACH];
    uint64_t random = 11;
    for (int i = 0; i < SECONDS; i++) {
        struct ssreport_response *response = &seconds[i].response[SSREPORT_INTENDED];
        seconds[i] = (struct ssreport_response_second){.completed = EACH,
            .buckets = buckets[i],
            .bucket_count = EACH,
            .bucket_bits = SS_HISTOGRAM_FINE};
        *response = (struct ssreport_response){.mean = 1, .p50 = 1, .p95 = 1, .p99 = 1};
        for (int j = 0; j < EACH; j++) {
            double value = 1e-3 * pow(10, i) * exp(3 * ss_random_next(&random));
            values[i * EACH + j] = value;
            buckets[i][j] = (struct ssreport_response_bucket){
                .bucket = ss_histogram_bucket((ss_time)(value * 1e9), SS_HISTOGRAM_FINE),
                .counts = {[SSREPORT_INTENDED] = 1}};
            response->most = fmax(response->most, value);
        }
    }
    memcpy(sorted, values, sizeof sorted);
    qsort(sorted, SECONDS * EACH, sizeof *sorted, by_size);
    struct ssreport_response response = ssreport_responses_of(seconds, SECONDS, SSREPORT_INTENDED);
    assert_false(response.estimated);
    assert_near(response.p50, sorted[150 - 1], 0.0005 * (sorted[150 - 1]));
    assert_near(response.p95, sorted[285 - 1], 0.0005 * (sorted[285 - 1]));
    assert_near(response.p99, sorted[297 - 1], 0.0005 * (sorted[297 - 1]));
}

/* The table is absent, as in older records, or empty, damaged, or short of a request. */
static void percentiles_are_estimated_if_times_are_missing(void **state) {
    (void)state;
    static const char *const tables[] = {NULL, "",
        "1.000000,0.010000000,10,10\n2.000000,0.100000000,9,10\n",
        "1.000000,0.010000000,10,10\n2.000000,0.100000000,10,9\n",
        "1.000000,0.010000000,10,10\n2.000000,0.100000000,10,1x\n",
        "1.000000,0.010000000,10,10\n2.000000,0.100000000,10,10"};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        folder_open();
        write_seconds("a", TEN, uneven, 3);
        if (tables[i])
            write_times("a", tables[i]);
        struct ssreport_responses responses = read_responses("a", 0);
        struct ssreport_response response =
            ssreport_responses_of(responses.seconds, 3, SSREPORT_INTENDED);
        assert_true(response.estimated);
        assert_true(fabs(response.mean - 0.055) < 1e-12 && response.most == 0.4);
        /* Within 0.019 s there are 90.5 % of the quick requests and 9.5 % of the slow ones. */
        assert_true(fabs(response.p50 - 0.019) < 1e-9);
        /* 90 % of the slow requests: 40 of the 45 % between 0.1 and 0.2 s. */
        assert_true(fabs(response.p95 - (0.1 + 0.1 * 40 / 45)) < 1e-9);
        ssreport_responses_free(&responses);
    }
}

static void estimated_percentiles_are_marked(void **state) {
    (void)state;
    folder_open();
    write_seconds("a", TEN, uneven, 2);
    struct ssreport_report report = make_report(folder_file("a"));
    assert_text(&report, "requests-rates", 0, "percentiles", "estimated");
    assert_text(&report, "requests", 0, "percentiles", "estimated");
    assert_non_null(strstr(report.responses[0].notes.text,
        "its percentiles over several seconds are estimated from the percentiles of each second, "
        "because it has no complete response-times.csv"));
    assert_found(&report, "at most about 189 ms for 95 %");
    ssreport_report_free(&report);
    write_times("a", "1.000000,0.010000000,9,10\n1.000000,0.040000000,1,0\n"
                     "2.000000,0.100000000,1,10\n2.000000,0.400000000,9,0\n");
    report = make_report(folder_file("a"));
    assert_text(&report, "requests-rates", 0, "percentiles", "counted");
    assert_null(strstr(report.responses[0].notes.text, "estimated"));
    assert_found(&report, "at most 400 ms for 95 %");
    ssreport_report_free(&report);
}

static void each_constant_request_rate_has_a_row(void **state) {
    (void)state;
    folder_open();
    const struct second seconds[] = {{0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0},
        {10, 0.01, 0.01, 10, 0, 0}, {10, 0.01, 0.01, 10, 0, 0}, {20, 0.02, 0.01, 15, 0, 5},
        {20, 0.03, 0.01, 18, 2, 5}, {0, 0.04, 0.01, 5, 0, 0}};
    write_seconds("a", TEN, seconds, 7);
    struct ssreport_report report = make_report(folder_file("a"));
    assert_rows(&report, "requests-rates", 2);
    assert_cell(&report, "requests-rates", 0, "rate", 10);
    assert_cell(&report, "requests-rates", 0, "seconds", 2);
    assert_cell(&report, "requests-rates", 1, "rate", 20);
    assert_cell(&report, "requests-rates", 1, "step", 2);
    assert_cell(&report, "requests-rates", 1, "begin_seconds", 4);
    assert_cell(&report, "requests-rates", 1, "completed", 33);
    assert_cell(&report, "requests-rates", 1, "throughput", 16.5);
    assert_cell(&report, "requests-rates", 1, "success_ratio", 33 / 35.0);
    assert_cell(
        &report, "requests-rates", 1, "intended_mean_seconds", (15 * 0.02 + 18 * 0.03) / 33);
    assert_cell(&report, "requests-rates", 1, "load", NAN);
    assert_rows(&report, "requests-capacity", 0);
    ssreport_report_free(&report);
    /* Long stretches lose their edges, in whole seconds. */
    write_constant("a", TEN, 20, 12);
    unlink(folder_file("a/requests.json"));
    report = make_report(folder_file("a"));
    assert_cell(&report, "requests-rates", 0, "seconds", 8);
    ssreport_report_free(&report);
    /* The figures of a run at one rate cover all its requests. */
    write_constant("a", TEN, 20, 12);
    report = make_report(folder_file("a"));
    assert_cell(&report, "requests-rates", 0, "seconds", 12);
    assert_cell(&report, "requests-rates", 0, "step", NAN);
    assert_cell(&report, "requests-rates", 0, "intended_p95_seconds", 0.022);
    ssreport_report_free(&report);
}

static void edges_of_request_rates_come_from_the_manifest(void **state) {
    (void)state;
    folder_open();
    write_constant("a", TEN, 20, 12);
    unlink(folder_file("a/requests.json"));
    folder_write("manifest.csv", "run,edge_seconds\na,3\n");
    struct ssreport_report report = make_report(folder_path);
    assert_cell(&report, "requests-rates", 0, "seconds", 6);
    ssreport_report_free(&report);
}

static void write_power(const char *path) {
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    fputs("time,elapsed_seconds,watts\n", stream);
    for (int i = 0; i < 30; i++)
        fprintf(stream, "2026-11-20T10:00:%02d.000Z,%d,%d\n", i, i, i <= 12 ? 10 : 30);
    fclose(stream);
    folder_write(path, text);
    free(text);
}

static void requests_are_matched_to_the_record_of_the_same_time(void **state) {
    (void)state;
    folder_open();
    const char *const folders[] = {"runs", "runs/x", "runs/x/service", "runs/x/requests", "runs/y",
        "runs/y/service", "runs/y/requests"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        mkdir(folder_file(folders[i]), 0777);
    folder_write_record("runs/x/service");
    folder_write_record("runs/y/service");
    folder_change(
        "runs/x/service/samples.csv", "15.000000,0.500000,0.480000", "15.000000,0.500000,0.960000");
    folder_change(
        "runs/x/service/samples.csv", "15.500000,0.500000,0.480000", "15.500000,0.500000,0.960000");
    write_power("runs/x/energy.csv");
    write_constant("runs/x/requests", TEN + 10, 20, 10);
    /* An hour later: no record covers that time, but ssload's samples do, in any order. */
    write_constant("runs/y/requests", TEN + 3600, 20, 10);
    folder_write("runs/y/requests/beside.csv", "time,load\n2026-11-20T11:00:02.000Z,0.75\n"
                                               "2026-11-20T11:00:01.000Z,0.25\n");
    struct ssreport_report report =
        gather_rows("runs/x/service,latency,serve,averageq,service,,,0.6,,,1,rapl\n"
                    "runs/x/requests,latency,serve,averageq,requests,,,0.6,,,1,rapl\n"
                    "runs/y/service,latency,serve,averageq,service,,,0.6,,,1,rapl\n"
                    "runs/y/requests,latency,serve,averageq,requests,,,0.6,,,1,rapl\n");
    assert_int_equal(report.run_count, 2);
    assert_int_equal(report.response_count, 2);
    assert_string_equal(cell(&report, "requests", 0, "joined")->text, report.runs[0].record.name);
    assert_cell(&report, "requests-rates", 0, "load", (18 * 0.48 + 2 * 0.96) / 20);
    assert_cell(&report, "requests-rates", 0, "duty", 0.6);
    assert_cell(&report, "requests-rates", 0, "target", 0.5);
    assert_cell(&report, "requests-rates", 0, "watts", (2 * 10 + 8 * 30) / 10.0);
    assert_text(&report, "requests", 1, "joined", "");
    assert_cell(&report, "requests-rates", 1, "load", 0.5);
    assert_cell(&report, "requests-rates", 1, "duty", NAN);
    ssreport_report_free(&report);
}

static void samples_without_a_duty_are_excluded_from_its_mean(void **state) {
    (void)state;
    folder_open();
    folder_write_record("service");
    folder_change("service/samples.csv", "15.000000,0.500000,0.480000,0.020000,0.48,0.6",
        "15.000000,0.500000,0.480000,0.020000,0.48,");
    write_constant("requests", TEN + 10, 20, 10);
    struct ssreport_report report =
        gather_rows("service,latency,serve,averageq,service,,,0.6,,,1,\n"
                    "requests,latency,serve,averageq,requests,,,0.6,,,1,\n");
    assert_cell(&report, "runs", 0, "duty_mean", 0.6);
    assert_cell(&report, "requests-rates", 0, "duty", 0.6);
    ssreport_report_free(&report);
}

static void runs_of_latency_have_a_row_at_each_rate_and_duty(void **state) {
    (void)state;
    folder_open();
    const struct second seconds[] = {{25, 0.01, 0.01, 25, 0, 0}, {25, 0.01, 0.01, 25, 0, 0}};
    folder_write_record("service");
    write_seconds("rate", TEN + 10, seconds, 2);
    write_figures(
        "rate", TEN + 10, TEN + 12, 45, 5, "\"profile\": {\"kind\": \"constant\", \"rate\": 25},");
    write_figures("steps", TEN + 10, TEN + 12, 45, 5, "\"profile\": {\"kind\": \"step\"},");
    write_figures("capacity", TEN + 20, TEN + 22, 45, 5,
        "\"capacity\": {\"demand\": \"p95=2s\", \"held_rate\": 84, \"held_times\": 5},");
    folder_write("manifest.csv", "run,experiment,workload,role,group,target,round\n"
                                 "rate,latency,serve,requests,x,0.5,2\n"
                                 "service,latency,serve,service,x,0.5,2\n"
                                 "steps,latency,serve,requests,y,0.5,2\n"
                                 "capacity,latency,serve,requests,z,1,1\n");
    struct ssreport_report report = make_report(folder_path);
    assert_rows(&report, "requests-rates", 1);
    assert_text(&report, "requests-rates", 0, "workload", "serve");
    assert_cell(&report, "requests-rates", 0, "throttle_target", 0.5);
    assert_cell(&report, "requests-rates", 0, "rate", 25);
    assert_cell(&report, "requests-rates", 0, "round", 2);
    assert_cell(&report, "requests-rates", 0, "intended_p95_seconds", 0.022);
    assert_cell(&report, "requests-rates", 0, "actual_p99_seconds", 0.03);
    assert_rows(&report, "requests-capacity", 1);
    assert_text(&report, "requests-capacity", 0, "demand", "p95=2s");
    assert_cell(&report, "requests-capacity", 0, "held_rate", 84);
    assert_cell(&report, "requests-capacity", 0, "failed_rate", NAN);
    ssreport_report_free(&report);
}

static void requests_to_several_urls_have_a_row_each(void **state) {
    (void)state;
    const struct second second = {10, 0.01, 0.01, 10, 0, 0, 0};
    folder_open();
    write_seconds("a", TEN, &second, 1);
    write_figures("a", TEN, TEN + 1, 10, 0,
        "\"per_target\": [{\"url\": \"http://a/\", \"sent\": 7, \"succeeded\": 4, \"failed\": 2, "
        "\"unfinished\": 1, \"mean_seconds\": 0.5, \"p95_seconds\": 0.75, \"p99_seconds\": 1}, "
        "{\"url\": \"http://b/\", \"sent\": 0, \"mean_seconds\": null}],");
    write_seconds("b", TEN, &second, 1);
    write_figures("b", TEN, TEN + 1, 10, 0, "\"per_target\": [{\"url\": \"http://a/\"}],");
    struct ssreport_report report = make_report(folder_file("a"));
    assert_rows(&report, "requests-targets", 2);
    assert_text(&report, "requests-targets", 0, "url", "http://a/");
    assert_cell(&report, "requests-targets", 0, "succeeded", 4);
    assert_cell(&report, "requests-targets", 0, "unfinished", 1);
    assert_cell(&report, "requests-targets", 0, "p95_seconds", 0.75);
    assert_text(&report, "requests-targets", 1, "url", "http://b/");
    assert_cell(&report, "requests-targets", 1, "mean_seconds", NAN);
    ssreport_report_free(&report);
    report = make_report(folder_file("b"));
    assert_rows(&report, "requests-targets", 0);
    ssreport_report_free(&report);
}

/* As in requests.json, although that does not have the ratio of each rate. */
static void success_ratio_of_a_rate_counts_refused_and_unsent_requests(void **state) {
    (void)state;
    folder_open();
    const struct second seconds[] = {{10, 0.01, 0.01, 10, 0, 0, 0}, {40, 0.01, 0.01, 10, 0, 0, 30},
        {20, 0.01, 0.01, 10, 0, 10, 0}, {50, 0.01, 0.01, 10, 0, 50, 0}};
    write_seconds("a", TEN, seconds, 4);
    struct ssreport_report report = make_report(folder_file("a"));
    assert_rows(&report, "requests-rates", 4);
    assert_cell(&report, "requests-rates", 0, "success_ratio", 1);
    assert_cell(&report, "requests-rates", 1, "success_ratio", 0.25);
    /* A request that waits at the end of a rate may still succeed, unless the run ends, too. */
    assert_cell(&report, "requests-rates", 2, "success_ratio", 1);
    assert_cell(&report, "requests-rates", 3, "success_ratio", 0.2);
    ssreport_report_free(&report);
}

static void request_findings_name_the_run_with_the_rate(void **state) {
    (void)state;
    folder_open();
    write_constant("a", TEN, 10, 5);
    write_constant("b", TEN + 60, 20, 5);
    struct ssreport_report report = begin_report();
    assert_int_equal(ssreport_gather(&report, folder_file("a"), 0), 0);
    assert_int_equal(ssreport_gather(&report, folder_file("b"), 0), 0);
    finish_report(&report);
    assert_found(&report, "b: keeps up with 20 requests a second.");
    ssreport_report_free(&report);
}

static void request_findings_precede_the_tables(void **state) {
    (void)state;
    folder_open();
    /* 20 requests per second cause no backlog; at 40 per second the backlog grows every second. */
    const struct second seconds[] = {{20, 0.02, 0.02, 20, 0, 0}, {20, 0.02, 0.02, 20, 0, 0},
        {40, 0.4, 0.02, 25, 0, 15}, {40, 0.6, 0.02, 25, 0, 30}};
    write_seconds("a", TEN, seconds, 4);
    struct ssreport_report report = make_report(folder_file("a"));
    assert_found(&report,
        "keeps up with 20 requests a second, but not with 40 (62.5 % of the "
        "requests due succeeded while that rate lasted). At 20 the response time is 20.0 ms on "
        "average (95 %: 20.0 ms to 20.0 ms, of 40 requests) and at most about "
        "40.0 ms for 95 % of the requests");
    assert_found(&report,
        "at 40 requests a second 99 % were answered within about 60.0 ms of being "
        "sent, but only within ");
    struct text text = print_report(&report);
    assert_has(&text, "<h2>Findings</h2>");
    assert_true(strstr(text.bytes, "<h2>Findings</h2>") < strstr(text.bytes, "<h2>Requests</h2>"));
    assert_has(&text, "<title>How fast are the responses, and up to what rate?</title>");
    assert_has_not(&text, "confidence interval");
    assert_has_not(&text, "no power was recorded");
    free(text.bytes);
    ssreport_report_free(&report);
    /* Failed requests make the others look faster. */
    write_seconds("b", TEN, seconds, 4);
    write_figures("b", TEN, TEN + 4, 60, 30, "");
    report = make_report(folder_file("b"));
    assert_found(&report, "only 66.67 % of the requests succeeded (timeout 30). The successes "
                          "alone were answered within 22.0 ms (95 %); if each other request "
                          "counts with the time that it waited, it is 10.0 s.");
    ssreport_report_free(&report);
    /* The cap was never reached, so it does not explain the delay. */
    write_figures("b", TEN, TEN + 4, 90, 0, "\"cap\": 9, \"unfinished_most\": 3,");
    folder_change("b/requests.json", "0.0002", "0.0052");
    report = make_report(folder_file("b"));
    assert_found(&report, "1 % of the requests were sent more than 5.20 ms after they were due.");
    ssreport_report_free(&report);
    write_figures("b", TEN, TEN + 4, 90, 0,
        "\"loop\": \"closed\", \"capacity\": {\"demand\": \"p95=2s\", \"held_rate\": 84, "
        "\"held_times\": 5, \"failed_rate\": 85.5, \"failed_times\": 4},");
    report = make_report(folder_file("b"));
    assert_found(&report, "the capacity for p95=2s is between 84 and 85.5 requests a second.");
    assert_rows(&report, "requests-rates", 0);
    assert_cell(&report, "requests-capacity", 0, "failed_rate", 85.5);
    assert_cell(&report, "requests-capacity", 0, "held_times", 5);
    ssreport_report_free(&report);
    folder_change("b/requests.json", "\"failed_times\": 4", "\"lower_bound\": true");
    report = make_report(folder_file("b"));
    assert_found(&report, "the capacity for p95=2s is above 84 requests a second: at 85.5, the "
                          "generator was the limit, not the service.");
    ssreport_report_free(&report);
    folder_change("b/requests.json", "lower_bound", "upper_bound");
    report = make_report(folder_file("b"));
    assert_found(&report, "the capacity for p95=2s is below 85.5 requests a second: at 84, "
                          "response times were not stationary.");
    ssreport_report_free(&report);
    static const char *const bounds[][2] = {
        {"\"held_rate\": 800, \"failed_rate\": null", "is above 800 requests a second."},
        {"\"held_rate\": null, \"failed_rate\": 20", "is below 20 requests a second."},
        {"\"held_rate\": null, \"failed_rate\": null", "was not found."},
    };
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        char more[200], sentence[100];
        snprintf(more, sizeof more, "\"capacity\": {\"demand\": \"p95=2s\", %s},", bounds[i][0]);
        snprintf(sentence, sizeof sentence, "the capacity for p95=2s %s", bounds[i][1]);
        write_figures("b", TEN, TEN + 4, 90, 0, more);
        report = make_report(folder_file("b"));
        assert_found(&report, sentence);
        ssreport_report_free(&report);
    }
}

static void closed_loop_requests_are_labeled(void **state) {
    (void)state;
    folder_open();
    const struct second seconds[] = {{0, 0.02, 0.02, 20, 0, 0}, {0, 0.02, 0.02, 20, 0, 0}};
    write_seconds("a", TEN, seconds, 2);
    folder_change("a/requests.csv", ",1.000000,0,", ",1.000000,,");
    folder_change("a/requests.csv", ",2.000000,0,", ",2.000000,,");
    write_figures("a", TEN, TEN + 2, 40, 0, "");
    folder_change("a/requests.json", "\"open\"", "\"closed\"");
    struct ssreport_report report = make_report(folder_file("a"));
    assert_text(&report, "requests", 0, "loop", "closed");
    assert_found(&report, "a closed loop answered 20 requests a second.");
    ssreport_report_free(&report);
}

/* sssim queue agrees: 10 ms at 1 request per second take 18.6, 38.2, 9.2 and 29.5 ms longer. */
static void delay_by_stops_grows_with_the_request_length(void **state) {
    (void)state;
    assert_near(ssreport_responses_added_by_stops(0.5, 0.107, 0), 0.25 * 0.107 / 2,
        1e-9 * fabs(0.25 * 0.107 / 2));
    assert_near(
        ssreport_responses_added_by_stops(0.5, 0.107, 0.01), 0.018375, 1e-9 * fabs(0.018375));
    assert_near(
        ssreport_responses_added_by_stops(0.25, 0.107, 0.01), 0.03759375, 1e-9 * fabs(0.03759375));
    /* The service is stopped a second and a fourth time while it works on the request. */
    assert_near(
        ssreport_responses_added_by_stops(0.5, 0.0107, 0.01), 0.0090125, 1e-9 * fabs(0.0090125));
    assert_near(ssreport_responses_added_by_stops(0.25, 0.0107, 0.01), 0.028565625,
        1e-9 * fabs(0.028565625));
    /* Many stops act like a machine of half the speed. */
    assert_true(fabs(ssreport_responses_added_by_stops(0.5, 0.001, 1) - 1) < 0.001);
    assert_near(ssreport_responses_added_by_stops(1, 0.107, 0.01), 0, 0);
}

/* Two seconds with 2 and 6 requests and means of 10 and 20 ms. */
static void mean_response_time_has_a_confidence_interval(void **state) {
    (void)state;
    folder_open();
    const struct second seconds[] = {{4, 0.01, 0.01, 2, 0, 0}, {4, 0.02, 0.01, 6, 0, 0}};
    write_seconds("a", TEN, seconds, 2);
    struct ssreport_report report = make_report(folder_file("a"));
    /* Both sums deviate by 15 ms: sqrt(2 (15^2 + 15^2)) / 8 = 3.75 ms; t is 12.706. */
    double half = 12.706204736174705 * 0.00375;
    assert_cell(&report, "requests-rates", 0, "intended_mean_low_seconds", 0);
    assert_true(fabs(cell(&report, "requests-rates", 0, "intended_mean_high_seconds")->number -
                     (0.0175 + half)) < 1e-9);
    assert_found(&report, "17.5 ms on average (95 %: 0.00 ms to 65.1 ms, of 8 requests)");
    ssreport_report_free(&report);
    write_seconds("a", TEN, seconds, 1);
    report = make_report(folder_file("a"));
    assert_cell(&report, "requests-rates", 0, "intended_mean_low_seconds", NAN);
    assert_found(&report, "10.0 ms on average (2 requests, which give no interval)");
    ssreport_report_free(&report);
}

static void disturbed_request_rates_are_marked(void **state) {
    (void)state;
    folder_open();
    write_constant("a", TEN, 10, 5);
    write_constant("b", TEN + 60, 20, 5);
    folder_write("manifest.csv", "run,workload,others\na,serve,0.25\nb,serve,0.02\n");
    struct ssreport_report report = make_report(folder_path);
    assert_cell(&report, "requests-rates", 0, "others", 0.25);
    assert_cell(&report, "requests", 1, "others", 0.02);
    assert_found(&report, "during 1 of 2 runs: a (25.0 %).");
    struct text script;
    begin(&script);
    assert_true(ssreport_responses_plot(script.stream, &report, 0, SSREPORT_OVER_RATE));
    end(&script);
    assert_has(&script, "$disturbed << END\n10 22\nEND\nplot $disturbed using 1:2 ");
    free(script.bytes);
    ssreport_report_free(&report);
}

static void response_times_are_compared_with_the_formula_for_stops(void **state) {
    (void)state;
    folder_open();
    const char *const folders[] = {"runs", "runs/x", "runs/x/service", "runs/x/requests", "runs/y",
        "runs/y/service", "runs/y/requests"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        mkdir(folder_file(folders[i]), 0777);
    folder_write_record("runs/x/service");
    folder_write_record("runs/y/service");
    for (int i = 0; i < 60; i++)
        folder_change("runs/y/service/samples.csv", ",0.48,0.6\n", ",0.48,1.0\n");
    write_constant("runs/x/requests", TEN + 10, 20, 10);
    write_constant("runs/y/requests", TEN + 10, 20, 10);
    folder_change(
        "runs/x/requests/requests.json", "\"mean_seconds\": 0.011", "\"mean_seconds\": 0.031");
    struct ssreport_report report =
        gather_rows("runs/x/service,latency,serve,averageq,service,,,0.6,0.1,,1,rapl\n"
                    "runs/x/requests,latency,serve,averageq,requests,,,0.6,0.1,,1,rapl\n"
                    "runs/y/service,latency,serve,averageq,service,,,1,0.1,,1,rapl\n"
                    "runs/y/requests,latency,serve,averageq,requests,,,1,0.1,,1,rapl\n");
    /* (1 - 0.6)^2 x 100 ms / 2 + (1 - 0.6) x 11 ms */
    assert_found(&report, "serve, averageq, 60 %, poisson: at 20 requests a second a duty of 60 % "
                          "adds 20.0 ms to the mean response time (95 %: 20.0 ms to 20.0 ms, of "
                          "400 requests); it is 31.0 ms instead of 11.0 ms; stops in rounds of "
                          "100 ms account for 12.4 ms if requests are few and each takes 11.0 "
                          "ms.");
    struct text script;
    begin(&script);
    assert_true(ssreport_responses_plot(script.stream, &report, 0, SSREPORT_OVER_DUTY));
    assert_false(ssreport_responses_plot(script.stream, &report, 0, SSREPORT_OVER_RATE));
    assert_false(ssreport_responses_plot_series(script.stream, &report, 0));
    end(&script);
    assert_has(&script, "\n60 31 10 22 33 10 NaN NaN 30\n100 11 10 22 33 10 NaN NaN 30\n");
    /* 11 ms plus the formula's delay; at a duty of 0 no request completes. */
    assert_has(&script, "$expected << END\n0 NaN\n");
    assert_has(&script, "\n60 23.4\n");
    assert_has(&script, "\n100 11\nEND\n");
    assert_has(&script, "plot $expected using 1:2");
    assert_has(&script, "set logscale y");
    free(script.bytes);
    ssreport_report_free(&report);
    /* The formula needs a tau. */
    report = gather_rows("runs/x/service,latency,serve,averageq,service,,,0.6,,,1,rapl\n"
                         "runs/x/requests,latency,serve,averageq,requests,,,0.6,,,1,rapl\n"
                         "runs/y/service,latency,serve,averageq,service,,,1,,,1,rapl\n"
                         "runs/y/requests,latency,serve,averageq,requests,,,1,,,1,rapl\n");
    begin(&script);
    assert_true(ssreport_responses_plot(script.stream, &report, 0, SSREPORT_OVER_DUTY));
    end(&script);
    assert_has_not(&script, "$expected");
    free(script.bytes);
    ssreport_report_free(&report);
}

static void request_plots_show_intended_and_actual_response_times(void **state) {
    (void)state;
    folder_open();
    const struct second seconds[] = {{20, 0.02, 0.01, 20, 0, 0}, {20, 0.02, 0.01, 20, 0, 0},
        {40, 0.4, 0.02, 40, 0, 0}, {40, 0.4, 0.02, 30, 10, 0}};
    write_seconds("a", TEN, seconds, 4);
    struct ssreport_report report = make_report(folder_file("a"));
    struct text script;
    begin(&script);
    assert_true(ssreport_responses_plot(script.stream, &report, 0, SSREPORT_OVER_RATE));
    assert_false(ssreport_responses_plot(script.stream, &report, 0, SSREPORT_OVER_LOAD));
    end(&script);
    assert_has(&script, "\n20 20 20 40 60 10 10 20 30\n40 400 400 800 1200 20 20 40 60\n");
    free(script.bytes);
    begin(&script);
    assert_true(ssreport_responses_plot_times(script.stream, &report.responses[0]));
    assert_true(ssreport_responses_plot_counts(script.stream, &report.responses[0], NULL));
    end(&script);
    assert_has(&script, "\n3.5 400 400 800 1200 20 20 40 60\n");
    assert_has(&script, "\n3.5 40 30 10 NaN\n");
    free(script.bytes);
    ssreport_report_free(&report);
}

// clang-format off
UNIT_MAIN(
    cmocka_unit_test(seconds_and_figures_of_requests_are_read),
    cmocka_unit_test(damaged_request_lines_are_reported_by_number),
    cmocka_unit_test(incomplete_request_record_is_reported),
    cmocka_unit_test(damaged_document_makes_requests_invalid),
    cmocka_unit_test(percentiles_over_several_seconds_use_merged_buckets),
    cmocka_unit_test(wider_buckets_of_older_records_are_read),
    cmocka_unit_test(percentiles_of_merged_seconds_are_exact_to_a_bucket),
    cmocka_unit_test(percentiles_are_estimated_if_times_are_missing),
    cmocka_unit_test(estimated_percentiles_are_marked),
    cmocka_unit_test(each_constant_request_rate_has_a_row),
    cmocka_unit_test(requests_to_several_urls_have_a_row_each),
    cmocka_unit_test(success_ratio_of_a_rate_counts_refused_and_unsent_requests),
    cmocka_unit_test(request_findings_name_the_run_with_the_rate),
    cmocka_unit_test(edges_of_request_rates_come_from_the_manifest),
    cmocka_unit_test(requests_are_matched_to_the_record_of_the_same_time),
    cmocka_unit_test(samples_without_a_duty_are_excluded_from_its_mean),
    cmocka_unit_test(runs_of_latency_have_a_row_at_each_rate_and_duty),
    cmocka_unit_test(request_findings_precede_the_tables),
    cmocka_unit_test(closed_loop_requests_are_labeled),
    cmocka_unit_test(delay_by_stops_grows_with_the_request_length),
    cmocka_unit_test(mean_response_time_has_a_confidence_interval),
    cmocka_unit_test(disturbed_request_rates_are_marked),
    cmocka_unit_test(response_times_are_compared_with_the_formula_for_stops),
    cmocka_unit_test(request_plots_show_intended_and_actual_response_times))
