"""Runs of entity workflows: what is next for a row, and the commit of it with the app's own rows (rules W2-W4)."""
