"""The record store: the system of record, on SQLite or PostgreSQL."""
