/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Reads the CPU time of the whole machine from control groups of version 2, as the sum over the
 * children of the root. The root's own cpu.stat is derived from clock ticks, but its children's
 * files are exact. With systemd, every process except kernel threads is in one of these children.
 */

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/owned.h"
#include "platform/linux/linux.h"

/* Version of children that are not listed yet: the next reading lists them. */
#define UNLISTED UINT64_MAX

void ss_linux_groups_close(struct ss_group_sum *sum) {
    while (sum->count > 0)
        close(sum->groups[--sum->count]);
}

/*
 * Returns a number that changes when a child is created or removed. Uses the time of the change,
 * too, because not all file systems count links of folders.
 */
static uint64_t children_version(int folder) {
    struct stat status;
    if (fstat(folder, &status) < 0)
        return 0;
    return ((uint64_t)status.st_mtim.tv_sec * SS_SECOND + (uint64_t)status.st_mtim.tv_nsec) ^
           (uint64_t)status.st_nlink << 48;
}

/* Takes ownership of the open file of a group. Returns 0 or a negative errno. */
typedef int use_group(struct ss_group_sum *sum, int file, uint64_t *used);

static int visit_group(struct ss_counter_reader *reader, const struct ss_linux_entry *entry,
    use_group *use, uint64_t *used) {
    struct ss_group_sum *sum = &reader->sum;
    char name[sizeof "/cpu.stat" + 255];
    if (entry->type != DT_DIR || entry->name[0] == '.')
        return 0;

    snprintf(name, sizeof name, "%s/cpu.stat", entry->name);
    int file = openat(reader->file, name, O_RDONLY | O_CLOEXEC);
    int why = file < 0 ? -errno : use(sum, file, used);

    if (why == -ENOENT || why == -ENODEV)
        return 0; /* the group was just removed */
    if (!why)
        sum->set = (sum->set ^ entry->inode) * UINT64_C(1099511628211); /* FNV-1a */
    return why;
}

/*
 * Calls `use` for each child group. Does not use readdir(), which allocates, because this is called
 * while readings are taken.
 */
static int each_group(struct ss_counter_reader *reader, use_group *use, uint64_t *used) {
    _Alignas(struct ss_linux_entry) char entries[4096];
    reader->sum.set = 0;
    if (lseek(reader->file, 0, SEEK_SET) < 0)
        return -errno;

    long length;
    while ((length = syscall(SYS_getdents64, reader->file, entries, sizeof entries)) > 0) {
        for (long at = 0; at < length;) {
            const struct ss_linux_entry *entry = (const struct ss_linux_entry *)(entries + at);
            int why = visit_group(reader, entry, use, used);
            if (why)
                return why;
            at += entry->length;
        }
    }

    return length < 0 ? -errno : 0;
}

static int keep(struct ss_group_sum *sum, int file, uint64_t *used) {
    (void)used;
    if (sum->count == SS_GROUP_SUM_MAX) {
        close(file);
        return -E2BIG;
    }
    sum->groups[sum->count++] = file;
    return 0;
}

/* Opens the files of the child groups, unless there are too many. */
static int list_groups(struct ss_counter_reader *reader) {
    struct ss_group_sum *sum = &reader->sum;
    uint64_t version = children_version(reader->file);
    ss_linux_groups_close(sum);
    sum->version = UNLISTED;

    int why = each_group(reader, keep, NULL);
    sum->too_many = why == -E2BIG;
    if (sum->too_many)
        ss_linux_groups_close(sum);
    if (why && !sum->too_many)
        return why;

    sum->version = version;
    return 0;
}

static int add_usage(int file, uint64_t *used) {
    static const char label[] = "usage_usec ";
    char text[64];
    uint64_t microseconds;
    ssize_t length = pread(file, text, sizeof text - 1, 0);
    if (length < 0)
        return -errno;
    text[length] = '\0';
    if (strncmp(text, label, sizeof label - 1) != 0 || !strchr(text, '\n'))
        return -EBADMSG;
    ss_linux_read_number(text + sizeof label - 1, &microseconds);
    *used += microseconds * SS_MICROSECOND;
    return 0;
}

static int add_once(struct ss_group_sum *sum, int file, uint64_t *used) {
    (void)sum;
    int why = add_usage(file, used);
    close(file);
    return why;
}

static int add_up(struct ss_counter_reader *reader, uint64_t *used) {
    const struct ss_group_sum *sum = &reader->sum;
    *used = 0;
    if (sum->too_many)
        return each_group(reader, add_once, used);
    for (uint32_t i = 0; i < sum->count; i++) {
        int why = add_usage(sum->groups[i], used);
        if (why)
            return why;
    }
    return sum->count > 0 ? 0 : -ENOENT;
}

/*
 * Reads the sum. A removed group takes its CPU time with it: then the sum covers another set of
 * groups, and `set` changes.
 */
int ss_linux_groups_read(struct ss_counter_reader *reader, uint64_t *used) {
    bool changed = children_version(reader->file) != reader->sum.version;
    int why = changed ? list_groups(reader) : 0;
    if (!why)
        why = add_up(reader, used);
    if (why != -ENODEV)
        return why;

    /* A group was removed while the sum was computed. */
    why = list_groups(reader);
    return why ? why : add_up(reader, used);
}

int ss_linux_groups_reopen(struct ss_counter_reader *reader) {
    reader->sum.count = 0; /* the inherited descriptors stay open, unused */
    return list_groups(reader);
}

/*
 * Returns whether the group of a folder may have processes other than kernel threads, which the sum
 * would lack. A process outside our namespace has pid 0 and may be of either kind.
 */
static bool has_processes(const struct ss_platform_roots *roots, const char *folder) {
    SS_OWNED(fclose) FILE *file = fopen(ss_linux_path("%s/cgroup.procs", folder).text, "re");
    int pid;
    bool found = !file;
    while (!found && fscanf(file, "%d", &pid) == 1)
        found = pid == 0 || ss_linux_is_user_process(roots, pid);
    return found;
}

const char *ss_linux_groups_open(
    struct ss_counter_reader *reader, const struct ss_platform_roots *roots, const char *folder) {
    if (has_processes(roots, folder))
        return "not all processes are in child groups of the root control group";

    snprintf(reader->path, sizeof reader->path, "%s", folder);
    reader->file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int why = reader->file < 0 ? -errno : list_groups(reader);
    if (!why && reader->sum.count == 0)
        why = reader->sum.too_many ? -E2BIG : -ENOENT;
    if (!why)
        return NULL;

    ss_linux_groups_close(&reader->sum);
    reader->sum = (struct ss_group_sum){0};
    if (reader->file >= 0)
        close(reader->file);
    reader->file = -1;
    return strerror(-why);
}
