/* SPDX-License-Identifier: Apache-2.0 */
#include "local_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tree.h"

static const char *path;

static void make_folder(void) {
    tree_new();
    path = tree_path("socket");
}

static struct local_socket open_it(mode_t permissions) {
    struct local_socket local;
    struct ss_error error = {0};
    assert_succeeds(local_socket_open(&local, path, permissions, &error), error);
    assert_int_equal(listen(local.file, 1), 0);
    return local;
}

static void close_it(struct local_socket *local) {
    local_socket_remove(local);
    close(local->file);
}

static void assert_refused(const char *where, const char *why) {
    struct local_socket local;
    struct ss_error error = {0};
    assert_int_equal(local_socket_open(&local, where, 0777, &error), -1);
    assert_int_equal(local.file, -1);
    assert_says(error.message, why);
    local_socket_remove(&local);
}

TEST(socket_permissions_hold_from_the_start) {
    make_folder();
    struct stat status;
    mode_t before = umask(027);
    struct local_socket local = open_it(0777);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0750);
    close_it(&local);
    local = open_it(0600);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    close_it(&local);
    assert_int_equal(umask(before), 027);
}

TEST(other_files_and_live_sockets_are_not_replaced) {
    make_folder();
    struct local_socket local = open_it(0777);
    /* The last attempts find the queue full. */
    for (int i = 0; i < 8; i++)
        assert_refused(path, "another process is listening there");
    assert_int_equal(access(path, F_OK), 0);
    close_it(&local);
    close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    assert_refused(path, "exists and is not a socket");
    assert_int_equal(unlink(path), 0);
    /* A link is not a socket, wherever it points. */
    assert_int_equal(symlink("/nowhere/x", path), 0);
    assert_refused(path, "exists and is not a socket");
    assert_int_equal(unlink(path), 0);
}

TEST(stale_socket_is_replaced) {
    make_folder();
    struct local_socket first = open_it(0777);
    assert_int_equal(unlink(path), 0);
    close(open_it(0777).file);
    struct local_socket local = open_it(0777);
    /* Closing the first socket must not remove a second one at the same path. */
    close_it(&first);
    assert_int_equal(access(path, F_OK), 0);
    close_it(&local);
    assert_int_equal(access(path, F_OK), -1);
}

TEST(invalid_socket_path_is_refused) {
    char much[109];
    memset(much, 'x', sizeof much);
    much[108] = '\0';
    assert_refused(much, "the socket path is too long (at most 107 bytes): choose a shorter one");
    much[107] = '\0';
    assert_int_equal(local_socket_check(much, NULL), 0);
    assert_refused("/nowhere/x", "No such file or directory");
}

UNIT_RUN
