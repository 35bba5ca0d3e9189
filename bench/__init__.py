"""The benchmark of semel: the floor, which is bare commits of the same rows on the same disk, and semel, in one run.

``python -m bench`` runs every case; see ``--help``. Nothing here is part of the package.
"""
