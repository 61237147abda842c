"""A budget adds up exactly, composes in parallel where told, and refuses an overdraft."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sfumato.core.errors import Infeasible, InputError
from sfumato.mechanisms.differential_privacy.budget import Budget


def test_ten_tenths_are_one_and_no_more() -> None:
    budget = Budget(1)
    for i in range(10):
        budget.spend(0.1, what=f"count {i}")
    assert budget.spent == (1, 0)
    assert budget.left == (0, 0)
    with pytest.raises(Infeasible, match=r"does not allow one more: it asks for epsilon 1e-09, and 0 of 1 is left\."):
        budget.spend(1e-9, what="one more")


def test_thirds_add_up() -> None:
    budget = Budget(0.3)
    for _ in range(3):
        budget.spend(Fraction(3, 10) / 3)
    assert budget.left[0] == 0


def test_an_overdraft_changes_nothing() -> None:
    budget = Budget(1, 1e-6)
    budget.spend(0.6, 1e-6, "a sum")
    for epsilon, delta, name in ((0.5, 0, "epsilon"), (0.1, 1e-7, "delta")):
        with pytest.raises(Infeasible, match=name):
            budget.spend(epsilon, delta, "a mean")
    assert [entry.what for entry in budget.ledger] == ["a sum"]
    budget.spend(0.4, what="a count")
    assert budget.left == (0, 0)


def test_a_budget_without_delta_has_none() -> None:
    with pytest.raises(Infeasible, match=r"delta 1e-09, and 0 of 0 is left"):
        Budget(1).spend(0.1, 1e-9)


def test_disjoint_parts_cost_the_dearest() -> None:
    budget = Budget(1, 0.1)
    spent = budget.spend_parallel([(0.2, 0.01), (0.5, 0), (0.3, 0.02)], "regions")
    assert (spent.epsilon, spent.delta, spent.parts) == (Fraction(1, 2), Fraction(1, 50), 3)
    assert budget.spend_parallel([(0.5, 0)], "cells", times=12).parts == 12
    assert budget.left[0] == 0
    with pytest.raises(Infeasible):
        budget.spend_parallel([(0.1, 0)])
    with pytest.raises(InputError, match="no parts"):
        budget.spend_parallel([])


def test_the_notes_hold_the_ledger() -> None:
    budget = Budget(1)
    assert budget.notes == ("Privacy budget spent: epsilon 0 of 1: nothing yet.",)
    budget.spend(0.25, what="count")
    budget.spend_parallel([(0.5, 0)], "cells", times=4)
    assert budget.notes == (
        "Privacy budget spent: epsilon 0.75 of 1: 0.25 on count; 0.5 on cells (in parallel over 4 disjoint parts).",
    )
    assert repr(budget) == "Budget(0.25 of 1 left, delta 0 of 0)"


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(0, 0), (-1, 0), (float("inf"), 0), (float("nan"), 0), (1, 1), (1, -0.1), (True, 0), ("1", 0)],
)
def test_what_is_no_budget(epsilon: float, delta: float) -> None:
    with pytest.raises(InputError):
        Budget(epsilon, delta)


@pytest.mark.parametrize(("epsilon", "delta"), [(0, 0), (-0.1, 0), (float("nan"), 0), (0.1, -1), (0.1, 1)])
def test_what_cannot_be_spent(epsilon: float, delta: float) -> None:
    budget = Budget(10, 0.5)
    with pytest.raises(InputError):
        budget.spend(epsilon, delta)
    assert not budget.ledger
