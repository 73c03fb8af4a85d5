#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Prints the simulated and computed figures of showstopper-published(7): each table comes after the
word that prints it alone.

The published evaluation of constant loads is repeated in the simulator, on 12 CPUs, with the
modules and options of `sslab accuracy --published`. A program is simulated by the number of its runnable
threads, fitted to the load without control (nbench):
  fop      one, and sometimes six for 7 ms: the threads that collect garbage
  avrora   one or none, and sometimes twelve for half a millisecond
  sunflow  twelve for half a second, then one for 84 ms; these lengths are fitted to geom_uneven
"""

from __future__ import annotations

import argparse
import csv
import functools
import math
import os
import random
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).resolve().parents[2]
EXPERIMENTS = SOURCE / "tools" / "experiments"
CPUS = 12
PROGRAMS = ("fop", "avrora", "sunflow")
BASELINES = ("nbench", "cdc")
GEOM, PI = ("geom_uneven", "geom_even"), ("pi_uneven", "pi_even")
CONTROLLED = GEOM + PI
# The lengths of phases were fitted to the first one, phase=together:20m to the second one.
FITTED = (("sunflow", "geom_uneven"), ("sunflow", "cdc"))
NEAR = 0.25  # percentage points: mean errors that differ by less are near, whatever their ratio


class Fail(Exception):
    """Why a figure cannot be computed."""


def run(words: list[str], folder: Path) -> str:
    done = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    if done.returncode:
        raise Fail(f"{words[0]}: {done.stderr.strip()}")
    return done.stdout


# Published values and simulated programs


def read(name: str) -> list[dict[str, str]]:
    with open(EXPERIMENTS / "published" / f"{name}.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@functools.cache
def constant_load(name: str) -> dict[tuple[str, float], dict[str, str]]:
    rows = read(f"constant-load-{name}")
    return {(row["workload"].split("/")[-1], float(row["target_percent"])): row for row in rows}


class Cell(NamedTuple):
    program: str
    config: str
    target: float  # percent
    error: float  # percentage points
    square: float  # %^2
    published_error: float
    published_square: float

    @property
    def is_fitted(self) -> bool:
        """Whether a parameter was chosen so that the simulation gives the published value."""
        cell = (self.program, self.config)
        return self.config == "nbench" or cell in FITTED

    @property
    def has_close_square(self) -> bool:
        return is_close(self.square, self.published_square)

    @property
    def has_close_error(self) -> bool:
        near = abs(self.error - self.published_error) <= NEAR
        return near or is_close(self.error, self.published_error)


def is_close(ours: float, theirs: float) -> bool:
    """Return whether two values are within a factor of two."""
    return ours * theirs > 0 and 0.5 <= ours / theirs <= 2


def profile(draw: int, seconds: float, law: str, *steps: tuple[int, float]) -> str:
    """
    Return a profile for sssim: steps of some threads for a mean time in milliseconds, which is
    exponentially distributed, or uniformly between half and one and a half of the mean.
    """
    source = random.Random(draw)
    lines, time = [], 0.0
    while time < 1e3 * seconds:
        for threads, mean in steps:
            lines.append(f"{1e3 * time:.0f}u {threads}\n")
            length = 0.5 + source.random() if law == "uniform" else source.expovariate(1)
            time += max(mean * length, 0.001)
    return "".join(lines) + f"{1e3 * time:.0f}u 0\n"


def write_programs(folder: Path, draw: int) -> None:
    profiles = {
        "fop": profile(draw, 60, "exponential", (1, 158), (6, 6.9)),
        "avrora": profile(draw, 1, "uniform", (1, 2.52), (12, 0.48), (0, 1)),
        "sunflow": profile(draw, 240, "exponential", (12, 560), (1, 84)),
    }
    for name, text in profiles.items():
        (folder / f"{name}.{draw}").write_text(text, "ascii")


# Simulation


class Protocol(NamedTuple):
    """The published protocol, or what is different."""

    also: str = ""  # more options of sssim; options of a module replace all of its published ones
    tau: str = "107m"
    warmup: int = 180  # in seconds, like the next two
    settle: int = 0
    seconds: int = 180


class Bench:
    """Simulates in a folder of its own, and each protocol only once."""

    def __init__(self, build: Path, draws: int, folder: Path) -> None:
        self.build, self.draws, self.folder = build, range(1, draws + 1), folder
        os.environ["PATH"] = f"{build / 'bin'}:{os.environ['PATH']}"
        for draw in self.draws:
            write_programs(folder, draw)
        self.cells = functools.cache(self._cells)
        self.modules = functools.cache(self._modules)

    def _modules(self, tau: str) -> dict[str, list[str]]:
        """Return the options of modules that `sslab accuracy --published` gives to each method."""
        plan = f"--published --plan --workloads serial --targets 1/2 --taus {tau} --output plan"
        found, method = {}, ""
        for line in run(["sslab", "accuracy", *plan.split()], self.folder).splitlines():
            item = shlex.split(line)
            if item[:1] == ["run"]:
                method = dict(word.split("=") for word in item if "=" in word)["method"]
            elif item[:3] == ["main", "--", "showstopper"]:
                found[method.replace("-", "_")] = item[item.index("-f") : item.index("--warmup")]
        return found

    def _sweep(self, sweep: tuple[str, str, list[float]], protocol: Protocol) -> list[Cell]:
        """Simulate a program at some targets. Without control they determine the instances."""
        program, config, targets = sweep
        alone = math.floor(targets[0] * CPUS / 100 + 0.5)
        loads = [f"{target / 100:.6f}" for target in targets]
        classes = (f"profile:{program}.{draw}" for draw in self.draws)
        words = (
            f"sssim --csv -P {CPUS} -n {alone if config == 'nbench' else CPUS}"
            f" {shlex.join(self.modules(protocol.tau)[config])} --warmup {protocol.warmup}s"
            f" --settle {protocol.settle}s --duration {protocol.settle + protocol.seconds}s"
            f" --sweep load={','.join(loads)} --sweep class={','.join(classes)} {protocol.also}"
        )
        rows = list(csv.DictReader(run(shlex.split(words), self.folder).splitlines()))

        def median(load: str, name: str) -> float:
            return statistics.median(float(row[name]) for row in rows if row["load"] == load)

        def published(name: str, target: float) -> float:
            return float(constant_load(name)[program, target][config])

        return [
            Cell(
                program, config, target, median(load, "error_mean_percent"),
                median(load, "error_mse_e4"), published("mean-error", target), published("mse", target)
            )
            for target, load in zip(targets, loads)
        ]  # fmt: skip

    def _cells(
        self, configs: tuple[str, ...], protocol: Protocol = Protocol(),
        programs: tuple[str, ...] = PROGRAMS, targets: tuple[float, ...] = ()
    ) -> list[Cell]:  # fmt: skip
        sweeps: list[tuple[str, str, list[float]]] = []
        for program in programs:
            known = [target for name, target in constant_load("mse") if name == program]
            own = [target for target in known if target in targets or not targets]
            for config in configs:
                parts = [[target] for target in own] if config == "nbench" else [own]
                sweeps += [(program, config, part) for part in parts]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            found = pool.map(lambda sweep: self._sweep(sweep, protocol), sweeps)
            return [cell for cells in found for cell in cells]

    def square(self, words: str) -> float:
        """Return the mean squared error with the published feedback and rounds."""
        base = f"sssim -P {CPUS} -f realtime -F count=ratio -d averageq -D 107m --settle 5s"
        lines = run(shlex.split(f"{base} {words}"), self.folder).splitlines()
        return float(next(line for line in lines if line.startswith("mean squared")).split()[3])


# Texts of tables


def table(head: str, rows: Iterable[Iterable[object]]) -> str:
    """Return aligned columns, the first one on the left."""
    lines = [head.split(" | "), *([str(cell) for cell in row] for row in rows)]
    first, *widths = (max(map(len, column)) for column in zip(*lines))
    return "".join(
        "  ".join([name.ljust(first), *map(str.rjust, cells, widths)]).rstrip() + "\n"
        for name, *cells in lines
    )


COUNTS = "MSE within a factor of 2 | mean error, or 0.25 points"
Variants = dict[str, Protocol]


def count(cells: list[Cell]) -> tuple[str, str]:
    """Return how many mean squared errors and mean errors are near the published ones."""
    squares = sum(cell.has_close_square for cell in cells)
    errors = sum(cell.has_close_error for cell in cells)
    return f"{squares} of {len(cells)}", f"{errors} of {len(cells)}"


def counts(bench: Bench, what: str, configs: tuple[str, ...], variants: Variants) -> str:
    rows = ([name, *count(bench.cells(configs, how))] for name, how in variants.items())
    return table(f"{what} | {COUNTS}", rows)


def squares(bench: Bench, program: str, config: str, variants: Variants) -> str:
    return values(bench, program, config, variants, "%^2", "square", ".1f")


def values(
    bench: Bench, program: str, config: str, variants: Variants,
    unit: str = "points", name: str = "error", digits: str = "+.1f"
) -> str:  # fmt: skip
    """Return a program's errors at each target, with some options and as published."""
    found = {how: bench.cells((config,), variants[how], (program,)) for how in variants}
    rows = [[how, *(f"{getattr(c, name):{digits}}" for c in cells)] for how, cells in found.items()]
    any_of = next(iter(found.values()))
    rows.append(["published", *(f"{getattr(c, f'published_{name}'):{digits}}" for c in any_of)])
    targets = " | ".join(f"{cell.target:.4g} %" for cell in any_of)
    return table(f"{program}, {config}, {unit} | {targets}", rows)


# Simulated tables of the page


def agreement(bench: Bench) -> str:
    """Errors that are near the published ones, and those that are not"""
    cells = bench.cells(BASELINES + CONTROLLED)
    controlled = [cell for cell in cells if cell.config in CONTROLLED]
    worst = max(abs(cell.error - cell.published_error) for cell in controlled)
    rows = [
        [config, *(
            sum(c.has_close_square for c in cells if (c.config, c.program) == (config, program))
            for program in PROGRAMS
        )]
        for config in BASELINES + CONTROLLED
    ]  # fmt: skip
    outside = [
        [
            c.program, c.config, f"{c.target:.4g} %", f"{c.error:+.2f}", f"{c.published_error:+.2f}",
            f"{c.square:.2f}", f"{c.published_square:.2f}",
            "MSE" * (not c.has_close_square), "mean error" * (not c.has_close_error),
        ]
        for c in cells if not (c.has_close_square and c.has_close_error)
    ]  # fmt: skip
    groups = {"all": cells, "with feedback": controlled}
    for name, group in list(groups.items()):
        groups[f"{name}, not fitted"] = [cell for cell in group if not cell.is_fitted]
    counted = [[name, *count(group)] for name, group in groups.items()]
    exact = [cell._replace(error=0.0) for cell in controlled]
    counted.append(["with feedback, if our mean errors were 0", "", count(exact)[1]])
    return (
        table(f"cells | {COUNTS}", counted)
        + f"With feedback, mean errors differ by at most {worst:.2f} points.\n\n"
        + table(f"MSE within a factor of 2, of 5 targets | {' | '.join(PROGRAMS)}", rows)
        + "\n"
        + table(
            "outside | of | at | mean error | published | MSE | published | because of | ", outside
        )
    )


def time(bench: Bench) -> str:
    """Times of all processors together, as in the equations, or on the clock"""
    literal = f"-F {333 / CPUS:g}m,count=ratio"
    gain = f"-C bounds=none,start=target,ki={CPUS}"
    rbpid = {"on the clock": Protocol(), "of all CPUs": Protocol(f"{literal} {gain}")}
    geom = {"on the clock": Protocol(), "of all CPUs": Protocol(literal)}
    return counts(bench, "rbpid", PI, rbpid) + "\n" + counts(bench, "geom", GEOM, geom)


def idle(bench: Bench) -> str:
    """Busy and idle time that a kernel counts in ticks"""
    rates = {"exact": "", "1000 Hz": "--tick-rate 1000", "250 Hz": "--tick-rate 250"}
    sources = ("ratio", "idle", "ticks")
    variants = {
        f"{rate}, count={source}": Protocol(f"{option} -F count={source}")
        for rate, option in rates.items()
        for source in sources
    }
    return counts(bench, "with feedback", CONTROLLED, variants)


def previous(bench: Bench) -> str:
    """The duty that geom scales"""
    variants = {name: Protocol(f"-C previous={name}") for name in ("global", "own")}
    tables = (squares(bench, "sunflow", config, variants) for config in GEOM)
    return "\n".join([counts(bench, "geom", GEOM, variants), *tables])


def start(bench: Bench) -> str:
    """The initial value of the sum of past errors, and its bounds"""
    options = ("start=target,bounds=none", "start=0,bounds=none", "start=target,bounds=duty")
    variants = {option: Protocol(f"-C {option}") for option in options}
    tables = (squares(bench, program, "pi_even", variants) for program in ("fop", "sunflow"))
    return "\n".join([counts(bench, "rbpid", PI, variants), *tables])


def rounds(bench: Bench) -> str:
    """The length of a round"""
    variants = {"107 ms": Protocol(), "53 ms": Protocol(tau="53m")}
    cells = (("sunflow", "pi_even"), ("sunflow", "pi_uneven"), ("fop", "geom_even"))
    tables = (squares(bench, program, config, variants) for program, config in cells)
    return "\n".join([counts(bench, "with feedback", CONTROLLED, variants), *tables])


def phase(bench: Bench) -> str:
    """Where executors begin in their first rounds"""
    phases = ("hash", "together:20m", "together")
    variants = {name: Protocol(f"-D 107m,phase={name}") for name in phases}
    tables = (values(bench, program, "cdc", variants) for program in PROGRAMS)
    return "\n".join([*tables, counts(bench, "with feedback", CONTROLLED, variants)])


def warmup(bench: Bench) -> str:
    """The published warm-up without control, and a part of control that is not counted"""
    protocols = (Protocol(), Protocol(settle=180), Protocol(warmup=0, settle=180))
    variants = {f"--warmup {how.warmup} --settle {how.settle}": how for how in protocols}
    return counts(bench, "rbpid", PI, variants)


def machine(bench: Bench) -> str:
    """What else the published machine may have had"""
    options = ("--lateness 1m", "--preempt 3m", "--background 2%", "-F 100m,count=ratio")
    variants = {"as simulated": Protocol()} | {option: Protocol(option) for option in options}
    late = {"real-time priority": Protocol(), "--preempt 3m": Protocol("--preempt 3m")}
    table_of_late = squares(bench, "sunflow", "pi_even", late)
    return counts(bench, "with feedback", CONTROLLED, variants) + "\n" + table_of_late


def nine_means(ripple: float) -> str:
    """Return nine means of 180 s joined by lines, with a ripple of some points every 3 s."""
    means = (30, 42, 55, 61, 48, 52, 66, 50, 38, 38)
    lines = []
    for step in range(9 * 180 * 4):
        seconds = step / 4
        at, part = divmod(seconds / 180, 1)
        load = means[int(at)] + (means[int(at) + 1] - means[int(at)]) * part
        lines.append(f"{seconds:g}s {load + ripple * math.sin(2 * math.pi * seconds / 3):.4f}%\n")
    return "".join(lines)


def swing(bench: Bench) -> str:
    """The published harmonic interference: targets that vary in the rhythm of the control loop"""
    loop = 2 * math.pi * math.sqrt(0.333 * 0.107 / 2)
    geom, rbpid = "-c geom -C previous=global", "-c rbpid"
    periods = (0.55, 0.65, 0.85, 1.15, 2.03, 3.03)
    modules = {
        "geom": geom, "delta 166 ms": f"{geom} -F 166m,count=ratio", "delta 666 ms": f"{geom} -F 666m,count=ratio",
        "tau 53 ms": f"{geom} -D 53m", "rbpid": rbpid,
    }  # fmt: skip
    sine = "-t sine --duration 125s -T 50%,amplitude=5%,period="
    waves = (
        [name, *(f"{bench.square(f'{words} {sine}{1e3 * s:g}m'):.0f}" for s in periods)]
        for name, words in modules.items()
    )
    for name, points in (("alone", 0), ("ripple", 2)):
        (bench.folder / name).write_text(nine_means(points), "ascii")
    lengths = (1080, 600, 560, 540, 520, 480, 360, 180)
    traces = {
        "geom, ripple": ("ripple", geom),
        "geom, alone": ("alone", geom),
        "alone, ticks at 250 Hz": ("alone", f"{geom} --tick-rate 250"),
        "alone, ticks at 1000 Hz": ("alone", f"{geom} --tick-rate 1000"),
        "alone, phases together": ("alone", f"{geom} -D 107m,phase=together"),
        "rbpid, ripple": ("ripple", rbpid),
        "rbpid, alone": ("alone", rbpid),
    }
    fop = "-s even --class profile:fop.1 -t file -T"
    replays = (
        [name, *(
            f"{bench.square(f'{words} {fop} {trace},loop=no,scale={s / 1620:.9f}'):.1f}"
            for s in lengths
        )]
        for name, (trace, words) in traces.items()
    )  # fmt: skip
    return (
        table(f"MSE of a sine, period in s | {' | '.join(map(str, periods))}", waves)
        + f"\nThe loop swings with a period of 2 pi sqrt(delta tau / 2) = {loop:.2f} s.\n\n"
        + table(f"MSE of fop, replay in s | {' | '.join(map(str, lengths))}", replays)
    )


def knobs(bench: Bench) -> str:
    """Knobs of a simulated service"""
    script = SOURCE / "tests" / "bench" / "published_knobs.sh"
    return run([str(script), "--build", str(bench.build)], bench.folder)


# Tables computed from published values


def within(bench: Bench) -> str:
    """The largest of the published mean errors with feedback"""
    rows = []
    for name in ("constant-load-mean-error", "replay-mean-error"):
        words = [
            word
            for row in read(name)
            for column, word in row.items()
            if word and (column in CONTROLLED or column.isdigit())
        ]
        rows.append([name, len(words), f"{max(abs(float(word)) for word in words):.2f}"])
    return table("points | mean errors | largest", rows)


def interference(bench: Bench) -> str:
    """How much the published metric of interference varies over pairs, without avrora in front"""
    rows = []
    for environment in ("kvm", "lxc"):
        found: dict[str, list[float]] = {}
        for row in read(f"interference-{environment}"):
            placement, foreground = row.pop("pinning"), row.pop("foreground")
            if "avrora" not in foreground:
                found.setdefault(placement, []).extend(float(word) for word in row.values())
        for placement, metric in found.items():
            mean, deviation = statistics.mean(metric), statistics.stdev(metric)
            part = f"{100 * deviation / abs(mean):.1f} %"
            name = f"{environment}, {placement}"
            rows.append([name, len(metric), f"{mean:.1f}", f"{deviation:.1f}", part])
    return table("metric | pairs | mean | deviation, points | of the mean", rows)


def power(bench: Bench) -> str:
    """Published powers, compared with each other"""
    fits = {
        row["placement"]: [float(row[name]) for name in ("square", "slope", "constant")]
        for row in read("actuators-power")
    }

    def watts(placement: str, cores: int) -> float:
        square, slope, constant = fits[placement]
        return square * cores**2 + slope * cores + constant

    def saved(less: float, more: float) -> str:
        return f"{100 * (1 - less / more):.1f} %"

    rows = [
        ["one more busy core on an idle machine", f"{watts('free', 1) - watts('free', 0):.1f} W"],
        ["one more busy core with 31 busy", f"{watts('free', 32) - watts('free', 31):.1f} W"],
        ["saved by 8 instead of 32 busy cores", saved(watts("free", 8), watts("free", 32))],
        *(
            [f"saved by pinning {n} busy cores", saved(watts("pinned", n), watts("free", n))]
            for n in (8, 16, 24)
        ),
    ]
    for row in read("actuators-means"):
        if row["from"] == "Table 6":
            pinned, free = float(row["watts"]), float(row["other_watts"])
            change = f"{pinned - free:+.1f} W, {100 * (pinned / free - 1):+.1f} %"
            rows.append([f"pinned, {row['rate']} requests a second", change])
    for row in read("actuators-savings"):
        lost, gained = float(row["throughput_lost_percent"]), float(row["power_saved_percent"])
        rows.append([f"{row['knob']}: loss over saving", f"{lost / gained:.2f}"])
    return table("published | ", rows)


PARTS: tuple[Callable[[Bench], str], ...] = (
    agreement, time, idle, previous, start, rounds, phase, warmup, machine, swing,
    within, interference, knobs, power,
)  # fmt: skip


def main(words: list[str] | None = None) -> int:
    names = [part.__name__ for part in PARTS]
    parser = argparse.ArgumentParser(
        prog="published.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "part", nargs="*", metavar="PART", help=f"of {' '.join(names)}; default all"
    )
    parser.add_argument(
        "--draws", type=int, default=5, help="of each program; their median counts; default 5"
    )
    parser.add_argument("--build", type=Path, default=SOURCE / "build", help="default build")
    request = parser.parse_args(words)
    for name in request.part:
        if name not in names:
            parser.error(f"{name}: unknown part: choose from {' '.join(names)}")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(request.build.resolve(), request.draws, Path(folder))
        for part in PARTS:
            if not request.part or part.__name__ in request.part:
                print(
                    f"== published.py {part.__name__}: {part.__doc__}\n\n{part(bench)}", flush=True
                )
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Fail as error:
        sys.exit(f"published.py: {error}")
