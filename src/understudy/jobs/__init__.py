"""Jobs of all commands, without a terminal: typed requests in, typed results out.

A page, a notebook and the command line ask for the same things. Each module here takes a frozen
request, does the work and returns a result; whoever asked shows it. Nothing here prints, and only
these modules open the edges `federated/`, `stream/`, `gan/` and the package of studies.
"""
