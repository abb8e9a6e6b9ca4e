"""Everything that experiments compare: the methods of the registry, LKGr with a part taken out, joined rows."""

from dataclasses import replace

from kernelbraid.bench.records.record import ABLATED, Trial
from kernelbraid.bench.trials.ablation import NOTHING, TIGHT, average, bound_combination, kernel_first
from kernelbraid.bench.trials.own_methods import OwnMethod
from kernelbraid.estimators import LKG
from kernelbraid.methods import LABEL_FREE, LOW_RANK, METHODS, RIVALS, VARIANTS, Method

_NO_RANK = {"beta": NOTHING}
# One kernel that stays as it is, but for negative entries, which LKG allows in no kernel. LKG stops when the kernel
# does, so the graph is given a number of steps instead.
_STAYS = {**_NO_RANK, "gamma": TIGHT, "tol": 0.0, "max_iter": 30}

#: LKGr as a whole and with a part taken out, for the claims of the paper; no other table shows them.
ABLATIONS: dict[str, Method] = {
    f"LKGr{ABLATED}{name}": method
    for name, method in {
        "whole": Method("LKGr", LKG, "all", LOW_RANK),
        "no-rank": Method("no low-rank term (beta to 0)", LKG, "all", LOW_RANK, fixed=_NO_RANK),
        "bound": Method("kernel bound to the combination", LKG, "all", LOW_RANK, {}, _STAYS, bound_combination),
        "one-kernel": Method("one kernel (Eq. 2)", LKG, "each", LOW_RANK, fixed=_STAYS),
        "average": Method("the average kernel", LKG, "all", LOW_RANK, {}, _STAYS, average),
        "in-turn": Method("first the kernel, then the graph", LKG, "all", LOW_RANK, {}, _STAYS, kernel_first),
    }.items()
}

#: What takes one matrix, on several views as many would join them: rows of unit length, side by side.
JOINED: dict[str, Method] = {
    f"{name}-joined": replace(method, title=f"{method.title}, views joined as rows of unit length", joins=True)
    for name, method in {**METHODS, **VARIANTS, **RIVALS}.items()
    if name in ("KMeans", "SC-knn") or (name not in RIVALS and method.policy != "all")
}

#: Everything that can be compared.
COMPARED: dict[str, Method] = {**METHODS, **VARIANTS, **RIVALS, **LABEL_FREE, **ABLATIONS, **JOINED}

# Methods of others that this process has imported, by name and code, each with where it was found.
_PROVIDED: dict[tuple[str, str], tuple[OwnMethod, Method]] = {}


def provide(own: OwnMethod) -> Method:
    """Import a method that is not ours, once."""
    there = _PROVIDED.get((own.name, own.code))
    if there is None or there[0] != own:
        there = _PROVIDED[own.name, own.code] = own, own.method()
    return there[1]


def method_of(trial: Trial) -> Method:
    """Return the method of a trial: ours, or one that was provided."""
    return _PROVIDED[trial.method, trial.code][1] if trial.code else COMPARED[trial.method]
