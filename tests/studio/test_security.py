"""Other users and web pages from other origins can neither read nor change anything."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from starlette.requests import Request
from starlette.routing import Mount, Route

from gymnast.serving.hosts import is_allowed_host
from gymnast.serving.secret import user_secret
from gymnast.studio.app import create_app
from gymnast.studio.files import SANDBOX
from gymnast.studio.options import StudioOptions
from gymnast.studio.security import CONTENT_SECURITY_POLICY, HEADERS
from gymnast.studio.session import Sessions
from tests.studio.conftest import HTML, Trained
from tests.studio.server import Server, serving

PUBLIC = ("/api/session", "/guide", "/guide/metrics", "/guide/{path:path}", "/{path:path}")
"""Routes that need no session."""


def routes() -> list[tuple[str, str]]:
    """Returns the method and the path of every route, from the route table of the app."""
    app = create_app(StudioOptions(Path("runs")))
    (mount,) = app.routes
    assert isinstance(mount, Mount)
    found = [route for route in mount.routes if isinstance(route, Route)]
    return [(method, route.path) for route in found for method in sorted(route.methods or ())]


ROUTES = routes()


def concrete(path: str) -> str:
    return re.sub(r"\{path:path\}", "x", path).replace("{run}", "@last")


def status(client: httpx.Client, method: str, path: str, **headers: str) -> int:
    content = b"{}" if method == "POST" else None
    with client.stream(method, concrete(path), content=content, headers=headers) as response:
        return response.status_code


@pytest.mark.parametrize(("method", "path"), ROUTES, ids=lambda part: part)
def test_no_route_answers_a_foreign_host_or_origin(server: Server, method: str, path: str):
    with server.client() as browser:
        assert status(browser, method, path, host="evil.example") == 421
        assert status(browser, method, path, host="127.0.0.1.evil.example:80") == 421
        for origin in ("http://evil.example", "null", "http://127.0.0.1:1", "http://localhost"):
            assert status(browser, method, path, origin=origin) == 403, origin
        for site in ("cross-site", "same-site"):
            assert status(browser, method, path, **{"sec-fetch-site": site}) == 403


@pytest.mark.parametrize(("method", "path"), ROUTES, ids=lambda part: part)
def test_every_route_but_the_apps_own_files_needs_a_session(server: Server, method: str, path: str):
    with server.client(signed_in=False) as stranger:
        expected = path not in PUBLIC
        assert (status(stranger, method, path) == 401) == expected
        for wrong in (f"{server.sessions.cookie}=1-x.{'0' * 40}", f"{server.sessions.cookie}=x"):
            assert (status(stranger, method, path, cookie=wrong) == 401) == expected
        wrong = f"Bearer 1-x.{'0' * 40}"
        assert (status(stranger, method, path, authorization=wrong) == 401) == expected


def test_pages_as_json_need_a_session(server: Server):
    with server.client(signed_in=False) as stranger:
        assert stranger.get("/?format=json").status_code == 401
        assert stranger.get("/run/@last", headers={"accept": "application/json"}).status_code == 401
        assert stranger.get("/run/@last").status_code == 200


@pytest.mark.parametrize(("method", "path"), ROUTES, ids=lambda part: part)
def test_every_answer_has_the_headers_that_browsers_need(server: Server, method: str, path: str):
    with server.client() as browser:
        for host in ({}, {"host": "evil.example"}):
            content = b"[" if method == "POST" else None  # refused: nothing is started
            with browser.stream(method, concrete(path), content=content, headers=host) as response:
                own = {"/files/{run}/{path:path}": ()}.get(path, HEADERS)
                assert set(HEADERS) <= set(response.headers)
                assert not [name for name in response.headers if name.startswith("access-control")]
                for name in own:
                    assert response.headers[name] == HEADERS[name]


def test_only_hashed_files_are_cached(client: httpx.Client):
    assert client.get("/assets/app-1a2b.js").headers["cache-control"].endswith("immutable")
    assert client.get("/").headers["cache-control"] == "no-store"
    assert "unsafe-inline" not in CONTENT_SECURITY_POLICY


def test_a_link_from_another_site_opens_the_page_but_reads_nothing(server: Server):
    navigation = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    with server.client() as browser:
        assert browser.get("/run/@last", headers=navigation).status_code == 200
        assert browser.get("/api/runs", headers=navigation).status_code == 403


def test_a_token_signs_in_one_browser_and_the_next_link_another(server: Server):
    announced: list[str] = []
    sessions = Sessions(server.options, user_secret(), announced.append)
    token = sessions.token
    assert sessions.exchange("wrong") is None
    assert sessions.exchange(token) is not None
    assert sessions.exchange(token) is None
    assert announced == [sessions.token] != [token]
    assert sessions.exchange(announced[0]) is not None


def test_signing_in_sets_a_cookie_that_scripts_cannot_read(server: Server):
    with server.client(signed_in=False) as browser:
        assert browser.get("/api/session").json()["signed_in"] is False
        assert browser.get("/api/session").json()["runs_dir"] == ""
        token = server.sessions.token
        response = browser.post("/api/session", json={"token": token})
        assert response.json()["signed_in"] is True
        cookie = response.headers["set-cookie"].lower()
        assert all(word in cookie for word in ("httponly", "samesite=strict", "path=/"))
        assert browser.get("/api/runs").status_code == 200
        assert browser.post("/api/session", json={"token": token}).status_code == 401


def test_a_session_survives_a_restart_but_not_other_rights_or_directories(
    server: Server, tmp_path: Path
):
    def sessions(options: StudioOptions, secret: bytes = user_secret()) -> Sessions:
        return Sessions(options, secret, lambda _: None)

    def accepts(other: Sessions, value: str) -> bool:
        cookie = f"{other.cookie}={value}"
        scope = {"type": "http", "headers": [(b"cookie", cookie.encode())]}
        return other.is_signed_in(Request(scope))

    directory = server.options.runs_dir
    value = sessions(StudioOptions(directory)).issue()
    assert accepts(sessions(StudioOptions(directory, port=9)), value)
    assert not accepts(sessions(StudioOptions(tmp_path)), value)
    assert not accepts(sessions(StudioOptions(directory, allow_code=True)), value)
    assert not accepts(sessions(StudioOptions(directory), b"other" * 8), value)
    shared = sessions(StudioOptions(directory, read_only=True)).issue()
    assert not accepts(sessions(StudioOptions(directory)), shared)


def test_the_secret_is_private_and_replaced_if_others_could_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    secret = user_secret()
    (file,) = (tmp_path / "gymnast").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert user_secret() == secret
    file.chmod(0o644)
    assert user_secret() != secret
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("listens_on", "allowed", "refused"),
    [
        ("127.0.0.1", ["localhost", "localhost:9000", "127.0.0.1:1", "[::1]:80", "127.1.2.3"],
         ["", "evil.example", "10.0.0.1", "localhost.evil.example", "a@localhost", "localhost/x"]),
        ("10.0.0.1", ["10.0.0.1:8765", "localhost"], ["10.0.0.2", "evil.example"]),
        ("0.0.0.0", ["10.0.0.7:8765", "192.168.1.4"], ["evil.example", "evil.example:8765"]),
    ],
)  # fmt: skip
def test_hosts(listens_on: str, allowed: list[str], refused: list[str]):
    options = StudioOptions(Path("runs"), host=listens_on)
    assert [host for host in allowed if not is_allowed_host(host, options)] == []
    assert [host for host in refused if is_allowed_host(host, options)] == []
    proxied = StudioOptions(Path("runs"), host=listens_on, allowed_hosts=("studio.example",))
    assert is_allowed_host("studio.example:443", proxied)


PATHS = ["../run.json", "videos/../run.json", "videos/../../{other}/run.json", "run.json", "config.yaml",
         "checkpoints/x.png", "videos/.hidden.mp4", "videos//film.mp4", "/etc/passwd", "videos/film.log",
         "videos/link.png", "videos\\film.mp4"]  # fmt: skip


def encodings(path: str) -> Iterator[str]:
    yield path
    yield path.replace(".", "%2e")
    yield path.replace("/", "%2f")
    yield path.replace("..", "%252e%252e").replace("/", "%252f")
    yield path.replace("/", "%5c")


def test_files_outside_of_the_served_folders_cannot_be_read(copied: Trained):
    run = copied.first
    (run.path / "videos" / ".hidden.mp4").write_text("secret")
    (run.path / "videos" / "film.log").write_text("secret")
    (run.path / "videos" / "link.png").symlink_to(run.path / "run.json")
    with serving(copied.runs_dir) as server, server.client() as browser:
        assert browser.get(f"/files/{run.id}/videos/film.mp4").status_code == 200
        for path in PATHS:
            for text in encodings(path.format(other=copied.second.id)):
                # A raw request, since clients resolve `..` themselves.
                url = httpx.URL(server.options.address).copy_with(
                    raw_path=f"/files/{run.id}/{text}".encode()
                )
                response = browser.get(url)
                assert response.status_code in (400, 404) or response.text.startswith("<!doc"), text
        for name in ("..", "%2e%2e", "..%2f..", "%2fetc", ".", "~"):
            url = httpx.URL(server.options.address).copy_with(
                raw_path=f"/files/{name}/videos/film.mp4".encode()
            )
            assert browser.get(url).status_code in (400, 404)


def test_reports_run_no_scripts_and_films_can_be_read_in_parts(
    client: httpx.Client, trained: Trained
):
    report = client.get(f"/files/{trained.first.id}/report/report.html")
    assert report.headers["content-security-policy"] == SANDBOX
    assert "script-src" not in SANDBOX
    part = client.get(
        f"/files/{trained.first.id}/videos/film.mp4", headers={"range": "bytes=10-19"}
    )
    assert part.status_code == 206
    assert part.content == bytes(range(10, 20))


def test_texts_of_runs_are_json_text(client: httpx.Client, trained: Trained):
    response = client.get("/api/show", params={"ref": trained.first.id})
    assert response.headers["content-type"] == "application/json"
    assert response.json()["note"] == HTML


def test_everything_works_below_a_prefix(trained: Trained, files: Path):
    with (
        serving(trained.runs_dir, files, prefix="/a/studio/") as server,
        server.client() as browser,
    ):
        assert browser.get("").text.startswith('<!doctype html><head><base href="/a/studio/">')
        assert browser.get("api/runs").json()["total"] == 3
        assert 'href="/a/studio/guide/metrics"' in browser.get("guide").text
        assert browser.get(server.options.address.replace("/a/studio", "")).status_code == 404
        token = browser.post("api/session", json={"token": server.sessions.token})
        assert "Path=/a/studio/" in token.headers["set-cookie"]
    with (
        serving(trained.runs_dir, files, prefix="/a/studio/") as server,
        server.client(signed_in=False) as stranger,
    ):
        assert stranger.get("api/runs").status_code == 401
