"""A callback as scikit-learn 1.9 has them, that keeps what it hears."""

import pytest

pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks from 1.9 on")


class Heard:
    """Keeps tasks as they begin and end, and steps with what is told of them; may want no more of these."""

    def __init__(self, last_step=None, asked=None):
        self.last_step, self.asked = last_step, asked
        self.begun, self.ended, self.steps, self.answers, self.is_over = [], [], [], [], False

    def setup(self, estimator, context):
        self.begun, self.ended, self.steps, self.answers, self.is_over = [], [], [], [], False

    def teardown(self, estimator, context):
        self.is_over = True

    def on_fit_task_begin(self, estimator, context):
        self.begun.append((context.task_name, context.max_subtasks))

    def on_fit_task_end(self, estimator, context, *, metadata=None):
        self.ended.append((context.task_name, context.max_subtasks))
        if metadata:
            self.steps.append(metadata)
            if self.asked is not None:
                self.answers.append(self.asked())
        return len(self.steps) == self.last_step
