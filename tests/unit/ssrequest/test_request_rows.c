/* SPDX-License-Identifier: Apache-2.0 */
#include "requests.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../full.h"
#include "folder.h"
#include "tree.h"

struct fixture {
    struct made_up made;
    struct request_rows *rows;
    char path[300]; /* of the record */
    int record;     /* its descriptor, once it is open */
};

static struct fixture *it;

static int set_up(void **state) {
    (void)state;
    it = calloc(1, sizeof *it);
    it->record = -1;
    tree_new();
    strcpy(it->path, tree_path("record"));
    made_up_open(&it->made);
    assert_int_equal(request_rows_open(&it->rows, &it->made.tally, &it->made.profile, NULL), 0);
    return 0;
}

static void close_rows(void) {
    assert_int_equal(request_rows_close(it->rows, NULL), 0);
    it->rows = NULL;
}

static int tear_down(void **state) {
    (void)state;
    if (it->rows)
        close_rows();
    made_up_close(&it->made);
    if (it->record >= 0)
        close(it->record);
    free(it);
    return 0;
}

static void open_record(void) {
    it->record = request_folder_create(it->path, it->rows, NULL);
    assert_that(it->record, >=, 0);
}

static char *read_whole(const char *name) {
    char *text = calloc(1, 65536);
    FILE *stream = fopen(tree_path(name), "r");
    assert_non_null(stream);
    assert_that(fread(text, 1, 65535, stream), <, 65535);
    fclose(stream);
    return text;
}

/* Reports a request as the generator does. */
static struct request_in_flight send_one(uint64_t number, ss_time due, ss_time now) {
    struct request_in_flight one = {
        .number = number, .due = due, .sent = now, .target = 1, .label = 7};
    request_tally_due(&it->made.tally);
    request_tally_send(&it->made.tally, due, now);
    request_rows_record_sent(it->rows, &one);
    return one;
}

static void end_one(
    const struct request_in_flight *one, ss_time now, enum request_outcome outcome) {
    struct request_ended ended = {.due = one->due,
        .sent = one->sent,
        .finished = now,
        .outcome = outcome,
        .bytes = 50,
        .status = outcome == REQUEST_STATUS ? 503 : 0};
    request_tally_end(&it->made.tally, &ended);
    request_rows_observe(it->rows, one, REQUEST_ENDED, &ended);
}

TEST_WITH(request_events_are_counted_in_their_second, set_up, tear_down) {
    open_record();
    request_rows_begin(it->rows, 1795000000.5);
    assert_false(request_rows_advance(it->rows, 0));
    assert_null(request_rows_last(it->rows));
    struct request_in_flight first = send_one(0, 0, 2 * SS_MILLISECOND);
    struct request_in_flight second = send_one(1, 0, SS_MILLISECOND);
    struct request_in_flight third = send_one(2, 0, SS_MILLISECOND);
    request_tally_due(&it->made.tally);
    request_tally_due(&it->made.tally);
    request_tally_refuse(&it->made.tally);
    end_one(&first, 12 * SS_MILLISECOND, REQUEST_SUCCESS);
    assert_false(request_rows_advance(it->rows, SS_SECOND - 1));
    assert_true(request_rows_advance(it->rows, SS_SECOND));
    assert_int_equal(request_rows_last(it->rows)->completed, 1);
    end_one(&second, SS_SECOND + SS_MILLISECOND, REQUEST_TIMEOUT);
    end_one(&third, SS_SECOND + SS_MILLISECOND, REQUEST_RESET);
    request_rows_finish(it->rows, 2500 * SS_MILLISECOND);
    close_rows();
    char *text = read_whole("record/requests.csv");
    assert_string_equal(strchr(text, '\n') + 1,
        "1795000001.500000,1.000000,100,5,3,1,1,2,1,0,0,50,0.002000000,"
        "0.012000000,0.012000000,0.012000000,0.012000000,0.012000000,"
        "0.010000000,0.010000000,0.010000000,0.010000000,0.010000000\n"
        "1795000002.500000,2.000000,100,0,0,0,1,0,0,2,1,100,,,,,,,,,,,\n"
        "1795000003.000000,2.500000,100,0,0,0,1,0,0,0,0,0,,,,,,,,,,,\n");
    free(text);
}

TEST_WITH(requests_of_a_second_count_although_tallies_change, set_up, tear_down) {
    struct request_tally other;
    const struct request_second *last;
    assert_int_equal(request_tally_open(&other, SS_SECOND, NULL), 0);
    struct request_in_flight first = send_one(0, 0, 0);
    request_rows_advance(it->rows, SS_SECOND);
    /* It completes at the end of its second. */
    end_one(&first, SS_SECOND, REQUEST_SUCCESS);
    send_one(1, SS_SECOND, SS_SECOND);
    request_rows_clear(it->rows, &it->made.tally);
    send_one(2, SS_SECOND, SS_SECOND);
    request_rows_advance(it->rows, 2 * SS_SECOND);
    last = request_rows_last(it->rows);
    assert_int_equal(last->due, 2);
    assert_int_equal(last->sent, 2);
    assert_int_equal(last->refused, 0);
    assert_int_equal(last->completed, 1);
    assert_int_equal(it->made.tally.intended, 2);

    struct request_in_flight third = send_one(3, 2 * SS_SECOND, 2 * SS_SECOND);
    end_one(&third, 2 * SS_SECOND + 1, REQUEST_SUCCESS);
    request_rows_exchange(it->rows, &it->made.tally, &other, 2 * SS_SECOND + 1);
    send_one(4, 2 * SS_SECOND + 2, 2 * SS_SECOND + 2);
    request_rows_exchange(it->rows, &it->made.tally, &other, 2 * SS_SECOND + 3);
    send_one(5, 2 * SS_SECOND + 3, 2 * SS_SECOND + 3);
    request_rows_finish(it->rows, 3 * SS_SECOND);
    last = request_rows_last(it->rows);
    assert_int_equal(last->due, 3);
    assert_int_equal(last->sent, 3);
    assert_int_equal(last->completed, 1);
    request_tally_close(&other);
}

TEST_WITH(response_times_of_each_second_are_recorded, set_up, tear_down) {
    open_record();
    request_rows_begin(it->rows, 1795000000.5);
    struct request_in_flight first = send_one(0, 0, 0);
    struct request_in_flight second = send_one(1, 0, 2 * SS_MILLISECOND);
    struct request_in_flight third = send_one(2, 0, 0);
    struct request_in_flight failed = send_one(3, 0, 0);
    end_one(&first, 2 * SS_MILLISECOND, REQUEST_SUCCESS);
    end_one(&second, 4 * SS_MILLISECOND, REQUEST_SUCCESS);
    end_one(&failed, 5 * SS_MILLISECOND, REQUEST_RESET);
    request_rows_advance(it->rows, 2 * SS_SECOND);
    end_one(&third, 2004 * SS_MILLISECOND, REQUEST_SUCCESS);
    request_rows_finish(it->rows, 2500 * SS_MILLISECOND);
    close_rows();
    /* Lower bounds of buckets, which are 1024 ns wide at 2 ms and twice as wide at 4 ms. */
    tree_assert_file("record/response-times.csv", "elapsed_seconds,bucket_seconds,intended,actual\n"
                                                  "1.000000,0.001999872,1,2\n"
                                                  "1.000000,0.003999744,1,0\n"
                                                  "2.500000,2.003828736,1,1\n"
                                                  ",0.001999872,1,2\n"
                                                  ",0.003999744,1,0\n"
                                                  ",2.003828736,1,1\n");
}

TEST_WITH(partially_created_record_is_removed, set_up, tear_down) {
    struct ss_error error = {0};
    assert_int_equal(mkdir(it->path, 0777), 0);
    assert_int_equal(mkdir(tree_path("record/response-times.csv"), 0777), 0);
    int folder = open(it->path, O_RDONLY | O_DIRECTORY);
    assert_fails(request_rows_create_files(it->rows, folder, &error), error,
        "response-times.csv: File exists");
    assert_int_equal(access(tree_path("record/requests.csv"), F_OK), -1);
    close_rows();
    close(folder);
    assert_int_equal(rmdir(tree_path("record/response-times.csv")), 0);
}

TEST_WITH(requests_csv_heading_names_every_column, set_up, tear_down) {
    open_record();
    request_rows_finish(it->rows, SS_SECOND);
    close_rows();
    char *text = read_whole("record/requests.csv");
    unsigned commas[2] = {0}, line = 0;
    for (const char *at = text; *at; at++) {
        line += *at == '\n';
        commas[line < 2 ? line : 1] += *at == ',';
    }
    assert_int_equal(line, 2);
    assert_int_equal(commas[0], 22);
    assert_int_equal(commas[1], 22);
    assert_memory_equal(text, "epoch_seconds,elapsed_seconds,rate,due,", 39);
    assert_says(text, "\n,1.000000,100,0,"); /* no date in virtual time */
    free(text);
}

TEST_WITH(second_of_a_rate_change_has_the_mean_rate, set_up, tear_down) {
    request_rows_set_rate(it->rows, SS_SECOND + SS_SECOND / 4, 300);
    request_rows_set_rate(it->rows, SS_SECOND + SS_SECOND / 2, 0);
    assert_float_equal(request_rows_last(it->rows)->rate, 100, 1e-9);
    request_rows_advance(it->rows, 2 * SS_SECOND);
    assert_float_equal(request_rows_last(it->rows)->rate, 25 + 75, 1e-9);
    request_rows_advance(it->rows, 3 * SS_SECOND);
    assert_float_equal(request_rows_last(it->rows)->rate, 0, 1e-9);
    request_rows_set_rate(it->rows, 3 * SS_SECOND, 300);
    request_rows_advance(it->rows, 4 * SS_SECOND);
    assert_float_equal(request_rows_last(it->rows)->rate, 300, 1e-9);
    /* The profile ends after 10 s. */
    request_rows_advance(it->rows, 11 * SS_SECOND);
    assert_float_equal(request_rows_last(it->rows)->rate, 0, 1e-9);
}

TEST_WITH(last_row_has_the_mean_rate_of_its_part_of_a_second, set_up, tear_down) {
    request_rows_set_rate(it->rows, SS_SECOND / 5, 50);
    request_rows_finish(it->rows, 2 * SS_SECOND / 5);
    assert_float_equal(request_rows_last(it->rows)->rate, 75, 1e-9);
}

/* A file is replaced only when the run begins. */
TEST_WITH(failed_starts_keep_earlier_files, set_up, tear_down) {
    const char *path = tree_path("each.csv");
    assert_int_equal(request_rows_open_each(it->rows, path, -1, NULL), 0);
    close_rows();
    assert_int_equal(access(path, F_OK), -1);

    path = tree_write("each.csv", "kept\n");
    assert_int_equal(request_rows_open(&it->rows, &it->made.tally, &it->made.profile, NULL), 0);
    assert_int_equal(request_rows_open_each(it->rows, path, -1, NULL), 0);
    close_rows();
    tree_assert_file("each.csv", "kept\n");
}

TEST_WITH(output_pipe_without_a_reader_is_refused, set_up, tear_down) {
    struct ss_error error = {0};
    const char *path = tree_path("each.csv");
    char text[256];
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(request_rows_open_each(it->rows, path, -1, &error), -1);
    assert_says(error.message, "each.csv: no process reads this pipe: start its reader first");
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    assert_that(reader, >=, 0);
    assert_int_equal(request_rows_open_each(it->rows, path, -1, NULL), 0);
    request_rows_begin(it->rows, NAN);
    close_rows();
    assert_that(read(reader, text, sizeof text), >, 10);
    assert_memory_equal(text, "number,", 7);
    close(reader);
}

TEST_WITH(every_request_is_written_as_one_line, set_up, tear_down) {
    for (int again = 0; again < 2; again++) { /* the second run replaces the file */
        if (again)
            assert_int_equal(
                request_rows_open(&it->rows, &it->made.tally, &it->made.profile, NULL), 0);
        assert_int_equal(request_rows_open_each(it->rows, tree_path("each.csv"), -1, NULL), 0);
        request_rows_begin(it->rows, NAN);
        struct request_in_flight one = send_one(0, 0, SS_MILLISECOND);
        end_one(&one, 2 * SS_MILLISECOND, REQUEST_STATUS);
        struct request_in_flight waits = {
            .number = 1, .due = 5 * SS_MILLISECOND, .sent = SS_TIME_NEVER};
        struct request_ended never = {
            .due = waits.due, .sent = SS_TIME_NEVER, .finished = SS_SECOND};
        request_rows_observe(it->rows, &waits, REQUEST_REFUSED, &never);
        request_rows_observe(it->rows, &waits, REQUEST_NEVER_SENT, &never);
        request_rows_observe(it->rows, &one, REQUEST_UNFINISHED, &never);
        close_rows();
        tree_assert_file("each.csv",
            "number,target,due_seconds,sent_seconds,finished_seconds,outcome,bytes,status\n"
            "0,7,0.000000000,0.001000000,0.002000000,status,50,503\n"
            "1,,0.005000000,,1.000000000,refused,0,\n"
            "1,,0.005000000,,1.000000000,waiting,0,\n"
            "0,7,0.000000000,0.001000000,1.000000000,unfinished,0,\n");
    }
}

TEST_WITH(request_record_never_replaces_an_existing_folder, set_up, tear_down) {
    struct ss_error error = {0};
    assert_int_equal(request_folder_create(tree_root, it->rows, &error), -1);
    assert_says(error.message, "--record: ");
    assert_says(error.message, "already exists: choose another folder");
    open_record();
    assert_int_equal(access(tree_path("record/requests.json"), F_OK), -1);
    /* Another user may replace the folder meanwhile. */
    assert_int_equal(rename(it->path, tree_path("moved")), 0);
    assert_int_equal(mkdir(it->path, 0777), 0);
    assert_int_equal(request_folder_finish(it->record, it->path, &it->made.result, NULL), 0);
    assert_int_equal(access(tree_path("record/requests.json"), F_OK), -1);
    assert_int_equal(rmdir(it->path), 0);
    assert_int_equal(rename(tree_path("moved"), it->path), 0);
    char *text = read_whole("record/requests.json");
    assert_says(text, "\"program\": \"ssrequest\"");
    free(text);
}

TEST_WITH(lost_request_lines_are_reported, set_up, tear_down) {
    SKIP_UNLESS_FULL();
    struct ss_error error = {0};
    assert_int_equal(request_rows_open_each(it->rows, "/dev/full", -1, NULL), 0);
    request_rows_begin(it->rows, NAN);
    assert_fails(request_rows_close(it->rows, &error), error,
        "/dev/full: No space left on device; 1 line lost");
    it->rows = NULL;
}

UNIT_RUN
