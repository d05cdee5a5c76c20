"""Pages for people: an evaluation as one HTML file, from which the owner of the data decides.

`shapes` are the parts of charts, `bars`, `dots` and `heat` the charts, `figure` what is beside
them; `contents`, `maps`, `predictions` and `promise` are the page in words and numbers, `subject`
is what it is about, `page` the document. `released` is the other page, which may leave.
"""

from understudy.evaluation.report.page import evaluation_page
from understudy.evaluation.report.released import Release
from understudy.evaluation.report.subject import Subject

__all__ = ["Release", "Subject", "evaluation_page"]
