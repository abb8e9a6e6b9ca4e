import pickle
import string

import pytest

from kernelbraid.solvers.status import DIVERGED, Sentence, Status

SENTENCES = [(status, family, sentence) for status in Status for family, sentence in status.sentences.items()]
FACTS = {
    **dict.fromkeys(("max_iter", "n_iter"), 7),
    **dict.fromkeys(("tol", "mu", "mu_growth", "alpha", "beta", "gamma"), 0.5),
    **dict.fromkeys(("kernel_change", "graph_residual", "size"), 3.1e-4),
    "graph_from": "Z",
    "unsettled": "still changes by 1e-2",
}


def test_a_status_is_its_word():
    assert str(Status.CONVERGED) == "converged" == Status.CONVERGED
    assert Status("graph_empty") is Status.GRAPH_EMPTY
    assert {str(status) for status in Status} == {
        *("converged", "max_iter", "stopped", "non_finite", "kernel_vanished", "graph_empty", "graph_diagonal")
    }


def test_the_last_iterate_comes_back_where_nothing_is_wrong_with_it():
    assert {status for status in Status if status.is_sound} == {Status.CONVERGED, Status.MAX_ITER, Status.STOPPED}


@pytest.mark.parametrize("status", [Status.CONVERGED, Status.STOPPED])
def test_there_is_nothing_to_say_of_a_fit_that_ended_as_asked(status):
    assert status.sentences == {}


def test_every_other_end_of_lkg_has_a_sentence_whether_the_kernel_is_learned_or_not():
    for status in set(Status) - {Status.CONVERGED, Status.STOPPED}:
        assert {"learned", "fixed"} <= set(status.sentences)


def test_alternations_end_in_two_bad_ways():
    assert {status for status in Status if "alternation" in status.sentences} == {Status.MAX_ITER, Status.NON_FINITE}


def test_a_sentence_is_filled_from_the_facts_of_a_fit():
    for _, _, sentence in SENTENCES:
        told = sentence.filled(**FACTS)
        assert "{" not in told.what + told.remedy
        assert told.remedy.endswith(".")
        assert not told.what.endswith(".")
        assert told.what[0].islower()


def test_a_fixed_kernel_is_not_spoken_of_as_learned():
    for _, family, sentence in SENTENCES:
        fields = [
            field for part in (sentence.what, sentence.remedy) for _, field, _, _ in string.Formatter().parse(part)
        ]
        asked = {field.rpartition(".")[2] for field in fields if field}
        if family == "fixed":
            assert not asked & {"mu", "beta", "gamma", "kernel_change"}


def test_a_fit_that_diverged_says_how_far():
    assert "grew to 3e-04 times" in DIVERGED.filled(**FACTS).what


def test_filling_makes_a_new_sentence():
    sentence = Sentence("made {n} steps", "Raise {set.n:g}.")
    assert sentence.filled(n=3) == Sentence("made 3 steps", "Raise n=3.")
    assert sentence.filled(n=3).remedy.facts == {"n": 3}
    assert sentence.what == "made {n} steps"


def test_a_status_travels_between_processes():
    for status in Status:
        assert pickle.loads(pickle.dumps(status)) is status
