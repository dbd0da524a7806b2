"""Who may ask a registry: name and password with each request, or a token that its own /token gives out for them.

FOLDER/users, read at each request, has NAME:PASSWORD a line; a line <token>:SECRET is an identity token, as Docker writes it.
"""
import base64
import pathlib
import secrets
import time
import urllib.parse

from registry_protocol import Answer, Refusal, json_answer, refused, scopes_of

SERVICE = "registry-double"


class Access:
    def __init__(self, mode, folder, seconds):
        self.mode, self.users, self.seconds = mode, pathlib.Path(folder) / "users", seconds
        self.tokens = {}  # token → (until, scopes)

    def known(self, name, password):
        return password != "" and f"{name}:{password}" in (self.users.read_text().splitlines() if self.users.exists() else [])

    def basic(self, request):
        scheme, _, rest = request.headers.get("Authorization", "").partition(" ")
        try:
            name, colon, password = base64.b64decode(rest, validate=True).decode().partition(":")
        except ValueError:
            return False
        return scheme.lower() == "basic" and bool(colon) and name != "<token>" and self.known(name, password)

    def challenge(self, request, error=None):
        """The 401 that says how to ask."""
        if self.mode == "basic":
            value = 'Basic realm="registry double"'
        else:
            scopes = [f"repository:{name}:{'pull,push' if action == 'push' else action}" for name, action in scopes_of(request)]
            value = f'Bearer realm="{request.site}/token",service="{SERVICE}"'
            value += f',scope="{" ".join(scopes)}"' if scopes else ""
            value += f',error="{error}"' if error else ""
        answer = refused(Refusal(401, "UNAUTHORIZED", "authentication required"))
        answer.headers += [("WWW-Authenticate", value)] if self.mode != "none" else []
        return answer

    def refusal(self, request):
        """None for who may."""
        if self.mode == "none" or request.path.startswith("/elsewhere/"):
            return None
        if self.mode == "basic":
            return None if self.basic(request) else self.challenge(request)
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        until, allowed = self.tokens.get(token, (0, set()))
        if scheme.lower() != "bearer" or until < time.monotonic():
            return self.challenge(request, "invalid_token" if token else None)
        return None if set(scopes_of(request)) <= allowed else self.challenge(request, "insufficient_scope")

    def token(self, request):
        """The answer of /token: GET with name and password, POST with them or an identity token in a form."""
        if request.method == "POST":
            asked = urllib.parse.parse_qs(request.body.decode())
            field = lambda name: asked.get(name, [""])[0]
            allowed = {"password": lambda: self.known(field("username"), field("password")),
                       "refresh_token": lambda: self.known("<token>", field("refresh_token"))}.get(field("grant_type"), lambda: False)()
        else:
            asked, allowed = urllib.parse.parse_qs(urllib.parse.urlsplit(request.target).query), self.basic(request)
        if asked.get("service") != [SERVICE]:
            return Answer(400)
        if not allowed:
            return refused(Refusal(401, "UNAUTHORIZED", "authentication required"))
        scopes = set()
        for scope in " ".join(asked.get("scope", [])).split():
            _, name, actions = scope.split(":", 2)
            scopes |= {(name, action) for action in actions.split(",")}
        token = secrets.token_hex(16)
        self.tokens[token] = (time.monotonic() + self.seconds, scopes)
        return json_answer(200, {"token": token, "access_token": token, "expires_in": self.seconds})
