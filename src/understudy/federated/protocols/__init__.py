"""How holders and analyst learn a network: statistics, votes, or local models."""
