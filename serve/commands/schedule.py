"""``sleep schedule``: when the tenant sleeps."""

import re
from typing import Annotated

import typer

from pipeline.errors import InputError
from serve.commands.connection import connect
from serve.commands.screen import JsonOption, Screen
from serve.sleep_client import Nights, SleepClient

_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([smhd]?)", re.ASCII)

Off = Annotated[bool, typer.Option("--off", help="Take the tenant's own schedule away.")]


def group() -> typer.Typer:
    """The commands of this group."""
    commands = typer.Typer(help="When this tenant sleeps.", no_args_is_help=True)
    commands.command("set")(set_schedule)
    commands.command("show")(show)
    commands.command("next")(next_window)
    return commands


def set_schedule(
    cron: Annotated[
        str | None, typer.Option(help='Five fields, in the tenant\'s zone: "0 3 * * *".')
    ] = None,
    zone: Annotated[str | None, typer.Option(help="The tenant's zone: Europe/Oslo.")] = None,
    lasting: Annotated[
        str, typer.Option("--for", help="How long a window is at most: 90m, 4h.")
    ] = "4h",
    tokens: Annotated[
        int | None, typer.Option(min=1, help="Tokens that one window may use.")
    ] = None,
    idle: Annotated[
        str | None, typer.Option(help="Also sleep after so long without a message: 30m.")
    ] = None,
    name: Annotated[str, typer.Option(help="What the window is called.")] = "nightly",
    off: Off = False,
    as_json: JsonOption = False,
) -> None:
    """Give this tenant windows by a cron, by silence, or both."""
    screen = Screen(as_json=as_json)
    with connect() as client:
        sleep = SleepClient(client)
        if off:
            nights = sleep.drop_schedule()
        else:
            nights = sleep.set_schedule(
                {
                    "name": name,
                    "cron": cron,
                    "zone": zone,
                    "max_s": seconds(lasting, field="for"),
                    "max_tokens": tokens,
                    "idle_s": None if idle is None else seconds(idle, field="idle"),
                }
            )
    _tell(screen, nights)


def show(as_json: JsonOption = False) -> None:
    """Show when this tenant sleeps."""
    screen = Screen(as_json=as_json)
    with connect() as client:
        nights = SleepClient(client).schedule()
    _tell(screen, nights)


def next_window(as_json: JsonOption = False) -> None:
    """Show the next window of this tenant's cron."""
    screen = Screen(as_json=as_json)
    with connect() as client:
        nights = SleepClient(client).schedule()
    if as_json:
        screen.document({"next": nights["next"]})
        return
    screen.out.print(_next_line(nights))


def seconds(text: str, *, field: str) -> float:
    """The seconds of ``90``, ``90s``, ``30m``, ``4h`` or ``1d``. Raises InputError."""
    match = _DURATION.fullmatch(text.strip().lower())
    if match is None:
        raise InputError(f"expected a time such as 90s, 30m or 4h, got {text!r}", field=field)
    return float(match[1]) * _SECONDS[match[2]]


def _tell(screen: Screen, nights: Nights) -> None:
    if screen.as_json:
        screen.document(nights)
        return
    schedule = nights["schedule"]
    if schedule is None:
        screen.out.print("this tenant has no schedule")
        return
    whose = "its own" if schedule["is_own"] else "the service's"
    screen.out.print(f"{schedule['name']} ({whose})", markup=False)
    if schedule["cron"] is not None:
        screen.out.print(f"  cron    {schedule['cron']}  in {schedule['zone']}", markup=False)
    if schedule["idle_s"] is not None:
        screen.out.print(f"  idle    after {_told(schedule['idle_s'])} without a message")
    screen.out.print(f"  for     {_told(schedule['max_s'])} at most")
    budget = "no limit" if schedule["max_tokens"] is None else f"{schedule['max_tokens']:,}"
    screen.out.print(f"  tokens  {budget}")
    screen.out.print(f"  next    {_next_line(nights)}")


def _next_line(nights: Nights) -> str:
    window = nights["next"]
    return "no window to come" if window is None else f"{window['start']} to {window['end']}"


def _told(amount_s: float) -> str:
    for unit, size in (("h", 3600.0), ("min", 60.0)):
        if amount_s % size == 0:
            return f"{amount_s / size:g} {unit}"
    return f"{amount_s:g} s"
