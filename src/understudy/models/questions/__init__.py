"""Questions beyond probabilities: counts, means, quantiles, the most probable row, and pairs."""
