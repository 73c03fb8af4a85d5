/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "run.h"

/*
 * First lists every process and thread except those of the kernel: zombies have no mark, and some
 * tests clear it. Only root may read stacks.
 */
static const char script[] =
    "exec >&2 2>/dev/null; cd /proc || exit\n"
    "echo \"load average $(cat loadavg); PID (NAME) STATE PARENT ... USER SYSTEM (ticks):\"\n"
    "cat [0-9]*/task/*/stat | grep -v ') [A-Z] 2 0 0 ' | cut -d ' ' -f 1-15\n"
    "for pid in [0-9]*; do\n"
    "    tr '\\0' '\\n' <$pid/environ | grep -qxF \"$SS_SNAPSHOT\" || continue\n"
    "    echo; tr '\\0' ' ' <$pid/cmdline; echo\n"
    "    grep -E '^(Pid|PPid|State|TracerPid|Sig...|ShdPnd):' $pid/status\n"
    "    for thread in $pid/task/*; do\n"
    "        echo \"$(cat $thread/comm): $(cat $thread/wchan $thread/syscall $thread/stack)\"\n"
    "    done\n"
    "    ls -l $pid/fd | sed 's/.* \\([0-9]* ->\\)/\\1/'\n"
    "done\n";

/* Uses system(), because a wait of run_wait() that times out calls this function. */
void run_print_processes(void) {
    setenv("SS_SNAPSHOT", run_mark(), 1);
    if (system(script) != 0)
        fputs("cannot list the processes\n", stderr);
}
