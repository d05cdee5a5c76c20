"""Anonymeter on three CSV files: the risk that a secret is inferred, as JSON on stdout."""

import json
import sys

import numpy
import pandas
from anonymeter.evaluators import InferenceEvaluator

real, synthetic, control = (pandas.read_csv(path, keep_default_na=False) for path in sys.argv[1:4])
secret = sys.argv[4]
numpy.random.seed(0)
attack = InferenceEvaluator(
    ori=real,
    syn=synthetic,
    control=control,
    aux_cols=[name for name in real if name != secret],
    secret=secret,
    n_attacks=min(300, len(control)),
)
attack.evaluate(n_jobs=1)
found = attack.results()
rates = {"attack": found.attack_rate.value, "control": found.control_rate.value}
sys.stdout.write(json.dumps(rates | {"risk": attack.risk().value}) + "\n")
