#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The units of systemd, the pod and the files for GitHub are valid, and their commands are accepted.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
PATH=$bin:$PATH

systemd_accepts_the_units() { # case
    local unit words
    need systemd-analyze
    for unit in ssload showstopper; do
        # The program may be in /usr or /usr/local, so the unit has its name only.
        sed "s,^ExecStart=,&$bin/," "$source/packaging/systemd/$unit.service" >"$unit.service"
        systemd-analyze verify --man=no "./$unit.service" >out 2>&1 || fail "$unit: $(cat out)"
        # systemd only warns of keys that it does not know.
        ! grep -F "$unit.service" out >&2 || fail "$unit: a warning"
    done
    words=$(sed -n 's/^ExecStart=//p' ssload.service)
    # shellcheck disable=SC2086 # words of a command
    ${words%"${words##* }"}metrics -c 1 -i 50m || fail "ssload refuses the command of its unit"
    words=$(sed -n 's/^ExecStart=//p' showstopper.service)
    # shellcheck disable=SC2086
    LOAD=50% COMMAND='ssburn serial' eval "set -- $words"
    "$1" --dry-run "${@:2}" >out || fail "showstopper refuses the command of its unit"
    grep -q 'ssburn serial' out || fail "$(cat out)"
    grep -qx 'StandardOutput=null' showstopper.service || fail "the lines of ssburn go to the journal"
    grep -qx 'StandardError=journal' showstopper.service || fail "errors would go where the output goes"
}

# read_pod FILE: Kubernetes accepts each key of the pod, and names are unique. Prints what the pod may do on its node, then
# the arguments of showstopper.
read_pod() {
    need_python yaml python3-yaml
    "$python" - "$source/packaging/kubernetes/$1" <<'END' || fail "$1 is not valid"
import json, sys, yaml
pod = yaml.safe_load(open(sys.argv[1]))
known = {"pod": "apiVersion kind metadata spec", "metadata": "name labels annotations",
         "spec": "containers shareProcessNamespace securityContext restartPolicy volumes nodeName hostPID",
         "container": "name image command args resources securityContext env volumeMounts",
         "volume": "name hostPath", "mount": "name mountPath readOnly",
         "securityContext": "runAsNonRoot runAsUser runAsGroup seccompProfile",
         "container's securityContext": "runAsUser allowPrivilegeEscalation readOnlyRootFilesystem capabilities"
                                        " seccompProfile"}
def check(what, value):
    assert value.keys() <= set(known[what].split()), f"{what}: {value.keys()}"
spec = pod["spec"]
check("pod", pod)
check("metadata", pod["metadata"])
check("spec", spec)
check("securityContext", spec.get("securityContext", {}))
assert pod["apiVersion"] == "v1" and pod["kind"] == "Pod"
containers = {container["name"]: container for container in spec["containers"]}
assert len(containers) == len(spec["containers"])
volumes = {volume["name"]: volume["hostPath"]["path"] for volume in spec.get("volumes", [])}
for container in containers.values():
    check("container", container)
    assert container["image"]
    assert all(isinstance(word, str) for word in container.get("command", []) + container.get("args", []))
own = containers["showstopper"]
check("container's securityContext", own["securityContext"])
mounts = own.get("volumeMounts", [])
for mount in mounts:
    check("mount", mount)
for volume in spec.get("volumes", []):
    check("volume", volume)
print(sorted(containers), "shares pids" if spec.get("shareProcessNamespace") else "",
      "node's pids" if spec.get("hostPID") else "", json.dumps(own["securityContext"]["capabilities"]),
      [(volumes[mount["name"]], mount["mountPath"], mount["readOnly"]) for mount in mounts])
env = {variable["name"]: variable["value"] for variable in own.get("env", [])}
for word in own["args"]:
    for name, value in env.items():
        word = word.replace(f"$({name})", value)
    print(word)
END
}

the_pod_is_valid() { # case
    read_pod pod.yaml >args
    [ "$(head -n 1 args)" = "['app', 'showstopper'] shares pids  {\"drop\": [\"ALL\"]} []" ] || fail "$(cat args)"
    # The name is unique among all processes. A copy of `sleep` may be a program that finds out by its name what to do.
    mapfile -t words < <(sed "1d; s/^app\$/app.$$/" args)
    cp "$BASH" "app.$$"
    mkfifo never
    "./app.$$" -c 'read -r _ <>never' &
    pid=$!
    await showstopper --dry-run "${words[@]}" >out 2>err || fail "$(cat err)"
    grep -qx "command     --attach $pid" out || fail "$(cat out)"
}

# The node's groups are a folder of files.
the_pod_that_holds_another_is_valid() { # case
    local group
    read_pod hold-pod.yaml >args
    [ "$(head -n 1 args)" = "['showstopper']  node's pids {\"drop\": [\"ALL\"], \"add\": [\"KILL\"]}\
 [('/sys/fs/cgroup', '/host/cgroup', True)]" ] || fail "$(cat args)"
    group=$(sed -n 's,^/host/cgroup/,,p' args)
    mkdir -p "cgroup/$group/cri-containerd-id.scope"
    sleep 1000 &
    pid=$!
    echo cpu >"cgroup/$group/cgroup.controllers"
    echo '50000 100000' >"cgroup/$group/cpu.max"
    echo 'usage_usec 1' >"cgroup/$group/cpu.stat"
    : >"cgroup/$group/cgroup.procs"
    echo "$pid" >"cgroup/$group/cri-containerd-id.scope/cgroup.procs"
    mapfile -t words < <(sed "1d; s,^/host/cgroup,$PWD/cgroup," args)
    showstopper --dry-run "${words[@]}" >out 2>err || fail "$(cat err)"
    grep -qx "command     --attach-group $PWD/cgroup/$group" out || fail "$(cat out)"
    grep -q '^100 % is   0.5 CPUs, the allowance' out || fail "$(cat out)"
    kill "$pid"
}

files_for_github_are_valid() { # case
    local option
    need_python yaml python3-yaml
    need shellcheck
    "$python" - "$source/.github" >options <<'END' || fail "a file for GitHub is not valid"
import re, sys, yaml
root = sys.argv[1]
for name in "showstopper", "duet":
    text = open(f"{root}/actions/{name}/action.yml").read()
    action = yaml.safe_load(text)
    assert action["name"] and action["description"] and action["runs"]["using"] == "composite"
    assert all(one["description"] for one in action["inputs"].values())
    assert set(re.findall(r"\binputs\.([\w-]+)", text)) == action["inputs"].keys()
    for number, step in enumerate(action["runs"]["steps"]):
        assert step["shell"] == "bash", step
        # An expression in a script could be executed as code.
        assert "${{" not in step["run"], step
        open(f"{name}{number}.sh", "w").write("#!/bin/bash\n" + step["run"])
names = {"DUET_" + name.upper().replace("-", "_"): name for name in action["inputs"]}
assert action["runs"]["steps"][1]["env"] == {key: f"${{{{ inputs.{name} }}}}" for key, name in names.items()}
# The token comes on standard input.
words = set(re.findall(r"\bDUET_[A-Z_]+", open(root + "/actions/duet/gate").read()))
assert words == names.keys() - {"DUET_TOKEN"}
workflow = yaml.safe_load(open(root + "/workflows/ci.yml"))
assert True in workflow # YAML 1.1 reads `on` as a boolean
for job in workflow["jobs"].values():
    assert job["runs-on"] and all(step.keys() & {"run", "uses"} for step in job["steps"])
    assert ".ci/run ${{ matrix.option }}" in [step.get("run") for step in job["steps"]]
    print(*filter(None, job["strategy"]["matrix"]["option"]), sep="\n")
END
    shellcheck {showstopper,duet}[0-9].sh || fail "the steps of the actions"
    [ -x "$source/.github/actions/showstopper/install" ] || fail "the installation cannot be executed"
    [ -x "$source/.ci/run" ] || fail ".ci/run cannot be executed"
    while read -r option; do
        "$source/tests/run.sh" --help | grep -qe "^  $option " -e "^  $option\$" || fail "tests/run.sh has no $option"
    done <options
    COMMAND='ssload --version >version' bash showstopper1.sh
    grep -q '^ssload ' version || fail "the action runs no command"
}

run_cases
