/* SPDX-License-Identifier: Apache-2.0 */
#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/owned.h"
#include "base/paths.h"
#include "base/state.h"
#include "base/walk.h"
#include "base/words.h"
#include "platform/platform.h"
#include "text_stream.h"

#define SUFFIX ".journal"

static const char *const tolerance_names[] = {"exact", "rounded", "lowered"};

/* Trusts no other user: a journal names files of the kernel, which we would write as root. */
static const struct ss_trust trust;

/* Fails with "FOLDER/NAME: REASON"; the reason is that of errno. */
static int fail_at(const struct ssactuate_state *state, const char *name, struct ss_error *error) {
    return ss_error_fail(error, "%s/%s: %s", state->path, name, strerror(errno));
}

bool ssactuate_state_has_folder(const char *path) {
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    return path || geteuid() == 0 || (runtime && *runtime == '/');
}

static bool is_below_root(const char *root) {
    return root || geteuid() == 0;
}

/* Returns the path of the state folder. free() it. */
static char *choose_folder(const char *root, struct ss_error *error) {
    if (!ssactuate_state_has_folder(root)) {
        ss_error_fail(
            error, "no folder for the journal: set XDG_RUNTIME_DIR to a folder of this user");
        return NULL;
    }
    if (!is_below_root(root))
        return ss_words_format(error, "%s/showstopper", getenv("XDG_RUNTIME_DIR"));
    return ss_words_format(error, "%s/run/showstopper", root ? root : "");
}

static int open_state_folder(
    const struct ssactuate_state *state, const char *root, struct ss_error *error) {
    char path[64];
    struct ss_error why = {0};
    if (!is_below_root(root))
        return ss_state_folder(AT_FDCWD, state->path, &trust, true, state->path, error);

    snprintf(path, sizeof path, "/proc/self/fd/%d/run", state->root);
    SS_OWNED(close) int run = ss_walk_folder_path(path, O_PATH | O_CREAT, &why);
    if (run < 0)
        return ss_error_fail(error, "cannot create %s: %s", state->path, why.message);
    return ss_state_folder(run, "showstopper", &trust, true, state->path, error);
}

static int open_root(const char *root, struct ss_error *error) {
    struct ss_error why = {0};
    int opened = ss_walk_folder_path(root, O_RDONLY, &why);
    return opened < 0 ? ss_error_fail(error, "%s: %s", root, why.message) : opened;
}

int ssactuate_state_open(struct ssactuate_state *state, const char *path, struct ss_error *error) {
    *state = (struct ssactuate_state){.root = -1, .folder = -1};
    state->root = open_root(path ? path : "/", error);
    if (state->root < 0)
        return -1;
    if (ssactuate_file_read(state->root, "proc/sys/kernel/random/boot_id", state->boot) < 0 ||
        !*state->boot)
        snprintf(state->boot, sizeof state->boot, "unknown");

    state->path = choose_folder(path, error);
    if (!state->path)
        return -1;
    state->folder = open_state_folder(state, path, error);
    return state->folder < 0 ? -1 : 0;
}

void ssactuate_state_close(struct ssactuate_state *state) {
    ss_owned_close(&state->root);
    ss_owned_close(&state->folder);
    free(state->path);
    *state = (struct ssactuate_state){.root = -1, .folder = -1};
}

static int sync_folder(const struct ssactuate_state *state, struct ss_error *error) {
    return fsync(state->folder) < 0 ? ss_paths_fail(state->path, error) : 0;
}

/* Appends one line of quoted words. The last word is NULL. */
static int append(
    struct ssactuate_journal *journal, const char *const *words, struct ss_error *error) {
    struct ss_text text;
    if (ss_text_open(&text, error) < 0)
        return -1;

    for (const char *const *word = words; *word; word++) {
        if (word != words)
            fputc(' ', text.stream);
        ss_words_quote(text.stream, *word);
    }

    fputc('\n', text.stream);
    SS_OWNED(free) char *line = ss_text_close(&text, error);
    struct stat before;
    if (!line)
        return -1;

    if (fstat(journal->file, &before) < 0)
        return ss_paths_fail(journal->name, error);

    ssize_t written = write(journal->file, line, strlen(line));
    if (written == (ssize_t)strlen(line))
        return 0;
    if (written >= 0)
        errno = ENOSPC;
    ss_paths_fail(journal->name, error);

    /* A full disk may leave a partial line: remove it, or the next line would continue it. */
    return ftruncate(journal->file, before.st_size) < 0 ? ss_paths_fail(journal->name, error) : -1;
}

struct number {
    char text[32];
};

static struct number print_number(long long value) {
    struct number number;
    snprintf(number.text, sizeof number.text, "%lld", value);
    return number;
}

#define APPEND(journal, error, ...) append(journal, (const char *const[]){__VA_ARGS__, NULL}, error)

int ssactuate_journal_create(struct ssactuate_journal *journal, const struct ssactuate_state *state,
    struct ss_error *error) {
    char hidden[120];
    *journal = (struct ssactuate_journal){.state = state, .file = -1, .pid = getpid()};

    snprintf(journal->boot, sizeof journal->boot, "%s", state->boot);
    snprintf(journal->name, sizeof journal->name, "%d-%llu-%.8s" SUFFIX, (int)journal->pid,
        (unsigned long long)ss_platform_process_started(journal->pid), state->boot);
    snprintf(hidden, sizeof hidden, ".%s.new", journal->name);

    /* Lock the file before renaming it: a journal without a lock belongs to a killed run. */
    unlinkat(state->folder, hidden, 0); /* left by a killed run */
    journal->file = openat(
        state->folder, hidden, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (journal->file < 0 || flock(journal->file, LOCK_EX | LOCK_NB) < 0 ||
        renameat(state->folder, hidden, state->folder, journal->name) < 0)
        return fail_at(state, hidden, error);

    if (APPEND(journal, error, "boot", state->boot) < 0)
        return -1;
    return APPEND(journal, error, "run", print_number(journal->pid).text);
}

static int refuse_locked(int lock, const char *knob, struct ss_error *error) {
    char pid[32] = "";
    ssize_t length = pread(lock, pid, sizeof pid - 1, 0);
    pid[length > 0 ? length : 0] = '\0';
    pid[strcspn(pid, "\n")] = '\0';
    return ss_error_fail(error, "%s is in use by process %s: wait until that run is over", knob,
        *pid ? pid : "(unknown)");
}

static void name_lock(char name[80], const char *knob) {
    snprintf(name, 80, "%s.lock", knob);
}

int ssactuate_journal_lock(
    struct ssactuate_journal *journal, const char *knob, struct ss_error *error) {
    const struct ssactuate_state *state = journal->state;
    char name[80], pid[32];

    name_lock(name, knob);
    SS_OWNED(free) char *path = ss_words_format(error, "%s/%s", state->path, name);
    SS_OWNED(close)
    int lock = path ? ss_lock_open(state->folder, name, &trust, path, error) : -1;
    if (lock < 0)
        return -1;

    if (flock(lock, LOCK_EX | LOCK_NB) < 0)
        return errno == EWOULDBLOCK ? refuse_locked(lock, knob, error)
                                    : fail_at(state, name, error);
    if (!ss_lock_has_name(lock, state->folder, name))
        return ssactuate_journal_lock(journal, knob, error); /* removed before it was locked */

    int length = snprintf(pid, sizeof pid, "%d\n", (int)getpid());
    if (ftruncate(lock, 0) < 0 || pwrite(lock, pid, (size_t)length, 0) != length)
        return fail_at(state, name, error);

    if (!SS_GROW(journal->locks, journal->lock_count + 1, journal->lock_room))
        return ss_error_memory(error);

    struct ssactuate_lock *held = &journal->locks[journal->lock_count++];
    *held = (struct ssactuate_lock){0};
    snprintf(held->knob, sizeof held->knob, "%s", knob);
    held->file = ss_owned_take(&lock);
    return 0;
}

static struct ssactuate_entry *new_entry(struct ssactuate_journal *journal) {
    if (!SS_GROW(journal->entries, journal->count + 1, journal->room))
        return NULL;
    struct ssactuate_entry *entry = &journal->entries[journal->count++];
    *entry = (struct ssactuate_entry){0};
    return entry;
}

int ssactuate_journal_add(struct ssactuate_journal *journal,
    const struct ssactuate_setting *setting, struct ss_error *error) {
    struct ssactuate_entry *entry = new_entry(journal);
    if (!entry)
        return ss_error_memory(error);
    entry->setting = *setting;

    int status = ssactuate_file_read(journal->state->root, setting->path, entry->before);
    if (status < 0)
        return ss_error_fail(error, "cannot read /%s: %s", setting->path, strerror(-status));

    if (APPEND(journal, error, "set", setting->knob, setting->path,
            tolerance_names[setting->tolerance], entry->before) < 0)
        return -1;
    return (int)journal->count - 1;
}

static int append_group(struct ssactuate_journal *journal, const char *folder, const char *home) {
    if (!SS_GROW(journal->groups, journal->group_count + 1, journal->group_room))
        return -1;
    struct ssactuate_group *group = &journal->groups[journal->group_count++];
    snprintf(group->folder, sizeof group->folder, "%s", folder);
    snprintf(group->home, sizeof group->home, "%s", home);
    return 0;
}

int ssactuate_journal_add_group(struct ssactuate_journal *journal, const char *folder,
    const char *home, struct ss_error *error) {
    if (append_group(journal, folder, home) < 0)
        return ss_error_memory(error);
    return APPEND(journal, error, "group", folder, home);
}

static void report(const struct ssactuate_restorer *restorer, const char *format, ...)
    SS_FORMAT(2, 3);

static void report(const struct ssactuate_restorer *restorer, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    restorer->report(restorer->context, text);
}

static void running_knob(pid_t group, char knob[64]) {
    snprintf(knob, 64, "process-group-%d", (int)group);
}

/* The number of process groups is unlimited, so their locks are removed after use. */
static int lock_running(struct ssactuate_journal *journal, pid_t group, struct ss_error *error) {
    char knob[64];
    running_knob(group, knob);
    if (ssactuate_journal_lock(journal, knob, error) < 0)
        return -1;
    journal->locks[journal->lock_count - 1].transient = true;
    return 0;
}

static int note_member(struct ssactuate_journal *journal, size_t number,
    const struct ssactuate_member *member, struct ss_error *error) {
    char cpus[8 * SS_CPUS_MAX];
    ss_cpus_print(cpus, sizeof cpus, &member->before);
    return APPEND(journal, error, "thread", print_number((long long)number).text,
        print_number(member->process).text, print_number(member->id).text,
        print_number((long long)member->started).text, cpus);
}

/* The lines need no fsync(): they are needed after a kill, but not after a reboot. */
int ssactuate_journal_scan(
    struct ssactuate_journal *journal, size_t number, struct ss_error *error) {
    struct ssactuate_running *running = &journal->running[number];
    if (!ssactuate_running_scan(running))
        return 0;

    for (size_t i = 0; i < running->count; i++) {
        struct ssactuate_member *member = &running->members[i];
        if (!member->noted && note_member(journal, number, member, error) < 0)
            return -1;
        member->noted = true;
    }

    return 1;
}

int ssactuate_journal_add_running(
    struct ssactuate_journal *journal, pid_t group, struct ss_error *error) {
    size_t number = journal->running_count;
    if (number == SSACTUATE_RUNNING_MAX)
        return ss_error_fail(error, "too many process groups (at most %d)", SSACTUATE_RUNNING_MAX);

    if (lock_running(journal, group, error) < 0)
        return -1;

    journal->running[journal->running_count++] = (struct ssactuate_running){.group = group};
    if (APPEND(journal, error, "processes", print_number(group).text) < 0)
        return -1;

    int status = ssactuate_journal_scan(journal, number, error);
    if (status == 0)
        return ss_error_fail(error, "process group %d does not exist", (int)group);
    return status < 0 ? -1 : (int)number;
}

int ssactuate_journal_note_cpus(struct ssactuate_journal *journal, size_t number,
    const struct ss_cpus *cpus, struct ss_error *error) {
    struct ssactuate_running *running = &journal->running[number];
    char text[8 * SS_CPUS_MAX];
    if (ssactuate_running_has_affinity(running, cpus))
        return 0;

    ss_cpus_print(text, sizeof text, cpus);
    /* Write the line first: an affinity in `given` is not noted again. */
    if (APPEND(journal, error, "cpus", print_number((long long)number).text, text) < 0)
        return -1;
    return ssactuate_running_add_affinity(running, cpus) ? 0 : ss_error_memory(error);
}

int ssactuate_journal_confine(struct ssactuate_journal *journal, size_t number,
    const struct ss_cpus *cpus, struct ss_error *error) {
    if (cpus && ssactuate_journal_note_cpus(journal, number, cpus, error) < 0)
        return -1;

    /* Twice: threads started during the first pass may have inherited the previous affinity. */
    for (int i = 0; i < 2; i++) {
        int status = ssactuate_journal_scan(journal, number, error);
        if (status <= 0)
            return status;
        if (ssactuate_running_confine(&journal->running[number], cpus, error) < 0)
            return -1;
    }
    return 0;
}

static int restore_running(struct ssactuate_journal *journal,
    const struct ssactuate_restorer *restorer, struct ss_error *error) {
    int status = 0;
    for (size_t i = journal->running_count; i-- > 0;) {
        struct ssactuate_running *running = &journal->running[i];
        size_t foreign;
        if (ssactuate_running_restore(running, &foreign, error) < 0)
            status = -1;
        if (foreign > 0 && !running->reported)
            report(restorer,
                "another program has changed the affinity of %zu thread%s of process group %d: not "
                "restored",
                foreign, foreign == 1 ? "" : "s", (int)running->group);
        running->reported |= foreign > 0;
    }

    return status;
}

int ssactuate_journal_arm(struct ssactuate_journal *journal, struct ss_error *error) {
    journal->armed = true;
    if (APPEND(journal, error, "armed") < 0)
        return -1;
    if (fsync(journal->file) < 0)
        return ss_paths_fail(journal->name, error);
    return sync_folder(journal->state, error);
}

/* Returns whether the kernel may have stored the setting's value as `found`. */
static bool matches_setting(const struct ssactuate_setting *setting, const char *found) {
    const char *expected = setting->value;
    char *end[2];

    if (strcmp(found, expected) == 0)
        return true;
    if (setting->tolerance == SSACTUATE_EXACT)
        return false;

    double numbers[] = {strtod(found, &end[0]), strtod(expected, &end[1])};
    if (end[0] == found || *end[0] || end[1] == expected || *end[1])
        return false;

    return (setting->tolerance == SSACTUATE_LOWERED && numbers[0] < numbers[1]) ||
           fabs(numbers[0] - numbers[1]) <= SSACTUATE_ROUNDING * fabs(numbers[1]);
}

static int note(struct ssactuate_journal *journal, const char *word, size_t number,
    const char *value, struct ss_error *error) {
    if (APPEND(journal, error, word, print_number((long long)number).text, value) < 0)
        return -1;
    return fdatasync(journal->file) < 0 ? ss_paths_fail(journal->name, error) : 0;
}

static int note_want(
    struct ssactuate_journal *journal, size_t number, const char *value, struct ss_error *error) {
    struct ssactuate_entry *entry = &journal->entries[number];
    snprintf(entry->setting.value, sizeof entry->setting.value, "%s", value);
    entry->touched = true;
    entry->known = false;
    return note(journal, "want", number, value, error);
}

static int note_got(struct ssactuate_journal *journal, size_t number, struct ss_error *error) {
    struct ssactuate_entry *entry = &journal->entries[number];
    entry->known = true;
    return note(journal, "got", number, entry->got, error);
}

int ssactuate_journal_set(struct ssactuate_journal *journal,
    const struct ssactuate_setting *setting, struct ss_error *error) {
    const char *path = setting->path, *value = setting->value;

    size_t number = 0;
    while (number < journal->count && strcmp(journal->entries[number].setting.path, path) != 0)
        number++;
    if (number == journal->count)
        return ss_error_fail(error, "/%s is not in the journal", path);

    struct ssactuate_entry *entry = &journal->entries[number];
    if (note_want(journal, number, value, error) < 0)
        return -1;

    int status = ssactuate_file_write(journal->state->root, path, value);
    if (status < 0)
        return ss_error_fail(error, "cannot set /%s to %s: %s%s", path, value, strerror(-status),
            ssactuate_file_explain(path, -status));

    status = ssactuate_file_read(journal->state->root, path, entry->got);
    if (status < 0)
        return ss_error_fail(error, "cannot read /%s: %s", path, strerror(-status));
    if (note_got(journal, number, error) < 0)
        return -1;

    if (!matches_setting(setting, entry->got))
        return ss_error_fail(error, "/%s is %s after it was set to %s", path, entry->got, value);
    return 0;
}

enum need { NEED_NOTHING, NEED_RESTORE, NEED_FOREIGN, NEED_UNREADABLE };

static enum need find_need(
    int root, const struct ssactuate_entry *entry, char found[SSACTUATE_VALUE_SIZE]) {
    /* Some files read as <unsupported>, which cannot be written. */
    if (!entry->touched || !*entry->before || *entry->before == '<')
        return NEED_NOTHING;

    if (ssactuate_file_read(root, entry->setting.path, found) < 0)
        return NEED_UNREADABLE;

    if (strcmp(found, entry->before) == 0)
        return NEED_NOTHING;

    if ((entry->known && strcmp(found, entry->got) == 0) ||
        (!entry->known &&
            (matches_setting(&entry->setting, found) || strcmp(found, entry->got) == 0)))
        return NEED_RESTORE;

    return NEED_FOREIGN;
}

/*
 * Writes the values of marked files in reverse order. Ignores errors, because the kernel may accept
 * a value only once others are restored; see check_marked().
 */
static void write_marked(const struct ssactuate_journal *journal, const bool *marked) {
    for (size_t i = journal->count; i-- > 0;) {
        const struct ssactuate_entry *entry = &journal->entries[i];
        int root = journal->state->root;
        char found[SSACTUATE_VALUE_SIZE];

        if (!marked[i] || (ssactuate_file_read(root, entry->setting.path, found) >= 0 &&
                              strcmp(found, entry->before) == 0))
            continue;

        ssactuate_file_write(root, entry->setting.path, entry->before);
    }
}

/* Twice: the kernel accepts some values only after others are restored. */
static void write_twice(const struct ssactuate_journal *journal, const bool *marked) {
    write_marked(journal, marked);
    write_marked(journal, marked);
}

/* Fails, naming a file, if marked files do not have their previous values. */
static int check_marked(
    const struct ssactuate_journal *journal, const bool *marked, struct ss_error *error) {
    int status = 0;
    for (size_t i = 0; i < journal->count; i++) {
        const struct ssactuate_entry *entry = &journal->entries[i];
        char found[SSACTUATE_VALUE_SIZE];
        if (marked[i] &&
            (ssactuate_file_read(journal->state->root, entry->setting.path, found) < 0 ||
                strcmp(found, entry->before) != 0))
            status = ss_error_fail(error,
                "/%s is %s and cannot be restored to %s: set it by hand, or try `ssactuate "
                "restore`",
                entry->setting.path, *found ? found : "unreadable", entry->before);
    }

    return status;
}

/*
 * Marks the files to restore. Do this before the first write: files may depend on each other.
 * `restorer`, if not NULL, reports files that another program has changed, once.
 */
static void mark(
    struct ssactuate_journal *journal, const struct ssactuate_restorer *restorer, bool *marked) {
    for (size_t i = 0; i < journal->count; i++) {
        struct ssactuate_entry *entry = &journal->entries[i];
        char found[SSACTUATE_VALUE_SIZE];
        enum need need = find_need(journal->state->root, entry, found);
        marked[i] = need == NEED_RESTORE || need == NEED_UNREADABLE;

        if (need != NEED_FOREIGN || !restorer || entry->reported)
            continue;

        entry->reported = true;
        report(restorer, "another program has changed /%s to %s: not restored to %s",
            entry->setting.path, found, entry->before);
    }
}

static int remove_groups(const struct ssactuate_journal *journal,
    const struct ssactuate_restorer *restorer, struct ss_error *error) {
    int status = 0;
    for (size_t i = journal->group_count; i-- > 0;) {
        const struct ssactuate_group *group = &journal->groups[i];
        int result = restorer->remove_group(group->folder, group->home);
        if (result < 0)
            status = ss_error_fail(
                error, "cannot remove the control group %s: %s", group->folder, strerror(-result));
    }
    return status;
}

int ssactuate_journal_restore_values(struct ssactuate_journal *journal,
    const struct ssactuate_restorer *restorer, struct ss_error *error) {
    SS_OWNED(free) bool *marked = calloc(journal->count + 1, sizeof *marked);
    if (!marked)
        return ss_error_memory(error);

    mark(journal, restorer, marked);
    write_twice(journal, marked);

    int status = check_marked(journal, marked, error);
    return restore_running(journal, restorer, error) < 0 ? -1 : status;
}

int ssactuate_journal_restore_others(
    struct ssactuate_journal *journal, const bool *kept, struct ss_error *error) {
    SS_OWNED(free) bool *marked = calloc(journal->count + 1, sizeof *marked);
    if (!marked)
        return ss_error_memory(error);

    mark(journal, NULL, marked);
    for (size_t i = 0; i < journal->count; i++) {
        marked[i] = marked[i] && !kept[i];
        if (marked[i] && note_want(journal, i, journal->entries[i].before, error) < 0)
            return -1;
    }

    write_twice(journal, marked);
    if (check_marked(journal, marked, error) < 0)
        return -1;

    for (size_t i = 0; i < journal->count; i++) {
        struct ssactuate_entry *entry = &journal->entries[i];
        if (!marked[i])
            continue;

        memcpy(entry->got, entry->before, sizeof entry->got);
        if (note_got(journal, i, error) < 0)
            return -1;
    }

    return 0;
}

int ssactuate_journal_restore(struct ssactuate_journal *journal,
    const struct ssactuate_restorer *restorer, struct ss_error *error) {
    int status = ssactuate_journal_restore_values(journal, restorer, error);
    return remove_groups(journal, restorer, error) < 0 ? -1 : status;
}

int ssactuate_journal_remove(struct ssactuate_journal *journal, struct ss_error *error) {
    const struct ssactuate_state *state = journal->state;
    char name[80];

    if (unlinkat(state->folder, journal->name, 0) < 0 && errno != ENOENT)
        return fail_at(state, journal->name, error);

    for (size_t i = 0; i < journal->lock_count; i++) {
        name_lock(name, journal->locks[i].knob);
        if (journal->locks[i].transient && unlinkat(state->folder, name, 0) < 0 && errno != ENOENT)
            return fail_at(state, name, error);
    }

    return sync_folder(state, error);
}

void ssactuate_journal_close(struct ssactuate_journal *journal) {
    for (size_t i = 0; i < journal->lock_count; i++)
        close(journal->locks[i].file);
    if (journal->file >= 0)
        close(journal->file);
    for (size_t i = 0; i < journal->running_count; i++)
        ssactuate_running_free(&journal->running[i]);
    free(journal->locks);
    free(journal->entries);
    free(journal->groups);
    *journal = (struct ssactuate_journal){.file = -1};
}

static int read_set(struct ssactuate_journal *journal, char *const *words, struct ss_error *error) {
    struct ssactuate_entry *entry = new_entry(journal);
    if (!entry)
        return ss_error_memory(error);

    snprintf(entry->setting.knob, sizeof entry->setting.knob, "%s", words[1]);
    snprintf(entry->setting.path, sizeof entry->setting.path, "%s", words[2]);

    while (entry->setting.tolerance < SSACTUATE_LOWERED &&
           strcmp(words[3], tolerance_names[entry->setting.tolerance]) != 0)
        entry->setting.tolerance++;

    snprintf(entry->before, sizeof entry->before, "%s", words[4]);
    return 0;
}

static void read_value(struct ssactuate_journal *journal, char *const *words) {
    size_t number = strtoul(words[1], NULL, 10);
    if (number >= journal->count)
        return;

    struct ssactuate_entry *entry = &journal->entries[number];
    entry->known = strcmp(words[0], "got") == 0;
    entry->touched = true;

    if (entry->known)
        snprintf(entry->got, sizeof entry->got, "%s", words[2]);
    else
        snprintf(entry->setting.value, sizeof entry->setting.value, "%s", words[2]);
}

static int read_processes(
    struct ssactuate_journal *journal, char *const *words, struct ss_error *error) {
    if (journal->running_count == SSACTUATE_RUNNING_MAX)
        return ss_error_fail(error, "%s: too many process groups", journal->name);
    journal->running[journal->running_count++] =
        (struct ssactuate_running){.group = (pid_t)strtol(words[1], NULL, 10)};
    return 0;
}

/* Returns the process group with this number, or NULL if no earlier line defines it. */
static struct ssactuate_running *find_running(struct ssactuate_journal *journal, const char *word) {
    size_t number = strtoul(word, NULL, 10);
    return number < journal->running_count ? &journal->running[number] : NULL;
}

static int read_thread(
    struct ssactuate_journal *journal, char *const *words, struct ss_error *error) {
    struct ssactuate_running *running = find_running(journal, words[1]);
    struct ssactuate_member member = {
        .process = (pid_t)strtol(words[2], NULL, 10),
        .id = (pid_t)strtol(words[3], NULL, 10),
        .started = strtoull(words[4], NULL, 10),
        .noted = true,
    };

    if (!running)
        return 0;
    if (ss_cpus_parse(words[5], &member.before, error) < 0)
        return -1;

    return ssactuate_running_add(running, &member) ? 0 : ss_error_memory(error);
}

static int read_cpus(
    struct ssactuate_journal *journal, char *const *words, struct ss_error *error) {
    struct ssactuate_running *running = find_running(journal, words[1]);
    struct ss_cpus cpus;
    if (!running)
        return 0;
    if (ss_cpus_parse(words[2], &cpus, error) < 0)
        return -1;
    return ssactuate_running_add_affinity(running, &cpus) ? 0 : ss_error_memory(error);
}

static int read_line(struct ssactuate_journal *journal, const char *line, struct ss_error *error) {
    size_t count;
    SS_OWNED(free) char **words = ss_words_split(line, &count, error);
    if (!words)
        return -1;

    const char *word = count > 0 ? words[0] : "";

    if (strcmp(word, "boot") == 0 && count == 2)
        snprintf(journal->boot, sizeof journal->boot, "%s", words[1]);
    else if (strcmp(word, "run") == 0 && count == 2)
        journal->pid = (pid_t)strtol(words[1], NULL, 10);
    else if (strcmp(word, "set") == 0 && count == 5)
        return read_set(journal, words, error);
    else if (strcmp(word, "group") == 0 && count == 3)
        return append_group(journal, words[1], words[2]) < 0 ? ss_error_memory(error) : 0;
    else if (strcmp(word, "processes") == 0 && count == 2)
        return read_processes(journal, words, error);
    else if (strcmp(word, "thread") == 0 && count == 6)
        return read_thread(journal, words, error);
    else if (strcmp(word, "cpus") == 0 && count == 3)
        return read_cpus(journal, words, error);
    else if (strcmp(word, "armed") == 0)
        journal->armed = true;
    else if ((strcmp(word, "want") == 0 || strcmp(word, "got") == 0) && count == 3)
        read_value(journal, words);

    return 0;
}

/* Reads the journal from its locked file. Ignores an incomplete last line. */
static int read_journal(struct ssactuate_journal *journal, struct ss_error *error) {
    SS_OWNED(free) char *line = NULL;
    size_t room = 0;

    int copy = dup(journal->file);
    SS_OWNED(fclose) FILE *stream = copy < 0 ? NULL : fdopen(copy, "r");
    if (!stream)
        return ss_paths_fail(journal->name, error);

    rewind(stream);
    for (ssize_t length; (length = getline(&line, &room, stream)) > 0;) {
        if (line[length - 1] == '\n' && read_line(journal, line, error) < 0)
            return -1;
    }
    return 0;
}

int ssactuate_journal_reload(struct ssactuate_journal *journal, struct ss_error *error) {
    struct stat status;

    for (size_t i = 0; i < journal->running_count; i++)
        ssactuate_running_free(&journal->running[i]);

    journal->count = journal->group_count = journal->running_count = 0;
    journal->armed = false;

    if (fstat(journal->file, &status) == 0 && status.st_nlink == 0)
        return 0; /* the run removed it: everything is restored */
    return read_journal(journal, error);
}

static bool has_lock(const struct ssactuate_journal *journal, const char *knob) {
    for (size_t i = 0; journal && i < journal->lock_count; i++) {
        if (strcmp(journal->locks[i].knob, knob) == 0)
            return true;
    }
    return false;
}

/* Locks the knobs of a killed run, so that no other run uses them before they are restored. */
static int lock_knobs(struct ssactuate_journal *journal, const struct ssactuate_journal *own,
    struct ss_error *error) {
    for (size_t i = 0; i < journal->count; i++) {
        const char *knob = journal->entries[i].setting.knob;
        if (!has_lock(own, knob) && !has_lock(journal, knob) &&
            ssactuate_journal_lock(journal, knob, error) < 0)
            return -1;
    }

    for (size_t i = 0; i < journal->running_count; i++) {
        char knob[64];
        running_knob(journal->running[i].group, knob);
        if (!has_lock(own, knob) && lock_running(journal, journal->running[i].group, error) < 0)
            return -1;
    }

    return 0;
}

static int carry_out(struct ssactuate_journal *journal, const struct ssactuate_restorer *restorer,
    const struct ssactuate_journal *own, struct ssactuate_restore_counts *dead,
    struct ss_error *error) {
    if (read_journal(journal, error) < 0)
        return -1;

    if (strcmp(journal->boot, journal->state->boot) != 0) {
        dead->outdated++;
        return ssactuate_journal_remove(journal, error);
    }

    /* A journal that is not armed belongs to a run that had not changed anything. */
    if (journal->armed) {
        if (lock_knobs(journal, own, error) < 0 ||
            ssactuate_journal_restore(journal, restorer, error) < 0)
            return ss_error_wrap(error, "process %d", (int)journal->pid);
        dead->restored++;
    }

    return ssactuate_journal_remove(journal, error);
}

/*
 * Returns whether another user may hold the lock of a journal, whose run may then be dead: an
 * earlier version created journals that all users could open, and so lock.
 */
static bool others_may_hold(const struct ssactuate_journal *journal) {
    struct stat status;
    unsigned long long started;
    int pid;
    if (fstat(journal->file, &status) < 0 || !(status.st_mode & (S_IRWXG | S_IRWXO)))
        return false;

    return sscanf(journal->name, "%d-%llu-", &pid, &started) != 2 ||
           !ss_platform_process_is_alive((pid_t)pid, started);
}

static int restore_file(const struct ssactuate_state *state, const char *name,
    const struct ssactuate_restorer *restorer, const struct ssactuate_journal *own,
    struct ssactuate_restore_counts *dead, struct ss_error *error) {
    struct stat status;
    struct ssactuate_journal journal = {.state = state};
    if (strlen(name) >= sizeof journal.name) /* a file that is not ours */
        return 0;

    memcpy(journal.name, name, strlen(name) + 1);
    SS_OWNED(free) char *path = ss_words_format(error, "%s/%s", state->path, name);
    if (!path)
        return -1;

    journal.file = ss_state_file(state->folder, name, O_RDWR | O_APPEND, &trust, path, error);
    if (journal.file < 0)
        return journal.file == SS_STATE_ABSENT ? 0 : -1;

    int result = 0;
    bool is_locked = flock(journal.file, LOCK_EX | LOCK_NB) < 0;
    if (is_locked && others_may_hold(&journal))
        result = ss_error_fail(error,
            "%s is locked, perhaps by another user: end the processes that `fuser %s` names, then "
            "try again",
            path, path);
    else if (is_locked)
        dead->living++;
    else if (fstat(journal.file, &status) == 0 && status.st_nlink > 0) /* not removed since */
        result = carry_out(&journal, restorer, own, dead, error);

    ssactuate_journal_close(&journal);
    return result;
}

int ssactuate_restore_dead(const struct ssactuate_state *state,
    const struct ssactuate_restorer *restorer, const struct ssactuate_journal *own,
    struct ssactuate_restore_counts *dead, struct ss_error *error) {
    int status = 0;
    *dead = (struct ssactuate_restore_counts){0};

    int again = openat(state->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    SS_OWNED(closedir) DIR *folder = again < 0 ? NULL : fdopendir(again);
    if (!folder)
        return ss_paths_fail(state->path, error);

    for (struct dirent *entry; (entry = readdir(folder));) {
        size_t length = strlen(entry->d_name), suffix = sizeof SUFFIX - 1;
        struct ss_error failure = {0};
        if (length <= suffix || strcmp(entry->d_name + length - suffix, SUFFIX) != 0 ||
            (own && strcmp(entry->d_name, own->name) == 0))
            continue;

        if (restore_file(state, entry->d_name, restorer, own, dead, &failure) < 0)
            status = ss_error_set(error, failure.status, "%s", failure.message);
    }

    return status;
}
