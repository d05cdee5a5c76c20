"""The analyst's side: it asks, checks replies, and keeps a journal."""
