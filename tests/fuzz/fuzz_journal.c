/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <unistd.h>

#include "fuzz.h"
#include "journal.h"

/* The file keeps its path, because a journal whose file was removed is not read. */
static char path[] = "/tmp/fuzz-journal-XXXXXX";

static void remove_file(void) {
    unlink(path);
}

static int open_file(const uint8_t *data, size_t size) {
    static int made;
    int file = made++ ? open(path, O_RDWR | O_TRUNC | O_CLOEXEC) : mkstemp(path);
    if (made == 1)
        atexit(remove_file);
    FUZZ_CHECK(file >= 0 && write(file, data, size) == (ssize_t)size);
    return file;
}

static void check_text(const char *text, size_t size) {
    FUZZ_CHECK(strlen(text) < size);
}

static void check(const struct ssactuate_journal *journal) {
    FUZZ_CHECK(journal->running_count <= SSACTUATE_RUNNING_MAX);
    check_text(journal->boot, sizeof journal->boot);
    for (size_t i = 0; i < journal->count; i++) {
        const struct ssactuate_entry *entry = &journal->entries[i];
        check_text(entry->setting.knob, sizeof entry->setting.knob);
        check_text(entry->setting.path, sizeof entry->setting.path);
        check_text(entry->before, sizeof entry->before);
        FUZZ_CHECK(entry->touched || !entry->known);
    }
    for (size_t i = 0; i < journal->group_count; i++) {
        check_text(journal->groups[i].folder, sizeof journal->groups[i].folder);
        check_text(journal->groups[i].home, sizeof journal->groups[i].home);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct ssactuate_journal journal = {.file = open_file(data, size), .name = "journal"};
    struct ss_error error = {0};
    if (ssactuate_journal_reload(&journal, &error) == 0) {
        /* A second reading of the journal must find the same entries and groups. */
        size_t entries = journal.count, groups = journal.group_count;
        check(&journal);
        FUZZ_CHECK(ssactuate_journal_reload(&journal, &error) == 0);
        FUZZ_CHECK(journal.count == entries && journal.group_count == groups);
    } else {
        FUZZ_CHECK(error.status != 0 && !strpbrk(error.message, "\n\r"));
    }
    ssactuate_journal_close(&journal);
    return 0;
}
