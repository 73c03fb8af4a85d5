# SPDX-License-Identifier: Apache-2.0
"""
The runs of a duet: blocks of two commands, A and B, in one of three orders.

The size of the environment moves the stack, which may make a command faster or slower, so the
environment of each launch is padded by a random number of bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

from ..text import UserError, tell
from .catalogue import Use, Workload
from .plan import Cells, Plan, columns, line, literal, number, write_line
from .study import Study
from .values import span

FREE = "-f own -l 100% -c fixed -C duty=100%".split()
OWN = "showstopper --quiet --fail-fast --record {record} --output".split()
# The percent sign for printf is doubled, because showstopper replaces % in a command.
LAUNCH = (
    'SHOWSTOPPER_PADDING=$(printf "%%*s" "$0" "") && export SHOWSTOPPER_PADDING && exec "$@"'
)
TURNS = (
    'for pair in $(seq "$0"); do printf "+0 %s\\n+%s %s\\n" "$1" "$3" "$1" "$2" "$3" "$2"; done'
)
START = 0.2  # seconds that a run needs to start and end
START_BOTH = 1.3  # the same for two processes that wait for a common start
COUNTED_MIN = 0.6  # seconds of a run that must count
BLOCKS = 40  # the default length of runs lets this many blocks fit into the time
BLOCKS_MIN = 20
FOREVER = 1e9  # seconds


def _fit_length(share: float, least: float, usual: float) -> float:
    """Return a length of runs, in whole hundredths of a second."""
    return min(max(int(100 * share) / 100, least), usual)


class Blocks:
    """
    Blocks of four runs, A B B A or B A A B.

    given.seconds and given.warmup are the lengths of runs or, with --order alternate, of turns.
    """

    runs = ("four", 4)  # of a block
    first = 10  # blocks of each comparison before the first decision
    halves: Sequence[str] = ()  # CPUs of each place, with --order beside
    pairs: int | None = None  # of processes, with --order alternate; None: not limited
    turns: int | None = None  # counted turns of a pair of processes
    unmeasured = 0.0  # seconds of the turns before these

    def __init__(self, study: Study) -> None:
        self.study = study
        self.given = study.options
        self.commands: dict[str, list[str]] = {}  # words of each side
        self.ports = self._choose_ports() if self.given.response else []
        self.run_length = 0.0
        self.set_times()
        self.counted = round(self.given.seconds - self.given.warmup, 9)

    # Times

    def set_times(self) -> None:
        """Set the lengths that are not given, and check all."""
        given, (word, runs) = self.given, self.runs
        share = (given.at_most or FOREVER) / (BLOCKS * runs) - given.beside_warmup - START
        if given.seconds is None:
            given.seconds = _fit_length(round(share, 9), 0.75, 3)
        if given.warmup is None:
            given.warmup = int(1000 * given.seconds / 6) / 1000
        if round(given.seconds - given.warmup, 9) < COUNTED_MIN:
            raise UserError(f"--seconds: must exceed --warmup by at least {COUNTED_MIN} s")
        self.run_length = round(given.seconds + given.beside_warmup + START, 9)
        least = BLOCKS_MIN * runs * self.run_length
        if given.metric != "time" and given.at_most and round(least, 9) > given.at_most:
            takes = f"{BLOCKS_MIN} blocks of {word} runs take {span(least)}"
            raise UserError(f"--at-most: {takes}; give more time, or fewer --seconds")

    # Random choices, which depend only on --seed, so that a repeated call has the same plan

    def _digits(self, *what: object) -> str:
        text = " ".join(map(str, (self.given.seed, *what)))
        return sha256(f"{text}\n".encode()).hexdigest()

    def _sides(self, pair: str, block: int) -> str:
        """Return the order of a block. A coin decides for two blocks at a time, in both orders."""
        coin = int(self._digits(pair, (block + 1) // 2)[0], 16)
        return "ba" if (coin + block) % 2 else "ab"

    def _padding(self, pair: str, block: int, position: int) -> int:
        digits = self._digits(pair, "padding", block)
        return int(digits[3 * position : 3 * position + 3], 16)

    def _choose_ports(self) -> list[int]:
        return []

    # Words

    def command(self, side: str, padding: int = 0, role: str = "", place: int = 0) -> list[str]:
        """Return the options that count iterations of a command, --, and its words."""
        given = self.given
        words = [word.replace("%", "%%") for word in self.commands[side]]
        if self.ports:
            words = [word.replace("{port}", str(self.ports[place])) for word in words]
        launched = ["sh", "-c", LAUNCH, str(padding), *words]
        values = {"iteration": given.iteration or ""}
        words = Use(Workload(side, "command line", values, typed=launched), role).words()
        return words if given.metric == "throughput" else words[words.index("--") :]

    def times(self) -> list[str]:
        given = self.given
        if given.metric == "time":
            return []
        return ["--warmup", f"{number(given.warmup)}s", "--duration", f"{number(self.counted)}s"]

    def sending(self, scale: int = 1) -> list[str]:
        given = self.given
        rate = ["--rate", number(scale * given.rate)] if given.rate else []
        return rate or ["--closed", str(scale * given.closed)]

    def url(self, place: int = 0) -> str:
        url = self.given.metric
        return literal(url.replace("{port}", str(self.ports[place])) if self.ports else url)

    def _pinned(self) -> list[str]:
        return ["--cpus", self.given.on] if self.given.on else []

    # Lines

    def plan(self) -> Iterator[str]:
        """Yield the plan of the first blocks."""
        if self.first > 1:
            about = f"# The first {2 * self.first} blocks. duet lets ssbatch add more blocks to the"
            yield f"{about} study until the answer is decided."
        yield from self.plan_of(("aa", "ab"), range(1, self.first + 1))

    def plan_of(self, pairs: Sequence[str], numbers: Sequence[int]) -> Iterator[str]:
        """Yield the plan of these blocks of A and A, or of A and B."""
        self.study.plan = Plan()  # runs of earlier plans are planned again
        yield from self._head()
        for pair in pairs:
            for block in numbers:
                yield from self.block(pair, block)

    def _head(self) -> Iterator[str]:
        given, study = self.given, self.study
        names = "order metric response rate closed".split()
        times = "iteration beside_warmup seconds warmup".split()
        yield from study.head({
            **{name: getattr(given, name) for name in names},
            "half_list": " ".join(self.halves), "a": given.a, "b": given.b,
            **{name: getattr(given, name) for name in times},
            "turns": self.turns, "pairs": self.pairs, "instances": study.instances,
            "seed": given.seed,
        })  # fmt: skip
        yield line("set", *columns({
            "metric": given.metric, "response": given.response, "a": given.a, "b": given.b,
            "beside": given.beside, "at_most_seconds": given.at_most, "until_percent": given.until,
            "fail_above_percent": given.fail_above,
        }))  # fmt: skip

    def block(self, pair: str, block: int) -> Iterator[str]:
        """Yield the runs of a block."""
        sides = self._sides(pair, block)
        for position, side in enumerate(sides + sides[::-1], 1):
            what = side if pair == "ab" else "a"
            lines = self._alone(what, self._padding(pair, block, position))
            cells = {"position": position, "side": side}
            yield from self._run(pair, block, f"-{position}-{side}", cells, lines)

    def _run(
        self, pair: str, block: int, name: str, cells: Cells, lines: Iterator[str]
    ) -> Iterator[str]:
        cells = {"pair": pair, "block": block, **cells}
        whole = [*self._background(), *lines]
        yield from self.study.plan.run(f"{pair}-{block}{name}", self.run_length, cells, whole)

    def _alone(self, side: str, padding: int) -> Iterator[str]:
        """Yield the lines of a command, or of a service and of requests to it."""
        words = self.command(side, padding)
        if "{scratch}" in getattr(self.given, side):
            yield line("before", "--", "mkdir", "-p", "{scratch}/data/alone-0")
        start = [*OWN, "{out}/output", "-n", "1", *self._pinned(), *FREE]
        if not self.given.response:
            yield line("main", "program", "--", *start, *self.times(), *words)
            return
        yield self._service("service", [*start, *words])
        yield from self._warm_requests(self.sending(), [self.url()])
        yield self._requests("requests", {}, self.url())

    def _service(self, name: str, words: Sequence[str]) -> str:
        return line("beside", name, "ready-file={record}/samples.csv", "ok=143", "--", *words)

    def _ask(self, *words: str) -> list[str]:
        seed = ["--seed", str(self.given.seed)]
        return ["--", "ssrequest", "--quiet", "--wait-for", "10s", *seed, *words]

    def _warm_requests(self, sending: Sequence[str], urls: Sequence[str]) -> Iterator[str]:
        if warmup := self.given.warmup:
            asking = self._ask(*sending, "--duration", f"{number(warmup)}s", *urls)
            yield line("before", "warmup", "ok=0,1", *asking)

    def _requests(self, name: str, cells: Cells, url: str) -> str:
        time = ["--duration", f"{number(self.counted)}s"]
        asking = self._ask(*self.sending(), *time, "--record", "{record}", url)
        return line("main", name, "ok=0,1", *columns(cells), *asking)

    def _background(self) -> Iterator[str]:
        """
        Yield the lines that start the background and wait for its warm-up.

        Its own CPU time is controlled, not the machine's load: otherwise a command that needs more
        CPU time would leave less for the background.
        """
        given, study = self.given, self.study
        if not given.beside:
            return
        name, _, load = given.beside.rpartition("@")
        use = study.use(name, "background")
        settle = given.beside_warmup + (0 if given.metric == "time" else given.warmup)
        ready = ["ready-file={record}/samples.csv", "ok=0,143"]
        call = ["showstopper", "--quiet", "--record", "{record}", "--output"]
        held = ["-f", "own", "-l", load, "--settle", f"{number(settle)}s"]
        yield from use.folders(study.instances)
        yield line(
            "beside", "background", *ready, f"workload={name}", "--", *call,
            "{scratch}/background", "-n", str(study.instances), *self._pinned(), *held,
            *use.words(),
        )  # fmt: skip
        yield line("before", "warm", "--", "sleep", number(given.beside_warmup))


class Both(Blocks):
    """Blocks whose runs have both commands, each with a folder and a port of its own."""

    def _choose_ports(self) -> list[int]:
        first = 20000 + 2 * (int(self._digits("ports")[:4], 16) % 5000)
        return [first, first + 1]

    def _command_at(self, pair: str, block: int, position: int, side: str) -> list[str]:
        what = side if pair == "ab" else "a"
        padding = self._padding(pair, block, position)
        return self.command(what, padding, side, (position - 1) % 2)


class Beside(Both):
    """Blocks of two runs of both commands at once, which swap places in the second."""

    runs = ("two", 2)

    def __init__(self, study: Study, halves: Sequence[str]) -> None:
        self.halves = halves
        super().__init__(study)

    def _head(self) -> Iterator[str]:
        yield from super()._head()
        yield line("set", "order=beside")

    def block(self, pair: str, block: int) -> Iterator[str]:
        sides = self._sides(pair, block)
        for run, order in enumerate((sides, sides[::-1])):
            at = [*enumerate(order, 2 * run + 1)]
            words = {side: self._command_at(pair, block, position, side) for position, side in at}
            cells = {"position": 2 * run + 1}
            lines = self._both(dict(at), words)
            yield from self._run(pair, block, f"-{run + 1}", cells, lines)

    def _both(self, at: Mapping[int, str], words: Mapping[str, list[str]]) -> Iterator[str]:
        """Yield the lines of the commands at two positions."""
        yield line("before", "--", "mkdir", "-p", "{scratch}/data/a-0", "{scratch}/data/b-0")
        cells, starts = {}, {}
        for (position, side), cpus in zip(at.items(), self.halves):
            own = {"position": position, "side": side, "cpus": cpus.replace(",", " ")}
            cells[side] = own
            starts[side] = [*OWN, f"{{out}}/output-{side}", "-n", "1", "--cpus", cpus, *FREE]
        if not self.given.response:
            for side, start in starts.items():
                run = ["--", *start, *self.times(), *words[side]]
                yield line("main", side, *columns(cells[side]), *run)
            return
        for side, start in starts.items():
            yield self._service(f"service-{side}", [*start, *words[side]])
        yield from self._warm_requests(self.sending(2), [self.url(0), self.url(1)])
        for place, side in enumerate(starts):
            yield self._requests(f"requests-{side}", cells[side], self.url(place))


class Alternate(Both):
    """Runs of two processes, one of which is stopped while the other one has its turn."""

    def set_times(self) -> None:
        given = self.given
        # Requests at the end of a turn do not count, and services need time to start.
        is_service = bool(given.response)
        least, usual, parts = (1.5, 4, 4) if is_service else (1, 3, 2)
        given.warmup = 3.0 if given.warmup is None else given.warmup
        rest = given.beside_warmup + START_BOTH
        share = ((given.at_most or FOREVER) / 2 - rest - parts * given.warmup) / 32
        if given.seconds is None:
            given.seconds = _fit_length(round(share, 9), least, usual)
        if given.seconds < least:
            what = "--order alternate" + " and services" * is_service
            raise UserError(f"--seconds: must be at least {least} s with {what}")
        turns = 2 * int(given.warmup / given.seconds + 0.999)
        if is_service:
            turns = 2 * (turns or 2)
        self.unmeasured = round(turns * given.seconds, 9)
        self.turns = 6
        rest += self.unmeasured
        self.run_length = round(rest + self.turns * given.seconds, 9)
        if given.at_most and round(BLOCKS_MIN * self.run_length, 9) > given.at_most:
            self._choose_one_pair(rest)

    def _choose_one_pair(self, rest: float) -> None:
        """Let one pair of processes run for all of the time, of which its start takes `rest`."""
        given, least = self.given, BLOCKS_MIN * self.run_length
        self.pairs = self.first = 1
        self.turns = 6 * int(round((given.at_most / 2 - rest) / given.seconds / 6, 9))
        self.run_length = round(rest + self.turns * given.seconds, 9)
        if self.turns < 30:
            takes = span(2 * rest + 60 * given.seconds)
            why = f"two pairs of processes that each have 15 turns take {takes}"
            raise UserError(f"--at-most: {why}; give more time, or fewer --seconds or --warmup")
        tell(
            f"This time is too short for {BLOCKS_MIN} pairs of processes, so one pair runs for all "
            "of it, and the answer holds for that pair only; for an answer about the commands, "
            f"give --at-most {span(least)}"
        )

    def _head(self) -> Iterator[str]:
        yield from super()._head()
        turn, first = number(self.given.seconds), number(self.unmeasured)
        lengths = [f"turn_seconds={turn}", f"first_turn_seconds={first}"]
        pairs = f"pairs={self.pairs or ''}"
        yield line("set", "order=alternate", pairs, f"turns={self.turns}", *lengths)

    def block(self, pair: str, block: int) -> Iterator[str]:
        lines = self._both(pair, block, self._sides(pair, block))
        yield from self._run(pair, block, "", {"position": 1}, lines)

    def _both(self, pair: str, block: int, sides: str) -> Iterator[str]:
        kind = "service-" if self.given.response else ""
        for position, side in enumerate(sides, 1):
            yield from self._turns(position, side)
        for position, side in enumerate(sides, 1):
            words = self._command_at(pair, block, position, side)
            cells = {"position": position, "side": side}
            yield line("main", kind + side, *columns(cells), "--", *self._process(side), *words)
        for position, side in enumerate(sides if kind else "", 1):
            yield self._requests_in_turns(position, side)

    def _turns(self, position: int, side: str) -> Iterator[str]:
        """Yield the lines that write the turns of a process. showstopper repeats a pair of turns,
        ssrequest does not, so it needs all pairs."""
        given = self.given
        turns = self.unmeasured / 2 / given.seconds + (self.turns or 0)
        pairs = number(turns / 2) if given.rate else "1"
        levels = ("100%", "0%") if position == 1 else ("0%", "100%")
        writing = ["sh", "-c", TURNS, pairs, *levels, f"{number(given.seconds)}s"]
        yield write_line(f"{{out}}/{side}.txt", *writing)
        yield line("before", "--", "mkdir", "-p", f"{{scratch}}/data/{side}-0")

    def _process(self, side: str) -> list[str]:
        given = self.given
        time = self.unmeasured + (self.turns or 0) * given.seconds
        return [
            *OWN, f"{{out}}/output-{side}", "-n", "1", *self._pinned(),
            *"-f own -c fixed -t file -T".split(), f"{{out}}/{side}.txt",
            "--duration", f"{number(time)}s",
            "--start-at", f"{{at+{number(given.beside_warmup + 1)}s}}",
        ]  # fmt: skip

    def _requests_in_turns(self, position: int, side: str) -> str:
        """Return the line that sends requests to a service in its turns, from the middle of the
        unmeasured ones on."""
        given, half = self.given, self.unmeasured / 2
        turns = ["--trace", f"{{out}}/{side}.txt"] if given.rate else []
        call = [
            "ssrequest", "--quiet", "--seed", str(given.seed), *self.sending(), *turns,
            "--wait-for", f"{number(self.unmeasured + 10)}s",
            "--timeout", f"{number(2 * given.seconds + 10)}s",
            "--start-at", f"{{at+{number(given.beside_warmup + 1 + half)}s}}",
            "--duration", f"{number(half + (self.turns or 0) * given.seconds)}s",
            "--each", "{record}.each.csv", "--record", "{record}", self.url(position - 1),
        ]  # fmt: skip
        cells = {"position": position, "side": side}
        return line("main", f"requests-{side}", "ok=0,1", *columns(cells), "--", *call)
