"""From samples to a learned graph, and from there to labels: arrays and typed settings, no estimators.

The method in one line is ``read_out(learn(weighed, settings), settings.readout)``.
"""

from kernelbraid.kernels import StoredStack
from kernelbraid.learning.coefficients import Coefficients, express, learn_many
from kernelbraid.learning.learn import LearnedGraph, learn
from kernelbraid.learning.readout import PlacedGraph, Reading, choose, cluster, place, read_out
from kernelbraid.learning.settings import PRESETS, Learning, Readout, Settings
from kernelbraid.learning.sources import Candidates, Samples, Views
from kernelbraid.learning.weighing import Weighed, weigh

__all__ = [
    "Samples",
    "Views",
    "Candidates",
    "StoredStack",
    "Weighed",
    "weigh",
    "LearnedGraph",
    "learn",
    "Coefficients",
    "express",
    "learn_many",
    "PlacedGraph",
    "place",
    "Reading",
    "choose",
    "cluster",
    "read_out",
    "PRESETS",
    "Learning",
    "Readout",
    "Settings",
]
