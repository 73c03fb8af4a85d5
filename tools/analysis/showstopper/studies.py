# SPDX-License-Identifier: Apache-2.0
"""Records of a study together: their differences, and one table of all observations."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Sequence, TypeVar

import pandas as pd

from . import __version__, inputs, steps, text
from .inputs import Failure, Source
from .records import Record
from .runs import ORIGIN, Origin, Run, Settings, place_of
from .text import Notes, UserError
from .verdicts import LOAD, RANKS, THROUGHPUT, Verdict

if TYPE_CHECKING:
    from .findings import Finding, Headline, Worth
    from .fleets import Fleet
    from .page import Page
    from .published import Published
    from .responses import Responses
    from .tables import Sheet

Value = TypeVar("Value")

OTHERS_MAX = 0.02  # a run is disturbed if others used more of the machine
SAME_SHARE = 1e-6  # shares are in manifests with three decimals
USUAL_AXES = ("load", "target", "rate")


def others_disturb(others: float) -> bool:
    """Return whether other processes disturbed a run. An unknown part does not."""
    return others > OTHERS_MAX + SAME_SHARE


def others_permit(one: float, other: float) -> bool:
    """Return whether two runs may be compared: others used about the same of the machine."""
    return not abs(one - other) > OTHERS_MAX + SAME_SHARE


@dataclass
class Differences:
    """Columns of plans in which the runs of a set differ, in the order of the plans."""

    names: list[str] = field(default_factory=list)  # without `round` and `published`
    follows: list[bool] = field(default_factory=list)  # distinguishes no series by itself
    axis: str = ""  # the column with numbers along which figures are compared

    @property
    def axis_is_load(self) -> bool:
        return self.axis in USUAL_AXES

    def in_variant(self, run: Run, name: str) -> bool:
        """Return whether a column is part of a run's variant."""
        if name in ORIGIN or self.follows[self.names.index(name)]:
            return False
        if name == "instances":
            return not run.stands_for > 0 and (name != self.axis or bool(run.method))
        return name != self.axis


@dataclass
class Report:
    """What is reported: the records of one or two sets, and what is known about them."""

    settings: Settings = field(default_factory=Settings)
    leave_out: str = ""  # leave out records with this verdict or a worse one
    runs: list[Run] = field(default_factory=list)
    responses: list[Responses] = field(default_factory=list)
    fleets: list[Fleet] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    notes: Notes = field(default_factory=Notes)
    decides: bool = False  # of records, only what --decide and tables of a duet need is read
    manifests: int = 0  # number of manifests and studies that were read
    compares: bool = False  # two sets are compared
    names: tuple[str, str] = ("", "")  # of the sets
    trace: str = ""  # over which the throughput is predicted
    published: str = ""  # the folder with published figures; '': the installed one
    prefix: str = ""  # of all absolute paths, which readers do not see
    _names: set[str] = field(default_factory=set)
    _places: set[tuple[int, Any]] = field(default_factory=set)
    _known: dict[Any, Any] = field(default_factory=dict)

    def set_name(self, set_: int) -> str:
        return self.names[set_] or ("first set", "second set")[set_]

    # Reading

    def read(self, first: Sequence[str], second: Sequence[str] = ()) -> None:
        """Read all records that the paths name; those that cannot be read become failures."""
        gatherer = inputs.Gatherer()
        for found in gatherer.gather(first, second):
            if isinstance(found, Failure):
                self.failures.append(found)
            elif isinstance(found, inputs.Fleet):
                self._add_fleet(found)
            else:
                self._add_record(found)
        self.manifests = gatherer.manifests
        self.compares = bool(second)
        self._choose_titles()
        self._set_variants()

    def _add_fleet(self, found: inputs.Fleet) -> None:
        from .fleets import Fleet

        try:
            fleet = Fleet.read(found.path, self.notes)
        except UserError as error:
            self.failures.append(Failure(found.path, str(error)))
            return
        fleet.set = found.set
        self.fleets.append(fleet)
        if self.leave_out:
            self.notes.add(
                f"{found.path}: --leave-out leaves out no node of a fleet; --check names the "
                "invalid ones"
            )

    @property
    def verdicts(self) -> list[tuple[str, Verdict]]:
        """The names of all records with their verdicts."""
        judged = [(run.name, run.verdict) for run in self.runs]
        judged += [(responses.name, responses.verdict) for responses in self.responses]
        failed = [f for f in self.failures if f.result != "not checked"]
        return judged + [(f.name, Verdict(f.result, f.why)) for f in failed]

    def _add_record(self, source: Source) -> None:
        name = inputs.choose_name(source.path, self._names)
        record: Run | Responses
        try:
            if source.is_requests:
                record = self._read_responses(source, name)
            else:
                record = self._read_run(source, name)
        except UserError as error:
            self.failures.append(Failure(name, str(error)))
            return
        has_both = isinstance(record, Run) and not record.columns
        verdict = record.verdict.about(LOAD if has_both else THROUGHPUT)
        if self._leaves_out(verdict):
            why = f"left out: {verdict.result}: {verdict.reasons}"
            self.failures.append(Failure(name, why, verdict.result))
            return
        self._names.add(name)
        self._places.add((record.set, record.place))
        if isinstance(record, Run):
            self.runs.append(record)
        else:
            self.responses.append(record)

    def _leaves_out(self, verdict: Verdict) -> bool:
        return bool(self.leave_out) and verdict.rank >= RANKS[self.leave_out]

    def _leave_out_throughput(self, record: Record) -> None:
        """Leave out what a run counted if only that is not to be reported. The figures of a study
        are those."""
        verdict = record.verdict.about(THROUGHPUT)
        if self._leaves_out(verdict) and not self._leaves_out(record.verdict.about(LOAD)):
            record.without_throughput = (
                f"throughput left out: {verdict.result}: {verdict.reasons}"
            )

    def _read_run(self, source: Source, name: str) -> Run:
        record = Record(source.path, name)
        settings = self._settings(source)
        run = Run(record, settings, source.set, source.manifest, dict(source.columns))
        if not run.columns:
            self._leave_out_throughput(record)
        if self.decides:
            record.read_samples  # raises UserError if there are none
        else:
            run.read()
        run.place = place_of(source.path)
        self._note_repeated(run)
        run.origin = Origin.of(source.cells, record.labels)
        if not self.decides:
            run.find_surroundings()
        if run.columns:
            record.verdict = record.verdict.of_study(run.others, run.is_launch)
        return run

    def _read_responses(self, source: Source, name: str) -> Responses:
        from .responses import Responses

        responses = Responses.read(source.path, name)
        responses.set = source.set
        responses.manifest = source.manifest
        responses.place = place_of(source.path)
        self._note_repeated(responses)
        responses.take_origin(Origin.of(source.cells, {}), dict(source.columns))
        responses.edge = self._settings(source).edge
        return responses

    def _settings(self, source: Source) -> Settings:
        """Return the settings, with the edge of the manifest unless --edge is given."""
        edge = text.number(source.cells.get("edge_seconds", ""))
        if self.settings.edge >= 0 or edge is None or not edge >= 0:
            return self.settings
        return replace(self.settings, edge=edge)

    def _all(self) -> Iterator[Any]:
        yield from self.runs
        yield from self.responses

    def _note_repeated(self, record: Any) -> None:
        """Note a record of a set that is given again: means take it for a repetition."""
        if record.place and (record.set, record.place) in self._places:
            record.notes.add("this record is given more than once, and counts each time")

    def _choose_titles(self) -> None:
        """Make titles from names, without the folders that all absolute paths share."""
        paths = [record.name for record in self._all() if record.name.startswith("/")]
        shared = os.path.commonprefix(paths)
        prefix = shared[: shared.rfind("/") + 1]
        self.prefix = prefix
        for run in self.runs:
            run.record.title = run.name.removeprefix(prefix)
        for responses in self.responses:
            responses.title = responses.name.removeprefix(prefix)

    # Differences

    @cached_property
    def differences(self) -> Differences:
        planned = [run for run in self.runs if run.columns]
        names = list(dict.fromkeys(n for run in planned for n in run.columns))
        frame = pd.DataFrame([{n: run.columns.get(n, "") for n in names} for run in planned])
        sets = pd.Series([run.set for run in planned], dtype=int)
        if frame.empty:
            return Differences()
        differ = frame.groupby(sets, sort=False, dropna=False).nunique(dropna=False).gt(1).any()
        names = [n for n in names if differ[n] and n not in ("round", "published")]
        known = [n for n in names if n in ORIGIN and n != "stands_for"]
        groups = frame.assign(_set=sets).groupby(["_set", *known], sort=False, dropna=False)
        constant = groups[names].nunique(dropna=False).le(1).all() if names else pd.Series(dtype=bool)
        follows = [n not in known and bool(constant[n]) for n in names]
        differences = Differences(names, follows)
        differences.axis = _choose_axis(frame, [n for n, f in zip(names, follows) if not f])
        differences.axis = differences.axis or _choose_axis(frame, names)
        return differences

    def _set_variants(self) -> None:
        differences = self.differences
        for run in self.runs:
            if not run.columns:
                continue
            if differences.axis and differences.axis != "speed":
                run.axis = text.share(run.columns.get(differences.axis, "") or "x")
            pairs = [
                (name, f"{name}={run.columns.get(name, '')}")
                for name in differences.names
                if differences.in_variant(run, name)
            ]
            run.variant = ", ".join(words for _, words in pairs)
            run.family = ", ".join(words for name, words in pairs if name != "instances")
        _set_response_variants(self.responses)

    # Groups

    def groups(
        self, keys: Iterable[str], where: Callable[[Run], bool] = lambda run: True
    ) -> list[list[Run]]:
        """Return runs that agree in all keys, a list for each combination in order of its first
        run. A key is that of `sort_key()`."""
        found: dict[Any, list[Run]] = {}
        keys = list(keys)
        for run in filter(where, self.runs):
            found.setdefault(sort_key(run, keys), []).append(run)
        return list(found.values())

    def beside(self, run: Run, role: str) -> Run | None:
        """Return the run that had this role in the same group, placement and environment."""
        return self.once(_runs_of_groups).get((role, *_group_key(run))) if run.group else None

    # Results

    @property
    def has_results(self) -> bool:
        return (
            any(run.errors.count > 0 for run in self.runs)
            or any(responses.has_results for responses in self.responses)
            or any(fleet.used > 0 for fleet in self.fleets)
        )

    # Published figures

    @cached_property
    def published_figures(self) -> Published:
        """Empty without an experiment. Experiments of duet have none: they compare commands of the
        user."""
        from . import published

        of_runs = any(run.experiment not in ("", "duet") for run in self.runs)
        if not (of_runs or any(responses.knobs for responses in self.responses)):
            return published.Published()
        return published.read(self.published or published.folder(), "ssreport", self.notes)

    # Topics

    def from_topics(self, function: str, *arguments: Any) -> Iterator[Any]:
        from .topics import modules

        for module in modules():
            if hasattr(module, function):
                yield getattr(module, function)(self, *arguments)

    def prepare(self) -> None:
        """Let topics add their notes to records, before these are printed."""
        for _ in self.from_topics("notes"):
            pass

    def once(self, function: Callable[..., Value], *arguments: Any) -> Value:
        """Return function(report, *arguments), which is computed only once."""
        key = (function, *arguments)
        if key not in self._known:
            self._known[key] = function(self, *arguments)
        return self._known[key]  # type: ignore[no-any-return]

    @cached_property
    def _sheets(self) -> dict[str, Sheet]:
        return {}

    def table(self, name: str) -> Sheet:
        from .tables import Sheet
        from .topics import tables

        if name not in self._sheets:
            table = next(table for table in tables() if table.name == name)
            if callable(table.columns):  # they depend on the plan
                table = replace(table, columns=table.columns(self))
            self._sheets[name] = Sheet(table, table.frame(self), self.prefix)
        return self._sheets[name]

    @cached_property
    def worth(self) -> Worth:
        from .findings import Worth

        return Worth.of(self)

    @cached_property
    def findings(self) -> list[Finding]:
        return [finding for found in self.from_topics("findings") for finding in found]

    @cached_property
    def headline(self) -> Headline:
        """The question that the records answer, and the answer."""
        from . import findings
        from .topics import asking

        asked = (topic.answer(self) for topic in asking())
        headline: Headline | None = next((answer for answer in asked if answer), None)
        if headline is None:
            return findings.Headline("")
        worth = findings.Worth.of(self, headline.needs)
        if worth.is_nothing:
            about = findings.first(self.findings, "verdicts")
            return replace(headline, answer="", finding=about)
        sentence = headline.sentence
        return replace(headline, answer=worth.qualify(sentence)) if sentence else headline

    def text(self) -> str:
        lines = [text.wrap(self.headline.question), text.wrap(self.headline.sentence)]
        head = "".join(f"{line}\n" for line in lines if line)
        gap = "\n" if self.headline.question else ""
        # Findings end with an empty line, and tables begin with one.
        shown = "".join(self.from_topics("text")).removeprefix("\n").replace("\n\n\n", "\n\n")
        return head + gap + shown

    def page(self, files: Sequence[str] = ()) -> Page:
        """Return the page; `files` are next to it."""
        from .page import Note, Page

        kinds: dict[str, tuple[str, list[Any]]] = {
            "run": ("runs", self.runs),
            "record of requests": ("records of requests", self.responses),
            "fleet": ("fleets", self.fleets),
        }
        counts = [
            f"{len(items)} {one if len(items) == 1 else several}"
            for one, (several, items) in kinds.items()
            if items
        ]
        counted = " and ".join([", ".join(counts[:-1]), counts[-1]] if counts[1:] else counts)
        reported = f"{counted or '0 runs'} reported"
        question = self.headline.question
        notes = [Note(failure.why, failure.name) for failure in self.failures]
        notes += [Note(str(self.notes))] if self.notes else []
        parts = [part for found in self.from_topics("sections") for part in found]
        parts += [part for found in self.from_topics("details") for part in found]
        return Page(
            question or reported,
            parts,
            self.headline.sentence,
            f"{reported}." if question else "",
            notes,
            files,
            f"ssreport {__version__}",
        )

    @cached_property
    def rates(self) -> pd.DataFrame:
        from .rates import df_rates

        return df_rates(self)

    @cached_property
    def observations(self) -> pd.DataFrame:
        """THE table: one row per observation, which is a run or a step of it (`level`). Columns of
        plans are `plan.NAME`; absent texts are '', absent numbers NaN."""
        rows = [row for at, run in enumerate(self.runs) for row in _observe(self, at, run)]
        frame = pd.DataFrame(rows)
        texts = [n for n in frame if frame[n].dtype == object]
        return frame.fillna({name: "" for name in texts})


def _group_key(run: Run) -> tuple[Any, ...]:
    return run.set, run.manifest, run.group, run.environment_name, run.placement


def _runs_of_groups(report: Report) -> dict[Any, Run]:
    """Return the first run of each role in each group."""
    return {(run.role, *_group_key(run)): run for run in reversed(report.runs) if run.role}


KEYS: dict[str, Callable[[Run], Any]] = {
    "environment": lambda run: (run.environment_name, run.measured_in),
    "workload": lambda run: (run.workload, run.variant),
    "family": lambda run: (run.workload, run.family),
    "target": lambda run: (_rounded(run.target), _rounded(run.axis)),
    "cpus": lambda run: _rounded(run.record.load_cpus),
    "command": lambda run: (
        ("", "", 0) if run.workload else (" ", run.record.command, _rounded(run.record.instance_count))
    ),
}


def _rounded(value: float) -> float:
    """Return a number with the digits that a manifest can express; absent ones come first."""
    return -math.inf if math.isnan(value) else round(value, 9)


def sort_key(run: Run, keys: Iterable[str]) -> tuple[Any, ...]:
    """Return what orders runs by keys: attributes of runs or names in KEYS."""
    values = (KEYS[key](run) if key in KEYS else getattr(run, key) for key in keys)
    return tuple(_rounded(value) if isinstance(value, float) else value for value in values)


def _choose_axis(frame: pd.DataFrame, names: list[str]) -> str:
    """Choose the axis: a column of loads or rates if there is one, otherwise the column of
    numbers with the most values."""

    def count(name: str) -> int:
        values = frame[name].map(lambda value: text.share(value) if value else math.nan)
        return 0 if values.isna().any() else int(values.nunique())

    counts = {name: count(name) for name in names}
    usual = [name for name in USUAL_AXES if counts.get(name, 0) > 1]
    best = max(names, key=lambda name: counts[name], default="")
    return usual[0] if usual else best if best and counts[best] > 1 else ""


def _set_response_variants(responses: list[Responses]) -> None:
    """Set the variant of records of requests: the columns of plans in which records of one
    workload differ although all that otherwise separates services and their series is the same."""
    planned = [r for r in responses if r.workload and r.columns]
    groups: dict[Any, list[Responses]] = {}
    for r in planned:
        groups.setdefault(r.series_key, []).append(r)
    same_service = {*ORIGIN, "rate", "load", "seed", "knobs", "cap", "balance"}
    same_service -= {"role", "placement", "trace", "speed", "measured_in", "bursts"}

    def is_constant(name: str) -> bool:
        values = ({r.columns.get(name, "") for r in group} for group in groups.values())
        return all(len(group) == 1 for group in values)

    for r in planned:
        names = (n for n in r.columns if n not in same_service and not is_constant(n))
        r.variant = ", ".join(f"{n}={r.columns[n]}" for n in names)


def _observe(report: Report, at: int, run: Run) -> Iterator[dict[str, Any]]:
    record = run.record
    known = {
        "run": at,
        "set": run.set,
        "study": run.manifest,
        "record": run.name,
        "title": run.title,
        **{name: getattr(run.origin, name) for name in ORIGIN},
        "environment": run.environment_name,
        "variant": run.variant,
        "family": run.family,
        "axis": run.axis,
        "verdict": run.verdict.result,
        "covers": "" if run.energy.empty else run.origin.energy or "not known",
        "instances": record.instance_count,
        "cpus": record.load_cpus,
        **{f"plan.{name}": value for name, value in run.columns.items()},
    }
    errors = run.errors
    power = _power_of(report, run, record.counted_from, record.counted_to)
    yield known | {
        "level": "run",
        "step": 0,
        "half": 0,
        "from": record.counted_from,
        "to": record.counted_to,
        "samples": errors.count,
        "target_mean": errors.target_mean,
        "load": errors.load_mean,
        "error_mean_percent": errors.error_mean_percent,
        "error_mse_e4": errors.error_mse_e4,
        "throughput": run.throughput,
        "bound": run.bound,
        **power,
        "power_note": _note_power(report, run, power),
    }
    for number, step in enumerate(run.steps.to_dict("records"), 1):
        power = _power_of(report, run, step["from"], step["to"])
        step["target_mean"] = step["target"]
        del step["target"]
        yield known | step | {"level": "step", "step": number} | power


def _power_of(report: Report, run: Run, from_: float, to: float) -> dict[str, float]:
    """Return the energy of a part of a run. If the power includes both sides of a pair, it is that
    of the background, together with the iterations of both if they run the same program.

    Power may be known for only a part of the time, whose energy is not that of all iterations:
    their energy assumes the mean power for the rest.
    """
    power = run.power(from_, to)
    iterations = math.nan
    if not run.energy.empty and not is_counted_elsewhere(report, run):
        foreground, adds_up = consumer_of(report, run)
        rate = steps.throughput(run.record, from_, to) if adds_up else math.nan
        rate += foreground.throughput_beside(run, from_, to) if foreground else 0
        iterations = rate * (to - from_)
    watts, length = power["watts"], to - from_
    return {
        "watts": watts,
        "watt_hours": power["watt_hours"] if power["seconds"] > 0 else math.nan,
        "power_seconds": power["seconds"],
        "power_unknown": power["unknown"],
        "power_iterations": iterations,
        "iterations_per_watt_hour": 3600 * iterations / (length * watts) if watts > 0 else math.nan,
    }


def is_counted_elsewhere(report: Report, run: Run) -> bool:
    """Return whether the energy of a foreground is counted with its background."""
    return run.shares_power and run.role == "foreground" and bool(report.beside(run, "background"))


def consumer_of(report: Report, run: Run) -> tuple[Run | None, bool]:
    """Return the foreground that the power of a run includes, and whether iterations add up."""
    if not run.shares_power:
        return None, True
    foreground = report.beside(run, "foreground")
    return foreground, foreground is not None and foreground.workload == run.workload != ""


def _note_power(report: Report, run: Run, power: dict[str, float]) -> str:
    if run.energy.empty:
        return "no power was recorded"
    if is_counted_elsewhere(report, run):
        return "counted with its background"
    foreground, adds_up = consumer_of(report, run)
    length, known = run.record.counted_to - run.record.counted_from, power["power_seconds"]
    # Seconds do not begin with the run, so one may be missing.
    all_ = max(known + power["power_unknown"], math.floor(length) - 1)
    notes = Notes()
    if known < all_ - 0.5:
        notes.add(f"power is known for {known:.0f} of {all_:.0f} s")
    if foreground and adds_up:
        notes.add("power and iterations of both programs")
    elif foreground:
        notes.add("power of two programs, whose iterations do not add up")
    elif not adds_up and run.role in ("foreground", "background"):
        notes.add("power of two programs, of which one is not reported")
    elif not adds_up:
        notes.add("power of all commands of the run, not of this one alone")
    if not run.record.has_iterations:
        notes.add("iterations were not counted")
    return str(notes)


class Study:
    """
    The records of a study, for a notebook: `Study("study").observations`.

    The paths are those of ssreport(1): records, studies, fleets, experiments. Settings are those
    of its options: edge, interval, confidence, deviation.
    """

    def __init__(self, *paths: str | os.PathLike[str], **settings: float) -> None:
        self.report = Report(Settings(**settings))
        self.report.read([str(path) for path in paths])

    @property
    def observations(self) -> pd.DataFrame:
        """One row per observation: a run, a step of it, or a rate of requests (`level`).

        run, set, study, record, title                   where it comes from
        workload, method, role, placement, environment   what ran; as in a manifest
        plan.NAME                                        columns of the plan, as texts
        verdict, others                                  what it is worth
        step, half, from, to, begin, end                 seconds; begin and end include edges
        target_mean, load, load_low, load_high           fractions of 1
        error_mean_percent, error_mse_e4                 in percent, and its square
        throughput, bound, rate_low, rate_high           iterations per second
        watts, watt_hours, iterations_per_watt_hour      power, if it was sampled
        rate, intended_..., actual_...                   requests; response times in seconds

        `run` is a position in `records`, and -1 of requests. Absent texts are '', absent numbers
        NaN.
        """
        from .rates import df_observations

        frames = [self.report.observations, df_observations(self.report)]
        frame = pd.concat([one for one in frames if len(one)] or frames, ignore_index=True)
        texts = [name for name in frame if frame[name].dtype == object]
        return frame.fillna({name: "" for name in texts})

    @property
    def records(self) -> list[Record]:
        return [run.record for run in self.report.runs]

    def topic(self, name: str) -> Any:
        """Return a topic of the report, such as "interference": its tables and pictures, for these
        records. dir() lists them."""
        from .topics import Topic

        return Topic(name, self.report)
