#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The image of packaging/image runs in podman, in docker, and without a container engine.

# shellcheck source=harness.sh
. "$(dirname "$0")/harness.sh"
# shellcheck source=static.sh
. "$here/static.sh"
make_static x86_64
arguments=(-n 1 -l 50% --duration 700m ssburn serial)

# The same files give the same bytes, however they were copied.
SOURCE_DATE_EPOCH=1700000000 "$source/packaging/image" static made >log 2>&1 || fail "$(<log)"
(umask 077 && mkdir copied && cp -r static/x86_64 copied)
SOURCE_DATE_EPOCH=1700000000 "$source/packaging/image" copied again >log 2>&1 || fail "$(<log)"
image=showstopper-$version-image-x86_64.tar
cmp "made/$image" "again/$image" || fail "two builds differ"

mkdir image root
tar -C image -xf "made/$image"
python3 - <<'END' || fail "the image is not valid"
import gzip, hashlib, json
[manifest] = json.load(open("image/manifest.json"))
text = open("image/" + manifest["Config"], "rb").read()
config = json.loads(text)
digests = [hashlib.sha256(gzip.open("image/" + name).read()).hexdigest() for name in manifest["Layers"]]
assert manifest["Config"] == hashlib.sha256(text).hexdigest() + ".json", "the configuration has another name"
assert config["rootfs"]["diff_ids"] == ["sha256:" + digest for digest in digests], "the layer has another digest"
assert config["architecture"] == "amd64" and config["config"]["Entrypoint"] == ["/bin/showstopper"], config
END
tar -C root -xf image/layer.tar.gz
cmp "$source/LICENSE" root/LICENSE || fail "another LICENSE"
[ -s root/LICENSE.musl ] || fail "no license of musl"

# holds_a_load COMMAND...: fails unless the command starts showstopper, and that measures the load of the machine.
holds_a_load() {
    "$@" "${arguments[@]}" >output 2>&1 || fail "$*: $(tail -n 20 output)"
    grep -q '^showstopper: 1 instance on .*, load of the machine$' output || fail "$*: $(<output)"
    grep -q '^verdict:' output || fail "$*: $(<output)"
}

[ "$(id -u)" -eq 0 ] || skip "root: only root can make a root folder of its own, and run a container engine"
if ! unshare --mount true 2>/dev/null; then
    skip_part "mounts: cannot mount file systems"
else
    run_in_root root /bin/showstopper -f own "${arguments[@]}" >output 2>&1 || fail "in a root folder: $(<output)"
fi

# podman_alone WORD...: calls podman with storage of its own.
podman_alone() {
    podman --root "$scratch/images" --runroot "$scratch/run" --tmpdir "$scratch/podman" --storage-driver vfs \
        --events-backend none --runtime runc --cgroup-manager cgroupfs "$@"
}

if ! podman --version >/dev/null 2>&1; then
    skip_part "podman: not installed"
elif ! runc --version >/dev/null 2>&1; then
    skip_part "runc: not installed"
else
    podman_alone load -i "made/$image" >output 2>&1 || fail "podman load: $(<output)"
    holds_a_load podman_alone run --rm --network none --ulimit nofile=1024:20000 --ulimit nproc=4096:4096 showstopper
fi

if ! docker info >/dev/null 2>&1; then
    skip_part "dockerd: not running"
elif docker image inspect showstopper >/dev/null 2>&1; then
    skip_part "dockerd: there is another image showstopper, which would lose its name"
else
    docker load -i "made/$image" >output 2>&1 || fail "docker load: $(<output)"
    holds_a_load docker run --rm --network none showstopper
    docker image rm showstopper "showstopper:$version" >output 2>&1 || fail "$(<output)"
fi
