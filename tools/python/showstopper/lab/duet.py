# SPDX-License-Identifier: Apache-2.0
"""Which of two commands is faster, alone or next to a background that is held at a load? Runs of A
and B take turns, until the confidence interval of their difference is narrow enough or the time is
over. The interval is valid at any time of the study. First, ten blocks compare A with A."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import time
from dataclasses import dataclass

from .. import text
from ..installation import find_missing, require_programs
from ..text import UserError, show, tell
from . import options, plan, results, values
from .blocks import Alternate, Beside, Blocks
from .carry import batch, carry_out, check_output, fail_incomplete, settings
from .catalogue import check_pattern
from .halves import check_halves, find_halves
from .options import Options, Parser
from .plan import number
from .study import Study

DEFAULTS = {
    "metric": "throughput", "response": "mean", "order": "turn", "beside_warmup": "1s",
    "seed": "1", "output": "duet-results",
}  # fmt: skip
USUAL_LENGTH = 900.0  # seconds, if nothing else ends the study
SHORTER = "less --at-most or --seconds"
REQUESTS_MIN = 200  # of a run, for a percentile
CONTINUES, UNDECIDED = 2, 3  # statuses of ssreport --decide, whose other answers are 0 and 1
LOOK_SHARE = 20  # the time between looks is at least this many times as long as a look
PROGRESS = 5  # of this many successive blocks, at least one must have a figure
NOTES = """\
No shell runs the commands, except for "sh -c '...'". {scratch} in them is a new
folder on the RAM disk. --plan and --dry-run show the first 20 blocks, because
results decide how many follow. The addresses that the linker chose for code can
make it faster or slower, which no repetition shows. The status is 0, or with
--fail-above 0, 1 or 3; it is 125 if the experiment fails."""


def parser() -> Parser:
    usage = "--a COMMAND --b COMMAND [OPTION]..."
    own = Parser("duet", __doc__, DEFAULTS, {}, usage, NOTES, instead="use --a and --b")
    own.add("--a", "COMMAND", about="the first command, quoted as in a shell")
    own.add("--b", "COMMAND", about="the second command")
    _add_metric(own)
    _add_order(own)
    _add_ends(own)
    own.add("--seed", "N", values.whole, "seed of the order of runs and of the size of "
        "environments; default: DEFAULT")
    own.add("--on", "LIST", values.cpus, "run on these CPUs, such as 0-3,8; default: all")
    own.add("--list-workloads", about="print the names for --beside, and what each lacks on this "
        "machine")
    own.add("--catalogue", "FILE", about="a catalogue that is searched first; may be given "
        "several times", action="append")
    options.add_study(own)
    return own


def _add_metric(own: Parser) -> None:
    add = own.add
    add("--metric", "KIND", _metric, "throughput: iterations per second; time: how long a launch "
        "takes, at least 0.5 s; a URL: response times of a service that the commands start there; "
        "default: DEFAULT. With --order alternate or beside, {port} in URL and commands is "
        "replaced by a port, another one for A than for B")
    add("--response", "KIND", values.one_of("mean", "p50", "p95", "p99", "throughput"), "figure of "
        "a URL: mean or a percentile of response times, or, with --closed, throughput; "
        "default: DEFAULT")
    add("--rate", "N", _rate, "requests per second to a URL; default: 100")
    add("--closed", "N", values.count, "instead of --rate: this many clients, each sending its "
        "next request after an answer")
    add("--iteration", "REGEX", about="matches a line of output that ends an iteration, see "
        "showstopper(1); default: an iteration ends when the command does, which is then started "
        "again")


def _add_order(own: Parser) -> None:
    add = own.add
    add("--order", "KIND", values.one_of("turn", "alternate", "beside"), "turn: each run is a "
        "fresh launch, in blocks A B B A or B A A B; alternate: both commands keep running, warm, "
        "as a JVM or a service does, and one is stopped while the other has its turn; beside: both "
        "run at the same time, each on half of the CPUs, and swap places; default: DEFAULT")
    add("--force", about="with --order beside: continue even if two programs slow each other "
        "down, or use more than half of the CPUs")
    add("--beside", "NAME@LOAD", about="background: a workload of the catalogue, held at this "
        "load, such as serial@60%")
    add("--beside-warmup", "TIME", values.length, "running time of the background before A or B "
        "starts; default: DEFAULT")


def _add_ends(own: Parser) -> None:
    add = own.add
    add("--until", "PERCENT", values.percent, "end when the interval reaches at most this far from "
        "the difference, such as 0.5%. Half as far takes about four times as long: see --at-most")
    add("--fail-above", "PERCENT", values.percent, "end when it is known whether B is worse by "
        "more than this. The status is then 1 if it is, 0 if not, or 3 if the time is over before. "
        "Without --at-most, that may never happen: no number of blocks decides if the difference "
        "is just this limit")
    add("--at-most", "TIME", values.length, "time limit for all runs, at least 20 blocks of four; "
        "default: 15min, or no limit if --until or --fail-above is given. If 20 pairs of processes "
        "do not fit with --order alternate, there is one for A and A and one for A and B, and the "
        "answer is about these processes")
    add("--seconds", "TIME", values.length, "length of a run, from the start of the command; "
        "default: 3s, or less if 40 blocks do not fit. With --order alternate, length of a turn; "
        "its first 0.5 s and iterations across its ends do not count; for services, default: 4s, "
        "and requests in its last sixth, at least 0.5 s, do not count")
    add("--warmup", "TIME", values.time, "part of --seconds, at the beginning, that does not "
        "count; default: a sixth. With --order alternate, length of the first turns of each "
        "process, which do not count; default: 3s. For services, requests begin after these turns, "
        "and as many turns more do not count")


def _metric(value: str) -> str:
    if value.startswith(("http://", "https://")):
        return value
    if value == "URL":
        raise UserError("URL: use the URL itself, such as http://localhost:8080/")
    return str(values.one_of("throughput", "time", "URL")(value))


def _rate(value: str) -> float:
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", value) or not float(value):
        use = "use requests per second above 0, such as 100"
        raise UserError(f"'{show(value)}' is not a rate: {use}")
    return float(value)


# A call


def run(given: Options) -> int:
    given.quick = True  # so that --quick, which it lacks, is not suggested
    try:
        study = Study("duet", given)
        study.open_catalogue()
        blocks = _check(study)
        return _answer(blocks)
    except UserError as error:  # its status could be that of an answer
        raise UserError(str(error)) from None


def _check(study: Study) -> Blocks:
    """Check how options are combined, and return the blocks."""
    given = study.options
    if not (given.a and given.b):
        raise UserError("--a and --b are required: see --help")
    _check_metric(given)
    if given.order != "beside":
        given.refuse_given("without --order beside", "force")
    if given.metric == "time":
        lengths = ("seconds", "warmup", "iteration")
        given.refuse_given("with --metric time: a run is one launch", *lengths)
    if given.until == 0:
        raise UserError("--until: must be more than 0")
    if not given.at_most and given.until is None and given.fail_above is None:
        given.at_most = USUAL_LENGTH
    _check_background(study)
    _check_order(given)
    if given.order == "turn":
        blocks = Blocks(study)
    elif given.order == "beside":
        blocks = Beside(study, find_halves(study))
    else:
        blocks = Alternate(study)
    if given.response:
        _check_requests(blocks)
    if not (given.at_most or given.plan):
        _say_endless(given)
    blocks.commands = {side: _split(side, getattr(given, side)) for side in "ab"}
    return blocks


def _check_metric(given: Options) -> None:
    """Check --metric and its options. Keep `response` only if the metric is a URL."""
    if given.iteration:
        check_pattern(given.iteration)
    if given.metric in ("throughput", "time"):
        given.refuse_given("without a URL as --metric", "response", "rate", "closed")
        given.response = None
        return
    given.refuse_given("with a URL: the answers count", "iteration")
    if given.rate and given.closed:
        raise UserError("--rate cannot be combined with --closed")
    if given.response == "throughput" and not given.closed:
        why = "at a fixed --rate, the throughput is this rate"
        raise UserError(f"--response throughput requires --closed: {why}")
    if not given.closed:
        given.rate = given.rate or 100.0
    require_programs("ssrequest")


def _check_background(study: Study) -> None:
    given = study.options
    if not given.beside:
        given.refuse_given("without --beside", "beside_warmup")
        given.beside_warmup = 0.0
        return
    name, at, level = given.beside.rpartition("@")
    if not (name and at and level):
        use = "use one such as serial@60%"
        raise UserError(f"--beside: '{show(given.beside)}' is not NAME@LOAD: {use}")
    try:
        load = values.load(level)
    except UserError as error:
        raise UserError(f"--beside: {error}") from None
    study.check_workloads("beside", [name], warmup=given.beside_warmup)
    given.beside = f"{name}@{number(100 * load)}%"
    study.workloads, study.roles = [name], ["background"]


def _check_order(given: Options) -> None:
    order, by_time = given.order, given.metric == "time"
    if order == "turn":
        return
    if order == "beside" and by_time:
        use = "use --order turn"
        raise UserError(f"--order beside cannot be combined with --metric time: {use}")
    if order == "alternate" and by_time:
        why = "which measures launches: use --order turn"
        raise UserError(f"--order alternate cannot be combined with --metric time, {why}")
    if order == "alternate" and not (given.iteration or given.response):
        why = "without it, each iteration is a new process, which is never warm"
        raise UserError(f"--order alternate requires --iteration: {why}")
    if given.response and not all("{port}" in one for one in (given.metric, given.a, given.b)):
        raise UserError(
            f"--order {order}: A and B run at the same time, each on a port of its own: use "
            "{port} for it in --a, --b and the URL, as in http://localhost:{port}/"
        )


def _split(side: str, command: str) -> list[str]:
    """Return the words of a command, which must not need a shell."""
    try:
        words = plan.split(command)
    except UserError as error:
        raise UserError(f"--{side}: {error}") from None
    program = words[0] if words else ""
    for word in words:
        if re.fullmatch("[|<>&]+", word):
            raise UserError(f"--{side}: '{word}' requires a shell: use sh -c '...'")
    if re.match("[A-Za-z_0-9]+=", program):
        raise UserError(f"--{side}: {program} is not a program: use env {command}")
    if "{" not in program and not shutil.which(program):
        use = "use a path, or the name of a program in PATH"
        raise UserError(f"--{side}: {program}: no such program: {use}")
    return words


def _check_requests(blocks: Blocks) -> None:
    """Fail if runs are too short for a percentile, or if something already answers at the URL."""
    given = blocks.given
    if given.rate and given.response.startswith("p"):
        run, count = "run", int(given.rate * blocks.counted + 1e-6)
        if given.order == "alternate":
            edge = given.seconds / 6 if given.seconds > 3 else 0.5
            run, count = "turn", int(given.rate * (given.seconds - 0.5 - edge)) - 1
        if count < REQUESTS_MIN:
            sent = plan.count_of(max(count, 0), "request")
            has = f"a {run} has {sent}, and a percentile needs {REQUESTS_MIN}"
            use = "give a higher --rate, or more --seconds"
            raise UserError(f"--response {given.response}: {has}: {use}")
    if blocks.study.is_preview:
        return
    for place, _ in enumerate(blocks.ports or [0]):
        url = blocks.url(place).replace("{{", "{")
        call = ["ssrequest", "--quiet", "--rate", "10", "--duration", "0.1s", url]
        if not subprocess.run(call, capture_output=True).returncode:
            why = "a service is already running there: stop it, because A and B start their own"
            raise UserError(f"--metric: {url}: {why}")


def _say_endless(given: Options) -> None:
    """Say that nothing limits the time of the study."""
    ends = "lasts until the interval is as narrow as --until"
    if given.until is None:
        ends = "may never end if the difference is close to --fail-above"
    tell(f"No time limit: this study {ends}. To limit it, add --at-most")


# Runs, and looks at their results


@dataclass
class _Look:
    """An answer of ssreport, a child that ends before the next run starts."""

    status: int
    answer: str
    ended: float
    length: float  # seconds of CPU time, which a busy machine does not lengthen

    @property
    def is_over(self) -> bool:
        """Whether it is time for the next look, so that looks take at most about 5 % of the time.
        The interval is valid for any number of looks."""
        return time.monotonic() - self.ended >= LOOK_SHARE * self.length


def _answer(blocks: Blocks) -> int:
    """Carry out blocks, print the answer, and return its status."""
    study = blocks.study
    if not study.is_preview:
        _prepare(blocks)
    carry_out(study, blocks.plan, shorter=SHORTER, advice="")
    look = _decide(blocks)
    if look.status not in (0, 1, UNDECIDED):
        _fail_unmeasured(study.options)
    _write_answers(study)
    text.say(look.answer)
    tell(f"Results: {study.output}")
    return look.status


def _prepare(blocks: Blocks) -> None:
    """Find out early whether there can be an answer."""
    study = blocks.study
    require_programs("ssreport")
    if advice := find_missing():
        raise UserError(advice)
    check_output(study.output, study.options.ram)
    if study.options.order == "beside" and not study.options.force:
        check_halves(blocks)
    if blocks.first == 1:
        return
    tell("Carrying out two blocks first, which show whether runs have a figure ...")
    _carry_out_blocks(blocks, "aa", (1, 2))
    if _ask("--quiet", str(study.output)).status > UNDECIDED:
        _fail_unmeasured(study.options)


def _carry_out_blocks(blocks: Blocks, pair: str, numbers: tuple[int, ...]) -> None:
    given, study = blocks.given, blocks.study
    # One warning of other processes, that of carry_out(), is enough.
    others = given.others if given.quiet_below else 1
    quiet = Options(**{**vars(given), "others": others})
    words = [*settings(quiet), "--quiet", str(study.output)]
    if batch(words, [*blocks.plan_of([pair], numbers)], study.program):
        fail_incomplete(str(study.output))


def _ask(*words: str) -> _Look:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(["ssreport", "--decide", *words], stdout=subprocess.PIPE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    length = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    status = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return _Look(status, os.fsdecode(done.stdout), time.monotonic(), length)


def _fail_unmeasured(given: Options) -> None:
    longer = "" if given.metric == "time" else "increase --seconds, and "
    use = f"{longer}choose another --output"
    raise UserError(f"cannot compare the runs, for the reason above: {use}")


def _decide(blocks: Blocks) -> _Look:
    """Carry out blocks until the answer is decided."""
    study, block = blocks.study, blocks.first
    limit = "".join(row["planned_blocks"] for row in results.ask("duet", study.output))
    # Only a study that continues has later blocks than those of its first plan.
    if any(study.output.glob(f"ab-{block + 1}*")):
        block = max(block, _last_block(study))
    while True:
        look = _ask(str(study.output))
        results.write(study, "answer.txt", look.answer)
        if look.status != CONTINUES:
            return look
        for line in f"block {block}: {look.answer}".splitlines():
            tell(line)
        while True:
            block += 1
            _carry_out_blocks(blocks, "ab", (block,))
            if block % PROGRESS == 0:
                _check_progress(study, block)
            if look.is_over or str(block) == limit:
                break


def _check_progress(study: Study, block: int) -> None:
    """Fail if none of the last blocks has a figure, perhaps because a command no longer works.
    Blocks after the one that decides do not count."""
    if _last_block(study) > block - PROGRESS:
        return
    if _ask("--quiet", str(study.output)).status not in (0, 1, UNDECIDED):
        why = f"see the output of their commands in {study.output}"
        raise UserError(f"the last five blocks of A and B have no figure: {why}")


def _last_block(study: Study) -> int:
    """Return the number of the last block of A and B that has a figure."""
    return max((int(row["block"]) for row in results.ask("duet-blocks", study.output)), default=0)


def _write_answers(study: Study) -> None:
    """Write the report and the answer for programs and for pull requests."""
    # Warnings about single runs would hide the answer. They are in the report.
    page = ["--output", f"{study.output}/report", "--table", "duet", "--format", "json"]
    done = subprocess.run(["ssreport", *page, str(study.output)], capture_output=True)
    warnings = os.fsdecode(done.stderr)
    if done.returncode:
        raise UserError(warnings.rstrip("\n"))
    results.write(study, "warnings.txt", warnings)
    results.write(study, "answer.json", os.fsdecode(done.stdout))
    results.write(study, "answer.md", _ask("--quiet", "--format", "md", str(study.output)).answer)
