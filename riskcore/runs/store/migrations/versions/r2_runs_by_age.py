"""An index of runs by when they were made: every screen lists the newest first."""

from __future__ import annotations

from alembic import op

revision = "2"
down_revision = "1"


def upgrade() -> None:
    op.create_index("runs_by_age", "runs", ["created", "id"])


def downgrade() -> None:
    op.drop_index("runs_by_age", "runs")
