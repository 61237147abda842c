"""Small tables whose rows are told apart on purpose: what free columns give away is tested in tests/profile and tests/publishing."""

from __future__ import annotations

from typing import Any

import pytest

from sfumato.core.release import Release
from sfumato.profile.free_columns import FreeColumns
from sfumato.publishing import verification as publishing


@pytest.fixture(autouse=True)
def every_free_column_may_go_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(release: Release, *_: Any) -> FreeColumns:
        return FreeColumns(released=release.table, free=())

    monkeypatch.setattr(publishing, "free_of_release", nothing)
