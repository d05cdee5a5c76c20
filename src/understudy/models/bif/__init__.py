"""The Bayesian interchange format, BIF: networks for other tools, and structures from them."""

from understudy.models.bif.reading import NotBif, parents_of
from understudy.models.bif.writing import bif_lines

__all__ = ["NotBif", "bif_lines", "parents_of"]
