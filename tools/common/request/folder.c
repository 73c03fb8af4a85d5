/* SPDX-License-Identifier: Apache-2.0 */
#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/owned.h"
#include "base/walk.h"
#include "base/whole_file.h"
#include "base/words.h"
#include "result_document.h"

int request_folder_create(const char *path, struct request_rows *rows, struct ss_error *error) {
    struct ss_error why = {0};
    SS_OWNED(close)
    int folder = ss_walk_folder_path(path, O_RDONLY | O_CREAT | O_EXCL, &why);

    if (folder < 0 && errno == EEXIST)
        return ss_error_fail(
            error, "--record: %s already exists: choose another folder", ss_words_show(path).text);
    if (folder < 0)
        return ss_error_fail(
            error, "--record: cannot write %s: %s", ss_words_show(path).text, why.message);

    if (rows && request_rows_create_files(rows, folder, error) < 0) {
        ss_walk_remove_folder(folder, path);
        return -1;
    }
    return ss_owned_take(&folder);
}

void request_folder_remove(int folder, const char *path) {
    unlinkat(folder, REQUEST_SECONDS_FILE, 0);
    unlinkat(folder, REQUEST_TIMES_FILE, 0);
    ss_walk_remove_folder(folder, path);
}

int request_folder_finish(
    int folder, const char *path, const struct request_result *result, struct ss_error *error) {
    struct ss_whole_file file;
    int err = ss_whole_file_open_below(&file, folder, "requests.json");
    if (err == 0) {
        request_document_print(file.stream, result);
        err = ss_whole_file_commit(&file);
    }
    if (err == 0)
        return 0;
    return ss_error_fail(
        error, "cannot write %s/requests.json: %s", ss_words_show(path).text, strerror(errno));
}
