"""A privacy budget: what differential privacy costs adds up, and what is not there cannot be spent.

Basic composition (Dwork, McSherry, Nissim, Smith 2006): the epsilons, and the deltas, of releases about the same rows add
up. Parallel composition (McSherry 2009): releases about disjoint rows cost as much as the dearest of them, since one row
added or removed is in one part only. Sums are exact: 0.1 means one tenth, and ten of them are 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from ...core.errors import Infeasible, InputError
from ...core.noun import dataclass

Amount = int | float | Fraction


def amount(value: Amount, what: str) -> Fraction:
    """A number as it is written, exactly; `what` names it in the error."""
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction) or not math.isfinite(value):
        raise InputError(f"{what} must be a number.")
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


def spell(value: Fraction) -> str:
    """An amount for people: ten digits are more than enough."""
    return f"{float(value):.10g}"


@dataclass(frozen=True)
class Spending:
    """One line of the ledger."""

    what: str
    epsilon: Fraction
    delta: Fraction
    parts: int = 1
    """How many disjoint parts of the table shared it."""

    def __str__(self) -> str:
        cost = spell(self.epsilon) + (f" (delta {spell(self.delta)})" if self.delta else "")
        return f"{cost} on {self.what}" + (f" (in parallel over {self.parts} disjoint parts)" if self.parts > 1 else "")


class Budget:
    """`Budget(1.0)` allows releases about the same rows that cost an epsilon of 1 together, and no delta."""

    def __init__(self, epsilon: Amount, delta: Amount = 0) -> None:
        self.epsilon, self.delta = amount(epsilon, "A budget's epsilon"), amount(delta, "A budget's delta")
        if self.epsilon <= 0:
            raise InputError("A budget's epsilon must be above 0.")
        if not 0 <= self.delta < 1:
            raise InputError("A budget's delta must be at least 0 and below 1.")
        self._ledger: list[Spending] = []
        self._spent = (Fraction(0), Fraction(0))

    @property
    def ledger(self) -> tuple[Spending, ...]:
        """What was spent, in order."""
        return tuple(self._ledger)

    @property
    def spent(self) -> tuple[Fraction, Fraction]:
        """The epsilon and delta spent so far: the sums over the ledger."""
        return self._spent

    @property
    def left(self) -> tuple[Fraction, Fraction]:
        """The epsilon and delta that may still be spent."""
        epsilon, delta = self.spent
        return self.epsilon - epsilon, self.delta - delta

    def afford(self, epsilon: Amount, delta: Amount = 0, what: str = "this release") -> tuple[Fraction, Fraction]:
        """Refuse what is more than is left; nothing is spent."""
        wanted = amount(epsilon, f"The epsilon of {what}"), amount(delta, f"The delta of {what}")
        if wanted[0] <= 0 or not 0 <= wanted[1] < 1:
            raise InputError(f"{what} needs an epsilon above 0 and a delta from 0 to below 1.")
        for name, asked, left in zip(("epsilon", "delta"), wanted, self.left, strict=True):
            if asked > left:
                raise Infeasible(
                    f"The privacy budget does not allow {what}: it asks for {name} {spell(asked)}, and {spell(left)} of "
                    f"{spell(getattr(self, name))} is left."
                )
        return wanted

    def spend(self, epsilon: Amount, delta: Amount = 0, what: str = "a release") -> Spending:
        """Take it out of the budget, before anything is drawn; an overdraft is refused and changes nothing."""
        return self._enter(Spending(what, *self.afford(epsilon, delta, what)))

    def spend_parallel(
        self, costs: Sequence[tuple[Amount, Amount]], what: str = "a release", *, times: int = 1
    ) -> Spending:
        """The same for releases about disjoint parts of the rows: they cost the largest epsilon and the largest delta.

        `costs` are the (epsilon, delta) of the parts; `times` says how many parts have each of them.

        That the parts are disjoint is the caller's word. It holds for neighbours that differ by one row added or removed; a
        row that is replaced may be in two parts.
        """
        if not costs:
            raise InputError(f"{what} has no parts to share a budget.")
        each = [self.afford(epsilon, delta, what) for epsilon, delta in costs]
        return self._enter(Spending(what, max(e for e, _ in each), max(d for _, d in each), times * len(each)))

    def _enter(self, spending: Spending) -> Spending:
        self._ledger.append(spending)
        self._spent = self._spent[0] + spending.epsilon, self._spent[1] + spending.delta
        return spending

    @property
    def notes(self) -> tuple[str, ...]:
        """The ledger as a sentence for a release's notes."""
        epsilon, delta = self.spent
        total = f"epsilon {spell(epsilon)} of {spell(self.epsilon)}"
        if self.delta:
            total += f" and delta {spell(delta)} of {spell(self.delta)}"
        return (f"Privacy budget spent: {total}: {'; '.join(map(str, self._ledger)) or 'nothing yet'}.",)

    def __repr__(self) -> str:
        epsilon, delta = self.left
        return f"Budget({spell(epsilon)} of {spell(self.epsilon)} left, delta {spell(delta)} of {spell(self.delta)})"
