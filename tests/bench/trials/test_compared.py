from kernelbraid.bench.records.record import ABLATED
from kernelbraid.bench.trials.compared import ABLATIONS, COMPARED, JOINED
from kernelbraid.methods import LABEL_FREE, METHODS, RIVALS, VARIANTS


def test_everything_that_is_compared_has_one_name():
    parts = [METHODS, VARIANTS, RIVALS, LABEL_FREE, ABLATIONS, JOINED]
    assert sum(map(len, parts)) == len(COMPARED)
    assert all(COMPARED[name] is method for part in parts for name, method in part.items())


def test_ablations_are_told_by_their_names_alone():
    assert {name for name in COMPARED if ABLATED in name} == ABLATIONS.keys()


def test_an_ablation_differs_from_the_whole_by_what_is_fixed_or_by_the_kernel_it_is_given():
    whole = ABLATIONS[f"LKGr{ABLATED}whole"]
    assert whole.settings == METHODS["LKGr"].settings
    for name, method in ABLATIONS.items():
        assert method.estimator is whole.estimator
        assert method.settings == whole.settings
        assert bool(method.fixed or method.reduce) == (name != f"LKGr{ABLATED}whole")


def test_what_an_ablation_fixes_no_parameter_changes():
    method = ABLATIONS[f"LKGr{ABLATED}no-rank"]
    assert method.make(3, beta=7.0).beta == method.fixed["beta"]
