"""The one data directory of a workspace."""

from __future__ import annotations

from pathlib import Path

import pytest

from gymnast.data_dir import DATA_DIR_VAR, data_dir
from gymnast.errors import UsageError


@pytest.fixture(autouse=True)
def no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DATA_DIR_VAR, raising=False)


def test_the_default_is_next_to_the_runs_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    assert data_dir(None, Path("runs")) == tmp_path / "data"
    assert data_dir(None, tmp_path / "runs") == tmp_path / "data"
    monkeypatch.chdir(tmp_path / "runs")
    assert data_dir(None, Path(".")) == tmp_path / "data"


def test_the_option_precedes_the_variable_which_precedes_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DATA_DIR_VAR, str(tmp_path / "variable"))
    assert data_dir(None, tmp_path / "runs") == tmp_path / "variable"
    assert data_dir("", tmp_path / "runs") == tmp_path / "variable"
    assert data_dir(tmp_path / "option", tmp_path / "runs") == tmp_path / "option"
    monkeypatch.setenv(DATA_DIR_VAR, "")
    assert data_dir(None, tmp_path / "runs") == tmp_path / "data"


def test_relative_paths_and_home_directories_become_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert data_dir("elsewhere", tmp_path / "runs") == tmp_path / "elsewhere"
    assert data_dir("~/data", tmp_path / "runs") == tmp_path / "home" / "data"


@pytest.mark.parametrize("source", ["--data", DATA_DIR_VAR, "the default data directory"])
def test_a_file_is_rejected_with_the_source_of_its_path(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "data"
    file.touch()
    if source == DATA_DIR_VAR:
        monkeypatch.setenv(DATA_DIR_VAR, str(file))
    with pytest.raises(UsageError, match=f"{source} is a file") as error:
        data_dir(str(file) if source == "--data" else None, tmp_path / "runs")
    assert error.value.at == str(file)
