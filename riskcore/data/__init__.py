"""Data sets and workloads: reading, checking, typing, splitting.

`open_data` reads a folder or file of pairs, `build_workload` turns one or two data sets into what training is given.
"""

from riskcore.data.dataset import DataSet
from riskcore.data.mapping import parse_map
from riskcore.data.pairs import LabelledPairs, Pairs, Table
from riskcore.data.problems import Problem
from riskcore.data.profile import DataProfile, profile
from riskcore.data.reading import inspect_data, open_data
from riskcore.data.samples import Sample, find_sample, list_samples
from riskcore.data.schema import Attribute, AttributeType, infer_types
from riskcore.data.workload import TargetTruth, Workload, build_workload

__all__ = [
    "Attribute",
    "AttributeType",
    "DataProfile",
    "DataSet",
    "LabelledPairs",
    "Pairs",
    "Problem",
    "Sample",
    "Table",
    "TargetTruth",
    "Workload",
    "build_workload",
    "find_sample",
    "infer_types",
    "inspect_data",
    "list_samples",
    "open_data",
    "parse_map",
    "profile",
]
