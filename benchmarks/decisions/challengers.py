"""Releases made by other means: clusters with swaps, levels by local search, recodings by hand, cheapest classes dissolved.

None shares code with the package, and each tries what an able outsider would: several losses, several weights of the columns, and
choice by a workload of its own. What comes out is checked and measured like the advised release.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from .measures import Domain, Flags, Floats, Ints, Problem, Release, Workload

_MOVES = 2
"""How often all rows are looked at for a move or a swap."""
_NEAR = 12
"""Classes that a row is tried in."""
_SUPPRESSED = (0.0, 0.05)


def challenge(problem: Problem, rival: Workload) -> Iterator[tuple[str, Release]]:
    """Every challenger's releases; those of local search are chosen by `rival`, a workload that nobody is measured by."""
    yield from by_hand(problem)
    yield from by_levels(problem, rival)
    yield from by_cuts(problem, rival)
    yield from by_clusters(problem)


# --- boxes: classes whose labels are ranges, nodes of a taxonomy, or sets


class Boxes:
    """What a class says of each column: a range where it has an order, else the lowest node of its taxonomy, else a set."""

    def __init__(self, problem: Problem, *, masks: bool) -> None:
        self.problem, self.names = problem, problem.made.quasi
        self.order: list[Ints] = []  # the place of each value on its column
        self.nodes: list[list[Ints]] = []  # for a taxonomy: the node of each place, from fine to coarse
        self.ranges: list[bool] = []
        for name in self.names:
            domain = problem.domains[name]
            ladder = self._ladder(name, domain) if masks else []
            order = np.lexsort([*ladder]) if ladder else np.arange(len(domain))
            place = np.empty(len(domain), dtype=np.int64)
            place[order] = np.arange(len(domain))
            self.order.append(place)
            self.nodes.append([level[order] for level in ladder])
            self.ranges.append(domain.ordered and not ladder)
        self.code = np.array([self.order[j][problem.domains[n].code] for j, n in enumerate(self.names)])
        self.size = np.array([len(problem.domains[name]) for name in self.names])
        self.missing = np.array([problem.domains[name].has_missing for name in self.names])

    def _ladder(self, name: str, domain: Domain) -> list[Ints]:
        tree = self.problem.made.trees.get(name)
        if tree is not None:
            height = len(next(iter(tree.values())))
            return [domain.coarser(lambda v, h=h: tree[v][h] if v in tree else "missing") for h in range(height)]  # type: ignore[misc]
        if "prefix" in self.problem.made.rules.get(name, {}):
            return [
                domain.coarser(lambda v, n=n: str(v)[:n])  # type: ignore[misc]
                for n in sorted(self.problem.made.rules[name]["prefix"], reverse=True)
            ]
        return []

    def covered(self, j: int, held: Flags) -> Flags:
        """What labels cover, classes x places, from what classes hold."""
        size = held.shape[1]
        low, high = held.argmax(axis=1), size - 1 - held[:, ::-1].argmax(axis=1)
        if not self.ranges[j] and not self.nodes[j]:
            cover = held.copy()
        else:
            cover = np.ones_like(held)
            at = np.arange(size)
            if self.ranges[j]:
                cover = (at >= low[:, None]) & (at <= high[:, None])
            for level in reversed(self.nodes[j]):
                same = level[low] == level[high]
                cover[same] = level[None, :] == level[low[same], None]
            one = low == high
            cover[one] = held[one]
        if self.missing[j]:  # beside others a missing value makes all of it unknown
            last = int(self.order[j][size - 1])
            cover[held[:, last] & (held.sum(axis=1) > 1)] = True
        return cover

    def release(self, member: Ints) -> Release:
        """The release of classes that hold every row."""
        count = int(member.max()) + 1
        labels = {}
        for j, name in enumerate(self.names):
            held = np.zeros((count, int(self.size[j])), dtype=bool)
            held[member, self.code[j]] = True
            cover = self.covered(j, held)[:, self.order[j]]  # back to the order of the values
            unique, number = np.unique(cover, axis=0, return_inverse=True)
            labels[name] = (number.reshape(-1)[member], unique)
        return self.problem.own(labels)


class Grouping:
    """Rows in classes, and what moving one costs: the widths of the classes on each column, by the columns' weights."""

    def __init__(self, boxes: Boxes, member: Ints, weight: Floats) -> None:
        self.boxes, self.member = boxes, member
        self.weight = weight / boxes.size
        self.rows: list[list[int]] = [[] for _ in range(int(member.max()) + 1)]
        for row, of in enumerate(member.tolist()):
            self.rows[of].append(row)
        self.code = boxes.code
        self.sets = np.array([not r and not n for r, n in zip(boxes.ranges, boxes.nodes, strict=True)])
        self.wide = self._wide_of_nodes()
        self.count = [
            np.zeros((len(self.rows), int(size)), dtype=np.int64) if is_set else None
            for size, is_set in zip(boxes.size, self.sets, strict=True)
        ]
        self.low = np.zeros((len(self.code), len(self.rows)), dtype=np.int64)
        self.high = np.zeros_like(self.low)
        for of in range(len(self.rows)):
            self.refresh(of)

    def _wide_of_nodes(self) -> list[list[tuple[Ints, Ints]]]:
        return [[(level, np.bincount(level)[level]) for level in nodes] for nodes in self.boxes.nodes]

    def refresh(self, of: int) -> None:
        """Look at a class again."""
        inside = self.code[:, self.rows[of]]
        if not inside.shape[1]:
            return
        self.low[:, of], self.high[:, of] = inside.min(axis=1), inside.max(axis=1)
        for j, count in enumerate(self.count):
            if count is not None:
                count[of] = np.bincount(inside[j], minlength=count.shape[1])

    def width(self, low: Ints, high: Ints, values: Ints) -> Floats:
        """What labels lose of all columns (columns x labels)."""
        total = np.zeros(low.shape[1])
        for j in range(len(low)):
            if self.sets[j]:
                wide = values[j] - 1
            elif self.boxes.nodes[j]:
                wide = np.full(low.shape[1], self.boxes.size[j] - 1)
                for level, size in reversed(self.wide[j]):
                    same = level[low[j]] == level[high[j]]
                    wide = np.where(same, size[low[j]] - 1, wide)
                wide = np.where(low[j] == high[j], 0, wide)
            else:
                wide = high[j] - low[j]
            if self.boxes.missing[j]:
                last = self.boxes.order[j][-1]
                mixed = (low[j] != high[j]) & ((low[j] == last) | (high[j] == last))
                wide = np.where(mixed, self.boxes.size[j] - 1, wide)
            total += self.weight[j] * wide
        return total

    def _values(self, classes: Ints, code: Ints | None = None) -> Ints:
        values = np.ones((len(self.code), len(classes)), dtype=np.int64)
        for j, count in enumerate(self.count):
            if count is not None:
                held = count[classes] > 0
                values[j] = held.sum(axis=1)
                if code is not None:
                    values[j] += ~held[np.arange(len(classes)), code[j]]
        return values

    def lost(self, classes: Ints) -> Floats:
        """What classes lose, rows times widths."""
        size = np.array([len(self.rows[of]) for of in classes.tolist()])
        return size * self.width(self.low[:, classes], self.high[:, classes], self._values(classes))

    def with_row(self, row: int, classes: Ints) -> Floats:
        """What classes would lose with a row more."""
        code = self.code[:, row]
        at = np.broadcast_to(code[:, None], (len(code), len(classes)))
        low, high = np.minimum(self.low[:, classes], at), np.maximum(self.high[:, classes], at)
        size = np.array([len(self.rows[of]) for of in classes.tolist()]) + 1
        return size * self.width(low, high, self._values(classes, at))

    def of_rows(self, rows: Sequence[int]) -> float:
        """What these rows would lose as a class."""
        inside = self.code[:, rows]
        values = np.array([[len(set(line))] if s else [1] for line, s in zip(inside.tolist(), self.sets, strict=True)])
        return len(rows) * float(self.width(inside.min(axis=1)[:, None], inside.max(axis=1)[:, None], values)[0])

    def put(self, row: int, of: int) -> None:
        self.rows[int(self.member[row])].remove(row)
        self.rows[of].append(row)
        self.refresh(int(self.member[row]))
        self.member[row] = of
        self.refresh(of)

    @property
    def alive(self) -> Ints:
        return np.array([of for of, rows in enumerate(self.rows) if rows])


def by_clusters(problem: Problem) -> Iterator[tuple[str, Release]]:
    """Clusters grown row by row, improved by moves and swaps; where a mean is limited, of the least size, the cheapest dissolved."""
    limits = problem.made.limits
    for masks in (False, True):
        boxes = Boxes(problem, masks=masks)
        if masks and not any(boxes.nodes):
            continue
        grouping = Grouping(boxes, _grown(boxes, limits.k), np.ones(len(boxes.names)))
        _mend(problem, grouping)
        _dissolve(problem, grouping)
        _swap(problem, grouping)
        yield f"clusters with swaps{', masks' * masks}", boxes.release(_numbered(grouping.member))


def _grown(boxes: Boxes, k: int) -> Ints:
    """Each cluster begins at the row furthest from the last one, and takes the nearest rows one by one."""
    rows = boxes.code.shape[1]
    grouping = Grouping(boxes, np.arange(rows), np.ones(len(boxes.names)))
    member, free, last = np.full(rows, -1), np.ones(rows, dtype=bool), 0
    count = 0
    while free.sum() >= k:
        left = np.flatnonzero(free)
        far = _apart(grouping, boxes.code[:, [last]], left)
        at = int(left[np.argmax(far)])
        taken = [at]
        free[at] = False
        held = [{int(c)} for c in boxes.code[:, at]]
        low, high = boxes.code[:, at].copy(), boxes.code[:, at].copy()
        left = np.flatnonzero(free)
        while len(taken) < k:
            code = boxes.code[:, left]
            values = np.ones_like(code)
            for j in np.flatnonzero(grouping.sets):
                values[j] = len(held[j]) + ~np.isin(code[j], list(held[j]))
            lost = grouping.width(np.minimum(low[:, None], code), np.maximum(high[:, None], code), values)
            best = int(np.argmin(lost))
            taken.append(int(left[best]))
            low, high = np.minimum(low, code[:, best]), np.maximum(high, code[:, best])
            for j, c in enumerate(code[:, best].tolist()):
                held[j].add(c)
            free[left[best]] = False
            left = np.delete(left, best)
        member[taken] = count
        count, last = count + 1, taken[-1]
    rest = np.flatnonzero(member < 0)
    whole = Grouping(boxes, np.where(member < 0, count, member), np.ones(len(boxes.names))) if len(rest) else None
    for row in rest.tolist():
        assert whole is not None
        classes = np.arange(count)
        whole.put(row, int(np.argmin(whole.with_row(row, classes) - whole.lost(classes))))
    return member if whole is None else whole.member


def _apart(grouping: Grouping, one: Ints, rows: Ints) -> Floats:
    code = grouping.code[:, rows]
    at = np.broadcast_to(one, code.shape)
    return grouping.width(np.minimum(at, code), np.maximum(at, code), 1 + (at != code))


def _mend(problem: Problem, grouping: Grouping) -> None:
    """Classes that miss something by themselves go where that costs least, until none does."""
    while True:
        alive = grouping.alive
        good = problem.classes_stand(grouping.member)[alive]
        if good.all() or len(alive) == 1:
            return
        _give_away(grouping, int(alive[np.argmin(good)]), whole=True)


def _give_away(grouping: Grouping, of: int, *, whole: bool) -> None:
    """A class goes to another as a whole, or row by row to whichever each fits best."""
    others = grouping.alive[grouping.alive != of]
    rows = list(grouping.rows[of])
    if whole:
        lost = np.zeros(len(others))
        for row in rows[:5]:
            lost += grouping.with_row(row, others) - grouping.lost(others)
        near = others[np.argsort(lost, kind="stable")[:5]]
        costs = [
            grouping.of_rows([*grouping.rows[int(n)], *rows]) - float(grouping.lost(np.array([n]))[0]) for n in near
        ]
        target = int(near[int(np.argmin(costs))])
        for row in rows:
            grouping.put(row, target)
        return
    for row in rows:
        grouping.put(row, int(others[np.argmin(grouping.with_row(row, others) - grouping.lost(others))]))


def _dissolve(problem: Problem, grouping: Grouping) -> None:
    """Where the mean of 1/rows is limited: the classes whose rows cost least elsewhere are dissolved until it is met."""
    limit = problem.made.limits.mean_risk
    if limit is None:
        return
    price: dict[int, float] = {}
    while len(grouping.alive) > limit * problem.rows + 1e-9:
        alive = grouping.alive
        for of in alive.tolist():
            if of not in price:
                others = alive[alive != of]
                now = grouping.lost(others)
                more = sum(float((grouping.with_row(row, others) - now).min()) for row in grouping.rows[of])
                price[of] = more - float(grouping.lost(np.array([of]))[0])
        cheapest = min(alive.tolist(), key=lambda of: price[of])
        before = {row: int(grouping.member[row]) for row in grouping.rows[cheapest]}
        _give_away(grouping, cheapest, whole=False)
        for row in before:  # what became of the classes that took them is looked at again
            price.pop(int(grouping.member[row]), None)


def _swap(problem: Problem, grouping: Grouping) -> None:
    """Every row in turn moves to a class that loses less with it, or changes places with one of its rows."""
    stands = problem.classes_stand
    for _ in range(_MOVES):
        changed = 0
        for row in range(problem.rows):
            here = int(grouping.member[row])
            if len(grouping.rows[here]) == 1:
                continue
            alive = grouping.alive
            others = alive[alive != here]
            if not len(others):
                return
            now = float(grouping.lost(np.array([here]))[0])
            if now <= 0:
                continue
            rest = [r for r in grouping.rows[here] if r != row]
            saved = now - grouping.of_rows(rest)
            before = grouping.lost(others)
            after = grouping.with_row(row, others)
            near = np.argsort(after - before, kind="stable")[:_NEAR]
            best = near[0]
            if len(rest) >= problem.made.limits.k and after[best] - before[best] < saved - 1e-9:
                changed += _try(grouping, stands, [(row, int(others[best]))])
                continue
            gain, move = 1e-9, None
            for at in near.tolist()[:4]:
                if saved - (after[at] - before[at]) * 0.5 <= 0:
                    continue
                there = grouping.rows[int(others[at])]
                for other in there:
                    swapped = grouping.of_rows([*rest, other]) + grouping.of_rows(
                        [*(r for r in there if r != other), row]
                    )
                    if now + before[at] - swapped > gain:
                        gain, move = now + float(before[at]) - swapped, [(row, int(others[at])), (other, here)]
            if move is not None:
                changed += _try(grouping, stands, move)
        if changed < problem.rows // 200:
            return


def _try(grouping: Grouping, stands, moves: list[tuple[int, int]]) -> bool:  # type: ignore[no-untyped-def]
    """Move rows, and back where a class then misses something."""
    before = [(row, int(grouping.member[row])) for row, _ in moves]
    for row, of in moves:
        grouping.put(row, of)
    touched = [of for _, of in (*moves, *before)]
    if not stands(grouping.member)[touched].all():
        for row, of in before:
            grouping.put(row, of)
        return False
    return True


def _numbered(member: Ints) -> Ints:
    return np.unique(member, return_inverse=True)[1].reshape(-1)


# --- cuts by weights that a workload chose


def by_cuts(problem: Problem, rival: Workload) -> Iterator[tuple[str, Release]]:
    """Classes cut along the widest column by weights, and the weights changed as long as the rival workload likes that."""
    rng = np.random.default_rng(0)
    for masks in (False, True):
        boxes = Boxes(problem, masks=masks)
        if masks and not any(boxes.nodes):
            continue
        weight = np.ones(len(boxes.names))
        best = boxes.release(_cut(problem, boxes, weight))
        error = rival.error(best)
        plain = best
        for turn in range(24):
            other = weight.copy()
            j = turn % len(weight)
            other[j] *= np.exp(rng.normal(0, 1.2))
            if turn % 3 == 2:
                other *= np.exp(rng.normal(0, 0.7, len(other)))
            made = boxes.release(_cut(problem, boxes, other))
            if (e := rival.error(made)) < error and problem.meets(made, problem.secrets):
                weight, error, best = other, e, made
        yield f"cuts{', masks' * masks}", plain
        yield f"cuts by weights{', masks' * masks}", best


def _cut(problem: Problem, boxes: Boxes, weight: Floats) -> Ints:
    """Halve classes along the column that is widest by its weight, between values; then the next one, where halves do not stand."""
    rows = boxes.code.shape[1]
    member, count = np.zeros(rows, dtype=np.int64), 1
    open_ = [np.arange(rows)]
    done: list[Ints] = []
    limits = problem.made.limits
    while open_:
        inside = open_.pop()
        if len(inside) < 2 * limits.k:
            done.append(inside)
            continue
        code = boxes.code[:, inside]
        wide = (code.max(axis=1) - code.min(axis=1)) / np.maximum(boxes.size - 1, 1) * weight
        for j in np.argsort(-wide, kind="stable"):
            if wide[j] <= 0:
                done.append(inside)
                break
            cut = _where(code[j], limits.k, boxes.nodes[j])
            if cut is None:
                continue
            left = code[j] <= cut
            halves = np.where(left, 0, 1)
            if _halves_stand(problem, inside, halves):
                open_ += [inside[left], inside[~left]]
                break
        else:
            done.append(inside)
    for count, inside in enumerate(done):
        member[inside] = count
    if limits.mean_risk is not None and len(done) > limits.mean_risk * rows:  # too many: unite small neighbours
        member = _unite(problem, boxes, member, weight)
    return member


def _unite(problem: Problem, boxes: Boxes, member: Ints, weight: Floats) -> Ints:
    grouping = Grouping(boxes, member.copy(), weight)
    limit = problem.made.limits.mean_risk
    assert limit is not None
    while len(grouping.alive) > limit * problem.rows + 1e-9:
        size = [(len(grouping.rows[int(of)]), int(of)) for of in grouping.alive]
        _give_away(grouping, min(size)[1], whole=False)
    return _numbered(grouping.member)


def _halves_stand(problem: Problem, inside: Ints, halves: Ints) -> bool:
    kept = np.zeros(problem.rows, dtype=bool)
    kept[inside] = True
    order = np.argsort(inside, kind="stable")
    return bool(problem.classes_stand(halves[order], kept).all())


def _where(code: Ints, k: int, nodes: list[Ints]) -> int | None:
    """The last place on the left of the cut nearest to the middle that leaves k rows on both sides; between nodes first."""
    places, n = np.unique(code, return_counts=True)
    if len(places) < 2:
        return None
    before = np.cumsum(n)[:-1]
    fine = (before >= k) & (len(code) - before >= k)
    if not fine.any():
        return None
    for level in reversed(nodes):
        between = fine & (level[places[:-1]] != level[places[1:]])
        if between.any():
            fine = between
            break
    return int(places[np.argmin(np.where(fine, np.abs(before - len(code) / 2), np.inf))])


# --- one recoding for a whole column


Ladder = Mapping[str, list[Ints]]
"""For each column the group of each value, level by level; the last is one group."""


def hand_ladder(problem: Problem) -> Ladder:
    """What a statistician would do to each column, from its values as they are to nothing."""
    ladder = {}
    for name in problem.made.quasi:
        domain = problem.domains[name]
        steps = [domain.coarser(recode) for recode in problem.made.hand.get(name, [])]
        ladder[name] = [np.arange(len(domain)), *steps, np.zeros(len(domain), dtype=np.int64)]
    return ladder


def even_ladder(problem: Problem) -> Ladder:
    """Ordered columns by halves of the rows, others by their masks, or by their most frequent values."""
    boxes = Boxes(problem, masks=True)
    ladder = {}
    for j, name in enumerate(problem.made.quasi):
        domain = problem.domains[name]
        n = np.bincount(domain.code, minlength=len(domain))
        steps = [level[boxes.order[j]] for level in boxes.nodes[j]]
        if domain.ordered:
            middle = (np.cumsum(n) - n / 2) / problem.rows
            steps = [np.floor(middle * parts).astype(np.int64) for parts in (32, 16, 8, 4, 2) if parts < len(domain)]
        elif not steps:
            rank = np.argsort(np.argsort(-n, kind="stable"), kind="stable")
            steps = [np.minimum(rank, keep) for keep in (12, 6, 3, 1) if keep < len(domain) - 1]
        ladder[name] = [np.arange(len(domain)), *steps, np.zeros(len(domain), dtype=np.int64)]
    return ladder


class Levels:
    """Releases by one level for each column; rows of classes that miss something are left out, or lose cells."""

    def __init__(self, problem: Problem, ladder: Ladder) -> None:
        self.problem, self.ladder, self.names = problem, ladder, problem.made.quasi
        self.top = tuple(len(ladder[name]) - 1 for name in self.names)

    def groups(self, levels: Sequence[int]) -> Ints:
        """The group of each row in each column (columns x rows)."""
        return np.array(
            [
                self.ladder[name][level][self.problem.domains[name].code]
                for name, level in zip(self.names, levels, strict=True)
            ]
        )

    def left_out(self, levels: Sequence[int]) -> Flags:
        """The rows of classes that miss something by themselves."""
        member = np.unique(self.groups(levels), axis=1, return_inverse=True)[1].reshape(-1)
        return ~self.problem.classes_stand(member)[member]

    def release(
        self, levels: Sequence[int], hidden: Mapping[str, Flags] | None = None, out: Flags | None = None
    ) -> Release:
        """Labels of these levels, with cells hidden and rows left out."""
        labels = {}
        for name, level in zip(self.names, levels, strict=True):
            group = self.ladder[name][level]
            count = int(group.max()) + 1
            cover = np.vstack([group[None, :] == np.arange(count)[:, None], np.ones(len(group), dtype=bool)])
            label = group[self.problem.domains[name].code]
            if hidden is not None:
                label = np.where(hidden[name], count, label)
            labels[name] = (label, cover)
        return self.problem.own(labels, None if out is None or not out.any() else ~out)

    def mean_met(self, levels: Sequence[int], out: Flags) -> bool:
        limit = self.problem.made.limits.mean_risk
        if limit is None or out.all():
            return not out.all()
        groups = self.groups(levels)[:, ~out]
        return len(np.unique(groups, axis=1)[0]) <= limit * groups.shape[1] + 1e-9

    def with_cells_hidden(self, levels: Sequence[int]) -> Release | None:
        """Rows of classes that miss something lose one column after the other, those of most groups first; the last of them are left out."""
        groups = self.groups(levels)
        many = [len(np.unique(line)) for line in groups]
        hidden = {name: np.zeros(self.problem.rows, dtype=bool) for name in self.names}
        released = groups.copy()
        for j in np.argsort(many)[::-1].tolist():
            bad = ~self._stand(released)
            if not bad.any():
                break
            hidden[self.names[j]] |= bad
            released[j, bad] = many[j] + groups[j].max() + 1
        out = ~self._stand(released)
        while out.any() and not out.all():  # classes of those that are left may have lost rows
            kept = np.flatnonzero(~out)
            member = np.unique(released[:, kept], axis=1, return_inverse=True)[1].reshape(-1)
            bad = ~self.problem.classes_stand(member, ~out)[member]
            if not bad.any():
                break
            out[kept[bad]] = True
        return None if out.all() else self.release(levels, hidden, out)

    def _stand(self, released: Ints) -> Flags:
        member = np.unique(released, axis=1, return_inverse=True)[1].reshape(-1)
        return self.problem.classes_stand(member)[member]


def by_hand(problem: Problem) -> Iterator[tuple[str, Release]]:
    """The same step for every column, then coarser where most rows miss something; what is left loses cells."""
    levels = Levels(problem, hand_ladder(problem))
    for start in (0, 1, 2):
        at = [min(start, top) for top in levels.top]
        while True:
            out = levels.left_out(at)
            if (release := levels.with_cells_hidden(at)) is not None:
                yield f"by hand {''.join(map(str, at))}", release
            if not out.any() or at == list(levels.top):
                break
            # the column of most groups goes a step up
            many = [
                len(np.unique(line)) if a < t else 0
                for line, a, t in zip(levels.groups(at), at, levels.top, strict=True)
            ]
            at[int(np.argmax(many))] += 1


def by_levels(problem: Problem, rival: Workload) -> Iterator[tuple[str, Release]]:
    """Local search from the top: the step of one column, or of two, that loses least, for ILoss and for the rival workload."""
    for title, ladder in (("hand", hand_ladder(problem)), ("even", even_ladder(problem))):
        levels = Levels(problem, ladder)
        for share in _SUPPRESSED:
            for aim, loss in (("ILoss", problem.iloss), ("use", rival.error)):
                at, least = levels.top, float("inf")
                seen: set[tuple[int, ...]] = set()
                while True:
                    best = None
                    for other in _around(at, levels.top):
                        if other in seen:
                            continue
                        seen.add(other)
                        out = levels.left_out(other)
                        if out.sum() > share * problem.rows or not levels.mean_met(other, out):
                            continue
                        if (lost := loss(levels.release(other, None, out))) < least:
                            best, least = other, lost
                    if best is None:
                        break
                    at = best
                if least < float("inf"):
                    yield f"levels by {aim} ({title}, {share:.0%})", levels.release(at, None, levels.left_out(at))


def _around(at: tuple[int, ...], top: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """A step of one column, or one column down and another up."""
    for j, level in enumerate(at):
        for step in (-2, -1, 1):
            if 0 <= level + step <= top[j]:
                yield (*at[:j], level + step, *at[j + 1 :])
    for j, level in enumerate(at):
        for i, other in enumerate(at):
            if i != j and level > 0 and other < top[i]:
                moved = list(at)
                moved[j], moved[i] = level - 1, other + 1
                yield tuple(moved)
