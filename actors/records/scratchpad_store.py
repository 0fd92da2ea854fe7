"""The scratchpad as people and programs read and edit it: optimistic versions, history kept.

An edit of a user stands above everything that sleep does with the item from then on.
"""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Engine, select

from actors.records.engine import reading, writing
from actors.records.failures import retrying
from actors.records.scratchpad_rows import (
    find_item,
    item_of,
    item_versions,
    items_by_id,
    write_items,
)
from actors.records.sql import find_collection, in_scope
from actors.records.tables import scratchpad_items
from pipeline.entries import Writer
from pipeline.errors import Conflict, InputError
from pipeline.ids import ItemId
from pipeline.messages import Scope
from pipeline.scratchpad import Item, ItemEdit, ItemStatus, ItemVersion, ItemWrite

_BY_USERS = (ItemStatus.ACTIVE, ItemStatus.REMOVED)
"""The statuses that a user may set."""


@retrying
class SqlScratchpad:
    """Scratchpads over a record store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def items(
        self,
        scope: Scope,
        *,
        slot: str | None = None,
        statuses: Collection[ItemStatus] = (ItemStatus.ACTIVE,),
    ) -> list[Item]:
        """Items with one of the statuses, newest first. Raises NotFound without a collection."""
        columns = scratchpad_items.c
        query = select(scratchpad_items).where(
            in_scope(scratchpad_items, scope),
            columns.status.in_([status.value for status in statuses]),
        )
        if slot is not None:
            query = query.where(columns.slot == slot)
        with reading(self._engine, scope.tenant) as connection:
            find_collection(connection, scope)
            rows = connection.execute(query.order_by(columns.said_at.desc(), columns.id))
            return [item_of(row) for row in rows]

    def item(self, scope: Scope, item: ItemId) -> Item:
        """The item in its present version. Raises NotFound."""
        with reading(self._engine, scope.tenant) as connection:
            find_collection(connection, scope)
            return find_item(connection, scope, item)

    def history(self, scope: Scope, item: ItemId) -> list[ItemVersion]:
        """Every version of the item, oldest first. Raises NotFound."""
        with reading(self._engine, scope.tenant) as connection:
            find_collection(connection, scope)
            find_item(connection, scope, item)
            return item_versions(connection, scope, item)

    def add(self, scope: Scope, item: ItemId, *, slot: str, text: str, now: datetime) -> Item:
        """A user's own item; the same again changes nothing.

        Raises:
            Conflict: there is an item of this id that says something else.
            NotFound: there is no such collection.
        """
        with writing(self._engine, scope.tenant) as connection:
            find_collection(connection, scope, lock=True)
            known = items_by_id(connection, scope, [item]).get(item)
            if known is not None:
                _check_same(known, slot=slot, text=text)
                return known
            made = Item(
                id=item,
                version=1,
                slot=slot,
                text=text,
                status=ItemStatus.ACTIVE,
                said_at=now,
                written_by=Writer.USER,
                written_at=now,
            )
            write = ItemWrite(before=None, after=made, why="written by a user")
            write_items(connection, scope, [write])
            return made

    def edit(
        self, scope: Scope, item: ItemId, edit: ItemEdit, *, expected_version: int, now: datetime
    ) -> Item:
        """The item after a user's edit; the same values again change nothing.

        Raises:
            Conflict: the item is not at ``expected_version``.
            InputError: the edit is empty, or the status is none that a user may set.
            NotFound: there is no such item.
        """
        with writing(self._engine, scope.tenant) as connection:
            find_collection(connection, scope, lock=True)
            before = find_item(connection, scope, item)
            _check_version(before, expected_version)
            after = edited(before, edit, now=now)
            if after != before:
                write = ItemWrite(before=before, after=after, why="edited by a user")
                write_items(connection, scope, [write])
            return after


def edited(item: Item, edit: ItemEdit, *, now: datetime) -> Item:
    """The item's next version; itself where nothing differs.

    A new text is the user's own: it was said now, though it still rests on what the old one did.

    Raises:
        InputError: the edit is empty, or the status is none that a user may set.
    """
    if edit == ItemEdit():
        raise InputError("expected one of text, slot, status; got none", field="text")
    if edit.status is not None and edit.status not in _BY_USERS:
        raise InputError(
            f"expected one of {', '.join(_BY_USERS)}, got {edit.status}", field="status"
        )
    after = replace(
        item,
        text=item.text if edit.text is None else edit.text,
        slot=item.slot if edit.slot is None else edit.slot,
        status=item.status if edit.status is None else edit.status,
    )
    if after == item:
        return item
    if after.text != item.text:
        after = replace(after, said_at=now)
    return replace(
        after,
        version=item.version + 1,
        conflicts=(),
        superseded_by=None,
        written_by=Writer.USER,
        written_at=now,
    )


def _check_same(known: Item, *, slot: str, text: str) -> None:
    if (known.slot, known.text, known.status) != (slot, text, ItemStatus.ACTIVE):
        raise Conflict(
            f"scratchpad item {known.id} is there and says something else; to change it name its "
            f"version, {known.version}",
            field="If-Match",
        )


def _check_version(item: Item, expected: int) -> None:
    if item.version != expected:
        raise Conflict(
            f"expected version {expected} of scratchpad item {item.id}, it is at {item.version}",
            field="If-Match",
        )
