"""All targets by name."""

from fuzzing import models, readers
from fuzzing.target import Target

TARGETS: dict[str, Target] = {target.name: target for module in (readers, models) for target in module.TARGETS}
