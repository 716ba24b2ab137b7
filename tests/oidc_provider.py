"""A small OpenID Connect provider on loopback: whoever is named on its page is signed in, without a password.

Authorization code flow with PKCE (S256), nonce and a signed id_token. A code works once, for the client and the address
that it was issued to; all else is refused as the standard says, so no test passes because the provider is lenient.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, CLIENT_SECRET = "riskcore", "known to both"
COOKIE_SECRET = "a long secret that nobody guesses"
_ALGORITHM = "RS256"


class OidcProvider:
    """What the provider knows: its key, its users, and the codes and tokens that it has given."""

    def __init__(self, users: dict[str, dict[str, Any]]) -> None:
        self.users = users
        self.sign_ins = 0
        self._key = RSAKey.generate_key(2048, {"kid": "of this test", "use": "sig", "alg": _ALGORITHM})
        self._codes: dict[str, dict[str, str]] = {}
        self._tokens: dict[str, str] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.issuer = f"http://127.0.0.1:{self._server.server_port}"

    def secrets(self, address: str, access: str) -> str:
        """The `secrets.toml` of a server at this address, with this section [access]."""
        values = {
            "redirect_uri": f"{address}/oauth2callback",
            "cookie_secret": COOKIE_SECRET,
            "client_id": CLIENT,
            "client_secret": CLIENT_SECRET,
            "server_metadata_url": f"{self.issuer}/.well-known/openid-configuration",
        }
        lines = [f"{name} = {json.dumps(value)}" for name, value in values.items()]
        return "\n".join(["[auth]", *lines, "", "[access]", access, ""])

    def answer(self, path: str, asked: dict[str, str], form: dict[str, str], header: str) -> tuple[int, str, str]:
        """Status, body, and where to go next ("" for nowhere)."""
        if path == "/.well-known/openid-configuration":
            return 200, json.dumps(self._metadata()), ""
        if path == "/jwks":
            return 200, json.dumps({"keys": [self._key.as_dict(private=False)]}), ""
        if path == "/authorize":
            return self._authorize(asked)
        if path == "/token":
            return self._token(form, header)
        if path == "/userinfo" and (name := self._tokens.get(header.removeprefix("Bearer "))):
            return 200, json.dumps(self._claims(name)), ""
        if path == "/logout":
            return 302, "", asked["post_logout_redirect_uri"]
        return 404, json.dumps({"error": "not_found"}), ""

    def _metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/jwks",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "end_session_endpoint": f"{self.issuer}/logout",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [_ALGORITHM],
            "code_challenge_methods_supported": ["S256"],
        }

    def _authorize(self, asked: dict[str, str]) -> tuple[int, str, str]:
        """The page with the users; with one of them, the way back with a code."""
        wanted = {"response_type": "code", "client_id": CLIENT, "code_challenge_method": "S256"}
        if any(asked.get(name) != value for name, value in wanted.items()) or "openid" not in asked.get("scope", ""):
            return 400, json.dumps({"error": "invalid_request"}), ""
        name = asked.pop("as", "")
        if name == "nobody":
            back = {"error": "access_denied", "state": asked["state"]}
        elif name in self.users:
            code = secrets.token_urlsafe()
            self._codes[code] = {**asked, "name": name}
            back = {"code": code, "state": asked["state"]}
        else:
            return 200, self._page(asked), ""
        return 302, "", f"{asked['redirect_uri']}?{urlencode(back)}"

    def _page(self, asked: dict[str, str]) -> str:
        links = "".join(
            f'<p><a href="/authorize?{html.escape(urlencode({**asked, "as": name}))}">{name}</a></p>'
            for name in (*self.users, "nobody")
        )
        return f"<!doctype html><title>Sign-in service</title><h1>Who are you?</h1>{links}"

    def _token(self, form: dict[str, str], header: str) -> tuple[int, str, str]:
        given = self._codes.pop(form.get("code", ""), None)
        known = base64.b64encode(f"{CLIENT}:{CLIENT_SECRET.replace(' ', '+')}".encode()).decode()
        plain = base64.b64encode(f"{CLIENT}:{CLIENT_SECRET}".encode()).decode()
        if header not in (f"Basic {known}", f"Basic {plain}"):
            return 401, json.dumps({"error": "invalid_client"}), ""
        proof = base64.urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        if (
            given is None
            or form.get("grant_type") != "authorization_code"
            or form.get("redirect_uri") != given["redirect_uri"]
            or proof.decode().rstrip("=") != given["code_challenge"]
        ):
            return 400, json.dumps({"error": "invalid_grant"}), ""
        now, token = int(time.time()), secrets.token_urlsafe()
        claims = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": given["nonce"]}
        claims |= self._claims(given["name"])
        self._tokens[token] = given["name"]
        self.sign_ins += 1
        signed = jwt.encode({"alg": _ALGORITHM, "kid": self._key.kid}, claims, self._key)
        found = {"access_token": token, "token_type": "Bearer", "expires_in": 300, "id_token": signed}
        return 200, json.dumps(found), ""

    def _claims(self, name: str) -> dict[str, Any]:
        return {"sub": f"number of {name}", "email": f"{name}@example.org", "email_verified": True, **self.users[name]}

    def start(self) -> None:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def provide(users: dict[str, dict[str, Any]]) -> Iterator[OidcProvider]:
    """A running provider; its users by name, each with claims beyond the usual ones."""
    provider = OidcProvider(users)
    provider.start()
    try:
        yield provider
    finally:
        provider.stop()


def _handler(provider: OidcProvider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer({})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self._answer(dict(parse_qsl(body.decode())))

        def _answer(self, form: dict[str, str]) -> None:
            url = urlsplit(self.path)
            asked = dict(parse_qsl(url.query))
            status, body, where = provider.answer(url.path, asked, form, self.headers.get("Authorization", ""))
            self.send_response(status)
            if where:
                self.send_header("Location", where)
            self.send_header("Content-Type", "text/html" if body.startswith("<") else "application/json")
            self.send_header("Content-Length", str(len(body.encode())))
            # As real services do: the browser leaves the window's group of pages, and comes back into a new one.
            self.send_header("Cross-Origin-Opener-Policy", "same-origin")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler
