"""Runs the migrations on the connection that ``migrate`` hands over, inside its transaction."""

from alembic import context

from actors.records.tables import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
context.run_migrations()
