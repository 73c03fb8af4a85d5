/* SPDX-License-Identifier: Apache-2.0 */
#include "loop/board.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/owned.h"
#include "platform/platform.h"

_Static_assert(sizeof(struct ss_row) % 64 == 0, "rows share no cache line");
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2,
    "a lock in shared memory could be left locked by a dead process");

static size_t branches_offset(uint32_t instances) {
    return sizeof(struct ss_board) + (size_t)instances * sizeof(struct ss_row);
}

static size_t modules_offset(uint32_t instances) {
    size_t end = branches_offset(instances) + SS_BOARD_BRANCHES_MAX * sizeof(struct ss_branch);
    return (end + 63) / 64 * 64;
}

static void initialize(struct ss_board *board, uint32_t instances, size_t size) {
    board->magic = SS_BOARD_MAGIC;
    board->version = SS_BOARD_VERSION;
    board->instances = instances;
    board->size = size;
    board->master = getpid();
    board->branches_offset = branches_offset(instances);
    board->modules_offset = modules_offset(instances);
    board->control_start = SS_TIME_NEVER;
    board->setpoint = ss_word_from_double(NAN);
    board->sensor_value = ss_word_from_double(NAN);
    atomic_store(&board->ready, 1);
}

/* Returns the offset of the rings, which follow the modules' memory. */
static size_t rings_offset(uint32_t instances, size_t extra) {
    return (modules_offset(instances) + extra + 63) / 64 * 64;
}

/* Creates the segment. If the system requires a name for that, removes the name at once. */
static int open_segment(void) {
    int descriptor = ss_platform_shared_create();
    for (int attempt = 0; descriptor < 0 && attempt < 100; attempt++) {
        char name[64];
        snprintf(name, sizeof name, "/" SS_BOARD_PREFIX "%d.%d", (int)getpid(), attempt);
        descriptor = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
        if (descriptor >= 0)
            shm_unlink(name);
        else if (errno != EEXIST)
            break;
    }
    return descriptor;
}

static const char *advise_on_segment(int err) {
    switch (err) {
    case ENOSPC:
        return "free some space in it";
    case EMFILE:
    case ENFILE:
        return "raise the limit on open files";
    default:
        return "mount a writable tmpfs there: mount -t tmpfs -o mode=1777 tmpfs /dev/shm";
    }
}

struct ss_board *ss_board_create(
    uint32_t instances, size_t extra, bool recorded, int *descriptor, struct ss_error *error) {
    size_t rings = rings_offset(instances, extra);
    size_t size = rings + (recorded ? instances * sizeof(struct ss_ring) : 0);

    *descriptor = open_segment();
    if (*descriptor < 0) {
        ss_error_fail(error, "cannot create shared memory in /dev/shm: %s: %s", strerror(errno),
            advise_on_segment(errno));
        return NULL;
    }

    /*
     * Allocate the pages now: if the file system is full later, touching a page that it has not
     * allocated raises SIGBUS.
     */
    int status = posix_fallocate(*descriptor, 0, (off_t)size);
    void *memory = MAP_FAILED;
    if (status == 0) {
        memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *descriptor, 0);
        status = errno;
    }

    if (memory == MAP_FAILED) {
        close(*descriptor);
        *descriptor = -1;
        ss_error_fail(error, "cannot allocate %zu bytes of shared memory: %s: %s", size,
            strerror(status),
            status == EFBIG ? "raise the limit on file size (ulimit -f)"
                            : "free some space in /dev/shm or run fewer instances");
        return NULL;
    }

    initialize(memory, instances, size);
    ((struct ss_board *)memory)->rings_offset = recorded ? rings : 0;
    return memory;
}

static bool is_board(int descriptor) {
    uint64_t magic;
    return pread(descriptor, &magic, sizeof magic, 0) == sizeof magic && magic == SS_BOARD_MAGIC;
}

/*
 * Returns whether the offsets match this version and are within the size: another user's process
 * must not make this one read outside of the board.
 */
static bool has_layout(const struct ss_board *board) {
    uint64_t rows_max = (board->size - sizeof *board) / sizeof(struct ss_row);
    return board->instances <= rows_max &&
           board->branches_offset == branches_offset(board->instances) &&
           board->modules_offset == modules_offset(board->instances) &&
           board->modules_offset <= board->size;
}

static bool is_board_of(const struct ss_board *board, pid_t master, uint64_t size) {
    return board->magic == SS_BOARD_MAGIC && atomic_load(&board->ready) &&
           board->version == SS_BOARD_VERSION && board->size == size && board->master == master &&
           has_layout(board);
}

static struct ss_board *map_board(const struct ss_shared *shared, pid_t master) {
    struct ss_board *board =
        mmap(NULL, (size_t)shared->size, PROT_READ | PROT_WRITE, MAP_SHARED, shared->descriptor, 0);
    if (board == MAP_FAILED)
        return NULL;
    if (is_board_of(board, master, shared->size))
        return board;
    munmap(board, (size_t)shared->size);
    return NULL;
}

/* Maximum size of a copied board: another user's sparse file must not fill our memory. */
#define COPY_MAX ((uint64_t)64 << 20)

static bool copy_bytes(int descriptor, char *to, size_t begin, size_t end) {
    while (begin < end) {
        ssize_t count = pread(descriptor, to + begin, end - begin, (off_t)begin);
        if (count <= 0)
            return false;
        begin += (size_t)count;
    }
    return true;
}

/* Reads instead of mapping: if the owner truncated the file, its lost pages would raise SIGBUS. */
static struct ss_board *copy_board(const struct ss_shared *shared, pid_t master) {
    SS_OWNED(free) struct ss_board *header = aligned_alloc(64, sizeof *header);
    if (!header || !copy_bytes(shared->descriptor, (char *)header, 0, sizeof *header) ||
        !is_board_of(header, master, shared->size) || header->modules_offset > COPY_MAX)
        return NULL;

    size_t size = (size_t)header->modules_offset;
    struct ss_board *board =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (board == MAP_FAILED)
        return NULL;
    memcpy(board, header, sizeof *header);
    board->size = size; /* for ss_board_close() */
    board->rings_offset = 0;
    if (copy_bytes(shared->descriptor, (char *)board, sizeof *header, size))
        return board;
    ss_board_close(board);
    return NULL;
}

struct ss_board *ss_board_attach(pid_t master, uid_t *owner, struct ss_error *error) {
    struct ss_shared shared;
    struct ss_board *board = NULL;
    if (ss_platform_shared_of(master, is_board, &shared, error) < 0)
        return NULL;

    if (shared.size >= sizeof *board)
        board =
            shared.owner == geteuid() ? map_board(&shared, master) : copy_board(&shared, master);
    close(shared.descriptor);
    *owner = shared.owner;
    if (!board)
        ss_error_fail(error,
            "pid %d is not the master process of a run, or it runs another version of showstopper",
            (int)master);
    return board;
}

void ss_board_close(struct ss_board *board) {
    if (board)
        munmap(board, board->size);
}

void *ss_board_modules(struct ss_board *board) {
    return (char *)board + board->modules_offset;
}

struct ss_branch *ss_board_branches(struct ss_board *board) {
    return (struct ss_branch *)(void *)((char *)board + board->branches_offset);
}

struct ss_ring *ss_board_ring(struct ss_board *board, uint32_t row) {
    if (board->rings_offset == 0)
        return NULL;
    return (struct ss_ring *)(void *)((char *)board + board->rings_offset) + row;
}

struct ss_board *ss_board_allocate(uint32_t instances, size_t extra, bool recorded) {
    size_t rings = rings_offset(instances, extra);
    size_t size = rings + (recorded ? instances * sizeof(struct ss_ring) : 0);
    struct ss_board *board = aligned_alloc(64, size);
    if (board) {
        memset(board, 0, size);
        initialize(board, instances, size);
        board->rings_offset = recorded ? rings : 0;
    }
    return board;
}

ss_time ss_board_trace_time(const struct ss_board *board, ss_time now) {
    ss_time start = atomic_load(&board->control_start);
    return ss_time_since(ss_time_since(now, start), atomic_load(&board->paused));
}

void ss_board_permit(struct ss_board *board, uint32_t executor, ss_time now, bool runs) {
    ss_permits_set(&board->permits, &board->rows[executor].permitted, now, runs);
}

void ss_board_join(struct ss_board *board, uint32_t executor) {
    atomic_store(&board->rows[executor].life, SS_LIFE_ALIVE);
    atomic_fetch_add(&board->alive, 1);
    atomic_fetch_add(&board->membership_changes, 1);
}

void ss_board_leave(struct ss_board *board, uint32_t executor, enum ss_life life) {
    uint32_t before = SS_LIFE_ALIVE;
    if (atomic_compare_exchange_strong(&board->rows[executor].life, &before, life)) {
        atomic_fetch_sub(&board->alive, 1);
        atomic_fetch_add(&board->membership_changes, 1);
    } else if (before == SS_LIFE_NONE && life != SS_LIFE_ENDED) {
        atomic_store(&board->rows[executor].life, life);
    }
}

bool ss_row_is_done(const struct ss_row *row) {
    uint32_t life = atomic_load(&row->life);
    return life == SS_LIFE_CLEARED || life == SS_LIFE_START_FAILED || life == SS_LIFE_ENDED;
}

static bool is_alive(const struct ss_board *board, uint32_t executor) {
    return atomic_load_explicit(&board->rows[executor].life, memory_order_relaxed) == SS_LIFE_ALIVE;
}

uint32_t ss_board_rank(const struct ss_board *board, uint32_t executor) {
    uint32_t rank = 0;
    for (uint32_t i = 0; i < executor; i++)
        rank += is_alive(board, i);
    return rank;
}

void ss_board_publish_output(struct ss_board *board, uint32_t executor, double output) {
    struct ss_row *row = &board->rows[executor];
    atomic_store(&row->output, ss_word_from_double(output));
    atomic_fetch_add(&row->publications, 1);
    uint32_t slot = atomic_fetch_add(&board->publications, 1);
    atomic_store(&board->publishers[slot % SS_BOARD_PUBLISHERS_MAX], executor);
}

double ss_board_mean_output(
    const struct ss_board *board, uint32_t executor, double own, uint32_t peers) {
    uint32_t seen[SS_BOARD_PUBLISHERS_MAX];
    uint32_t count = 0;
    double sum = own;
    uint32_t latest = atomic_load(&board->publications);
    uint32_t depth = latest < SS_BOARD_PUBLISHERS_MAX ? latest : SS_BOARD_PUBLISHERS_MAX;

    for (uint32_t back = 1; back <= depth && count < peers; back++) {
        uint32_t peer = atomic_load_explicit(
            &board->publishers[(latest - back) % SS_BOARD_PUBLISHERS_MAX], memory_order_relaxed);
        bool skipped = peer == executor || peer >= board->instances || !is_alive(board, peer) ||
                       atomic_load(&board->rows[peer].publications) == 0;
        for (uint32_t i = 0; i < count && !skipped; i++)
            skipped = seen[i] == peer;
        if (skipped)
            continue;
        seen[count++] = peer;
        sum += ss_double_from_word(atomic_load(&board->rows[peer].output));
    }

    return sum / (1 + count);
}
