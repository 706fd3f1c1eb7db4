"""Chooses what a bundle has: the parts in their order, each as complete as the size of the archive allows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

from gymnast.bundle.part import Draft, Part
from gymnast.errors import GymnastError, RunError, UsageError
from gymnast.privacy.sanitize import Sanitizer
from gymnast.runs.bundle_manifest import BundleFile, LeftOut
from gymnast.runs.unpack import MAX_FILES, MAX_MANIFEST, MAX_UNPACKED, is_safe_name

DOES_NOT_FIT = "does not fit"
"""The reason for leaving out a part that exceeds the maximum size."""


@dataclass(frozen=True)
class Selection:
    """The files of a bundle."""

    contents: dict[str, bytes] = field(default_factory=dict[str, bytes])
    """Path in the run directory -> content."""
    files: list[BundleFile] = field(default_factory=list[BundleFile])
    left_out: list[LeftOut] = field(default_factory=list[LeftOut])

    def with_part(self, part: str, draft: Draft) -> Selection:
        """Returns the selection with a draft of this part, whose files replace those with the same names."""
        new = {n: content for n, content in draft.files.items() if self.contents.get(n) != content}
        added = [
            BundleFile(name, part, len(content), sha256(content).hexdigest(), draft.note)
            for name, content in new.items()
        ]
        kept = [file for file in self.files if file.name not in new]
        return replace(self, contents={**self.contents, **new}, files=[*kept, *added])

    @property
    def is_readable(self) -> bool:
        """Whether the limits of those who open bundles allow it."""
        unpacked = sum(map(len, self.contents.values()))
        return unpacked <= MAX_UNPACKED - MAX_MANIFEST and len(self.contents) < MAX_FILES


@dataclass(frozen=True)
class _Candidate:
    """A part, or the reason why it cannot be made."""

    part: Part
    complete: Draft | None
    smaller: Iterator[Draft]
    problem: str = ""


def select(
    parts: Sequence[Part],
    others: Callable[[set[str]], list[LeftOut]],
    *,
    max_size: int,
    size_of: Callable[[Selection], int],
    sanitizer: Sanitizer,
) -> Selection:
    """Returns the parts that fit into `max_size` bytes. `others`: returns what is in no part, given the names
    of all files of the parts; `size_of`: returns the size of the archive of a selection, with its manifest.
    Raises UsageError if not even the first part fits."""
    candidates = [_candidate(part, sanitizer) for part in parts]
    # Everything counts as left out until it is added, so that the manifest is measured with these lines.
    missing = {
        c.part.name: LeftOut(
            c.part.name, c.complete.size if c.complete else 0, c.problem or DOES_NOT_FIT
        )
        for c in candidates
        if c.complete or c.problem
    }
    names = {name for c in candidates if c.complete for name in c.complete.files}
    selection = Selection(left_out=[*missing.values(), *others(names)])
    for candidate in candidates:
        name = candidate.part.name
        without = replace(selection, left_out=[o for o in selection.left_out if o.name != name])
        for draft in _drafts(candidate):
            added = without.with_part(name, draft)
            if added.is_readable and size_of(added) <= max_size:
                selection = added
                break
        if not selection.contents:
            raise _too_small(candidate, without, max_size, size_of)
    return selection


def _too_small(
    candidate: _Candidate, without: Selection, max_size: int, size_of: Callable[[Selection], int]
) -> GymnastError:
    """Returns the error for a bundle without its first part, which is never left out."""
    if candidate.complete is None:
        return RunError(f"no bundle can be made of this run: {candidate.problem}")
    needed = size_of(without.with_part(candidate.part.name, candidate.complete))
    problem = f"a bundle of this run has at least {needed:,} bytes, more than {max_size:,}"
    return UsageError(problem, fix=f"allow more: --max-size {-(-needed // 1000)}kB")


def _drafts(candidate: _Candidate) -> Iterator[Draft]:
    if candidate.complete is not None:
        yield candidate.complete
        yield from candidate.smaller


def _candidate(part: Part, sanitizer: Sanitizer) -> _Candidate:
    """Reads the complete part. A part that cannot be read, or that still has something private after it was
    cleaned, is left out."""
    drafts = part.drafts()
    try:
        complete = next(drafts, None)
    except (GymnastError, OSError, ValueError, KeyError) as error:
        text = error.message if isinstance(error, GymnastError) else str(error)
        return _Candidate(part, None, iter(()), sanitizer.text(text))
    for name, content in complete.files.items() if complete else ():
        if not is_safe_name(name):
            return _Candidate(part, None, iter(()), "has a file with an unusual name")
        if private := sanitizer.private_part(content):
            return _Candidate(part, None, iter(()), f"has {private} that cannot be removed")
    return _Candidate(part, complete, drafts)
