import pytest

from kernelbraid.cli.messages import option_name, out_of_range
from kernelbraid.estimators.base import refused_parameter
from kernelbraid.methods import METHODS


@pytest.mark.parametrize(
    ("parameter", "option"),
    [("n_clusters", "--clusters"), ("graph_penalty", "--penalty"), ("max_iter", "--max-iter"), ("mu", "--mu")],
)
def test_a_parameter_has_an_option(parameter, option):
    assert option_name(parameter) == option


def test_a_value_out_of_range_is_a_matter_of_an_option():
    for value in (1.5, 1):
        sentence = out_of_range(refused_parameter(METHODS["RMKKM"].set_params(gamma=value)), "RMKKM")
        assert sentence == f"--gamma {value} is out of range for RMKKM; give a number in the range [0.01, 0.99]."


@pytest.mark.parametrize(
    ("parameters", "wanted"),
    [
        ({"n_neighbors": 0}, "--neighbors 0 is out of range for LKGr; give an int in the range [1, inf) or all."),
        ({"alpha": -1.0}, "--alpha -1.0 is out of range for LKGr; give a number in the range (0.0, inf)."),
        ({"embedding": "none"}, "--embedding none is out of range for LKGr; give one of "),
    ],
)
def test_what_an_option_may_be_is_said_without_python(parameters, wanted):
    told = out_of_range(refused_parameter(METHODS["LKGr"].set_params(**parameters)), "LKGr")
    assert told.startswith(wanted)
    assert "None" not in told
