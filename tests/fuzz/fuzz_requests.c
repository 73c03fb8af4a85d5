/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <unistd.h>

#include "fuzz.h"
#include "responses.h"
#include "steps.h"

/*
 * The input is both tables of a record of ssrequest without final figures, as of an interrupted
 * run.
 */

static char folder[] = "/tmp/fuzz-requests-XXXXXX";
static const char *const names[] = {"requests.csv", "response-times.csv"};
#define NAMES (sizeof names / sizeof *names)

static void remove_folder(void) {
    char path[64];
    for (size_t i = 0; i < NAMES; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

static void write_tables(const uint8_t *data, size_t size) {
    static int opened;
    if (!opened++) {
        FUZZ_CHECK(mkdtemp(folder));
        atexit(remove_folder);
    }
    for (size_t i = 0; i < NAMES; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        FILE *stream = fopen(path, "w");
        FUZZ_CHECK(stream);
        fwrite(data, 1, size, stream);
        fclose(stream);
    }
}

static void check_seconds(const struct ssreport_responses *responses) {
    for (size_t i = 0; i < responses->count; i++) {
        const struct ssreport_response_second *second = &responses->seconds[i];
        FUZZ_CHECK(second->begin < second->end && isfinite(second->end));
        FUZZ_CHECK(i == 0 || second->begin >= second[-1].end);
        FUZZ_CHECK(second->completed >= 0 && isfinite(second->completed));
        FUZZ_CHECK(second->waiting >= 0 && second->unfinished >= 0);
        FUZZ_CHECK(second->bucket_count <= responses->bucket_count);
    }
}

static void check_response(const struct ssreport_response *response) {
    FUZZ_CHECK(isnan(response->mean) == isnan(response->p50));
    FUZZ_CHECK(!(response->p50 > response->p95) && !(response->p95 > response->p99));
    FUZZ_CHECK(!(response->p99 > response->most) && !(response->p50 < 0));
}

/* Each second belongs to exactly one stretch. */
static void check_stretches(const struct ssreport_responses *responses) {
    struct ssreport_stretch stretch;
    size_t next = 0, at = 0;
    while (ssreport_responses_stretch(responses, SSREPORT_EDGE_DEFAULT, &next, &stretch)) {
        FUZZ_CHECK(stretch.first >= at && stretch.count > 0);
        FUZZ_CHECK(stretch.first + stretch.count <= next && next <= responses->count);
        for (int i = 0; i < SSREPORT_ORIGINS; i++)
            check_response(&stretch.response[i]);
        at = next;
    }
    FUZZ_CHECK(at == responses->count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct ssreport_responses responses;
    struct ss_error error = {0};
    write_tables(data, size);
    if (ssreport_responses_read(&responses, folder, "requests", &error) == 0) {
        FUZZ_CHECK(responses.count > 0 && responses.interrupted);
        FUZZ_CHECK(!strpbrk(responses.notes.text, "\n\r"));
        check_seconds(&responses);
        check_stretches(&responses);
    } else {
        FUZZ_CHECK(error.status != 0 && !strpbrk(error.message, "\n\r"));
    }
    ssreport_responses_free(&responses);
    return 0;
}
