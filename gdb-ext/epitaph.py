# SPDX-License-Identifier: BSD-2-Clause
"""epitaph.py: loads gdb's commands `epitaph save`, and by the program epitaph, `epitaph report`,
`stack`, `replay`, `stats`, `info` and `threads`.

    (gdb) source .../epitaph.py

Loading prints nothing and may be repeated. gdb runs this file in the user's own Python name space:
so only modules are loaded here, and nothing is left in it."""


def _load(path):
    import importlib
    import os
    import sys

    import gdb

    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.exists(os.path.join(folder, "epitaph_format.py")):
        # The source: what is generated lies where make puts it.
        folder = os.path.join(os.path.dirname(folder), "build", "gdb-ext")
    if not os.path.exists(os.path.join(folder, "epitaph_format.py")):
        gdb.write("epitaph: %s is a part of the source, which has to be built: run make, then"
                  " source build/gdb-ext/epitaph.py\n" % path, gdb.STDERR)
        return
    saved = sys.path[:], sys.dont_write_bytecode
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True  # the folder may be root's
    try:
        importlib.import_module("epitaph_commands").register()
    finally:
        sys.path[:], sys.dont_write_bytecode = saved


_load(__file__)
del _load
