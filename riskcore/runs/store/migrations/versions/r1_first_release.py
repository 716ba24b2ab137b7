"""The tables of version 0.1: runs, events and verdicts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "1"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "runs",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("phase", sa.Text),
        sa.Column("done", sa.BigInteger, nullable=False),
        sa.Column("total", sa.BigInteger, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("started", sa.Double),
        sa.Column("ended", sa.Double),
        sa.Column("error", sa.Text),
        sa.Column("config", sa.Text, nullable=False),
        sa.Column("cancel", sa.Boolean, nullable=False),
        sa.Column("pid", sa.Integer),
        sa.Column("host", sa.Text),
        sa.Column("beat", sa.Double),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("seconds", sa.Double, nullable=False),
        sa.Column("last_event", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "events",
        sa.Column("run", sa.String(64), primary_key=True),
        sa.Column("sequence", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("identity", sa.String(200), nullable=False),
        sa.Column("record", sa.Text, nullable=False),
        sa.UniqueConstraint("run", "identity", name="one_event_per_identity"),
    )
    op.create_table(
        "verdicts",
        sa.Column("run", sa.String(64), primary_key=True),
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("pair_id", sa.Text, nullable=False),
        sa.Column("verdict", sa.String(16), nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("who", sa.Text, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
    )
    op.create_index("verdicts_of_pair", "verdicts", ["run", "pair_id"])


def downgrade() -> None:
    for table in ("verdicts", "events", "runs"):
        op.drop_table(table)
