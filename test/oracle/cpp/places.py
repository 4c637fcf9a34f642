"""The files of a tree, and the places in them of which libclang has said something."""
import os
import re
import subprocess
import sys

ROOT = os.path.realpath(sys.argv[1])
SOURCE = (".cc", ".cpp", ".cxx", ".c++")
HEADER = (".h", ".hh", ".hpp", ".hxx")
# Found by `#include <…>`; all others only where nothing else has the name.
INCLUDE_ROOTS = ("include", "inc", "src", "source", "lib")


def inside(location):
    if location.file is None:
        return None
    name = location.file.name
    path = REAL.get(name)
    if path is None:
        path = REAL[name] = os.path.realpath(name)
    return path[len(ROOT) + 1:] if path.startswith(ROOT + "/") else None


REAL = {}


class Places:
    def __init__(self):
        self.texts = {}
        self.judged = {}  # Path -> line and name.

    def text_of(self, path):
        if path not in self.texts:
            with open(os.path.join(ROOT, path), "rb") as file:
                self.texts[path] = file.read()
        return self.texts[path]

    def text_at(self, location, length):
        path = inside(location)
        return None if path is None else self.text_of(path)[location.offset:location.offset + length]

    def is_written(self, location, name):
        return self.text_at(location, len(name)) == name.encode()

    def judge(self, location, name):
        path = inside(location)
        if path is not None:
            self.judged.setdefault(path, set()).add((location.line, name))

    def unjudged(self, path, pattern, names):
        text = self.text_of(path)
        judged = self.judged.get(path, set())
        line, at = 1, 0
        for found in pattern.finditer(text):
            line += text.count(b"\n", at, found.start())
            at = found.start()
            name = found.group(1).decode()
            if name in names and (line, name) not in judged:
                yield line, name

    def sources(self):
        found, self.headers, folders = [], [], set()
        for folder, names, files in os.walk(ROOT):
            names[:] = sorted(n for n in names if not n.startswith("."))
            for name in sorted(files):
                path = os.path.join(folder, name)
                if name.endswith(HEADER):
                    self.headers.append(path)
                    folders.add(folder)
                elif name.endswith(SOURCE):
                    found.append(path)
        roots = {ROOT}
        for folder in folders:
            above = folder
            while above.startswith(ROOT):
                if os.path.basename(above) in INCLUDE_ROOTS:
                    roots.add(above)
                    roots.add(os.path.dirname(above))
                above = os.path.dirname(above)
        roots = sorted(r for r in roots if r.startswith(ROOT))
        self.arguments = ["-x", "c++", "-std=c++17", "-w", "-ferror-limit=0", "-resource-dir", resources()]
        self.arguments += ["-I" + root for root in roots]
        # The headers of the system come first: a folder may hold a `string.h`.
        self.arguments += ["-idirafter" + folder for folder in sorted(folders)]
        self.arguments += ["-iquote" + folder for folder in sorted(folders)]
        limit = int(os.environ.get("FILES_MAX", "100000"))
        return [(path, self.arguments) for path in found[:limit]]

    def headers_left(self, read):
        """Headers that no source includes."""
        for path in self.headers:
            if path[len(ROOT) + 1:] not in read and is_cpp(path):
                yield path, self.arguments


def is_cpp(path):
    with open(path, "rb") as file:
        return re.search(rb"^\s*(?:namespace|template|class|using)\b", file.read(), re.M) is not None


def resources():
    if os.environ.get("CLANG_RESOURCES"):
        return os.environ["CLANG_RESOURCES"]
    base = "/usr/lib/llvm-14/lib/clang"
    return os.path.join(base, sorted(os.listdir(base))[-1])
