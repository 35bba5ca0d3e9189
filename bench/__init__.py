"""The benchmark of semel: the floor (bare commits of the same rows on the same disk) and semel, side by side in one run.

``python -m bench`` runs every case; see ``--help``. Nothing here is part of the package.
"""
