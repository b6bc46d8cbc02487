# SPDX-License-Identifier: BSD-2-Clause
"""epitaph.py: gdb's `epitaph save`, `epitaph info`, `epitaph threads`, and by
the program epitaph, `epitaph report`, `stack`, `replay` and `stats`.

    (gdb) source .../epitaph.py

Loading prints nothing and may be repeated. gdb runs this file in the user's own
Python name space: so only modules are loaded here, and nothing is left in it."""


def _load(path):
    import importlib
    import os
    import sys

    folder = os.path.dirname(os.path.realpath(path))
    saved = sys.path[:], sys.dont_write_bytecode
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True  # the folder may be root's
    try:
        importlib.import_module("epitaph_commands").register()
    finally:
        sys.path[:], sys.dont_write_bytecode = saved


_load(__file__)
del _load
