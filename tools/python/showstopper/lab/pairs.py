# SPDX-License-Identifier: Apache-2.0
"""
Pairs of workloads, in a balanced order.

After any run of a study, the numbers of times that each workload was in front in each place differ
by at most one, and likewise at the back. A study that is interrupted, or a machine that changes
over time, thus affects all pairs alike. This requires that each workload is in equally many pairs,
and as often in front as at the back; otherwise the counts differ accordingly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ..text import UserError, show

Pair = tuple[str, str]  # in front, and at the back
Edges = list[list[int]]  # their number, by front and back


def form(text: str, workloads: Sequence[str], background: Sequence[str]) -> list[Pair]:
    """
    Return the pairs of --pairs or, without it, of each workload with each background.

    text: all, symmetric, a list such as h2:xz,xz:h2, or ''
    """
    for names in (workloads, background):
        _refuse_twice("workload", "'{}'", names)
    if text == "symmetric":
        return _symmetric(workloads)
    if text in ("", "all"):
        backs = workloads if text else background
        return [(front, back) for front in workloads for back in backs]
    found = [_read(pair) for pair in text.split(",")]
    _refuse_twice("pair", "{}", [":".join(pair) for pair in found])
    return found


def _refuse_twice(noun: str, form_of_name: str, names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            named = f"the {noun} {form_of_name.format(show(name))} is named twice"
            raise UserError(f"{named}: remove one of them")
        seen.add(name)


def _symmetric(names: Sequence[str]) -> list[Pair]:
    """
    Pair each name with itself and once with every other.

    The names are in a circle, and each is in front of those that follow it, up to half of the
    circle. If their number is even, each of two names that face each other would be in front of the
    other, so only the first is.
    """
    count = len(names)
    pairs = []
    for apart in range(count // 2 + 1):
        fronts = apart if apart and 2 * apart == count else count
        pairs += [(names[i], names[(i + apart) % count]) for i in range(fronts)]
    return pairs


def _read(text: str) -> Pair:
    front, colon, back = text.partition(":")
    if not (front and back) or ":" in back:
        use = "use all, symmetric, or a list such as h2:xz,xz:h2"
        raise UserError(f"'{show(text)}' is not a pair: {use}")
    return front, back


def names_of(pairs: Sequence[Pair]) -> list[str]:
    """Return all workloads of pairs, in the order of their first use."""
    return list(dict.fromkeys(name for pair in pairs for name in pair))


def order(
    pairs: Sequence[Pair], places: Sequence[str], rounds: int
) -> Iterator[tuple[str, str, str, int]]:
    """Yield front, back, place and round of each run. Pairs of a group are in different places."""
    groups = _groups(pairs)
    for number_of_round in range(1, rounds + 1):
        for group in groups:
            divisor = math.gcd(len(group), len(places))
            for first in range(divisor):
                for turn in range(len(places) // divisor):
                    for i, (front, back) in enumerate(group):
                        at = (first + turn * len(group) + i) % len(places)
                        yield front, back, places[at], number_of_round


def _groups(pairs: Sequence[Pair]) -> list[list[Pair]]:
    """
    Divide pairs into groups in which each name is at most once in front and once at the back.

    Pairs are the edges of a bipartite graph: each name is a node in front and a node at the back.
    Gaps are edges that give all nodes the same degree. A graph with equal degrees consists of
    perfect matchings, which are the groups.
    """
    names = names_of(pairs)
    index = {name: i for i, name in enumerate(names)}
    rest = {(index[front], index[back]) for front, back in pairs}
    edges = [[int((front, back) in rest) for back in index.values()] for front in index.values()]
    groups = []
    for _ in range(_add_gaps(edges)):
        group = []
        for front, back in sorted((front, back) for back, front in _match(edges).items()):
            edges[front][back] -= 1
            if (front, back) in rest:
                rest.remove((front, back))
                group.append((names[front], names[back]))
        groups.append(group)
    return groups


def _add_gaps(edges: Edges) -> int:
    """Add edges until all nodes have the same degree, which is returned."""
    fronts = [sum(row) for row in edges]
    backs = [sum(row[back] for row in edges) for back in range(len(edges))]
    degree = max(fronts + backs)
    lacking = iter([back for back, has in enumerate(backs) for _ in range(degree - has)])
    for front, has in enumerate(fronts):
        for _ in range(degree - has):
            edges[front][next(lacking)] += 1
    return degree


def _match(edges: Edges) -> dict[int, int]:
    """Return a perfect matching: a front for each back."""
    fronts: dict[int, int] = {}
    for front in range(len(edges)):
        _add_front(edges, fronts, front)
    return fronts


def _add_front(edges: Edges, fronts: dict[int, int], first: int) -> None:
    """
    Find a back for a front; others change theirs if necessary (an augmenting path).

    This is a search in depth, without recursion, since there may be a thousand names.
    """
    count = len(edges)
    tried: set[int] = set()
    path = [(first, iter(range(count)))]
    backs: list[int] = []  # of the fronts of the path
    while path:
        front, distances = path[-1]
        for distance in distances:
            back = (front + distance) % count
            if back not in tried and edges[front][back]:
                break
        else:
            path.pop()
            del backs[len(path) - 1 :]
            continue
        tried.add(back)
        backs.append(back)
        if back not in fronts:
            fronts.update(zip(backs, (front for front, _ in path)))
            return
        path.append((fronts[back], iter(range(count))))
