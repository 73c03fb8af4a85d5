# SPDX-License-Identifier: Apache-2.0
"""Which process slows a service down? Each suspect is throttled a little by a code of its own, all
at once, and the service's throughput or response times are regressed on the codes. Suspects are
stopped and continued, never ended."""

from __future__ import annotations

import os
import shutil
import subprocess

from .. import text
from ..installation import require_programs
from ..outputs import OutputError, write_file
from ..text import UserError, tell
from . import options, results, services
from .carry import FAILED, REFUSED, batch, check_output, preview
from .options import Options, Parser
from .study import Study

DEFAULTS = {"output": "antagonist-results"}
ASKED = "suspects suspects_of depth iteration rate slot block figure seed".split()
NOTES = """\
For the first minute nothing is throttled; then it prints which costs the next
10.5 min can find. If the noise is too large, it proposes a longer --slot and
exits. Suspects that have an effect are tested again, alone, for 10.5 min each
at a depth of 50 %. If the service loses 30 % while a suspect is stopped, this
run stops throttling that suspect, which is then tested alone. Later runs depend
on results, so --plan prints the runs known so far.
ssantagonist(1) describes the method."""


def parser() -> Parser:
    usage = "--victim WHAT --suspects PID,... [OPTION]..."
    instead = "name the service with --victim"
    own = Parser("antagonist", __doc__, DEFAULTS, {}, usage, NOTES, instead=instead)
    add = own.add
    add("--victim", "WHAT", about="the service: a URL to send requests to; a log, with "
        "--iteration; or a command that prints figures, and is run repeatedly")
    add("--suspects", "LIST", about="processes, such as 812,900, each with all of its "
        "descendants; more than 16 are first tested in groups")
    add("--suspects-of", "GROUP", about="instead of --suspects: the processes of a control group, "
        "a path below /sys/fs/cgroup, and of its subgroups")
    add("--depth", "LOAD", about="the fraction of its running time that a throttled suspect loses; "
        "default: 20%")
    add("--iteration", "REGEX", about="matches a line of the log that ends an iteration; the first "
        "group, if any, is its time")
    add("--rate", "N", about="requests per second to a URL; default: 20")
    add("--lower-is-better", about="smaller figures are better")
    add("--victim-pid", "LIST", about="processes of the service; default: those that listen on "
        "the URL, or have the log open")
    add("--slot", "TIME", about="length of a slot, in which a suspect is throttled or not; "
        "default: the longest of 5 s, 10 iterations, and 10/(1-Q) requests for quantile Q")
    add("--block", "TIME", about="the longest time for which a suspect is stopped; default: 1s")
    add("--figure", "FIGURE", about="the mean (default) or a quantile, such as p99, of the "
        "response times of a URL")
    add("--seed", "N", about="seed of the codes; default: derived from the suspects")
    add("--json", "FILE", about="also write the answer to this file, as JSON")
    options.add_folders(own)
    options.add_preview(own)
    return own


def run(given: Options) -> int:
    study = Study("antagonist", given)
    require_programs("ssantagonist", "ssrequest")
    if not given.victim:
        raise UserError("--victim is required: see --help")
    os.environ["LC_ALL"] = "C"  # so that numbers in the victim's output have a decimal point
    first = plan_known(study, REFUSED)
    if given.plan:
        print(*first, sep="\n")
        return 0
    if given.dry_run:
        return preview(str(study.output), first)
    check_output(study.output, given.ram)
    if given.json:
        _check_json(given.json, study.output)
    if not (study.output / ".study").exists():
        _check_victim(given.victim, given.iteration)
    _carry_out(study, first)
    return _report(study)


def _ask(given: Options) -> list[str]:
    """Return the options of ssantagonist that plan and answer share."""
    values = {"victim": given.victim, **{name: getattr(given, name) for name in ASKED}}
    words = [f"--{name.replace('_', '-')}={value}" for name, value in values.items() if value]
    return words + ["--lower-is-better"] * bool(given.lower_is_better)


def plan_known(study: Study, failed: int) -> list[str]:
    """Return the plan of the runs known so far; exit with `failed` if ssantagonist fails, which
    says why."""
    given = study.options
    own = [f"--victim-pid={given.victim_pid}"] if given.victim_pid else []
    call = ["ssantagonist", "plan", *_ask(given), *own, str(study.output)]
    done = subprocess.run(call, stdout=subprocess.PIPE)
    if done.returncode:
        raise SystemExit(failed)
    return os.fsdecode(done.stdout).rstrip("\n").split("\n")


def _check_victim(victim: str, iteration: str | None) -> None:
    """Fail if the victim cannot be measured: otherwise the first run, of a minute, would be
    lost."""
    program = (victim.split() or [""])[0]
    if victim.startswith(("http://", "https://")):
        services.check_url("victim", victim)
    elif not os.path.isfile(victim):
        if not shutil.which(program.replace("'", "").replace('"', "")):
            why = f"neither a URL nor a file, and {program} is not in PATH"
            raise UserError(f"--victim: {victim}: {why}")
    elif not (iteration or os.access(victim, os.X_OK)):
        raise UserError(f"--victim: {victim}: a log requires --iteration")


def _check_json(file: str, output: os.PathLike[str]) -> None:
    """Fail if the answer cannot be written, before minutes are spent on it. The folder of the
    study need not exist yet."""
    folder = os.path.dirname(file) or "."
    if os.path.exists(file):
        is_possible = not os.path.isdir(file) and os.access(file, os.W_OK)
    elif os.path.isdir(folder):
        is_possible = os.access(folder, os.W_OK)
    else:
        is_possible = os.path.realpath(folder) == os.path.realpath(output)
    if not is_possible or file.endswith("/"):
        use = "name a file in a folder that exists and is writable"
        raise UserError(f"--json: cannot write {file}: {use}")


def _carry_out(study: Study, lines: list[str]) -> None:
    """Carry out runs until their results add no more runs to the plan."""
    ram = os.path.abspath(study.options.ram)
    words = ["--ram-folder", ram, "--others", "100%", str(study.output)]
    before: list[str] = []
    while lines != before:
        if batch(words, lines, study.program):
            why = "for the reason above; no suspect is throttled any longer"
            raise UserError(
                f"the study is incomplete, {why}. Repeat the call to try the run again", FAILED
            )
        before, lines = lines, plan_known(study, FAILED)


def _report(study: Study) -> int:
    """Print the answer and write it to its files; return the status of the call."""
    given = study.options
    status, answer = _answer(study, "--page", f"{study.output}/report")
    text.say(answer)
    results.write(study, "report.md", answer)
    if given.json:
        _, document = _answer(study, "--json")
        try:
            write_file(given.json, document)
        except OutputError as error:
            raise UserError(f"--json: {error}; repeat the call to try again", FAILED) from None
    tell(f"Results: {study.output}")
    return status


def _answer(study: Study, *words: str) -> tuple[int, str]:
    """Return 0, or 1 if the question is not answered, and what ssantagonist prints."""
    call = ["ssantagonist", "answer", *_ask(study.options), *words, str(study.output)]
    done = subprocess.run(call, stdout=subprocess.PIPE)
    if done.returncode not in (0, 1):
        raise SystemExit(REFUSED)
    return done.returncode, os.fsdecode(done.stdout)
