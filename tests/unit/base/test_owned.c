/* SPDX-License-Identifier: Apache-2.0 */
#include "base/owned.h"

#include <fcntl.h>
#include <stdbool.h>

#include "unit.h"

static bool is_open(int descriptor) {
    return fcntl(descriptor, F_GETFD) >= 0;
}

static int open_and(bool take) {
    SS_OWNED(close) int descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_true(is_open(descriptor));
    return take ? ss_owned_take(&descriptor) : descriptor;
}

TEST(only_a_taken_descriptor_stays_open) {
    assert_false(is_open(open_and(false)));
    int descriptor = open_and(true);
    assert_true(is_open(descriptor));
    close(descriptor);
}

static int open_folder_and_stream(int *stream_descriptor) {
    SS_OWNED(closedir) DIR *folder = opendir("/");
    SS_OWNED(fclose) FILE *stream = fopen("/dev/null", "re");
    SS_OWNED(free) char *text = malloc(1);
    assert_true(folder && stream && text);
    *stream_descriptor = fileno(stream);
    return dirfd(folder);
}

TEST(owned_folders_and_streams_are_closed_with_their_variables) {
    int stream;
    int folder = open_folder_and_stream(&stream);
    assert_false(is_open(folder));
    assert_false(is_open(stream));
}

TEST(missing_owned_values_are_not_released) {
    SS_OWNED(close) int descriptor = -1;
    SS_OWNED(closedir) DIR *folder = NULL;
    SS_OWNED(fclose) FILE *stream = NULL;
    SS_OWNED(free) char *text = NULL;
    assert_int_equal(ss_owned_take(&descriptor), -1);
    assert_true(!folder && !stream && !text);
}

UNIT_RUN
