"""Secrets, paths and names to be planted into runs, of which none may reach a bundle."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest
from hypothesis import strategies as st
from ruamel.yaml import YAML

from gymnast.runs.run import Run

HOME, USER, HOST = "/data/people/zoqfot", "zoqfot", "mrrshan-7.lab.example"
"""The home directory, the user and the host that tests pretend to have."""
VARIABLE = "Vux-umgah-42-thraddash"
"""The value of a secret environment variable."""


@dataclass(frozen=True)
class Planted:
    text: str
    """The text as a user, an environment or a program writes it."""
    core: str
    """The part of it that must not appear."""


def _regex(pattern: str) -> st.SearchStrategy[str]:
    return st.from_regex(pattern, fullmatch=True)


_word = _regex(r"[a-z]{5,12}")
_TOKENS = [
    r"sk-[A-Za-z0-9]{20,48}",
    r"sk-ant-api03-[A-Za-z0-9_-]{20,60}[A-Za-z0-9]",
    r"gh[pousr]_[A-Za-z0-9]{36}",
    r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}",
    r"glpat-[A-Za-z0-9]{20}",
    r"hf_[A-Za-z0-9]{34}",
    r"AKIA[A-Z0-9]{16}",
    r"AIza[A-Za-z0-9]{35}",
    r"xoxb-[0-9]{11}-[A-Za-z0-9]{24}",
    r"npm_[A-Za-z0-9]{36}",
    r"pypi-AgEIcHlwaS5vcmc[A-Za-z0-9]{20}",
    r"eyJ[A-Za-z0-9]{20}\.[A-Za-z0-9]{30}\.[A-Za-z0-9]{20}",
    r"[0-9a-f]{40}",
    r"[A-Z][a-z][0-9][A-Za-z0-9]{37}",
]
tokens = st.one_of([_regex(pattern) for pattern in _TOKENS]).map(lambda t: Planted(t, t))
assigned = st.builds(
    lambda name, sign, value: Planted(f"{name}{sign}{value}", value),
    st.sampled_from(
        ["password", "API_KEY", "wandb_token", "client-secret", "my.credential", "auth_token"]
    ),
    st.sampled_from(["=", ": ", " = ", ":"]),
    _word.map(lambda word: f"qz{word}"),
)
in_urls = st.builds(
    lambda user, word: Planted(f"https://qz{user}:qz{word}@example.org/x", f"qz{word}"),
    _word,
    _word,
)
headers = _word.map(lambda w: Planted(f"Authorization: Bearer qz{w}", f"qz{w}"))
keys = _word.map(
    lambda w: Planted(
        f"-----BEGIN RSA PRIVATE KEY-----\nMIIqz{w}\nqz{w}==\n-----END RSA PRIVATE KEY-----",
        f"qz{w}",
    )
)
paths = st.one_of(
    _word.map(lambda word: Planted(f"{HOME}/{word}/x.py", HOME)),
    _word.map(lambda word: Planted(f"/home/qz{word}/project", f"qz{word}")),
    _word.map(lambda word: Planted(f"/Users/qz{word}", f"qz{word}")),
    _word.map(lambda word: Planted(f"C:\\Users\\qz{word}\\x", f"qz{word}")),
)
names = st.sampled_from(
    [
        Planted(USER, USER),
        Planted(USER.title(), USER),
        Planted(f"by_{USER}", USER),
        Planted(HOST, "mrrshan"),
        Planted(HOST.partition(".")[0].upper(), "mrrshan"),
        Planted(f"{USER}@uni.example", USER),
        Planted(VARIABLE, VARIABLE),
    ]
)
anything = st.one_of(tokens, assigned, in_urls, headers, keys, paths, names)


def surrounded(planted: Planted) -> st.SearchStrategy[Planted]:
    """Returns the same within a sentence, quotes, brackets or a table."""
    frames = [
        "{}",
        "step 3: {} failed",
        "'{}'",
        "({})",
        "see {}.",
        "a | {} | b",
        "`{}`,",
        "\x1b[31m{}",
    ]
    return st.sampled_from(frames).map(lambda f: Planted(f.format(planted.text), planted.core))


planted_texts = anything.flatmap(surrounded)


def pretend_to_be_somebody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes this process the one of another user on another machine."""
    monkeypatch.setenv("HOME", HOME)
    for variable in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(variable, USER)
    monkeypatch.setenv("UMGAH_API_KEY", VARIABLE)
    monkeypatch.setattr("socket.gethostname", lambda: HOST)


def plant(run: Run, texts: list[Planted]) -> None:
    """Writes texts to every place of a run that a user, an environment or another machine can fill."""
    joined = " ".join(planted.text for planted in texts)
    config_file = run.path / "config.yaml"
    yaml = YAML(typ="safe", pure=True)
    yaml.width = 1 << 20  # else ruamel breaks lines after backslashes, and reads them differently
    config = yaml.load(config_file)
    config["env"]["kwargs"] = {"note": joined, "api_key": texts[0].core, "list": [joined]}
    config["name"] = joined
    yaml.dump(config, config_file)
    alert = {
        "id": "policy/entropy:low",
        "level": "warning",
        "message": joined,
        "advice": joined,
        "first": 1,
        "last": 2,
        "count": 3,
        "active": True,
        "changes": {"algo.lr": joined},
    }
    run.update(
        note=joined,
        tags=[planted.text for planted in texts],
        reason=joined,
        status="failed",
        host=HOST,
        alerts=[alert],
        live={"algo.lr": joined},
    )
    with (run.path / "log.txt").open("a") as log:
        log.write(f"{joined}\nTraceback: {joined}\n")
    event = {"kind": "fault", "env_steps": 1, "rollouts": 1, "time": 1.0}
    with (run.path / "events.jsonl").open("a") as events:
        for more in ({"message": joined}, {"error": joined, "password": texts[0].core}):
            events.write(json.dumps(event | more) + "\n")
