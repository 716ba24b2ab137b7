"""How far the passes that go on in a run are, in pairs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "5"
down_revision = "4"


def upgrade() -> None:
    op.add_column("runs", sa.Column("passes", sa.Text))


def downgrade() -> None:
    op.drop_column("runs", "passes")
