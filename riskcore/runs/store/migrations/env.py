"""What alembic runs for each command: the steps, on the connection and in the transaction of `upgrade`."""

from __future__ import annotations

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()
