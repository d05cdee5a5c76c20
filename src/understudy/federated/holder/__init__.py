"""The holder's side: it has the rows, and answers what it agreed to."""
