"""DataSynthesizer in correlated attribute mode: read codes, fit, sample as many rows, write them.

Run: python run_datasynthesizer.py ROWS.csv SIZES.json OUT.csv PARENTS EPSILON
"""

from __future__ import annotations

import json
import secrets
import sys
from pathlib import Path

from DataSynthesizer.DataDescriber import DataDescriber
from DataSynthesizer.DataGenerator import DataGenerator


def main() -> None:
    """One job, with the domain declared and every column a category."""
    data, sizes, output, parents, epsilon = sys.argv[1:]
    domain = json.loads(Path(sizes).read_text())
    values, description = Path(f"{output}.values.json"), f"{output}.description.json"
    values.write_text(json.dumps({name: list(range(size)) for name, size in domain.items()}))
    describer = DataDescriber()
    describer.describe_dataset_in_correlated_attribute_mode(
        data,
        k=int(parents),
        epsilon=float(epsilon),
        attribute_to_datatype=dict.fromkeys(domain, "Integer"),
        attribute_to_is_categorical=dict.fromkeys(domain, True),
        attribute_to_is_candidate_key=dict.fromkeys(domain, False),
        categorical_attribute_domain_file=str(values),
        seed=secrets.randbits(32),
    )
    describer.save_dataset_description_to_file(description)
    generator = DataGenerator()
    rows = describer.data_description["meta"]["num_tuples"]
    generator.generate_dataset_in_correlated_attribute_mode(
        rows, description, seed=secrets.randbits(32)
    )
    generator.save_synthetic_data(output)


if __name__ == "__main__":
    main()
