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

# Kubernetes accepts each key of the pod, names are unique, and the comment names every granted permission.
the_pod_is_valid() { # case
    need_python yaml python3-yaml
    "$python" - "$source/packaging/kubernetes/pod.yaml" >args <<'END' || fail "the pod is not valid"
import sys, yaml
pod = yaml.safe_load(open(sys.argv[1]))
known = {"pod": "apiVersion kind metadata spec", "metadata": "name labels annotations",
         "spec": "containers shareProcessNamespace securityContext restartPolicy volumes",
         "container": "name image command args resources securityContext env volumeMounts",
         "securityContext": "runAsNonRoot runAsUser runAsGroup seccompProfile",
         "container's securityContext": "allowPrivilegeEscalation readOnlyRootFilesystem capabilities"}
def check(what, value):
    assert value.keys() <= set(known[what].split()), f"{what}: {value.keys()}"
check("pod", pod)
check("metadata", pod["metadata"])
check("spec", pod["spec"])
check("securityContext", pod["spec"]["securityContext"])
assert pod["apiVersion"] == "v1" and pod["kind"] == "Pod"
containers = {container["name"]: container for container in pod["spec"]["containers"]}
assert len(containers) == len(pod["spec"]["containers"]) == 2
for container in containers.values():
    check("container", container)
    assert container["image"]
    assert all(isinstance(word, str) for word in container.get("command", []) + container.get("args", []))
sidecar = containers["showstopper"]
check("container's securityContext", sidecar["securityContext"])
assert pod["spec"]["shareProcessNamespace"] is True
assert sidecar["securityContext"]["capabilities"] == {"drop": ["ALL"]}
print("\n".join(sidecar["args"]))
END
    # The name is unique among all processes. A copy of `sleep` may be a program that finds out by its name what to do.
    mapfile -t words < <(sed "s/^app\$/app.$$/" args)
    cp "$BASH" "app.$$"
    mkfifo never
    "./app.$$" -c 'read -r _ <>never' &
    pid=$!
    await showstopper --dry-run "${words[@]}" >out 2>err || fail "$(cat err)"
    grep -qx "command     --attach $pid" out || fail "$(cat out)"
}

files_for_github_are_valid() { # case
    local option
    need_python yaml python3-yaml
    need shellcheck
    "$python" - "$source/.github" >options <<'END' || fail "a file for GitHub is not valid"
import re, sys, yaml
root = sys.argv[1]
text = open(root + "/actions/showstopper/action.yml").read()
action = yaml.safe_load(text)
assert action["name"] and action["description"] and action["runs"]["using"] == "composite"
assert set(re.findall(r"\binputs\.(\w+)", text)) == action["inputs"].keys()
for number, step in enumerate(action["runs"]["steps"]):
    assert step["shell"] == "bash", step
    # An expression in a script could be executed as code.
    assert "${{" not in step["run"], step
    open(f"step{number}.sh", "w").write("#!/bin/bash\n" + step["run"])
workflow = yaml.safe_load(open(root + "/workflows/ci.yml"))
assert True in workflow # YAML 1.1 reads `on` as a boolean
for job in workflow["jobs"].values():
    assert job["runs-on"] and all(step.keys() & {"run", "uses"} for step in job["steps"])
    assert ".ci/run ${{ matrix.option }}" in [step.get("run") for step in job["steps"]]
    print(*filter(None, job["strategy"]["matrix"]["option"]), sep="\n")
END
    shellcheck step*.sh || fail "the steps of the action"
    [ -x "$source/.ci/run" ] || fail ".ci/run cannot be executed"
    while read -r option; do
        "$source/tests/run.sh" --help | grep -qe "^  $option " -e "^  $option\$" || fail "tests/run.sh has no $option"
    done <options
    COMMAND='ssload --version >version' bash step1.sh
    grep -q '^ssload ' version || fail "the action runs no command"
}

run_cases
