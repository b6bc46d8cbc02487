# SPDX-License-Identifier: BSD-2-Clause
"""epitaph_regular.py: the one way to a file whose name a core chose: what lies
there is looked at before it is opened, as in coredump/files/regularfile.c."""

import os
import stat


def open_regular(path):
    """A descriptor to read from; None: no regular file, or not to be had."""
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        # What the kernel makes up (/proc, /sys) has no blocks.
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode) or not info.st_blocks:
            return None
        return os.open("/proc/self/fd/%d" % handle, os.O_RDONLY
                       | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return None
    finally:
        os.close(handle)
