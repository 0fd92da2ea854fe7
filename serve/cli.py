"""The command line ``slowwave``: a client of the HTTP API, and the local service's keeper.

Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 no service answers, 130 interrupted.
"""

import contextlib
import os
import signal
import sys
import traceback
from collections.abc import Sequence

import typer

from pipeline.errors import SlowwaveError, StoreError
from serve.commands import (
    collections,
    demo,
    doctor,
    erasing,
    evaluation,
    ingest,
    lifecycle,
    models,
    moving,
    quarantine,
    recall,
    recalls,
    scratchpad,
    sleeping,
    tasks,
    tenants,
    upkeep,
    usage,
)
from serve.commands.screen import print_document

_FAILED, _USAGE, _NO_SERVICE, _INTERRUPTED = 1, 2, 3, 130


def build() -> typer.Typer:
    """The application with every command."""
    app = typer.Typer(
        name="slowwave",
        help="Long-term memory for LLM agents: cheap while awake, reorganised in sleep.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    groups = (
        lifecycle,
        demo,
        ingest,
        recall,
        recalls,
        tasks,
        sleeping,
        scratchpad,
        quarantine,
        tenants,
    )
    rest = (models, doctor, evaluation, erasing, moving, upkeep, usage)
    for group in (*groups, collections, *rest):
        group.register(app)
    return app


def run(words: Sequence[str]) -> int:
    """Run one command line; the exit code. Errors become one line, or one JSON document."""
    as_json = "--json" in words
    quiet = contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext()
    try:
        with quiet:
            code = build()(args=list(words), prog_name="slowwave", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except typer.TyperException as exc:
        return _report("UsageError", exc.format_message(), None, as_json, code=_USAGE)
    except StoreError as exc:
        return _report("StoreError", exc.message, exc.field, as_json, code=_NO_SERVICE)
    except SlowwaveError as exc:
        return _report(type(exc).__name__, exc.message, exc.field, as_json, code=_FAILED)
    except (KeyboardInterrupt, typer.Abort):
        return _report("Interrupted", "interrupted", None, as_json, code=_INTERRUPTED)
    except BrokenPipeError:
        # The reader has seen enough; the interpreter must not flush into the closed pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno() if sys.__stdout__ else 1)
        return _FAILED
    except Exception as exc:
        traceback.print_exc()
        return _report("InternalError", f"{type(exc).__name__}: {exc}", None, as_json, code=_FAILED)


def main() -> None:
    """The console script; SIGTERM ends a command as Ctrl-C does, so that it cleans up."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(run(sys.argv[1:]))


def _report(kind: str, message: str, field: str | None, as_json: bool, *, code: int) -> int:
    if as_json:
        print_document({"error": {"type": kind, "message": message, "field": field}})
    elif message:
        print(f"error: {message}", file=sys.stderr)
    return code


if __name__ == "__main__":
    main()
