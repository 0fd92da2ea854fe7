"""What a request can be made of to reach another tenant, or to break something on the way."""

import base64
import hashlib
import json
from collections.abc import Sequence
from typing import Any

from isolation_place import MINE, MY_KEY, REVOKED_KEY, SHARED, THEIRS, TOLD

Json = Any

TEXTS = (
    "heron",
    "My room",
    "where is the heron 鹭",
    "藏",
    "*",
    "%",
    "_",
    "' OR tenant = 'globex' --",
    "tenant:globex OR *:*",
    '{"must": [{"key": "tenant", "match": {"value": "globex"}}]}',
    "$where: 1",
    "\x00",
    "a\x00b",
    "\ud83d",
    "\udc00x",
    "é\u0301\u202e\u200b",
    "\U0010ffff",
    "x" * 20_001,
)

NAMES = (
    "..",
    ".",
    "../globex/mara",
    "../../globex/collections/mara",
    "mara/../../globex",
    "globex/mara",
    "globex:mara",
    "globex\x1fmara",
    "mara\x00",
    "\x00",
    "*",
    "%",
    "_",
    "m%",
    "MARA",
    "ｍａｒａ",
    "mara ",
    " mara",
    "mara\u200b",
    "mara'--",
    "mara' OR '1'='1",
    "x" * 201,
    "x" * 4000,
    "null",
    "0",
    "-1",
    "globex",
    TOLD,
    SHARED,
)

RAW_PARTS = ("..", "%2e%2e", "%2E%2E%2F", "%00", "%ED%A0%80", "%FF%FE", "%F0%9F%92", "%", "%zz", "")
"""Path segments as they travel, some of them no text at all."""

AUTHORIZATIONS = (
    None,
    f"Bearer {REVOKED_KEY}",
    f"Bearer {MY_KEY}x",
    f"Bearer {MY_KEY.upper()}",
    f"Bearer {THEIRS}",
    f"Bearer {MY_KEY},{THEIRS}",
    "Bearer *",
    "Bearer ",
    "Bearer",
    "bearer null",
    f"Basic {base64.b64encode(f'{THEIRS}:{MY_KEY}'.encode()).decode()}",
    MY_KEY,
    f"Token {MY_KEY}",
    "Bearer \x00",
    "Bearer é\xff",
    f"Bearer {'x' * 600}",
    f"Bearer {hashlib.sha256(MY_KEY.encode()).hexdigest()}",
)
"""Forms that let nobody in."""

EXTRA_HEADERS: Sequence[tuple[str, str]] = (
    ("x-tenant", THEIRS),
    ("x-tenant-id", THEIRS),
    ("x-slowwave-tenant", THEIRS),
    ("slowwave.tenant", "*"),
    ("x-forwarded-user", THEIRS),
    ("x-forwarded-for", "127.0.0.1"),
    ("x-original-url", "/v1/tenants"),
    ("x-http-method-override", "DELETE"),
    ("x-user-id", THEIRS),
    ("cookie", f"tenant={THEIRS}; session=1"),
    ("host", f"{THEIRS}.localhost"),
    ("origin", "http://evil.example"),
    ("idempotency-key", "told-key"),
    ("idempotency-key", "\xff" * 10),
    ("if-match", "*"),
    ("if-match", "-1"),
    ("if-match", "9" * 30),
    ("content-type", "text/plain"),
    ("content-type", "application/json; charset=utf-16"),
    ("content-encoding", "gzip"),
    ("range", "bytes=0-1"),
)

EXTRA_QUERY = (
    ("tenant", THEIRS),
    ("tenant", "*"),
    ("tenant", ""),
    ("collection", TOLD),
    ("user_id", THEIRS),
    ("filter", '{"tenant": {"in": ["globex"]}}'),
    ("limit", "1000"),
    ("limit", "-1"),
    ("limit", "1e3"),
    ("after", "-1"),
    ("after", "99999999999999999999"),
    ("after", "\x00"),
    ("cursor", "eyJhIjoxfQ=="),
    ("state", "*"),
    ("status", "everything"),
    ("sources", "all"),
    ("x" * 300, "y"),
)

DAMAGES = (
    ('"kind":"fact"', '"kind":"evil"'),
    ('"status":"active"', '"status":"everywhere"'),
    ('"zone":"UTC"', '"zone":"Nowhere/Never"'),
    ('"zone":"UTC"', '"zone":"../../etc/passwd"'),
    ('"version":1', '"version":99999999999'),
    ('"sequence":1', '"sequence":99999999999999999999'),
    ('"strength":1.0', '"strength":NaN'),
    ('"role":"user"', '"role":"wizard"'),
    ('"state":"extracted"', '"state":"accepted"'),
    ('"vector":"', '"vector":"AAAA'),
    ('"sources":[', '"sources":[7,'),
    ('"metadata":{}', '"metadata":{"a":"\\u0000"}'),
    ('"content":"', '"content":"\\ud800'),
    ('"speaker":"', '"speaker":"\\u0000'),
    ('"said_at":"20', '"said_at":"00'),
    ("+00:00", ""),
    ('"table":"entries"', '"table":"keys"'),
    ('"row":{', '"row":{"tenant":"globex",'),
    ('"totals":{', '"totals":{"a":"b",'),
    ('"pending":0', '"pending":-5'),
    ('"candidates":[', '"candidates":[1,'),
)
"""What an exported line says, and what nothing could make of it."""

RAW_BODIES = (
    b"",
    b"null",
    b"[]",
    b"[" * 3000 + b"]" * 3000,
    b'{"a":' * 3000 + b"1" + b"}" * 3000,
    b'{"query": "a", "query": "b"}',
    b'{"limit": NaN}',
    b'{"limit": 1e400, "query": "x"}',
    b'{"query": ' + b"9" * 5000 + b"}",
    b"\xff\xfe{}",
    b"\xef\xbb\xbf{}",
    '{"query": "heron"}'.encode("utf-16"),
    b'{"query": "\xed\xa0\x80"}',
    b"tenant=globex",
    b"\x1f\x8b\x08\x00",
)


ODD_METADATA: Sequence[Json] = (
    {"a": float("inf")},
    {"a": float("nan")},
    {"a": 10**400},
    {"a": "\ud83d"},
    {"\x00": 1},
    json.loads('{"a":' * 200 + "1" + "}" * 200),
)

ODD_MESSAGES: Sequence[dict[str, Json]] = (
    *({"metadata": odd} for odd in ODD_METADATA),
    *({"said_at": at} for at in (-1e20, 1e20, float("inf"), float("nan"), 0, "", "\x00", True)),
    {"said_at": "9999-12-31T23:59:59-14:00"},
    {"said_at": "0001-01-01T00:00:00+14:00"},
    {"said_at": "0001-01-01T00:00:00Z"},
    {"said_at": "9999-12-31T23:59:59Z", "zone": "Pacific/Kiritimati"},
    *({"zone": zone} for zone in ("../../etc/passwd", "/etc/localtime", "\x00", "UTC+99")),
    {"role": "system"},
    {"role": "globex"},
    {"speaker": ""},
    {"speaker": "\ud800"},
    {"message_id": ""},
)
"""Messages that are hard to keep."""

FILTERS: Sequence[Json] = (
    {"not": {"speaker": "nobody"}},
    {"or": [{"kind": "fact"}, {"not": {"kind": "fact"}}]},
    {"metadata.tenant": THEIRS},
    {"conversation": {"in": [TOLD, SHARED]}},
    {"said_at": {"gte": "1970-01-01"}, "metadata.user_id": {"in": [THEIRS, MINE]}},
    {"not": {"metadata.rank": {"gt": 1}}},
    None,
)
"""Filters that an honest caller may ask with."""

ODD_FILTERS: Sequence[Json] = (
    {},
    {"tenant": THEIRS},
    {"collection": TOLD},
    {"not": {"tenant": MINE}},
    {"or": [{"tenant": THEIRS}, {"not": {"tenant": MINE}}]},
    {"metadata.\x00": 1},
    {"metadata.a": "\ud83d"},
    {"speaker": {"in": []}},
    {"speaker": {"match": {"value": "*"}}},
    {"must": [{"key": "tenant", "match": {"value": THEIRS}}]},
    {"said_at": {"gte": 10**400}},
    {"said_at": {"gte": "9999-12-31T23:59:59-14:00"}},
    {"metadata.a": {"gt": 10**400}},
    json.loads('{"not":' * 60 + '{"kind": "fact"}' + "}" * 60),
    {"or": [{"speaker": "x"}] * 100},
    [],
    "tenant = 'globex'",
)
"""And those that nobody should."""

ODD_OPTIONS: Sequence[dict[str, Json]] = (
    {"neighbours": 10**9},
    {"min_score": float("nan")},
    {"min_score": -1},
    {"weights": {"dense": 0, "lexical": 0}},
    {"weights": {"dense": float("inf")}},
    {"weights": {"tenant": 1}},
    {"rerank": True},
    {"rerank": "globex"},
)
"""Options of a search that mean nothing, or ask for what is not there."""

MORE_FIELDS: Sequence[dict[str, Json]] = (
    {"tenant": THEIRS},
    {"filters": {"user_id": {"in": [THEIRS]}}},
    {"filters": {"OR": [{"tenant": THEIRS}, {"NOT": {"tenant": MINE}}]}},
    {"filters": {}},
    {"collection": TOLD},
    {"collections": ["*"]},
    {"scope": {"tenant": THEIRS}},
    {"statuses": ["active", "outdated", "archived"]},
    {"kinds": ["*"]},
    {"limit": 10**30},
    {"zone": "../../etc/passwd"},
    {"zone": "Asia/Shanghai"},
    {"__proto__": {"tenant": THEIRS}},
)
