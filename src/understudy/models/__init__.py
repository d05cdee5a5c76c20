"""Released: models, rows drawn from them, questions to them. Nothing here costs budget."""
