"""Anonymeter on three CSV files: success rates and risk of one attack, as JSON on stdout.

Run: python run_anonymeter.py ATTACK REAL.csv SYNTHETIC.csv CONTROL.csv COLUMNS GUESSES SEED

ATTACK is inference (COLUMNS is the secret), linkage (COLUMNS are known, as in a,b) or singling-out
(COLUMNS is how many columns a predicate has).
"""

import json
import sys

import numpy
import pandas
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator

attack, *paths, columns, guesses, seed = sys.argv[1:]
real, synthetic, control = (pandas.read_csv(path, keep_default_na=False) for path in paths)
numpy.random.seed(int(seed))
tables = {"ori": real, "syn": synthetic, "control": control, "n_attacks": int(guesses)}
if attack == "inference":
    known = [name for name in real if name != columns]
    judge = InferenceEvaluator(**tables, aux_cols=known, secret=columns)
    judge.evaluate(n_jobs=1)
elif attack == "linkage":
    known = columns.split(",")
    rest = [name for name in real if name not in known]
    judge = LinkabilityEvaluator(**tables, aux_cols=(known, rest), n_neighbors=10)
    judge.evaluate(n_jobs=1)
else:
    judge = SinglingOutEvaluator(**tables, n_cols=int(columns), seed=int(seed))
    judge.evaluate(mode="multivariate")
found = judge.results()
rates = {
    "attack": found.attack_rate.value,
    "attack_error": found.attack_rate.error,
    "control": found.control_rate.value,
    "control_error": found.control_rate.error,
    "guesses": int(guesses),
    "successes": float(found.n_success),
    "control_successes": float(found.n_control),
}
risk = judge.risk()
sys.stdout.write(json.dumps(rates | {"risk": risk.value, "risk_to": list(risk.ci)}) + "\n")
