# SPDX-License-Identifier: BSD-2-Clause
"""epitaph_file.py: a core whose arena lies in the file of EPITAPH_FILE: shared
memory is not in a default core. The root names the file; it may have been
renamed since, or be another's by now: identity and generation tell. As
coredump/kinds/arena_follow.c."""

import os

import epitaph_format as fmt
from epitaph_regular import open_regular
from epitaph_source import PAGE, text

ASIDE = 1000  # PATH.1 ... that are looked at


def path_of(source, found):
    """The path that the root names, as bytes; None: it names none."""
    root = found.root
    if (source.live or not root["file_inode"] or not found.root_address
            or not root["file_path_size"]
            or root["file_path"] < fmt.ROOT[0]
            or root["file_path"] + root["file_path_size"] > PAGE):
        return None
    path = source.read_exactly(found.root_address + root["file_path"],
                               root["file_path_size"])
    return (path if path and path.startswith(b"/") and b"\0" not in path
            else None)


def candidates(path):
    yield path
    for number in range(1, ASIDE + 1):
        yield path + b".%d" % number


def follow(finder, found):
    """Lets the source read the arena from its file; False: there is none."""
    source, path = finder.source, path_of(finder.source, found)
    if path is None:
        return False
    for name in candidates(path):
        fd = open_regular(name)
        if fd is None:
            continue
        before = source.segments
        size = min(os.fstat(fd).st_size, found.root["arena_size"])
        source.lay_file(found.arena_address, found.root["arena_size"],
                        size - size % PAGE, fd)
        copy = finder.root_at(found.arena_address)
        if (copy and copy["magic"] == fmt.EP_ARENA_MAGIC
                and copy["identity"] == found.root["identity"]
                and copy["generation"] == found.root["generation"]):
            found.how, found.where = fmt.EP_FOUND_FILE, text(name)
            return True
        source.segments = before
        source.start()
        os.close(fd)
    return False


def complaint(source, found):
    """What to do when the file is not to be had; None: there was no file."""
    if source.live or not found.root["file_inode"]:
        return None
    path = path_of(source, found)
    return ("epitaph: %s: the program was traced, and its trace lay in the"
            " file of EPITAPH_FILE, %s, which is not there any more under that"
            " name. If you have it: `epitaph report FILE` reads it."
            % (source.name, text(path) if path else
               "inode %d" % found.root["file_inode"]))
