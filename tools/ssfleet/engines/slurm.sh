# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # variables of ssfleet
# Sourced by ssfleet: Slurm. local.sh describes the interface. Jobs are identified by unique names, because a
# controller that is killed may lose a job and reuse its number.

engine_detaches=yes
engine_ignores=(ssh)

engine_check() {
    need sbatch squeue scancel sinfo scontrol srun
    job_words=(${partition:+--partition "$partition"} ${account:+--account "$account"})
    [ -n "$shared_nodes" ] || job_words+=(--exclusive)
}

engine_nodes() {
    if [ -n "$nodes" ]; then
        scontrol show hostnames "$nodes"
    else
        sinfo -h -N -o %N ${partition:+--partition "$partition"} | sort -u
    fi
}

# Prints nodes whose jobs would wait until an administrator resumes the node. A state may end in one of several
# characters, of which * means that the node does not respond. With NODE, asks for this node only.
engine_away() {
    local some=${1:-$nodes}
    sinfo -h -N -o '%N %t' ${some:+--nodes "$some"} ${partition:+--partition "$partition"} | sort -u |
        awk '$2 ~ /\*$/ || $2 ~ /^(down|drain|drng|fail|failg|err|unk|maint|inval|futr)/ {
            print $1, "Slurm calls it " $2 }'
}

# other_nodes: prints the nodes that are not in --nodes, as a host list: sbatch has no option for a set of allowed
# nodes.
other_nodes() {
    local all own list
    [ -n "$nodes" ] || return 0
    all=$(sinfo -h -N -o %N ${partition:+--partition "$partition"} | sort -u) && own=$(engine_nodes) || return
    list=$(grep -vxF "$own" <<<"$all" | paste -sd ,) || [ $? -eq 1 ] || return # 1: there are no others
    [ -z "$list" ] || scontrol show hostlist "$list"
}

# Stays below MaxJobCount, because sbatch retries for two minutes otherwise. Slurm counts each task of an array, even
# for MinJobAge after its end.
engine_tasks_max() {
    local array all used room
    read -r array all < <(scontrol show config |
        awk '$1 == "MaxArraySize" { array = $3 } $1 == "MaxJobCount" { all = $3 } END { print array, all }')
    [ -n "$all" ] || { echo 0 && return; } # sbatch reports why the controller does not answer
    used=$(squeue -h -r -t all -o %i | wc -l)
    room=$((all - 1 - used))
    if [ "$room" -le 0 ]; then
        echo "Slurm's queue is full: it has $used jobs, and MaxJobCount is $all"
        return 1
    fi
    echo "$((room < array ? room : array))"
}

engine_is_full() {
    [[ $1 = *'temporarily un'* || $1 = *'submit limit'* ]]
}

engine_submit() {
    local id=$1 limit=$2 count others
    others=$(other_nodes) || return
    count=$(wc -l <"$fleet/jobs/$id")
    as_called sbatch --parsable --job-name "ssfleet-$id" --array "0-$((count - 1))" --nodes 1 --requeue \
        --output "$study/.fleet/log/$id.%a" --open-mode append "${job_words[@]}" \
        ${others:+--exclude "$others"} ${limit:+--time "$((limit / 60 + 2))"} <<END >/dev/null
#!/bin/bash
set -- "\$(sed -n "\$((SLURM_ARRAY_TASK_ID + 1))p" $(printf %q "$study/.fleet/jobs/$id"))"
$(task_script "\$SLURMD_NODENAME" "\$1")
END
}

# Reads all tasks in one process, because there may be thousands.
engine_active() {
    local list all
    list=$(job_ids | sed 's/^/ssfleet-/' | paste -sd ,)
    [ -n "$list" ] || return 0
    all=$(squeue -h -r --name "$list" -o '%j %K %t %N') || return
    jobs=$fleet/jobs awk '
        function read_tasks(job,    file, line, count) {
            file = ENVIRON["jobs"] "/" substr(job, length("ssfleet-") + 1)
            while ((getline line < file) > 0) tasks[job, count++] = line
            close(file)
        }
        NF == 0 { next } # no task is left
        !($1 in known) { read_tasks($1); known[$1] }
        { count = split(tasks[$1, $2], runs, ",")
          for (i = 1; i <= count; i++) print runs[i], ($4 == "" ? "-" : $4), $3 }' <<<"$all"
}

engine_end() {
    local name index job
    while read -r name index job; do
        ! sed -n "$((index + 1))p" "$fleet/jobs/${name#ssfleet-}" | tr ',' '\n' | grep -qxF -- "$1" || scancel "$job"
    done < <(squeue -h -r --name "$(job_ids | sed 's/^/ssfleet-/' | paste -sd ,)" -o '%j %K %A')
}

engine_cancel() {
    local id
    for id in $(job_ids); do
        scancel --name "ssfleet-$id"
    done
}

engine_on() {
    [ -z "$(engine_away "$1")" ] || return
    as_called srun -Q --nodes 1 --ntasks 1 --nodelist "$1" "${job_words[@]}" bash -c "$2"
}

engine_each() {
    umask "$caller_umask"
    exec srun -Q --unbuffered --nodes "${#node_list[@]}" --ntasks-per-node 1 --kill-on-bad-exit=0 \
        --nodelist "$(IFS=, && echo "${node_list[*]}")" "${job_words[@]}" \
        bash -c "set -- \"\$SLURMD_NODENAME\"; $1"
}
