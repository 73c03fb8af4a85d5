/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/end_signals.h"
#include "base/whole_file.h"

/* How often to look for threads to bind, in milliseconds. */
#define BIND_INTERVAL 20

/* Less often for a running process group: each scan reads all processes of the machine. */
#define SCAN_INTERVAL 200

/* How long the side may take to end after SIGTERM, before SIGKILL. */
#define SIDE_PATIENCE (2 * SS_SECOND)

int ssactuate_session_open(struct ssactuate_session *session,
    const struct ssactuate_options *options, struct ss_error *error) {
    *session = (struct ssactuate_session){.options = options};
    if (ssactuate_machine_open(&session->machine, options->root, error) < 0)
        return -1;
    if (options->check)
        return 0;

    if (options->record && strcmp(options->record, "-") != 0 &&
        ss_whole_file_check(options->record, error) < 0)
        return -1;
    if (ss_signals_open(&session->signals) < 0)
        return ss_error_fail(error, "cannot create a pipe: %s", strerror(errno));
    return 0;
}

int ssactuate_session_find_places(
    struct ssactuate_session *session, unsigned limits, struct ss_error *error) {
    static const char *const prefixes[] = {"ssactuate", "ssactuate-side"};
    for (int i = 0; i < 2; i++) {
        struct ssactuate_party *party = &session->parties[i];
        unsigned own = i == 0 ? limits : limits & 1U << LIMIT_CPUS;
        if (ssactuate_place_find(
                &party->place, &session->machine, party->words ? own : 0, prefixes[i], error) < 0)
            return -1;
    }
    return 0;
}

static int open_undoing(
    struct ssactuate_session *session, const struct ssactuate_plan *plan, struct ss_error *error) {
    struct ssactuate_changes changes = {.plan = plan};
    size_t count = 0;

    for (int i = 0; i < 2; i++) {
        struct ssactuate_party *party = &session->parties[i];
        changes.groups[i] = party->place.has_group ? &party->place.group : NULL;
        changes.running[i] = party->group;
        party->number = party->group > 0 ? count++ : 0;
    }

    return ssactuate_undoing_open(&session->undoing, &changes, session->machine.root, error);
}

/* Prepares the copies. The keeper must end them if this process is killed. */
static int prepare_copies(
    struct ssactuate_session *session, char *const *command, struct ss_error *error) {
    struct ssactuate_copies *copies = &session->copies;
    session->has_copies = session->plan.instances > 0;
    if (!session->has_copies)
        return 0;

    copies->command = command;
    copies->url = session->plan.instance_url;
    copies->control = session->options->control;
    copies->forked = session->forked;
    copies->context = session->context;
    copies->spared = &session->undoing.keeper.pid;
    copies->side_pid = &session->parties[1].child.process.pid;

    session->undoing.orphaned = ssactuate_copies_end_orphaned;
    session->undoing.context = copies;

    return ssactuate_copies_open(copies, error);
}

int ssactuate_session_keep(struct ssactuate_session *session, const struct ssactuate_plan *changes,
    char *const *command, struct ss_error *error) {
    if (open_undoing(session, changes, error) < 0)
        return -1;

    for (int i = 0; i < 2; i++) {
        if (ssactuate_place_make(&session->parties[i].place, error) < 0)
            return -1;
    }

    if (prepare_copies(session, command, error) < 0)
        return -1;
    return ssactuate_undoing_keep(&session->undoing, error);
}

/*
 * Orphans of both parties become children of this process, and count as processes of the command.
 */
static void move_party(const struct ssactuate_session *session, int number) {
    pid_t side = session->parties[1].child.process.pid;
    const pid_t spared[] = {session->undoing.keeper.pid, side};
    const pid_t none[2] = {0};
    ssactuate_child_move(number == 0 ? getpid() : side, number == 0 ? spared : none,
        session->parties[number].place.mask);
}

/*
 * Confines a running process group. Without a pin, restores the affinity that its threads had
 * before.
 */
static int confine_group(struct ssactuate_session *session, const struct ssactuate_party *party,
    struct ss_error *error) {
    struct ssactuate_journal *journal = &session->undoing.journal;
    const struct topology_order *order = &session->plan.cpus;
    bool binds_threads = party == session->parties && session->plan.binds_threads;

    for (uint32_t i = 0; binds_threads && i < order->count; i++) {
        struct ss_cpus one = {0};
        ss_cpus_add(&one, order->cpus[i]);
        if (ssactuate_journal_note_cpus(journal, party->number, &one, error) < 0)
            return -1;
    }

    return ssactuate_journal_confine(
        journal, party->number, party->place.masked ? &party->place.mask : NULL, error);
}

int ssactuate_session_apply(struct ssactuate_session *session, bool moves, struct ss_error *error) {
    if (ssactuate_undoing_set(&session->undoing, &session->plan, error) < 0)
        return -1;
    for (int i = 0; i < 2; i++) {
        struct ssactuate_party *party = &session->parties[i];
        if (ssactuate_place_limit(&party->place, &session->plan, error) < 0)
            return -1;
        if (moves && party->group > 0 && confine_group(session, party, error) < 0)
            return -1;
        if (moves && party->group == 0 && party->is_running)
            move_party(session, i);
    }

    ssactuate_binding_free(&session->binding); /* so that all threads are bound again */
    session->binding.cpus = &session->plan.cpus;
    session->copies.requested = session->plan.instances;
    return 0;
}

static struct ssactuate_child child_of(
    const struct ssactuate_session *session, const struct ssactuate_party *party) {
    return (struct ssactuate_child){
        .words = party->words,
        .group = party->place.has_group ? &party->place.group : NULL,
        .mask = party->place.masked ? &party->place.mask : NULL,
        .signals = &session->signals,
        .scheduling = session->scheduling,
    };
}

static int start(struct ssactuate_session *session, int number, struct ss_error *error) {
    struct ssactuate_party *party = &session->parties[number];
    party->is_running = party->group > 0;

    if (!party->words)
        return 0;

    party->child = child_of(session, party);
    if (ssactuate_child_fork(&party->child, error) < 0)
        return -1;

    if (number == 0 && session->forked)
        session->forked(session->context, party->child.process.pid);
    if (ssactuate_child_execute(&party->child, error) < 0)
        return -1;

    party->is_running = true;
    return 0;
}

int ssactuate_session_start(struct ssactuate_session *session, struct ss_error *error) {
    ss_platform_adopt_orphans();
    session->scheduling = ss_platform_scheduling_save();
    if (!session->scheduling)
        return ss_error_memory(error);

    if (ssactuate_child_handle_signals(&session->signals, error) < 0)
        return -1;

    if (start(session, 1, error) < 0)
        return ss_error_wrap(error, "--side");

    if (!session->has_copies)
        return start(session, 0, error);

    session->copies.template = child_of(session, &session->parties[0]);
    session->parties[0].is_running = true;
    return 0;
}

static void reap(struct ssactuate_session *session) {
    int status;

    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        for (int i = 0; i < 2; i++) {
            struct ssactuate_party *party = &session->parties[i];
            if (party->is_running && party->words && pid == party->child.process.pid) {
                ssactuate_child_reaped(&party->child, status);
                party->is_running = false;
            }
        }

        ssactuate_copies_reaped(&session->copies, pid, status);
        ssactuate_undoing_reaped(&session->undoing, pid, status);
    }

    if (session->has_copies && ssactuate_copies_are_over(&session->copies))
        session->parties[0].is_running = false;
}

/*
 * Passes a signal on to the command or to all copies. If `number` is 0, they have already received
 * it from the terminal.
 */
static void send_signal(struct ssactuate_session *session, int number) {
    if (!session->has_copies && number > 0)
        kill(session->parties[0].child.process.pid, number);
    else if (session->has_copies && number == SIGKILL)
        ssactuate_copies_kill(&session->copies);
    else if (session->has_copies)
        ssactuate_copies_end(&session->copies, number);
}

/*
 * Passes a signal on. The first one that ends the run restores all values at once, because the
 * command may take long to exit. The second one kills the command. If the command was just
 * started, the terminal may have sent the signal before the command existed: pass it on as well. A
 * process group that was already running gets no signal, and the run ends without it.
 */
static int take_signal(
    struct ssactuate_session *session, int number, bool started, struct ss_error *error) {
    struct ssactuate_party *command = &session->parties[0];
    if (number == SIGTSTP)
        ss_signals_suspend(&session->signals);
    if (!ss_end_signals_has(number) || ssactuate_is_repeated(&session->last_end, number,
                                           session->signals.from_terminal, ss_platform_now()))
        return 0;

    session->signals_received++;
    if (command->group > 0) {
        command->is_running = false;
        command->child.status = 128 + number;
    } else if (session->signals_received > 1) {
        send_signal(session, SIGKILL);
    } else {
        /* The terminal has sent it to the command as well. */
        bool received =
            !started && session->signals.from_terminal && (number == SIGINT || number == SIGQUIT);
        send_signal(session, received ? 0 : number);
    }

    if (session->signals_received > 1 || !session->undoing.has_journal)
        return 0;
    return ssactuate_journal_restore_values(&session->undoing.journal, &ssactuate_restorer, error);
}

/* Stops following a group after an error, which means that the journal cannot be written. */
void ssactuate_session_scan(struct ssactuate_session *session) {
    for (int i = 0; i < 2; i++) {
        struct ssactuate_party *party = &session->parties[i];
        struct ss_error error = {0};
        if (party->group == 0 || !party->is_running)
            continue;

        int status = ssactuate_journal_scan(&session->undoing.journal, party->number, &error);
        party->is_running = status > 0;
        if (status < 0)
            fprintf(stderr, "ssactuate: warning: process group %d is no longer followed: %s\n",
                (int)party->group, error.message);
    }
}

/* Binds the threads of a process group that was already running. */
static void bind_group(struct ssactuate_session *session) {
    struct ssactuate_binding *binding = &session->binding;

    ssactuate_session_scan(session);
    const struct ssactuate_running *running =
        &session->undoing.journal.running[session->parties[0].number];

    ssactuate_binding_begin(binding);
    for (size_t i = 0; i < running->count; i++)
        ssactuate_binding_visit(binding, running->members[i].id, running->members[i].started);
    ssactuate_binding_end(binding, ssactuate_child_bind_thread, NULL);
}

static void bind_threads(struct ssactuate_session *session) {
    const pid_t spared[] = {session->undoing.keeper.pid, session->parties[1].child.process.pid};

    if (!session->plan.binds_threads)
        return;

    if (session->parties[0].group > 0)
        bind_group(session);
    else
        ssactuate_child_bind(&session->binding, spared, session->unbound_program);

    if (session->binding.is_oversubscribed && !session->warned_oversubscribed)
        fprintf(
            stderr, "ssactuate: warning: more threads than CPUs: several threads share a CPU\n");
    session->warned_oversubscribed |= session->binding.is_oversubscribed;
}

static int min_timeout(int timeout, int other) {
    return other >= 0 && (timeout < 0 || other < timeout) ? other : timeout;
}

/* Sleeps until a signal arrives, or wake(), a check of copies or a scan for threads is due. */
static void sleep_until(const struct ssactuate_session *session, ss_time due) {
    struct pollfd polls[] = {{.fd = session->signals.pipe[0], .events = POLLIN}};
    ss_time left = ss_time_since(due, ss_platform_now()) / SS_MILLISECOND + 1;
    int timeout = -1;

    if (due != SS_TIME_NEVER)
        timeout = left < 60000 ? (int)left : 60000;
    if (session->has_copies)
        timeout = min_timeout(timeout, ssactuate_copies_timeout(&session->copies));
    if (session->plan.binds_threads)
        timeout =
            min_timeout(timeout, session->parties[0].group > 0 ? SCAN_INTERVAL : BIND_INTERVAL);

    poll(polls, 1, due == 0 ? 0 : timeout);
}

int ssactuate_session_watch(struct ssactuate_session *session, struct ss_error *error) {
    int result = 0;
    bool started = !session->has_copies;

    for (reap(session); session->parties[0].is_running; reap(session)) {
        if (session->has_copies && ssactuate_copies_advance(&session->copies, error) < 0) {
            ssactuate_copies_end(&session->copies, SIGTERM); /* one cannot be started */
            result = -1;
        }

        started |= session->copies.has_new_copy;
        session->copies.has_new_copy = false;
        bind_threads(session);
        ss_time due = session->wake(session->context, ss_platform_now());

        sleep_until(session, started ? 0 : due);
        for (int number; (number = ss_signals_next(&session->signals)) != 0;) {
            if (take_signal(session, number, started, error) < 0)
                result = -1;
        }
        started = false;
    }

    if (session->has_copies)
        ssactuate_copies_kill(&session->copies); /* descendants that outlived their copy */
    return result;
}

void ssactuate_session_end_side(struct ssactuate_session *session) {
    const struct ssactuate_party *side = &session->parties[1];
    ss_time deadline = ss_platform_now() + SIDE_PATIENCE;

    for (int i = 0; side->is_running && side->words; i++) {
        struct pollfd polls[] = {{.fd = session->signals.pipe[0], .events = POLLIN}};

        if (i == 0)
            kill(side->child.process.pid, SIGTERM);
        else if (ss_platform_now() >= deadline)
            kill(side->child.process.pid, SIGKILL);

        poll(polls, 1, BIND_INTERVAL);
        while (ss_signals_next(&session->signals) != 0)
            continue;
        reap(session);
    }
}

int ssactuate_session_status(const struct ssactuate_session *session) {
    return session->has_copies ? session->copies.status : session->parties[0].child.status;
}

int ssactuate_session_close(struct ssactuate_session *session, struct ss_error *error) {
    int result = ssactuate_undoing_finish(&session->undoing, error);
    ssactuate_copies_close(&session->copies);
    ssactuate_binding_free(&session->binding);
    ssactuate_plan_free(&session->plan);
    ssactuate_machine_close(&session->machine);
    for (int i = 0; i < 2; i++)
        free(session->parties[i].split);
    free(session->scheduling);
    return result;
}
