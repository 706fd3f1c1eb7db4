"""Words of gymnast: names of settings, their values, metrics, algorithms and shipped presets."""

from __future__ import annotations

import re
from functools import cache

from gymnast.config.form import make_form
from gymnast.config.presets import BUILTIN_DIR, all_presets
from gymnast.config.sections import ALGORITHMS
from gymnast.metrics.specs import METRICS
from gymnast.runs.info import RunInfo

_WORD = re.compile(r"[a-z0-9]+")


@cache
def own_words() -> frozenset[str]:
    """Returns the words in lower case. A user or a machine with such a name is not recognized outside of
    paths: replacing `max` in `max_grad_norm` would break the config."""
    presets = [p.name for p in all_presets().values() if p.path and p.path.parent == BUILTIN_DIR]
    texts = [*METRICS, *ALGORITHMS, *RunInfo.__annotations__, *presets]
    for algorithm in ALGORITHMS:
        for section in make_form("tag", algo=algorithm).sections:
            for field in section.fields:
                texts += [field.key, *field.choices]
    return frozenset(word for text in texts for word in _WORD.findall(text.lower()))
