"""The ticket of a started run that waits for a free slot: runs are taken in the order of their tickets."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "4"
down_revision = "3"


def upgrade() -> None:
    op.add_column("runs", sa.Column("ticket", sa.BigInteger))


def downgrade() -> None:
    op.drop_column("runs", "ticket")
