"""Two values side by side as a domain expert reads them: what differs, what is only written differently.

`compare_values` is for single pairs on a screen; the metrics of whole workloads are in the modules beside this one.
"""

from riskcore.metrics.differences.compare import compare_values
from riskcore.metrics.differences.comparison import Piece, PieceState, Relation, ValueComparison

__all__ = ["Piece", "PieceState", "Relation", "ValueComparison", "compare_values"]
