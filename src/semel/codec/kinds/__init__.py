"""The kinds of class whose objects can be recorded: one file per kind, and one protocol.

No kind runs a constructor, ``__post_init__``, ``__reduce__`` or ``__setstate__`` of a class of the app; the responses
of HTTP libraries are made with their own. The libraries are optional: a kind looks for its library in ``sys.modules``,
where it must be if one of its classes exists.
"""
