"""semel in other people's frameworks, one file for each. Each needs its own extra: ``semel[fastapi]``."""
