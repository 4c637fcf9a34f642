"""Says what the calls of C++ mean, as libclang reads each file alone. Prints one JSON object a line; see README.md.

    facts.py ROOT
"""
import ctypes
import json
import os
import re
import sys

from clang import cindex
from clang.cindex import CursorKind as K, conf

from places import Places, ROOT, inside

if os.environ.get("LIBCLANG"):
    cindex.Config.set_library_file(os.environ["LIBCLANG"])
conf.lib.clang_Cursor_isDynamicCall.argtypes = [cindex.Cursor]
conf.lib.clang_getSpecializedCursorTemplate.restype = cindex.Cursor
conf.lib.clang_getOverriddenCursors.argtypes = [
    cindex.Cursor,
    ctypes.POINTER(ctypes.POINTER(cindex.Cursor)),
    ctypes.POINTER(ctypes.c_uint),
]
conf.lib.clang_disposeOverriddenCursors.argtypes = [ctypes.POINTER(cindex.Cursor)]

# A call that is an argument of a macro stands where it is written, not where the macro does.
conf.lib.clang_getFileLocation.argtypes = conf.lib.clang_getInstantiationLocation.argtypes
conf.lib.clang_getInstantiationLocation = conf.lib.clang_getFileLocation
conf.lib.clang_getSpellingLocation.argtypes = [cindex.SourceLocation] + [ctypes.c_void_p] * 3 + [ctypes.POINTER(ctypes.c_uint)]

METHODS = (K.CXX_METHOD, K.CONSTRUCTOR, K.DESTRUCTOR, K.CONVERSION_FUNCTION)
FUNCTIONS = (K.FUNCTION_DECL, K.FUNCTION_TEMPLATE) + METHODS
RECORDS = (K.CLASS_DECL, K.STRUCT_DECL, K.UNION_DECL, K.CLASS_TEMPLATE, K.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION)
NAMES = (K.DECL_REF_EXPR, K.MEMBER_REF_EXPR)
TYPES = (K.TYPE_REF, K.TEMPLATE_REF)
# What stands around a call without being written.
WRAPPERS = (K.UNEXPOSED_EXPR, K.PAREN_EXPR)
IDENTIFIER_CALL = re.compile(rb"\b([A-Za-z_]\w*)\s*(?:<[^<>;(){}]*>\s*)?[({]")
CONSTRUCTED = re.compile(rb"\s*(?:<[^<>;(){}]*>)?\s+\w+\s*[({]")
MARK = re.compile(rb"[A-Za-z_]\w*\s*(?:\((?:[^()]|\([^()]*\))*\))?\s*")


def emit(**fact):
    print(json.dumps(fact))


def plain(name):
    """Without what a template is made for."""
    return name if name.startswith("operator") else name.split("<")[0]


def original(cursor):
    """The template that an instance is made of."""
    for _ in range(8):
        template = conf.lib.clang_getSpecializedCursorTemplate(cursor)
        if template is None or template.kind.is_invalid() or template == cursor:
            return cursor
        template._tu = cursor._tu
        cursor = template
    return cursor


def overridden(cursor):
    found = ctypes.POINTER(cindex.Cursor)()
    count = ctypes.c_uint()
    conf.lib.clang_getOverriddenCursors(cursor, ctypes.byref(found), ctypes.byref(count))
    all_ = []
    for at in range(count.value):
        # A copy: what is found belongs to the library.
        each = cindex.Cursor()
        ctypes.pointer(each)[0] = found[at]
        each._tu = cursor._tu
        all_.append(each)
    return all_


class Facts:
    def __init__(self):
        self.places = Places()
        self.seen = set()  # Top-level declarations of headers.
        self.definitions = {}  # Key -> places, in the order of finding.
        self.said = {}  # Place -> name, container, is it a method, exported.
        self.declared = {}  # Key of a pure method -> place.
        self.above = {}  # Key -> keys of what it overrides.
        self.sites = set()
        self.files = set()
        self.constructed = set()
        self.errors = 0

    def key(self, cursor):
        cursor = original(cursor).canonical
        path = inside(cursor.location)
        usr = cursor.get_usr()
        # Of a file alone: the names of two files may be the same.
        return "%s %s" % (path, usr) if path is not None and re.match(r"c:[^@]+\.\w+@", usr) else usr

    def unit(self, unit):
        self.errors += sum(d.severity >= cindex.Diagnostic.Error for d in unit.diagnostics)
        main = os.path.realpath(unit.spelling)
        self.files.add(main[len(ROOT) + 1:])
        for cursor in unit.cursor.get_children():
            path = inside(cursor.location)
            if path is None:
                continue
            if os.path.realpath(cursor.location.file.name) != main:
                key = (path, cursor.extent.start.offset, cursor.extent.end.offset)
                if key in self.seen:
                    continue
                self.seen.add(key)
                self.files.add(path)
            self.visit(cursor)

    def visit(self, top):
        stack = [(top, "", None, "")]
        while stack:
            node, holder, hint, closure = stack.pop()
            try:
                kind = node.kind
            except ValueError:
                # Newer kinds than these bindings know.
                continue
            inner = holder
            if kind in FUNCTIONS:
                inner = self.function(node) or holder
            elif kind == K.CALL_EXPR:
                self.call(node, holder, hint)
            elif kind in NAMES:
                self.name(node, holder)
            elif kind in TYPES:
                self.constructs(node)
            elif kind == K.MEMBER_REF:
                self.places.judge(node.location, plain(node.spelling.split("::")[-1].split(" ")[-1]))
            elif kind.is_declaration():
                self.places.judge(node.location, plain(node.spelling))
            before = hint if kind in WRAPPERS else None
            children = []
            for child in node.get_children():
                if child.kind in TYPES or child.kind == K.MEMBER_REF:
                    before = child.location
                its = node.location if kind == K.VAR_DECL else before
                children.append((child, inner, its, closure))
            stack.extend(reversed(children))

    def begin(self, cursor):
        """The line where a definition begins, behind the macro that it may begin with."""
        start = cursor.extent.start
        written = ctypes.c_uint()
        conf.lib.clang_getSpellingLocation(start, None, None, None, ctypes.byref(written))
        if written.value == start.offset:
            return start.line
        mark = MARK.match(self.places.text_of(inside(start)), start.offset) if inside(start) else None
        return start.line + (mark.group().count(b"\n") if mark else 0)

    def function(self, cursor):
        """The place of a definition."""
        self.places.judge(cursor.location, plain(cursor.spelling))
        path = inside(cursor.location)
        if path is None:
            return None
        key = self.key(cursor)
        place = "%s:%d" % (path, self.begin(cursor))
        is_method = cursor.kind in METHODS or cursor.semantic_parent.kind in RECORDS
        if is_method and cursor.is_virtual_method():
            self.above.setdefault(key, set()).update(self.key(each) for each in overridden(cursor))
        is_pure = is_method and cursor.is_pure_virtual_method()
        if not cursor.is_definition() and not is_pure:
            return None
        if cursor.is_definition():
            known = self.definitions.setdefault(key, [])
            if place not in known:
                known.append(place)
        else:
            self.declared[key] = place
        container = plain(cursor.semantic_parent.spelling) if is_method else ""
        exported = cursor.linkage == cindex.LinkageKind.EXTERNAL
        self.said.setdefault(place, (plain(cursor.spelling), container, is_method, exported))
        return place if cursor.is_definition() else None

    def constructs(self, type):
        """Where a variable of a type is made, and libclang may say nothing of the constructor."""
        name = plain(type.spelling.split("::")[-1].split(" ")[-1])
        text = self.places.text_at(type.location, 200)
        if text is not None and text.startswith(name.encode()) and CONSTRUCTED.match(text, len(name)):
            self.constructed.add((inside(type.location), type.location.line, name))

    def call(self, cursor, holder, hint):
        target = cursor.referenced
        if target is None or target.kind not in FUNCTIONS:
            return
        children = list(cursor.get_children())
        if original(target).kind == K.CONSTRUCTOR or target.kind == K.CONSTRUCTOR:
            own = [c.location for c in children[:1] if c.kind in TYPES]
            name = plain(target.spelling)
            for location in own + [hint]:
                if location is not None and (own or self.places.is_written(location, name) or location == cursor.location):
                    self.site(cursor, holder, target, name, location)
                    return
            if self.places.is_written(cursor.location, name):
                self.site(cursor, holder, target, name, cursor.location)
            return
        callee = self.callee(children, target)
        if callee is None:
            return
        name = plain(target.spelling)
        written = name[len("operator"):] if re.match(r"operator\W", name) else name
        text = self.places.text_at(callee.location, 64)
        if text is not None and (text.startswith(name.encode()) or text.startswith(written[:1 if written in ("()", "[]") else None].encode())):
            self.site(cursor, holder, target, name, callee.location)

    def callee(self, children, target):
        """The name in a call; of an operator it stands between the operands."""
        for child in children:
            for _ in range(8):
                if child.kind in NAMES:
                    if child.referenced is not None and child.referenced == target:
                        return child
                    break
                below = list(child.get_children()) if child.kind in WRAPPERS else []
                if len(below) != 1:
                    break
                child = below[0]
        return None

    def site(self, cursor, holder, target, name, location):
        path = inside(location)
        if path is None:
            return
        self.places.judge(location, name)
        is_open = conf.lib.clang_Cursor_isDynamicCall(cursor) != 0
        self.add(path, location, cursor.extent.start.line, holder, "dynamic" if is_open else "static", target, name)

    def name(self, cursor, holder):
        """A function that is named; where it is called as well, that is a call."""
        referenced = cursor.referenced
        if referenced is None or not cursor.spelling:
            return
        try:
            if referenced.kind == K.OVERLOADED_DECL_REF:
                return
        except ValueError:
            return
        name = plain(cursor.spelling)
        self.places.judge(cursor.location, name)
        path = inside(cursor.location)
        if referenced.kind in FUNCTIONS and path is not None and self.places.is_written(cursor.location, name):
            self.add(path, cursor.location, cursor.extent.start.line, holder, "value", referenced, name)

    def add(self, path, location, start, holder, kind, target, name):
        its = original(target)
        definition = its.get_definition()
        place = None
        if definition is not None and inside(definition.location) is not None:
            place = "%s:%d" % (inside(definition.location), self.begin(definition))
        self.sites.add((path, location.line, start, holder, kind, self.key(target), place, name))

    # Results

    def report(self):
        below = {}
        for key, all_ in self.above.items():
            for each in all_:
                below.setdefault(each, set()).add(key)
        is_abstract = lambda key: key in self.declared or bool(below.get(key))
        place_of = dict(self.declared)
        place_of.update({key: places[0] for key, places in self.definitions.items()})
        open_places = {p for key in place_of if is_abstract(key) for p in self.definitions.get(key, []) + [place_of[key]]}
        for path in sorted(self.files):
            emit(**{"is": "file", "path": path})
        for place, (name, container, is_method, exported) in self.said.items():
            path, line = place.rsplit(":", 1)
            kind = "interface" if place in open_places else "method" if is_method else "function"
            emit(**{"is": "definition"}, name=name, container=container, kind=kind, file=path, line=int(line), exported=exported, test=False)
        called = {(s[0], s[1], s[5]) for s in self.sites if s[4] != "value"}
        unknown = 0
        for path, line, start, holder, kind, key, place, name in sorted(self.sites, key=str):
            fact = dict(file=path, line=line, start=start, holder=holder, name=name, kind=kind)
            if kind == "value" and (path, line, key) in called:
                continue
            known = self.definitions.get(key, [])
            if place is None and key not in place_of:
                continue
            if place not in self.said and len(known) > 1:
                # Several programs define it.
                unknown += 1
                fact["kind"] = "unknown"
                emit(**{"is": "site"}, **fact)
                continue
            fact["target"] = place if place in self.said else place_of.get(key)
            if fact["target"] is None:
                continue
            if kind == "dynamic":
                fact["kind"] = "interface" if is_abstract(key) else "static"
                if fact["kind"] == "interface":
                    fact["interface"] = key
            emit(**{"is": "site"}, **fact)
        unknown += self.unknown()
        for key in below:
            reached, work = set(), [key]
            while work:
                for each in below.get(work.pop(), ()):
                    if each not in reached:
                        reached.add(each)
                        work.append(each)
            for each in reached:
                for target in self.definitions.get(each, []):
                    method = self.said[target][0]
                    emit(**{"is": "implementation"}, interface=key, method=method, target=target)
        emit(**{"is": "summary"}, packages=len(self.files), missing=unknown, errors=self.errors)

    def unknown(self):
        """Where a name of the tree stands like that of a call, and libclang says nothing of it."""
        names = {said[0] for said in self.said.values()}
        count = 0
        for path in sorted(self.files):
            for line, name in self.places.unjudged(path, IDENTIFIER_CALL, names):
                count += 1
                emit(**{"is": "site"}, file=path, line=line, start=line, holder="", name=name, kind="unknown")
        for path, line, name in sorted(self.constructed):
            if name in names and (line, name) not in self.places.judged.get(path, ()):
                count += 1
                emit(**{"is": "site"}, file=path, line=line, start=line, holder="", name=name, kind="unknown")
        return count


def main():
    facts = Facts()
    index = cindex.Index.create()
    for path, arguments in facts.places.sources():
        try:
            facts.unit(index.parse(path, args=arguments))
        except cindex.TranslationUnitLoadError:
            facts.errors += 1
    for path, arguments in facts.places.headers_left(facts.files):
        try:
            facts.unit(index.parse(path, args=arguments))
        except cindex.TranslationUnitLoadError:
            facts.errors += 1
    facts.report()


main()
