"""Requests that somebody with a key of one tenant could craft to reach another.

Every one begins as an honest request of its route, about something the sender has; then parts of
it are replaced. Texts are drawn by hypothesis, and some requests whole by schemathesis from the
OpenAPI document.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import schemathesis
from hypothesis import strategies as st
from isolation_forgery import Dice, forged_export
from isolation_place import MINE, MY_KEY, READ_KEY, THEIRS, TOLD, Known
from isolation_words import (
    AUTHORIZATIONS,
    EXTRA_HEADERS,
    EXTRA_QUERY,
    FILTERS,
    MORE_FIELDS,
    NAMES,
    ODD_FILTERS,
    ODD_MESSAGES,
    ODD_METADATA,
    ODD_OPTIONS,
    RAW_BODIES,
    RAW_PARTS,
    TEXTS,
    Json,
)
from raw_http import Header, Request
from schemathesis.generation import GenerationMode

_ANY = st.characters(codec=None)
"""Every code point, lone surrogates as well."""

Draw = Callable[[st.SearchStrategy[Any]], Any]


@dataclass(frozen=True, kw_only=True)
class Route:
    """A method and the template of a path."""

    method: str
    path: str

    @property
    def name(self) -> str:
        """As people write it."""
        return f"{self.method} {self.path}"


@dataclass(frozen=True, kw_only=True)
class Crafted:
    """A request, its route, and whether its key lets the sender in."""

    route: Route
    request: Request
    is_let_in: bool


Cases = Mapping[str, Sequence[st.SearchStrategy[Any]]]


def cases_of(document: Mapping[str, Any]) -> Cases:
    """Per route what schemathesis draws for it: requests that keep to the document, and others."""
    schema = schemathesis.openapi.from_dict(dict(document))
    found: dict[str, list[st.SearchStrategy[Any]]] = {}
    for result in schema.get_all_operations():
        operation = result.ok()
        name = f"{operation.method.upper()} {operation.path}"
        found[name] = [operation.as_strategy(mode) for mode in GenerationMode]
    return found


def routes_of(document: Mapping[str, Any]) -> list[Route]:
    """Every route of the document, and those that show it."""
    named = [
        Route(method=method.upper(), path=path)
        for path, methods in document["paths"].items()
        for method in methods
    ]
    return [*named, *(Route(method="GET", path=path) for path in ("/openapi.json", "/docs"))]


class Crafter:
    """Makes requests of the one tenant about what it has and what it knows of its neighbour."""

    def __init__(self, routes: Sequence[Route], cases: Cases, told: Known) -> None:
        # Erasing takes long and leaves little to ask for: it comes less often than the rest.
        often = [route for route in routes if route.method != "DELETE"]
        self._routes = [*routes, *often, *often]
        self._cases = cases
        self._told = told

    def craft(self, number: int, draw: Draw, own: Known) -> Crafted:
        """The request of this number; ``own`` is what the sender has just now.

        What is drawn depends on nothing but what was drawn before, as hypothesis asks for.
        """
        dice = Dice(f"{number} {draw(st.integers(0, 2**32))}")
        if draw(st.integers(0, 7)) == 0:
            name = draw(st.sampled_from(sorted(self._cases)))
            case = draw(st.one_of(*self._cases[name]))
            return self._by_schema(dice, name, case, own)
        texts = draw(st.text(_ANY, max_size=40)), draw(st.text(_ANY, min_size=1, max_size=20))
        route = self._routes[number % len(self._routes)]
        asked = _Asked(
            dice=dice,
            route=route,
            own=own,
            told=self._told,
            texts=texts,
            is_plain=dice.often(0.45),
        )
        headers, is_let_in = asked.headers()
        request = Request(
            method=route.method,
            target=asked.target(),
            headers=tuple(headers),
            body=asked.body(),
        )
        return Crafted(route=route, request=request, is_let_in=is_let_in)

    def _by_schema(self, dice: Dice, name: str, case: Any, own: Known) -> Crafted:
        route = next(each for each in self._routes if each.name == name)
        asked = _Asked(
            dice=dice, route=route, own=own, told=self._told, texts=("", "x"), is_plain=True
        )
        target = asked.path()
        for name, value in (case.path_parameters or {}).items():
            if dice.often(0.5):
                target = target.replace(asked.drawn.get(name, "\n"), quote(str(value), safe="%"))
        headers, is_let_in = asked.headers()
        given = [
            (name.encode(), str(value).encode("latin-1", "replace"))
            for name, value in (case.headers or {}).items()
            if name.lower() != "authorization"
        ]
        query = _encoded(_pairs(case.query or {}))
        request = Request(
            method=route.method,
            target=f"{target}?{query}" if query else target,
            headers=(*headers, *given),
            body=_dumped(case.body),
        )
        return Crafted(route=route, request=request, is_let_in=is_let_in)


def _pairs(query: Mapping[str, Any]) -> list[tuple[str, str]]:
    found = []
    for name, value in query.items():
        values = value if isinstance(value, list) else [value]
        found += [(str(name), str(each)) for each in values]
    return found


def _encoded(pairs: Sequence[tuple[str, str]]) -> str:
    return urlencode(pairs, errors="surrogatepass")


def _dumped(body: object) -> bytes:
    if isinstance(body, bytes):
        return body
    try:
        return json.dumps(body).encode()
    except (TypeError, ValueError):
        return b""


class _Asked:
    """One request in the making."""

    def __init__(
        self,
        *,
        dice: Dice,
        route: Route,
        own: Known,
        told: Known,
        texts: tuple[str, str],
        is_plain: bool,
    ) -> None:
        self._texts = texts
        self._dice = dice
        self._route = route
        self._own = own
        self._told = told
        self.is_plain = is_plain
        self.drawn: dict[str, str] = {}
        self._entry = ""

    # Path and query -----------------------------------------------------------------------------

    def target(self) -> str:
        """Path and query, percent-encoded."""
        query = self._honest_query()
        if not self.is_plain and self._dice.often(0.3):
            query += [self._dice.one(EXTRA_QUERY)]
        if not self.is_plain and self._dice.often(0.05):
            query.append(("tenant", self._text()))
        path, encoded = self.path(), _encoded(query)
        return f"{path}?{encoded}" if encoded else path

    def path(self) -> str:
        """The template with something in every place."""
        parts = []
        for part in self._route.path.split("/"):
            if part.startswith("{"):
                name = part.strip("{}").removesuffix(":path")
                part = self.drawn[name] = self._place(name)
            parts.append(part)
        return "/".join(parts)

    def _place(self, name: str) -> str:
        if name == "tenant" or (name == "name" and "/tenants/" in self._route.path):
            # Erasing oneself is granted, and ends what the others can be granted.
            mine = MINE if self._dice.often(0.1) else THEIRS
            return quote(mine if self.is_plain or self._dice.often(0.6) else self._name(), safe="")
        if self._route.path.endswith("/import") and not self.is_plain:
            return f"copy-{self._dice.id()}"
        kind = "conversation" if name == "name" else name
        owned, told = getattr(self._own, kind), getattr(self._told, kind)
        if owned and (self.is_plain or self._dice.often(0.3)):
            found = self._dice.one(owned)
        elif told and self._dice.often(0.5):
            found = self._dice.one(told)
        elif self._dice.often(0.25):
            return str(self._dice.one(RAW_PARTS))
        else:
            found = self._name()
        if kind in ("entry", "item"):
            self._entry = found
        return quote(found, safe="", errors="surrogatepass")

    def _honest_query(self) -> list[tuple[str, str]]:
        name, dice = self._route.name, self._dice
        if name.endswith("/messages") and name.startswith("GET"):
            return [("after", str(dice.number(0, 5))), ("limit", "50")]
        if name.endswith("/entries"):
            return [("limit", str(dice.number(1, 100)))]
        if name == "DELETE /v1/entries/{entry}":
            return [("sources", dice.one(("redact", "entries")))]
        if name == "GET /v1/recalls":
            return [("collection", self._owned("collection"))] if dice.often(0.5) else []
        if name == "GET /v1/quarantine":
            return [("state", dice.one(("held", "retried", "dropped")))]
        if name == "GET /v1/ingest":
            return [("tenant", MINE)] if dice.often(0.5) else []
        return []

    # Headers ------------------------------------------------------------------------------------

    def headers(self) -> tuple[list[Header], bool]:
        """The headers, and whether a key among them lets the sender in."""
        dice = self._dice
        headers: list[Header] = [(b"content-type", b"application/json")]
        is_versioned = self._route.name.endswith(("/scratchpad/{item}", "/entries/{entry}"))
        if is_versioned and self._route.name.startswith(("PUT", "PATCH", "DELETE")):
            version = self._own.version.get(self._entry, 1)
            headers.append((b"if-match", f'"{version}"'.encode()))
        is_let_in = self.is_plain or dice.often(0.85)
        if is_let_in:
            form = dice.one(("Bearer {}", "bearer {}", "BEARER {}", "Bearer   {}", "Bearer {} "))
            headers.append((b"authorization", form.format(MY_KEY).encode()))
        else:
            headers += self._forged()
        if not self.is_plain:
            for _ in range(dice.number(0, 2)):
                header, value = dice.one(EXTRA_HEADERS)
                headers.insert(dice.number(0, len(headers)), _bytes(header, value))
        return headers, is_let_in

    def _forged(self) -> list[Header]:
        if self._dice.often(0.1):
            return [_bytes("authorization", f"Bearer {READ_KEY}")]
        form = self._dice.one(AUTHORIZATIONS)
        if form is None:
            return [_bytes("x-api-key", MY_KEY), _bytes("cookie", f"authorization={MY_KEY}")]
        forged = _bytes("authorization", form)
        twice = self._dice.often(0.3)
        return [forged, _bytes("authorization", f"Bearer {THEIRS}")] if twice else [forged]

    # Body ---------------------------------------------------------------------------------------

    def body(self) -> bytes:
        """The body, as bytes that need not be JSON."""
        honest = self._honest_body()
        if isinstance(honest, bytes):
            return honest
        if not self.is_plain and self._dice.often(0.15):
            return bytes(self._dice.one(RAW_BODIES))
        if isinstance(honest, dict) and not self.is_plain and self._dice.often(0.2):
            honest = {**honest, **self._dice.one(MORE_FIELDS)}
        return b"" if honest is None else json.dumps(honest).encode()

    def _honest_body(self) -> Json:
        build = _BODIES.get(self._route.name)
        return None if build is None else build(self)

    def message(self) -> Json:
        """A message of a conversation."""
        one: dict[str, Json] = {"role": "user", "speaker": "Mara", "content": self._text()}
        if self._dice.often(0.3):
            one["message_id"] = "told-1" if self._dice.often(0.3) else self._text()[:50] or "m"
        if self._dice.often(0.3):
            one["metadata"] = {"tenant": THEIRS, "user_id": THEIRS, "note": self._text()}
        if not self.is_plain and self._dice.often(0.3):
            one |= self._dice.one(ODD_MESSAGES)
        return one

    def messages(self) -> Json:
        """Some messages."""
        said = [self.message() for _ in range(self._dice.number(1, 3))]
        conversation = self._owned("conversation")
        body: dict[str, Json] = {"conversation": conversation, "messages": said}
        return body | ({"wait": True} if self._dice.often(0.02) else {})

    def search(self) -> Json:
        """A question, with or without all that narrows it."""
        body = {"query": self._text() or "?", "limit": 50, "explain": self._dice.often(0.5)}
        if self._dice.often(0.4):
            odd = [] if self.is_plain else ODD_FILTERS
            body["filter"] = self._dice.one((*FILTERS, *odd))
        if self._dice.often(0.2):
            body["as_of"] = (
                "2030-01-01" if self.is_plain else self._dice.one(("2030", "", -1, True))
            )
        if self._dice.often(0.3):
            body |= {"neighbours": 2, "min_score": 0.1, "weights": {"strength": 1, "recency": 1}}
        if not self.is_plain and self._dice.often(0.2):
            body |= self._dice.one(ODD_OPTIONS)
        return body

    def context(self) -> Json:
        """A question for a context, which takes what narrows a search, and room by layer."""
        body = {
            name: value
            for name, value in self.search().items()
            if name not in ("limit", "explain", "neighbours")
        }
        if self._dice.often(0.3):
            body |= {"budget_tokens": self._dice.number(50, 3000), "episodic_tokens": 500}
        if self._dice.often(0.3):
            body |= {"form": self._dice.one(("timeline", "summary")), "placement": "user"}
        return body

    def answer(self) -> Json:
        """A question to be answered, kept or not."""
        kept = {"store": True, "conversation": self._owned("conversation")}
        return {**self.context(), **(kept if self._dice.often(0.3) else {})}

    def search_many(self) -> Json:
        """A question to several collections."""
        return {**self.search(), "collections": [self._owned("collection") for _ in range(2)]}

    def patch(self) -> Json:
        """A correction."""
        changes: list[Json] = [
            {"text": self._text() or "x"},
            {"status": self._dice.one(("active", "archived", "tentative"))},
            {"metadata": {"tenant": THEIRS, "collection": TOLD, "user_id": THEIRS}},
        ]
        if not self.is_plain:
            changes += [{"metadata": odd} for odd in ODD_METADATA]
        return self._dice.one(changes)

    def item(self) -> Json:
        """A whole item of a scratchpad."""
        return {"slot": self._dice.one(("profile", "timeline")), "text": self._text() or "x"}

    def sleep(self) -> Json:
        """A night."""
        body: dict[str, Json] = {"dry_run": self._dice.often(0.5), "wait": True}
        if self._dice.often(0.2):
            body |= {"speakers": [self._text() or "Mara"], "topics": [self._name()], "full": True}
        return body | ({"collection": self._owned("collection")} if self._dice.often(0.5) else {})

    def schedule(self) -> Json:
        """When to sleep; never while requests are being sent."""
        crons: list[Json] = ["0 0 29 2 *"] if self.is_plain else ["0 0 29 2 *", "", "x y", 7, None]
        zones: list[Json] = ["UTC"] if self.is_plain else ["UTC", self._text(), 3, None]
        return {"cron": self._dice.one(crons), "zone": self._dice.one(zones)}

    def days(self) -> Json:
        """A time to keep messages."""
        return {"days": self._dice.one((None, 3650, 0, -1, 36_501, 10**9, 10**30, 1.5, "7"))}

    def keeping(self) -> Json:
        """What to keep of questions."""
        kept = ("hash", "text") if self.is_plain else ("hash", "text", "", None, 3)
        return {"query": self._dice.one(kept), "days": 30}

    def fsck(self) -> Json:
        """A check."""
        body: dict[str, Json] = {"repair": self._dice.often(0.5)}
        return body | ({"collection": self._owned("collection")} if self._dice.often(0.5) else {})

    def imported(self) -> bytes:
        """An export of the sender's, with the neighbour's ids in it or not."""
        lines = self._own.export
        return lines if self.is_plain else forged_export(self._dice, lines, self._own, self._told)

    def _owned(self, kind: str) -> str:
        owned, told = getattr(self._own, kind), getattr(self._told, kind)
        if owned and (self.is_plain or self._dice.often(0.6)):
            return str(self._dice.one(owned))
        return str(self._dice.one(told)) if self._dice.often(0.5) else self._name()

    def _text(self) -> str:
        if self.is_plain:
            return str(self._dice.one(TEXTS[:4]))
        if self._dice.often(0.25):
            return self._texts[0]
        return str(self._dice.one(TEXTS))

    def _name(self) -> str:
        if self._dice.often(0.25):
            return self._texts[1]
        return str(self._dice.one(NAMES))


def _bytes(name: str, value: str) -> Header:
    return name.encode("latin-1"), value.encode("latin-1", "replace")


_COLLECTION = "/v1/collections/{collection}"

_BODIES: Mapping[str, Callable[[_Asked], Json]] = {
    f"POST {_COLLECTION}/messages": _Asked.messages,
    f"POST {_COLLECTION}/flush": lambda _: {"wait": False},
    f"POST {_COLLECTION}/search": _Asked.search,
    "POST /v1/search": _Asked.search_many,
    f"POST {_COLLECTION}/context": _Asked.context,
    f"POST {_COLLECTION}/answer": _Asked.answer,
    f"POST {_COLLECTION}/import": _Asked.imported,
    "PATCH /v1/entries/{entry}": _Asked.patch,
    "PUT /v1/collections/{collection}/scratchpad/{item}": _Asked.item,
    "PATCH /v1/collections/{collection}/scratchpad/{item}": _Asked.item,
    "POST /v1/sleep/runs": _Asked.sleep,
    "PUT /v1/sleep/schedule": _Asked.schedule,
    "POST /v1/fsck": _Asked.fsck,
    "PUT /v1/recalls/settings": _Asked.keeping,
    "PUT /v1/retention": lambda asked: {"days": 3650} if asked.is_plain else asked.days(),
    "POST /v1/tenants": lambda _: {"name": "evil", "scopes": ["admin"]},
    "POST /v1/tenants/{tenant}/keys": lambda _: {"scopes": ["admin"], "grace_s": 0},
    "PATCH /v1/tenants/{tenant}/quotas": lambda _: {"messages_per_minute": 1},
}
