"""Make the blocks of documents that come from the code: `python -m pages --write`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from pages.documents import blocks, texts


def main(arguments: Sequence[str]) -> int:
    """Print every block, or write all of them into their documents."""
    parser = argparse.ArgumentParser(prog="python -m pages", description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the blocks into the documents")
    if parser.parse_args(arguments).write:
        for path, text in texts().items():
            path.write_text(text, encoding="utf-8")
    else:
        print("\n\n".join(made for found in blocks().values() for made in found.values()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
