"""Commands: their answers, and everything that can go wrong with them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gymnast import user_command as module
from gymnast.errors import CommandFailed
from gymnast.settings import ReviewCommand
from gymnast.user_command import Answer, run_command


def python(code: str, timeout: float = 60) -> ReviewCommand:
    return ReviewCommand(command=[sys.executable, "-c", code], timeout=timeout)


def answer(
    code: str, bundle: str = "one\ntwo\n", folder: Path = Path("/"), **more: float
) -> Answer:
    return run_command("mine", python(code, **more), bundle, folder)


def test_a_command_reads_the_bundle_and_its_output_is_the_answer():
    code = "import sys; print(len(sys.stdin.read().splitlines()), 'lines ✓')"
    assert answer(code) == Answer("2 lines ✓", "")


def test_a_large_bundle_is_read_completely_and_an_unread_one_does_no_harm():
    bundle = "ä" * 1_000_000
    assert answer("import sys; print(len(sys.stdin.read()))", bundle).text == "1000000"
    assert answer("print('no input needed')", bundle).text == "no input needed"


def test_a_command_runs_in_its_folder_and_with_the_variables_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MY_VARIABLE", "here")
    (tmp_path / "x.png").touch()
    code = "import os; print(os.listdir(), os.environ['MY_VARIABLE'])"
    assert answer(code, folder=tmp_path).text == "['x.png'] here"


def test_words_are_arguments_and_no_shell_looks_at_them(tmp_path: Path):
    words = ["$HOME", "*", "; touch hacked", "a b", "`id`"]
    command = ReviewCommand(
        command=[sys.executable, "-c", "import sys; print(sys.argv[1:])", *words]
    )
    assert run_command("mine", command, "", tmp_path).text == str(words)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("import sys; sys.exit(3)", "'mine' failed with exit code 3"),
        ("import sys; sys.exit('\\x1b[31mno \\u2717 key')", "exit code 1:\n  no ✗ key"),
        ("raise ValueError('quota')", "ValueError: quota"),
        ("import os; os.kill(os.getpid(), 9)", "exit code -9"),
        ("print('  \\n')", "printed no answer"),
        ("import time; time.sleep(60)", "did not finish within 0.5 s"),
        (
            "import sys, time; print('thinking', file=sys.stderr, flush=True); time.sleep(60)",
            "0.5 s",
        ),
        ("import subprocess, sys; subprocess.Popen(['sleep', '60']); sys.exit(4)", "exit code 4"),
    ],
)
def test_a_command_that_fails_is_an_error_with_the_end_of_its_stderr(code: str, problem: str):
    with pytest.raises(CommandFailed) as raised:
        answer(code, timeout=0.5 if "0.5" in problem else 60)
    assert problem in raised.value.message
    assert raised.value.fix
    assert "\x1b" not in raised.value.message


@pytest.mark.parametrize("program", ["no-such-program-anywhere", "/no/such/program"])
def test_a_program_that_does_not_exist_is_named(program: str):
    with pytest.raises(CommandFailed, match="was not found"):
        run_command("mine", ReviewCommand(command=[program]), "", Path("/"))


def test_a_program_that_cannot_be_started_is_an_error(tmp_path: Path):
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x7fELF nonsense")
    broken.chmod(0o755)
    with pytest.raises(CommandFailed, match="cannot be started"):
        run_command("mine", ReviewCommand(command=[str(broken)]), "", tmp_path)


def test_an_endless_answer_is_cut_and_the_command_ended(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "MAX_ANSWER_BYTES", 3001)
    found = answer("while True: print('✗' * 999)")
    assert "cut after 3,001 bytes" in found.cut
    assert set(found.text) <= {"✗", "\n"}, "the last character may be cut, and is dropped"
    assert 2900 < len(found.text.encode()) <= 3001


def test_the_answer_is_plain_text():
    code = (
        "import sys; sys.stdout.buffer.write("
        "b'\\x1b]0;title\\x07\\x1b[31mred\\x1b[0m\\r\\nnext\\x00\\x08 \\xff \\xe2\\x80\\xae<b>|tab\\t')"
    )
    assert answer(code).text == "red\nnext � <b>|tab"
