"""Blocking: which records of two tables, or of one, are worth comparing.

`block` finds candidate pairs in memory, `block_to_file` writes them and can be resumed, `report` says how many there
are and how many matches they hold or may miss.
"""

from riskcore.blocking.block import block
from riskcore.blocking.candidates import Candidates
from riskcore.blocking.missed import Estimate
from riskcore.blocking.report import BlockReport, report
from riskcore.blocking.stream import block_to_file

__all__ = ["BlockReport", "Candidates", "Estimate", "block", "block_to_file", "report"]
