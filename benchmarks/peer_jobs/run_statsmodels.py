"""Write a data set that statsmodels contains as CSV.

Run: python run_statsmodels.py NAME OUT.csv
"""

from __future__ import annotations

import importlib
import sys
from typing import Any


def main() -> None:
    """Write one data set with its header."""
    name, output = sys.argv[1:]
    data_set: Any = importlib.import_module(f"statsmodels.datasets.{name}")
    data_set.load_pandas().data.to_csv(output, index=False)


if __name__ == "__main__":
    main()
