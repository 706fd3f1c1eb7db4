"""The settings file: where it is, what it may contain, and who may change it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gymnast.errors import ConfigError, UsageError
from gymnast.settings import Settings, load_settings, parse_settings, settings_file

EXAMPLE = Path(__file__).parents[2] / "docs" / "settings.md"


def test_the_file_is_in_the_config_directory_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("GYMNAST_SETTINGS")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    assert settings_file() == tmp_path / ".config" / "gymnast" / "settings.yaml"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "x"))
    assert settings_file() == tmp_path / "x" / "gymnast" / "settings.yaml"
    assert load_settings() == Settings()
    monkeypatch.setenv("GYMNAST_SETTINGS", "~/mine.yaml")
    assert settings_file() == tmp_path / "mine.yaml"
    with pytest.raises(UsageError, match="does not exist"):
        load_settings()


def test_the_documented_example_is_valid():
    text = EXAMPLE.read_text().split("```yaml\n")[1].split("```")[0]
    settings = parse_settings(text, "settings.yaml")
    assert list(settings.review) == ["assistant", "outline"]
    name, command = settings.review_command() or ("", None)
    assert (name, command and command.frames) == ("assistant", "files")
    assert settings.review["outline"].timeout == 300
    assert settings.propose_command("climber").timeout == 60


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "review:\n  a:\n    comand: [x]\n",
            "s.yaml:3: review.a.comand: unknown key; did you mean",
        ),
        ("review:\n  a: {command: x}\n", "s.yaml:2: review.a.command"),
        ("review:\n  a: {command: []}\n", "s.yaml:2: review.a.command"),
        ("review:\n  a: {command: [x, 5]}\n", "s.yaml:2: review.a.command.1"),
        ("review:\n  a:\n    command: [./x]\n", "s.yaml:3: review.a.command: './x' is a relative"),
        ("review:\n  a:\n    command: ['']\n", "s.yaml:3: review.a.command: starts with an empty"),
        (
            "review:\n  a:\n    command: [x]\n    frames: jpg\n",
            "s.yaml:4: review.a.frames: jpg is unknown",
        ),
        ("review:\n  a:\n    command: [x]\n    timeout: 0\n", "s.yaml:4: review.a.timeout"),
        (
            "review:\n  a: {command: [x]}\n  a: {command: [y]}\n",
            "s.yaml:3: review.a: is given twice",
        ),
        ("review:\n  'a b': {command: [x]}\n", "s.yaml:2: review.a b"),
        ("revew: {}\n", "s.yaml:1: revew: unknown key; did you mean review?"),
        ("- x\n", "s.yaml: has no sections"),
        ("review: [\n", "is not YAML"),
    ],
)
def test_a_mistake_is_reported_with_its_line(text: str, problem: str):
    with pytest.raises(ConfigError) as raised:
        parse_settings(text, "s.yaml")
    assert problem in str(raised.value)


def test_a_file_that_everybody_may_change_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = tmp_path / "settings.yaml"
    file.write_text("review: {a: {command: [x]}}\n")
    monkeypatch.setenv("GYMNAST_SETTINGS", str(file))
    file.chmod(0o666)
    with pytest.raises(UsageError, match="every user of this machine may change"):
        load_settings()
    file.chmod(0o644)
    assert list(load_settings().review) == ["a"]
    file.write_bytes(b"\xff")
    with pytest.raises(UsageError, match="not UTF-8"):
        load_settings()


def test_words_are_passed_as_they_are_except_for_the_home_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HOME", str(tmp_path))
    text = "review: {a: {command: [~/bin/x, ~/y, '$HOME', a~/b, '*', '; rm -rf /']}}\n"
    words = parse_settings(text, "").review["a"].words()
    assert words == [f"{tmp_path}/bin/x", f"{tmp_path}/y", "$HOME", "a~/b", "*", "; rm -rf /"]


def test_an_unknown_command_is_refused_with_the_known_ones():
    settings = parse_settings("review: {a: {command: [x]}, b: {command: [y]}}", "")
    with pytest.raises(UsageError) as raised:
        settings.review_command("c")
    assert "a, b" in str(raised.value)
    assert (settings.review_command("b") or ("",))[0] == "b"
    assert Settings().review_command() is None
