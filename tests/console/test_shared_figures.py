"""The folder in which the processes of one server count together."""

import os
import sys
from pathlib import Path

import pytest

from config import shared_figures


def test_only_folders_of_servers_that_are_gone_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_figures, "METRICS_FOLDER", tmp_path)
    monkeypatch.delitem(sys.modules, "prometheus_client", raising=False)
    for name in ("lost+found", f"{os.getpid()}-1", "somebody-else"):
        (tmp_path / name).mkdir()

    environment = shared_figures.shared_by(os.getpid())

    own = Path(environment["PROMETHEUS_MULTIPROC_DIR"])
    assert own.parent == tmp_path and own.is_dir()
    assert {path.name for path in tmp_path.iterdir()} == {"lost+found", "somebody-else", own.name}
