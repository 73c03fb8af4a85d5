# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the comments of GitHub's API, for test_gate.sh.

Usage: github_api.py FOLDER. FOLDER/comments.json has the comments of pull request 7 of
owner/project, FOLDER/port gets the port. The token is `secret`, and may only read if
FOLDER/read-only exists. A page has at most three comments.
"""

from __future__ import annotations

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

FOLDER = Path(sys.argv[1])
COMMENTS = FOLDER / "comments.json"
LIST = "/repos/owner/project/issues/7/comments"
ONE = re.compile(r"/repos/owner/project/issues/comments/(\d+)")


def read_comments() -> Any:
    return json.loads(COMMENTS.read_text())


class Handler(BaseHTTPRequestHandler):
    def answer(self, status: int, body: object) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def is_permitted(self) -> bool:
        if self.headers["Authorization"] != "Bearer secret":
            self.answer(401, {"message": "Bad credentials"})
        elif self.command != "GET" and (FOLDER / "read-only").exists():
            self.answer(403, {"message": "Resource not accessible by integration"})
        else:
            return True
        return False

    def body(self) -> str:
        text = self.rfile.read(int(self.headers["Content-Length"]))
        return str(json.loads(text)["body"])

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        query = parse_qs(url.query)
        page, size = int(query["page"][0]), min(int(query["per_page"][0]), 3)
        if not self.is_permitted():
            return
        if url.path == LIST:
            self.answer(200, read_comments()[(page - 1) * size : page * size])
        else:
            self.answer(404, {"message": "Not Found"})

    def do_POST(self) -> None:
        body = self.body()
        if not self.is_permitted():
            return
        if self.path != LIST:
            return self.answer(404, {"message": "Not Found"})
        comments = read_comments()
        comments.append({"id": 4_000_000_001 + len(comments), "body": body})
        COMMENTS.write_text(json.dumps(comments))
        self.answer(201, comments[-1])

    def do_PATCH(self) -> None:
        body = self.body()
        if not self.is_permitted():
            return
        match, comments = ONE.fullmatch(self.path), read_comments()
        found = [one for one in comments if match and one["id"] == int(match[1])]
        if not found:
            return self.answer(404, {"message": "Not Found"})
        found[0]["body"] = body
        COMMENTS.write_text(json.dumps(comments))
        self.answer(200, found[0])


def main() -> None:
    server = HTTPServer(("127.0.0.1", 0), Handler)
    (FOLDER / "port.new").write_text(str(server.server_port))
    (FOLDER / "port.new").rename(FOLDER / "port")
    server.serve_forever()


if __name__ == "__main__":
    main()
