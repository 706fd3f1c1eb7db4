"""Secrets, paths and names to be planted into runs, of which none may reach a bundle."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

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
