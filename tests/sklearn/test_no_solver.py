"""Nothing is computed by a solver of scikit-learn, or by one of numpy or scipy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sys

# An import of one of these fails.
for name in ("linear_model", "svm", "neural_network"):
    sys.modules["sklearn." + name] = None

import numpy as np
import scipy.linalg
import scipy.optimize
import tabla.sklearn
from tabla.graph.evaluate import FixedPlan


def forbidden(*arguments, **named):
    raise SystemExit("a solver was called")


for module, names in (
    (np.linalg, "solve lstsq inv pinv svd eigh qr cholesky"),
    (scipy.linalg, "solve lstsq inv pinv svd eigh qr cholesky"),
    (scipy.optimize, "minimize fmin_l_bfgs_b least_squares root newton"),
):
    for name in names.split():
        assert hasattr(module, name)
        setattr(module, name, forbidden)

steps = []
run = FixedPlan.run
FixedPlan.run = lambda plan, *arguments: steps.append(bool(plan.graph.updates)) or run(plan, *arguments)
random = np.random.default_rng(0)
X = random.normal(size=(12, 2))
for name in tabla.sklearn.__all__:
    steps.clear()
    model = getattr(tabla.sklearn, name)(max_iter=1)
    model.fit(X, (X[:, 0] > 0).astype(int)).predict(X)
    # An epoch that learns, and a run that predicts. Before them the format is chosen in just this way.
    assert steps[-2:] == [True, False] and len(steps) % 2 == 0, (name, steps)
print("learnt", len(tabla.sklearn.__all__))
"""


def test_fit_and_predict_call_the_evaluation_and_no_solver() -> None:
    root = str(Path(__file__).parents[2])
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {root!r})\n{SCRIPT}"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.stdout == "learnt 6\n", ended.stderr


def test_the_package_does_not_import_scikit_learn() -> None:
    script = "import sys, tabla, tabla.driver, tabla.commands.cli; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], cwd=Path(__file__).parents[2], check=False).returncode == 0


def test_without_scikit_learn_the_import_names_the_cure() -> None:
    script = (
        "import sys, importlib.util as u\nfind = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'sklearn' else find(name, *a)\n"
        "try:\n    import tabla.sklearn\nexcept ImportError as fault:\n    print(fault)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True
    )
    assert ended.stdout.endswith("pip install '.[sklearn]' in a clone of tabla\n")
