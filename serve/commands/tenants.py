"""``tenants``: create, list, limit, switch off and on, and rotate keys; for operators."""

from typing import Annotated

import typer

from pipeline.tenancy import KeyScope
from serve.commands.connection import connect_operator
from serve.commands.recall import named
from serve.commands.screen import JsonOption, Screen, table
from serve.operator_client import Key, Tenant

Name = Annotated[str, typer.Argument(help="The tenant: a-z, 0-9, dash and underscore.")]
PerMinute = Annotated[
    int | None, typer.Option("--messages-per-minute", min=0, help="Quota; 0 is no limit.")
]
Entries = Annotated[
    int | None, typer.Option("--stored-entries", min=0, help="Quota; 0 is no limit.")
]
Lag = Annotated[
    int | None,
    typer.Option("--lag-messages", min=0, help="Messages that may wait; 0 is no limit."),
]
Scopes = Annotated[
    list[KeyScope] | None, typer.Option("--scope", help="What the key may do; may be repeated.")
]


def register(app: typer.Typer) -> None:
    """Add the commands of this group."""
    group = typer.Typer(help="Tenants and their keys, for operators.", no_args_is_help=True)
    group.command("create")(create)
    group.command("list")(list_tenants)
    group.command("rotate-key")(rotate_key)
    group.command("quota")(quota)
    group.command("disable")(disable)
    group.command("enable")(enable)
    app.add_typer(group, name="tenants")


def create(
    tenant: Name,
    scope: Scopes = None,
    messages_per_minute: PerMinute = None,
    stored_entries: Entries = None,
    lag_messages: Lag = None,
    as_json: JsonOption = False,
) -> None:
    """Create a tenant and show its first key, this once."""
    screen = Screen(as_json=as_json)
    quotas = _quotas(messages_per_minute, stored_entries, lag_messages)
    with connect_operator() as operator:
        created = operator.create_tenant(named("tenant", tenant), scopes=scope or (), quotas=quotas)
    if as_json:
        screen.document(created)
        return
    screen.out.print(_table([created["tenant"]]))
    _show_secret(screen, created["secret"])


def list_tenants(as_json: JsonOption = False) -> None:
    """List the tenants with their quotas and keys."""
    screen = Screen(as_json=as_json)
    with connect_operator() as operator:
        found = operator.tenants()
    if as_json:
        screen.document({"tenants": found})
        return
    screen.out.print(_table(found))


def rotate_key(
    tenant: Name,
    label: Annotated[str, typer.Option(help="Which of the tenant's keys.")] = "default",
    scope: Scopes = None,
    grace_s: Annotated[
        float, typer.Option(min=0, help="Seconds that the old key still works.")
    ] = 0.0,
    as_json: JsonOption = False,
) -> None:
    """Put a new key in the place of an old one; with --scope a new label makes a new key."""
    screen = Screen(as_json=as_json)
    with connect_operator() as operator:
        new = operator.rotate_key(
            named("tenant", tenant), label=named("label", label), scopes=scope, grace_s=grace_s
        )
    if as_json:
        screen.document(new)
        return
    scopes = ", ".join(new["key"]["scopes"])
    screen.out.print(f"key {new['key']['id']} ({scopes}) took the place of the old one")
    _show_secret(screen, new["secret"])


def quota(
    tenant: Name,
    messages_per_minute: PerMinute = None,
    stored_entries: Entries = None,
    lag_messages: Lag = None,
    as_json: JsonOption = False,
) -> None:
    """Change a tenant's quotas; what is not given stays."""
    quotas = _quotas(messages_per_minute, stored_entries, lag_messages)
    with connect_operator() as operator:
        _show(operator.set_quotas(named("tenant", tenant), quotas), as_json=as_json)


def disable(tenant: Name, as_json: JsonOption = False) -> None:
    """Let a tenant in no more; its data stays."""
    with connect_operator() as operator:
        _show(operator.disable_tenant(named("tenant", tenant)), as_json=as_json)


def enable(tenant: Name, as_json: JsonOption = False) -> None:
    """Let a tenant in again."""
    with connect_operator() as operator:
        _show(operator.enable_tenant(named("tenant", tenant)), as_json=as_json)


def _quotas(
    messages_per_minute: int | None, stored_entries: int | None, lag_messages: int | None
) -> dict[str, int | None]:
    """The quotas that were given; 0 stands for no limit."""
    given = {
        "messages_per_minute": messages_per_minute,
        "stored_entries": stored_entries,
        "lag_messages": lag_messages,
    }
    return {name: value or None for name, value in given.items() if value is not None}


def _show(tenant: Tenant, *, as_json: bool) -> None:
    screen = Screen(as_json=as_json)
    if as_json:
        screen.document(tenant)
        return
    screen.out.print(_table([tenant]))


def _show_secret(screen: Screen, secret: str) -> None:
    screen.out.print(f"[bold]{secret}[/bold]")
    screen.out.print("  shown this once; send it as `Authorization: Bearer ...`", style="dim")


def _table(tenants: list[Tenant]) -> object:
    columns = ("tenant", "state", "messages/min", "entries", "lag", "keys")
    rows = [
        (
            each["name"],
            "disabled" if each["disabled_at"] else "enabled",
            *(
                each["quotas"][name] or "-"
                for name in ("messages_per_minute", "stored_entries", "lag_messages")
            ),
            "\n".join(_key(key) for key in each["keys"] if not key["revoked_at"]) or "-",
        )
        for each in tenants
    ]
    return table("", columns, rows)


def _key(key: Key) -> str:
    used = key["last_used_at"]
    end = f", until {key['expires_at'][:19]}" if key["expires_at"] else ""
    when = f", used {used[:19]}" if used else ", never used"
    return f"{key['label'] or key['id']}: {' '.join(key['scopes'])}{end}{when}"
