"""All targets by name."""

from fuzzing import estimators, kills, models, readers, stores, tables
from fuzzing.target import Target

TARGETS: dict[str, Target] = {
    target.name: target for module in (readers, tables, stores, models, estimators, kills) for target in module.TARGETS
}
