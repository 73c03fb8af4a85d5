#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests of tools/experiments/services/mediawiki: what it refuses, starts and ends. All cases but one replace its
# programs by scripts.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=experiments.sh
. "$here/experiments.sh"
dir=$scratch/wiki
bystander=

clean_up() {
    real down "$dir" >/dev/null 2>&1 || true
    [ -z "$bystander" ] || kill -KILL "$bystander" 2>/dev/null || true
}

# All programs are one script. If the file `wait-NAME` exists, program NAME prints a line and waits.
mkdir -p "$scratch/bin" "$scratch/code/maintenance"
touch "$scratch/code/maintenance/install.php"
cat >"$scratch/bin/fake" <<END
#!/bin/bash
name=\${0##*/}
echo "\$name \$*" >>"$scratch/calls"
if [ -e "$scratch/wait-\$name" ]; then
    echo "\$name" >>"$scratch/waits"
    read -rt 60 <> <(:)
    exit 1
fi
# serve SOCKET: runs until SIGTERM, which its child ignores.
serve() {
    [ ! -e "$scratch/broken-\$name" ] || { echo "\$name has no luck" >&2 && exit 1; }
    (trap '' TERM && echo \$BASHPID >>"$scratch/children" && read -rt 100 <> <(:)) &
    trap 'exit 0' TERM
    touch "\$1"
    while :; do
        read -rt 1 <> <(:) || true
    done
}
case \$name in
mariadbd)
    stat -c %a "$dir" >"$scratch/mode"
    [[ " \$* " =~ \ --socket=([^ ]*)\  ]]
    serve "\${BASH_REMATCH[1]}"
    ;;
memcached)
    [[ " \$* " =~ \ -s\ ([^ ]*)\  ]]
    serve "\${BASH_REMATCH[1]}"
    ;;
php-fpm99) serve "\$(sed -n 's/^listen = //p' "$dir/php.conf")" ;;
nginx)
    port=\$(sed -n 's/.*listen 127.0.0.1:\([0-9]*\).*/\1/p' "$dir/web.conf")
    if grep -qsx "\$port" "$scratch/taken" || { [ -e "$scratch/first-is-taken" ] && rm "$scratch/first-is-taken"; }; then
        echo "nginx: [emerg] bind() to 127.0.0.1:\$port failed (98: Address already in use)" >"$dir/log/web.log"
        exit 1
    fi
    serve "$dir/run/web.socket"
    ;;
mariadb-install-db)
    [ -z "\$(ls "$dir/database")" ] || { echo "it has files" >&2 && exit 1; }
    touch "$dir/database/file"
    ;;
php)
    [[ " \$* " =~ \ --confpath=([^ ]*)\  ]] && echo '<?php' >"\${BASH_REMATCH[1]}/LocalSettings.php"
    exit 0
    ;;
curl)
    [ -e "$dir/run/web.socket" ] || exit 7
    [[ " \$* " =~ \ -o\ ([^ ]*)\  ]] && echo "The last sentence of the article." >"\${BASH_REMATCH[1]}"
    exit 0
    ;;
esac
END
chmod +x "$scratch/bin/fake"
for name in mariadbd mariadb-install-db my_print_defaults mariadb memcached php-fpm99 nginx php curl; do
    ln -s fake "$scratch/bin/$name"
done

# real COMMAND...: runs a command of mediawiki with the real programs.
real() {
    timeout "$patience" "$experiments/services/mediawiki" "$@"
}

# faked COMMAND...: runs a command of mediawiki with the scripts.
faked() {
    MEDIAWIKI=$scratch/code PATH=$scratch/bin:$PATH real "$@"
}

# does STATUS COMMAND...: like faked, but fails on another exit status; the output is in $output.
does() {
    local status=0
    faked "${@:2}" >"$output" 2>&1 || status=$?
    [ "$status" -eq "$1" ] || fail "${*:2}: expected status $1, got $status"
}

# will_not MESSAGE COMMAND...: fails unless the command is refused with this message in one line.
will_not() {
    does 1 "${@:2}"
    says "$output" "$1"
    [ "$(wc -l <"$output")" -eq 1 ] || fail "${*:2}: more than one line of output"
}

# list_processes: prints the pids of the wiki's programs and of the scripts.
list_processes() {
    find /proc/[0-9]*/fd/9 -maxdepth 0 -lname "$dir/run/*" 2>/dev/null | cut -d / -f 3
    [ ! -e "$scratch/children" ] || while read -r pid; do
        ! tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline" | grep -F "$scratch/bin/" >/dev/null || echo "$pid"
    done <"$scratch/children"
}

no_process_is_listed() {
    [ -z "$(list_processes)" ]
}

# A killed process is listed until it gets a CPU.
nothing_runs() {
    await no_process_is_listed
}

options_and_their_values_are_checked() { # case
    does 0 --help
    says "$output" "Usage: mediawiki up DIR"
    will_not "no command given: use up, run, status, down or check"
    will_not "unknown command 'start': use up, run, status, down or check" start "$dir"
    will_not "no folder given" up
    will_not "--sedonds: unknown option" up "$dir" --sedonds
    will_not "--port requires a value" up "$dir" --port
    will_not "--port: '70000' is not a port: use 1 to 65535" up "$dir" --port 70000
    will_not "--workers: '0' is not a number" up "$dir" --workers=0
    will_not "only up and run take options" down "$dir" --port 80
    will_not "unexpected argument 'other': name one folder" up "$dir" other
    will_not "use only letters, digits, / and ._+-" up "$scratch/a b"
    will_not "too long for the paths of sockets" up "$scratch/$(printf '%085d' 0)"
    will_not "is not a folder" up "$output"
    mkdir "$scratch/foreign"
    touch "$scratch/foreign/file"
    will_not "was not made by this script" up "$scratch/foreign"
    will_not "was not made by this script" down "$scratch/foreign"
    [ -e "$scratch/foreign/file" ] || fail "removed a foreign folder"
    does 3 status "$dir"
    does 0 down "$dir"
    [ ! -e "$scratch/calls" ] || fail "started a program"
    does 0 check
    rm "$scratch/code/maintenance/install.php"
    will_not "missing packages: mediawiki; --install installs them, or: apt-get install --no-install-recommends mediawiki" \
        up "$dir"
    [ ! -e "$dir" ] || fail "$dir was not removed"
}

# pid_of PART
pid_of() {
    sed -n "s/^$1 up, pid //p" "$output"
}

the_wiki_starts_and_stops() { # case
    local before url
    mkdir -m 755 "$dir"
    (umask 000 && does 0 up "$dir")
    [ "$(cat "$scratch/mode")" = 700 ] || fail "others can reach the database: mode $(cat "$scratch/mode")"
    [ -z "$(find "$dir" -perm /022)" ] || fail "others may write: $(find "$dir" -perm /022)"
    url=$(sed -n 's/^url //p' "$output")
    [[ $url =~ ^http://127\.0\.0\.1:[0-9]+/index\.php ]] || fail "invalid URL: $url"
    says "$output" "socket $dir/run/web.socket"
    does 0 status "$dir"
    says "$output" "url $url"
    says "$output" "pids $(pid_of database),$(pid_of cache),$(pid_of php),$(pid_of web)"
    before=$(list_processes)
    # A second `up` must not start anything again.
    does 0 up "$dir"
    [ "$(list_processes)" = "$before" ] || fail "a second up started programs again"
    # After one program is killed, all programs are started, and the wiki is not created again.
    kill -KILL "$(faked status "$dir" | sed -n 's/^php up, pid //p')"
    await php_is_down
    says "$output" "php down"
    does 0 up "$dir"
    says "$output" "url $url"
    does 0 status "$dir"
    [ "$(grep -c '^mariadb-install-db' "$scratch/calls")" -eq 1 ] || fail "the database was created twice"
    # Different options cause a restart.
    before=$(pid_of web)
    does 0 up "$dir" --workers 7
    grep -q '^pm.max_children = 7$' "$dir/php.conf" || fail "--workers is not in php.conf"
    does 0 status "$dir"
    [ "$(pid_of web)" != "$before" ] || fail "the web server was not restarted"
    does 0 down "$dir"
    [ ! -e "$dir" ] || fail "leftover files: $(ls "$dir")"
    nothing_runs
    does 3 status "$dir"
    does 0 down "$dir"
}

php_is_down() {
    local status=0
    faked status "$dir" >"$output" 2>&1 || status=$?
    [ "$status" -eq 3 ]
}

# The pid of a killed program may have been reused, and a stopped program cannot react.
processes_with_reused_pids_are_not_ended() { # case
    local pid
    does 0 up "$dir"
    does 0 status "$dir"
    pid=$(pid_of web)
    kill -KILL "$pid"
    sleep 1000 &
    bystander=$!
    echo "$bystander 1" >"$dir/run/web.pid"
    kill -STOP "$(pid_of cache)"
    does 3 status "$dir"
    does 0 down "$dir"
    kill -0 "$bystander" || fail "killed a foreign process"
    kill -KILL "$bystander"
    wait "$bystander" 2>/dev/null || true
    bystander=
    [ ! -e "$dir" ] || fail "leftover files: $(ls "$dir")"
    nothing_runs
}

# begin COMMAND TEXT FILE: starts a command in the background, and returns when it has written the text to the file. Sets
# `pid`.
begin() {
    : >"$scratch/waits"
    : >"$output"
    MEDIAWIKI=$scratch/code PATH=$scratch/bin:$PATH setsid "$experiments/services/mediawiki" "$1" "$dir" \
        >"$output" 2>&1 &
    pid=$!
    await grep -q "$2" "$3"
}

# The script waits in each step: creating the database, its first answer, PHP, the web server.
interrupted_installation_continues() { # case
    local call where signal status made
    for call in KILL:mariadb-install-db TERM:mariadb-install-db KILL:mariadb KILL:php KILL:php-fpm99 KILL:nginx KILL:curl TERM:curl; do
        signal=${call%:*} where=${call#*:}
        touch "$scratch/wait-$where"
        begin up . "$scratch/waits"
        made=
        [ ! -e "$dir/made" ] || made=yes
        kill "-$signal" "$pid"
        status=0
        wait "$pid" 2>/dev/null || status=$?
        if [ "$signal" = TERM ]; then
            [ "$status" -eq 143 ] || fail "$where: status $status"
            says "$output" "repeat the call to try again"
            nothing_runs
        fi
        rm "$scratch/wait-$where"
        : >"$scratch/calls"
        does 0 up "$dir"
        [ "$(grep -c '^mariadb-install-db' "$scratch/calls")" -eq "$([ -n "$made" ] && echo 0 || echo 1)" ] ||
            fail "$where, $signal: wrong number of calls of mariadb-install-db"
        does 0 status "$dir"
        does 0 down "$dir"
        nothing_runs
        [ ! -e "$dir" ] || fail "leftover files: $(ls "$dir")"
    done
}

the_wiki_runs_until_it_is_terminated() { # case
    local part
    # A service that was already up is not a child of this call.
    does 0 up "$dir"
    begin run '^socket ' "$output"
    does 0 status "$dir"
    for part in database cache php web; do
        [ "$(sed 's/.*) . //; s/ .*//' "/proc/$(pid_of "$part")/stat")" -eq "$pid" ] || fail "$part is not a child of the service"
    done
    kill -TERM "$pid"
    ends 0
    nothing_runs
    does 3 status "$dir"
    begin run '^socket ' "$output"
    kill -KILL "$(faked status "$dir" | sed -n 's/^cache up, pid //p')"
    ends 1
    nothing_runs
    says "$output" "a service has exited"
    [ "$(grep -c '^mariadb-install-db' "$scratch/calls")" -eq 1 ] || fail "the database was created twice"
    does 0 down "$dir"
}

# A half-started wiki can be stopped, but not while another call is using its folder.
a_half_started_wiki_can_be_stopped() { # case
    touch "$scratch/wait-php"
    begin up . "$scratch/waits"
    will_not "another call is using" up "$dir"
    will_not "another call is using" down "$dir"
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null || true
    rm "$scratch/wait-php"
    does 3 status "$dir"
    does 0 down "$dir"
    [ ! -e "$dir" ] || fail "leftover files: $(ls "$dir")"
    nothing_runs
}

programs_that_fail_to_start_are_reported() { # case
    touch "$scratch/broken-php-fpm99"
    does 1 up "$dir"
    says "$output" "php has exited: php-fpm99 has no luck (see $dir/log/php.log)"
    nothing_runs
    rm "$scratch/broken-php-fpm99"
    echo 20001 >"$scratch/taken"
    does 1 up "$dir" --port 20001
    says "$output" "--port: port 20001 is in use by another program"
    nothing_runs
    touch "$scratch/first-is-taken"
    does 0 up "$dir"
    [ ! -e "$scratch/first-is-taken" ] || fail "did not try the first port"
    does 0 status "$dir"
    does 0 down "$dir"
}

# Uses a mount namespace with a separate /etc and a separate folder for policy-rc.d.
installed_packages_do_not_start_their_services() { # case
    [ "$(id -u)" -eq 0 ] || skip "root: only root can install packages"
    unshare -m mount -t tmpfs none /mnt 2>/dev/null || skip "mounts: cannot create a mount namespace"
    cat >"$scratch/bin/apt-get" <<END
#!/bin/bash
[[ " \$* " = *" install "* ]] || exit 1
echo "installs \$*" >>"$scratch/calls"
[ ! -e "$scratch/dies" ] || { kill -KILL \$PPID; exit; }
if [ ! -e "$scratch/both" ]; then
    : # a single call
elif mkdir "$scratch/first" 2>/dev/null; then
    until [ -e "$scratch/second" ]; do sleep 0.02; done
    sleep 1 # for the second call, which must wait
else
    until [ -e "$scratch/first/ended" ]; do sleep 0.02; done
fi
/usr/sbin/policy-rc.d nginx start
[ \$? -eq 101 ] || echo "started" >>"$scratch/calls"
ln -s /nowhere/new.service /etc/systemd/system/multi-user.target.wants/new.service
ln -s ../init.d/new /etc/rc2.d/S01new
touch "$scratch/code/maintenance/install.php"
END
    for name in systemctl update-rc.d; do
        printf '#!/bin/bash\necho "%s $*" >>"%s"\n' "$name" "$scratch/calls" >"$scratch/bin/$name"
    done
    chmod +x "$scratch"/bin/{apt-get,systemctl,update-rc.d}
    rm "$scratch/code/maintenance/install.php"
    # shellcheck disable=SC2016 # the inner shell expands them
    MEDIAWIKI=$scratch/code PATH=$scratch/bin:$PATH unshare -m bash -euc '
        mkdir "$1"
        mount -t tmpfs none "$1"
        mkdir "$1/sbin"
        cp -a /etc "$1"
        mkdir -p "$1/etc/systemd/system/multi-user.target.wants" "$1/etc/rc2.d"
        touch "$1/etc/rc2.d/S01old"
        mount --bind "$1/etc" /etc
        mount --bind "$1/sbin" /usr/sbin
        # A killed call leaves its file, which the next call removes.
        touch "$4/dies"
        ! "$2" check --install 2>/dev/null || exit
        [ -x "$1/sbin/policy-rc.d" ] || { echo "no file is left by a killed call" && exit 1; }
        rm "$4/dies"
        # The end of one of two calls must not remove the file that the other one needs.
        touch "$4/both"
        { "$2" check --install; touch "$4/first/ended"; } &
        until [ -e "$4/first" ]; do sleep 0.02; done
        { touch "$4/second"; exec "$2" check --install; } &
        wait
        rm "$4/both" "$MEDIAWIKI/maintenance/install.php"
        "$2" up "$3" --install
        [ -z "$(ls "$1/sbin")" ] || { echo "leftover: $(ls "$1/sbin")" && exit 1; }
        "$2" down "$3"' bash "$scratch/world" "$experiments/services/mediawiki" "$dir" "$scratch" \
        >"$output" 2>&1 || fail "installation failed"
    grep -q '^installs .*install --no-install-recommends mediawiki$' "$scratch/calls" || fail "wrong packages installed"
    ! grep -qx started "$scratch/calls" || fail "packages may start services"
    grep -qx 'systemctl disable new.service' "$scratch/calls" || fail "a new service was left enabled"
    grep -qx 'update-rc.d new disable' "$scratch/calls" || fail "a new System V service was left enabled"
    ! grep -q ' old ' "$scratch/calls" || fail "an existing service was disabled"
}

# hits: prints the number of cache hits.
hits() {
    # shellcheck disable=SC2016 # PHP expands them
    php -r '$cache = fsockopen("unix://" . $argv[1], -1);
        fwrite($cache, "stats\r\nquit\r\n");
        echo stream_get_contents($cache);' "$dir/run/cache.socket" | tr -d '\r' | sed -n 's/^STAT get_hits //p'
}

the_real_wiki_answers_requests() { # case
    local url socket before worker
    if ! real up "$dir" >"$output" 2>&1; then
        ! grep -q 'missing packages' "$output" || skip "mediawiki: $(sed 's/^mediawiki: //; q' "$output")"
        fail "up: status $?"
    fi
    url=$(sed -n 's/^url //p' "$output")
    socket=$(sed -n 's/^socket //p' "$output")
    curl -sf -o "$scratch/page" "$url" || fail "no article"
    [ "$(wc -c <"$scratch/page")" -gt 250000 ] || fail "the article is too short"
    grep -q 'href="#Part_60"' "$scratch/page" || fail "the article has no table of contents"
    before=$(hits)
    curl -sf --unix-socket "$socket" -o "$scratch/again" "http://127.0.0.1/${url#http://*/}" || fail "no article over the socket"
    [ "$(wc -c <"$scratch/again")" -eq "$(wc -c <"$scratch/page")" ] || fail "TCP and the socket returned different articles"
    [ "$(hits)" -gt "$before" ] || fail "no cache hits"
    ! curl -sf -o "$output" "${url%/*}/index.php?title=There_is_none" || fail "a missing title returned an article"
    curl -s -o "$output" "${url%/*}/index.php?title=New&action=edit"
    grep -q 'It is being measured' "$output" || fail "the wiki is not read-only"
    # Children of a killed process are ended, too.
    real status "$dir" >"$output" || fail "status $?"
    worker=$(list_processes | wc -l)
    [ "$worker" -gt 6 ] || fail "only $worker processes"
    kill -KILL "$(pid_of php)"
    real down "$dir" >"$output" 2>&1 || fail "down: status $?"
    [ ! -e "$dir" ] || fail "leftover files: $(ls "$dir")"
    nothing_runs
}

run_cases
