"""Host and Origin headers: which names are names of a server, and which pages may ask it.

- Host: a web page whose name is made to resolve to this machine (DNS rebinding) is refused.
- Origin and Sec-Fetch-Site: a page of another origin can neither read nor change anything.
"""

from __future__ import annotations

import socket
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from gymnast.errors import Failure
from gymnast.serving.options import LOOPBACK_NAMES, ServerOptions, is_wildcard


def header_refusal(
    headers: Headers, options: ServerOptions, *, is_page: bool = False
) -> Failure | None:
    """Returns why a request is refused because of its Host or Origin; None if it is not. `is_page`: it asks
    for a page or a file of an app, to which other sites may link."""
    host = headers.get("host", "")
    if not is_allowed_host(host, options):
        fix = f"open the address that `{options.COMMAND}` printed, or restart it with --allow-host NAME"
        return Failure("host", f"{host!r} is not a name of this server", fix=fix)
    if not _is_same_origin(headers, host, options, is_page=is_page):
        return Failure("forbidden", "requests of pages from other origins are refused")
    return None


def is_allowed_host(host: str, options: ServerOptions) -> bool:
    """Returns whether a Host header, with any port, names this server: a loopback name, its address, or an
    allowed name."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        _ = urlsplit(f"//{host}").port
    except ValueError:
        return False
    name = name.rstrip(".")
    if "@" in host or "/" in host or not name:
        return False
    if name in (*LOOPBACK_NAMES, *_names((options.host, *options.allowed_hosts))):
        return True
    try:
        address = ip_address(name)
    except ValueError:
        return is_wildcard(options.host) and name == socket.gethostname().lower()
    # An attacker's page can make a name resolve to this machine, but an address is what it is.
    return address.is_loopback or is_wildcard(options.host)


def _is_same_origin(headers: Headers, host: str, options: ServerOptions, *, is_page: bool) -> bool:
    """Returns whether a request comes from a page of this server, or from no page at all."""
    origin = headers.get("origin")
    if origin is not None and not _is_own(origin, host, options):
        return False
    if headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
        return True
    return is_page and headers.get("sec-fetch-mode") == "navigate"


def _is_own(origin: str, host: str, options: ServerOptions) -> bool:
    """Returns whether an Origin is that of this server: the address in `host`, or the name of a reverse
    proxy."""
    try:
        parts = urlsplit(origin)
        default = {"http": 80, "https": 443}.get(parts.scheme)
        address = (parts.hostname, parts.port or default)
        own = urlsplit(f"//{host}")
        if address == (own.hostname, own.port or default):
            return True
    except ValueError:
        return False
    return parts.hostname in _names(options.allowed_hosts)


def _names(hosts: tuple[str, ...]) -> set[str]:
    """Returns host names in lower case, without ports."""
    return {urlsplit(f"//{_bracketed(host)}").hostname or "" for host in hosts} - {""}


def _bracketed(host: str) -> str:
    return f"[{host}]" if host.count(":") > 1 and not host.startswith("[") else host
