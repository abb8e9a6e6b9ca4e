"""All targets by name."""

from fuzzing import estimators, models, readers, stores
from fuzzing.target import Target

TARGETS: dict[str, Target] = {
    target.name: target for module in (readers, stores, models, estimators) for target in module.TARGETS
}
