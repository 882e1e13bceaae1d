"""A small token service, and certificates for it and for registries; made with openssl."""

import base64
import json
import secrets
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import serving


def certificate(folder: Path) -> tuple[Path, Path]:
    """A key and a certificate of its own for this machine."""
    key, cert = folder / "key.pem", folder / "cert.pem"
    subprocess.run(
        [
            serving.program("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
            "-keyout", key, "-out", cert,
        ],
        check=True,
        capture_output=True,
    )  # fmt: skip
    return key, cert


def _base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


class TokenService:
    """Gives tokens to clients that know the password or the refresh token.

    Attributes:
        asked: the method, the scopes and the grant type of each request.
        lifetime: seconds for which tokens are good.
    """

    def __init__(self, folder: Path) -> None:
        self.key, self.cert = certificate(folder)
        self.asked = []
        self.lifetime = 300

    def __enter__(self):
        service = self

        class Handler(BaseHTTPRequestHandler):
            disable_nagle_algorithm = True

            def log_message(self, *_arguments):
                pass

            def do_GET(self):
                expected = base64.b64encode(f"ali:{serving.PASSWORD}".encode()).decode()
                query = parse_qs(urlsplit(self.path).query)
                known = self.headers.get("Authorization") == f"Basic {expected}"
                service.asked.append(("GET", query.get("scope", []), None))
                self.answer(query.get("scope", []), known)

            def do_POST(self):
                form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
                known = form.get("refresh_token") == ["refresh"]
                scopes = form.get("scope", [""])[0].split(" ")
                service.asked.append(("POST", scopes, form["grant_type"][0]))
                self.answer(scopes, known)

            def answer(self, scopes, known):
                body = json.dumps({"token": service.token(scopes)}).encode() if known else b"{}"
                self.send_response(200 if known else 401)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        self.realm = f"http://127.0.0.1:{self._server.server_address[1]}/token"
        return self

    def __exit__(self, *_error):
        self._server.shutdown()
        self._server.server_close()

    def auth(self) -> str:
        """What the configuration of a registry says about this service."""
        return (
            f"auth: {{token: {{realm: '{self.realm}', service: registry, issuer: tests, "
            f"rootcertbundle: {self.cert}}}}}"
        )

    def token(self, scopes) -> str:
        der = subprocess.run(
            [serving.program("openssl"), "x509", "-in", self.cert, "-outform", "der"],
            check=True,
            capture_output=True,
        ).stdout
        header = {"typ": "JWT", "alg": "RS256", "x5c": [base64.b64encode(der).decode()]}
        now = int(time.time())
        access = [
            {"type": kind, "name": name, "actions": actions.split(",")}
            for kind, name, actions in (scope.split(":") for scope in scopes if scope)
        ]
        claims = {
            "iss": "tests", "sub": "ali", "aud": "registry", "exp": now + self.lifetime,
            "nbf": now - 120, "iat": now, "jti": secrets.token_hex(8), "access": access,
        }  # fmt: skip
        parts = f"{_base64(json.dumps(header).encode())}.{_base64(json.dumps(claims).encode())}"
        signature = subprocess.run(
            [serving.program("openssl"), "dgst", "-sha256", "-sign", self.key],
            input=parts.encode(),
            check=True,
            capture_output=True,
        ).stdout
        return f"{parts}.{_base64(signature)}"
