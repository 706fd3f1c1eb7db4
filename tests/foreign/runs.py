"""The runs of other programs that the tests read (tests/fixtures/foreign)."""

from __future__ import annotations

from pathlib import Path

from gymnast.foreign.open import open_foreign
from gymnast.foreign.reference import ForeignOptions
from gymnast.foreign.run import ForeignRun

FIXTURE = Path(__file__).parents[1] / "fixtures" / "foreign"
SB3 = FIXTURE / "sb3"
PPO, LARGE_LR, LARGE_ENT_COEF = (SB3 / n for n in ("ppo", "ppo_large_lr", "ppo_large_ent_coef"))
EVENTS = next((FIXTURE / "tensorboard" / "PPO_1").iterdir())
CLEANRL = next((FIXTURE / "cleanrl").iterdir())
WANDB = next((FIXTURE / "wandb").rglob("*.wandb"))
TINY_LR = SB3 / "ppo_tiny_lr"
ALL = (
    PPO,
    LARGE_LR,
    LARGE_ENT_COEF,
    TINY_LR,
    SB3 / "dqn",
    PPO / "monitor.csv",
    EVENTS,
    CLEANRL,
    WANDB,
)


def opened(path: Path | str, **options: object) -> ForeignRun:
    return open_foreign(str(path), ForeignOptions(**options))  # type: ignore[arg-type]
