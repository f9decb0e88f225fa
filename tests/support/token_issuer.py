"""An issuer of OAuth tokens for one client, as simple as RFC 6749 allows; the tokens are not signed."""

from __future__ import annotations

import base64
import json
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from urllib.parse import parse_qs

from tests.support.secure_kafka import OAUTH, login

from barnabas.security.oauthbearer import unsecured_token


class Issuer:
    def __init__(self, client_id: str, secret: str, context: ssl.SSLContext | None = None) -> None:
        self.asked: list[dict[str, list[str]]] = []
        self.lifetime_s = 60.0
        self._id = client_id
        self._expected = "Basic " + base64.b64encode(f"{client_id}:{secret}".encode()).decode()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        if context is not None:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        scheme = "http" if context is None else "https"
        self.url = f"{scheme}://127.0.0.1:{self._server.server_port}/token"

    def jaas(self, secret: str, **more: str) -> str:
        return login(OAUTH, clientId=self._id, clientSecret=secret, **more)

    def token(self) -> str:
        options = {
            "unsecuredLoginStringClaim_sub": "alice",
            "unsecuredLoginLifetimeSeconds": str(self.lifetime_s),
        }
        return unsecured_token(options, int(time.time() * 1000)).text

    def answer(self, authorization: str) -> tuple[int, bytes]:
        if authorization != self._expected:
            return 401, b'{"error":"invalid_client"}'
        return 200, json.dumps({"access_token": self.token(), "token_type": "Bearer"}).encode()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                issuer.asked.append(parse_qs(body))
                code, content = issuer.answer(self.headers["Authorization"])
                self.send_response(code)
                if code // 100 == 3:
                    self.send_header("Location", "/elsewhere")
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                """Tests are quiet."""

        return Handler

    def __enter__(self) -> Issuer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
