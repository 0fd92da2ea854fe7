"""The record store: the system of record, on SQLite or PostgreSQL."""

from actors.records.migrate import migrate
from actors.records.store import Records, open_records

__all__ = ["Records", "migrate", "open_records"]
