"""From samples to a learned graph, and from there to labels: arrays and typed settings, no estimators.

The method in one line is ``read_out(learn(candidates, learning), readout)``.
"""

from kernelbraid.learning.candidates import Candidates, Views
from kernelbraid.learning.learn import LearnedGraph, learn, learn_many
from kernelbraid.learning.readout import PlacedGraph, Reading, cluster, place, read_out
from kernelbraid.learning.settings import PRESETS, Learning, Readout, Settings

__all__ = [
    "Candidates",
    "Views",
    "LearnedGraph",
    "learn",
    "learn_many",
    "PlacedGraph",
    "place",
    "Reading",
    "cluster",
    "read_out",
    "PRESETS",
    "Learning",
    "Readout",
    "Settings",
]
