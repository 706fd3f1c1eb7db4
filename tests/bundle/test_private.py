"""Nothing that was planted into a run reaches a file of its bundle, binary files included."""

from __future__ import annotations

import json
import shutil
import sqlite3
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gymnast import api
from gymnast.bundle.bundle import make_bundle
from gymnast.bundle.record import DEFAULT_MAX_SIZE
from gymnast.privacy.content import clean_content
from gymnast.privacy.sanitize import Identity, Sanitizer
from gymnast.runs import checkpoint, layout
from gymnast.runs.run import Run
from gymnast.runs.tensors import pack, read_header, unpack
from gymnast.runs.trace import read_meta, read_traces, write_traces
from tests.bundle.conftest import Bundled
from tests.privacy.planted import (
    HOME,
    USER,
    VARIABLE,
    Planted,
    names,
    plant,
    planted_texts,
    pretend_to_be_somebody,
)

TOKEN = "ghp_" + "Ab1" * 12


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend_to_be_somebody(monkeypatch)


def plant_deep(run: Run, text: str) -> None:
    """Writes a text into binary files: the database, the headers of arrays, documents of checkpoints."""
    with sqlite3.connect(run.path / "metrics.db") as database:
        for key, stored in database.execute("SELECT id, names FROM schemas").fetchall():
            changed = json.dumps([*json.loads(stored)[:-1], f"env/{text}"])
            database.execute("UPDATE schemas SET names = ? WHERE id = ?", (changed, key))
        database.execute("CREATE TABLE note (text TEXT)")
        database.execute("INSERT INTO note VALUES (?)", (text,))
        database.execute("DROP TABLE note")  # its page stays in the file
    for file in run.traces.glob("*.safetensors"):
        write_traces(file, read_traces(file), {**read_meta(file), "settings": {"env": text}})
    source = checkpoint.find(run.path, "best")
    documents = {
        "state": {**source.document("state"), "error": text},
        "policy": source.document("policy"),
    }
    tensors = {stem: source.tensors(stem) for stem in source.stems}
    shutil.rmtree(source.path)
    checkpoint.write(
        source.path.parent,
        source.step,
        tensors=tensors,
        documents=documents,
        texts={"rollout.csv": f"step,{text.replace(',', ' ')}\n1,0.5\n"},
        reason=text,
    )
    (run.path / "thoughts.txt").write_text(text)
    (run.path / text.replace("/", "_")[:40].strip()).mkdir(exist_ok=True)


@pytest.mark.usefixtures("person")
@settings(
    max_examples=5,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    phases=[Phase.generate],  # an example takes a second: too long to look for a smaller one
)
@given(texts=st.lists(planted_texts, min_size=10, max_size=30), more=st.lists(names, min_size=3))
def test_nothing_that_was_planted_is_in_any_file(
    trained: Run, tmp_path: Path, texts: list[Planted], more: list[Planted]
):
    path = tmp_path / "runs" / trained.id
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(trained.path, path)
    run = Run(path)
    plant(run, texts + more)
    plant_deep(
        run, " ".join(one.text for one in texts if "\n" not in one.text and "\x1b" not in one.text)
    )
    made = make_bundle(run, None, DEFAULT_MAX_SIZE)
    parts = {file.part for file in made.contents.files}
    assert {"run", "log", "events", "metrics", "policy", "episodes", "training state"} <= parts
    for name, content in made.files.items():
        text = content.decode("latin-1").lower()
        for planted in texts + more:
            assert planted.core.lower() not in text, f"{planted} in {name}"
        assert str(path.parent).lower() not in text
        assert planted_name_free(name, texts)


def planted_name_free(name: str, texts: list[Planted]) -> bool:
    return not any(planted.core.lower() in name.lower() for planted in texts)


@pytest.mark.usefixtures("person")
def test_a_planted_run_can_still_be_read(run: Run, bundled: Bundled):
    plant(run, [Planted(f"{HOME}/x", HOME), Planted(TOKEN, TOKEN), Planted(VARIABLE, VARIABLE)])
    shown = api.show(str(bundled(run)), verify=True)
    assert shown.note == "~/x [removed] [removed]"
    assert shown.host == "HOST"
    assert shown.checkpoints.damaged == []
    assert shown.revision == run.info["revision"]
    private = {"env", "name"}
    ours, theirs = (
        {k: v for k, v in config.items() if k not in private}
        for config in (shown.config, run.config_values())
    )
    assert ours == theirs
    kwargs = {"note": shown.note, "api_key": "[removed]", "list": [shown.note]}
    assert shown.config["env"] == {**run.config_section("env"), "kwargs": kwargs}


def test_no_environment_variable_is_included(
    run: Run, bundled: Bundled, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("GYMNAST_TEST_ORDINARY", "quetzalcoatlus")
    with zipfile.ZipFile(bundled(run)) as archive:
        assert not any(b"quetzalcoatlus" in archive.read(name) for name in archive.namelist())


def test_a_user_named_like_a_setting_does_not_break_the_config(
    run: Run, bundled: Bundled, monkeypatch: pytest.MonkeyPatch
):
    """`max_grad_norm` contains the name of the user max, and `env` is a word as well."""
    monkeypatch.setattr("getpass.getuser", lambda: "max")
    monkeypatch.setattr("socket.gethostname", lambda: "env")
    monkeypatch.setenv("HOME", "/data/max")
    run.update(note="see /data/max/x and /home/max/y")
    shown = api.show(str(bundled(run)))
    assert shown.config == run.config_values()
    assert shown.provenance == run.provenance()
    assert shown.note == "see ~/x and ~/y"


SANITIZER = Sanitizer(Identity({HOME: "~"}, {USER: "USER"}, (VARIABLE,)))


@pytest.mark.parametrize(
    "private", [HOME, f"{HOME}/x", "/home/somebody", r"C:\Users\somebody", TOKEN, VARIABLE,
                "sk-ant-api03-" + "x" * 30, "-----BEGIN RSA PRIVATE KEY-----"]
)  # fmt: skip
def test_private_texts_are_found_in_binary_files(private: str):
    noise = np.random.default_rng(0).bytes(10_000)
    assert SANITIZER.private_part(noise) == ""
    assert SANITIZER.private_part(noise + private.encode() + b"\0" + noise)


def test_a_part_with_something_that_cannot_be_removed_is_left_out(run: Run, bundled: Bundled):
    """An environment has put a path into its observations, as bytes."""
    source = checkpoint.find(run.path, "best")
    hidden = np.frombuffer(b"/home/somebody/secret", np.uint8)
    tensors = {stem: source.tensors(stem) for stem in source.stems}
    tensors["collector"] = {**tensors["collector"], "hidden": hidden}
    documents = {stem: source.document(stem) for stem in ("state", "policy", "metrics")}
    shutil.rmtree(source.path)
    checkpoint.write(
        source.path.parent, source.step, tensors=tensors, documents=documents, reason="x"
    )
    shown = api.show(str(bundled(run)), verify=True)
    assert shown.bundle is not None
    reasons = {one.name: one.reason for one in shown.bundle.left_out}
    assert reasons["training state"] == "has a home directory that cannot be removed"
    assert shown.checkpoints.steps == [source.step]
    assert shown.checkpoints.damaged == []


@given(st.dictionaries(st.text("abc/", min_size=1), st.text(max_size=20), max_size=3), st.data())
def test_arrays_keep_their_values_when_their_header_is_cleaned(
    header: dict[str, str], data: st.DataObject
):
    shape = data.draw(st.tuples(st.integers(0, 3), st.integers(0, 3)))
    arrays = {"a": np.arange(np.prod(shape), dtype=np.float32).reshape(shape), "b": np.ones(1)}
    clean = clean_content("x.safetensors", pack(arrays, {**header, "path": HOME}), SANITIZER)
    assert read_header(clean)["path"] == "~"
    assert all(np.array_equal(unpack(clean)[name], array) for name, array in arrays.items())


@pytest.mark.parametrize(
    ("name", "content", "clean"),
    [
        ("x.json", '{"a": ["%s/b", 1.5], "api_key": "k"}', '{"a": ["~/b", 1.5], "api_key": "[removed]"}'),
        ("x.json", '{"a": "%s', '{"a": "~'),
        ("x.jsonl", '{"a": 1}\n{"a": "%s"}\n{"cut', '{"a": 1}\n{"a": "~"}\n'),
        ("x.yaml", "b: 1\na: [%s/x]\n", "b: 1\na: [~/x]\n"),
        ("x.yaml", "a: 1  # see %s/x\n", "{a: 1}\n"),
        ("x.csv", "step,obs/1\n0,1e-05\n1,%s/x\n", "step,obs/1\n0,1e-05\n1,~/x\n"),
        ("x.txt", "line\r\n\x1b[31m%s/x", "line\n~/x"),
    ],
)  # fmt: skip
def test_files_are_cleaned_by_their_kind(name: str, content: str, clean: str):
    written = content.replace("%s", HOME).encode()
    assert clean_content(name, written, SANITIZER).decode() == clean


def test_files_without_anything_private_keep_their_bytes(trained: Run):
    """Their hashes stay valid, and numbers keep all their digits."""
    folders = (layout.CHECKPOINTS, layout.TRACES)
    files = [f for folder in folders for f in folder.path(trained.path).rglob("*") if f.is_file()]
    files += [layout.EVENTS.path(trained.path), layout.CONFIG.path(trained.path)]
    for file in files:
        if file.name != checkpoint.MANIFEST:
            content = file.read_bytes()
            assert clean_content(file.name, content, SANITIZER) == content, file.name
