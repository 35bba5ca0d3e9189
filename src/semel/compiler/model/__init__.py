"""The program model: what user code is made of, read from its source by ``ast`` and annotations alone.

``build`` makes a ``Model`` of the sources that ``from_paths`` or ``from_loaded`` found. Nothing of the user's is
imported or run. The checks read the model; none of them walks a syntax tree.
"""

from .build import build
from .data import (
    Body,
    Call,
    Candidate,
    Class,
    Expression,
    Form,
    Function,
    Loop,
    Model,
    Module,
    Operation,
    Parameter,
    Place,
    Retry,
    Step,
    Undo,
    Unreadable,
)
from .discover import Source, from_loaded, from_paths
from .entities import EntityWorkflow
from .flow import together

__all__ = [
    "Body",
    "Call",
    "Candidate",
    "Class",
    "EntityWorkflow",
    "Expression",
    "Form",
    "Function",
    "Loop",
    "Model",
    "Module",
    "Operation",
    "Parameter",
    "Place",
    "Retry",
    "Source",
    "Step",
    "Undo",
    "Unreadable",
    "build",
    "from_loaded",
    "from_paths",
    "together",
]
