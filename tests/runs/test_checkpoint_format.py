"""The format of checkpoints: exact arrays and numbers, hashes, damaged files, lookup by step."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gymnast.errors import CheckpointError
from gymnast.runs import checkpoint, document, layout


def save(run_dir: Path, step: int, value: float = 0.0, **more: object) -> Path:
    tensors = {"policy": {"w": np.full(4, value, np.float32)}}
    documents = {"state": {"value": value}}
    arguments = {"tensors": tensors, "documents": documents, "reason": "cadence"} | more
    return checkpoint.write(run_dir / "checkpoints", step, **arguments)  # pyright: ignore


def test_arrays_are_restored_bit_for_bit_with_shape_and_dtype(tmp_path: Path):
    rng = np.random.default_rng(0)
    arrays = {
        "transposed": np.arange(12.0).reshape(3, 4).T,
        "strided": rng.normal(size=20)[::3],
        "scalar": np.asarray(1.5),
        "empty": np.zeros((0, 3), np.float32),
        "flags": np.array([True, False]),
        "counts": np.array([2**63 - 1, -1]),
        "odd": np.array([np.nan, np.inf, -0.0, 5e-324]),
    }
    back = checkpoint.read(save(tmp_path, 7, tensors={"policy": arrays})).tensors("policy")
    assert back.keys() == arrays.keys()
    for name, array in arrays.items():
        assert (back[name].shape, back[name].dtype) == (array.shape, array.dtype)
        assert back[name].tobytes() == array.tobytes()
        assert back[name].flags.writeable


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(json_values)
def test_documents_keep_every_digit_and_are_valid_json(value: object):
    def refuse(name: str) -> None:
        raise AssertionError(name)

    text = document.dumps(value)
    json.loads(text, parse_constant=refuse)  # no NaN or Infinity, which other tools reject
    assert repr(document.loads(text)) == repr(value)


def test_a_small_learning_rate_is_not_rounded_away(tmp_path: Path):
    kept = {"lr": 5e-4, "tiny": 1.2345678901234567e-300, "third": np.float32(1) / 3, "big": 2**120}
    state = checkpoint.read(save(tmp_path, 1, documents={"state": kept})).document("state")
    assert state == {**kept, "third": float(np.float32(1) / 3)}
    assert math.isnan(document.loads(document.dumps({"x": math.nan}))["x"])


def test_document_keys_that_are_not_strings_are_rejected():
    with pytest.raises(TypeError, match="strings"):
        document.dumps({1: "one"})


def test_the_manifest_lists_every_file_with_its_hash(tmp_path: Path):
    path = save(tmp_path, 120, texts={"rollout.csv": "a,b\n"})
    manifest = json.loads((path / "manifest.json").read_text())
    assert path.name == "000000000120"
    assert (manifest["version"], manifest["step"], manifest["reason"]) == (2, 120, "cadence")
    assert manifest["files"].keys() == {p.name for p in path.iterdir()} - {"manifest.json"}
    assert checkpoint.read(path).text("rollout.csv") == "a,b\n"


def test_equal_weights_have_equal_hashes_and_other_weights_do_not(tmp_path: Path):
    first, same, other = (save(tmp_path, s, v) for s, v in ((1, 0.5), (2, 0.5), (3, 0.6)))
    hashes = [checkpoint.weights_sha256(checkpoint.read_manifest(p)) for p in (first, same, other)]
    assert hashes[0] == hashes[1] != hashes[2]


@pytest.mark.parametrize("name", ["policy.safetensors", "state.json", "manifest.json"])
@pytest.mark.parametrize("harm", ["flip", "cut", "empty", "gone"])
def test_if_the_latest_is_damaged_the_previous_one_is_loaded_with_a_message(
    tmp_path: Path, name: str, harm: str
):
    save(tmp_path, 100, 1.0)
    newest = save(tmp_path, 200, 2.0)
    file = newest / name
    content = file.read_bytes()
    if harm == "gone":
        file.unlink()
    else:
        flipped = bytes([content[-9] ^ 1]).join([content[:-9], content[-8:]])
        file.write_bytes({"flip": flipped, "cut": content[: len(content) // 2], "empty": b""}[harm])
    with pytest.raises(CheckpointError, match=r"damaged|manifest"):
        checkpoint.read(newest)
    if harm != "flip":  # seen without reading the files
        with pytest.raises(CheckpointError, match=r"damaged|manifest"):
            checkpoint.describe(newest)
    found = checkpoint.latest(tmp_path)
    assert found.step == 100
    assert found.document("state") == {"value": 1.0}
    assert len(found.skipped_errors) == 1
    assert str(newest) in found.skipped_errors[0]


def test_latest_raises_if_no_checkpoint_loads(tmp_path: Path):
    with pytest.raises(CheckpointError, match="no checkpoint yet"):
        checkpoint.latest(tmp_path)
    (save(tmp_path, 5) / "policy.safetensors").write_bytes(b"")
    with pytest.raises(CheckpointError, match="no checkpoint can be loaded") as refused:
        checkpoint.latest(tmp_path)
    assert "earlier" not in str(refused.value)  # there is none


def test_the_fix_for_a_damaged_checkpoint_names_the_earlier_ones_that_are_not_damaged(
    tmp_path: Path,
):
    paths = [save(tmp_path, step) for step in (5, 7, 9, 11)]
    fixes: list[str] = []
    for path in reversed(paths):
        (path / "policy.safetensors").write_bytes(b"")
        with pytest.raises(CheckpointError) as refused:
            checkpoint.read(paths[-1])
        fixes.append(refused.value.fix.removeprefix("use an earlier checkpoint: "))
    assert fixes == ["5, 7, 9", "5, 7", "5", ""]
    (save(tmp_path, 6) / "manifest.json").write_text("{}")
    with pytest.raises(CheckpointError) as refused:
        checkpoint.read(paths[-1])
    assert refused.value.fix == ""


def test_an_unknown_checkpoint_format_is_rejected(tmp_path: Path):
    path = save(tmp_path, 5)
    manifest = json.loads((path / "manifest.json").read_text())
    (path / "manifest.json").write_text(json.dumps(manifest | {"version": 99}))
    with pytest.raises(CheckpointError, match="checkpoint format 99 is not known"):
        checkpoint.read(path)


def test_a_manifest_of_another_checkpoint_is_rejected(tmp_path: Path):
    path = save(tmp_path, 5)
    with pytest.raises(CheckpointError, match="another checkpoint"):
        checkpoint.read(path.rename(path.with_name("000000000006")))


def test_writing_the_same_content_keeps_a_checkpoint_and_other_content_replaces_it(tmp_path: Path):
    first = save(tmp_path, 5, 1.0)
    inode = first.stat().st_ino
    assert save(tmp_path, 5, 1.0).stat().st_ino == inode
    assert checkpoint.read(save(tmp_path, 5, 2.0)).document("state") == {"value": 2.0}
    assert [p.name for p in (tmp_path / "checkpoints").iterdir()] == ["000000000005"]


@pytest.mark.parametrize(
    ("which", "step"),
    [
        ("latest", 240_128),
        (120_832, 120_832),
        ("120832", 120_832),
        ("121k", 120_832),
        ("0.1M", 1e5),
    ],
)
def test_a_checkpoint_is_found_by_latest_exact_step_or_rounded_step(
    tmp_path: Path, which: str | int, step: int
):
    for s in (0, 100_000, 120_832, 240_128):
        save(tmp_path, s)
    assert checkpoint.find(tmp_path, which).step == step


def test_a_step_that_matches_none_or_several_checkpoints_is_rejected_with_the_choices(
    tmp_path: Path,
):
    for s in (120_100, 120_400, 300_000):
        save(tmp_path, s)
    with pytest.raises(CheckpointError, match="several") as several:
        checkpoint.find(tmp_path, "120k")
    assert "120100, 120400" in str(several.value)
    for wrong in ("130k", "120000", "newest"):
        with pytest.raises(CheckpointError, match="300000"):
            checkpoint.find(tmp_path, wrong)


def test_pruning_keeps_the_newest_and_the_protected(tmp_path: Path):
    for s in range(6):
        save(tmp_path, s)
    checkpoint.prune(tmp_path, 2, {0, 1})
    assert list(checkpoint.list_checkpoints(tmp_path)) == [0, 1, 4, 5]


def test_damaged_checkpoints_are_renamed_and_never_deleted(tmp_path: Path):
    for s in (0, 10, 20, 30):
        save(tmp_path, s)
    for path in list(checkpoint.list_checkpoints(tmp_path).values())[2:]:
        (path / "policy.safetensors").write_bytes(b"torn")
    assert checkpoint.latest(tmp_path).step == 10
    assert checkpoint.set_aside_damaged(tmp_path, after=10) == [20, 30]
    assert list(checkpoint.list_checkpoints(tmp_path)) == [0, 10]
    save(tmp_path, 20)
    checkpoint.prune(tmp_path, 9)
    assert sorted(p.name for p in (tmp_path / "checkpoints").iterdir()) == [
        *(f"{s:012d}" for s in (0, 10, 20)),
        *(f"damaged-{s:012d}" for s in (20, 30)),
    ]


def test_a_copy_in_another_run_is_the_same_checkpoint(tmp_path: Path):
    found = checkpoint.read(save(tmp_path / "a", 5))
    copied = checkpoint.read(checkpoint.copy(found, layout.CHECKPOINTS.path(tmp_path / "b")))
    assert (copied.files, copied.manifest) == (found.files, found.manifest)


def test_a_missing_file_is_named_in_the_error(tmp_path: Path):
    found = checkpoint.read(save(tmp_path, 5))
    assert found.stems == ("policy",)
    with pytest.raises(CheckpointError, match=r"optimizer\.safetensors"):
        found.tensors("optimizer")
