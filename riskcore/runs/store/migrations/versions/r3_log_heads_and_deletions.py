"""The head of each run's verdict log with its seal, and what is left of deleted runs: who, when, how many verdicts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "3"
down_revision = "2"


def upgrade() -> None:
    op.add_column("runs", sa.Column("log_size", sa.BigInteger))
    op.add_column("runs", sa.Column("log_head", sa.String(64)))
    op.add_column("runs", sa.Column("log_seal", sa.String(64)))
    op.create_table(
        "deletions",
        sa.Column("run", sa.String(64), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("who", sa.Text, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("verdicts", sa.BigInteger, nullable=False),
        sa.Column("head", sa.String(64), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("deletions")
    for column in ("log_seal", "log_head", "log_size"):
        op.drop_column("runs", column)
