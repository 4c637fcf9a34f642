"""Says what the calls of C mean, as libclang reads each file alone. Prints one JSON object a line; see ../README.md.

    facts.py ROOT
"""
import ctypes
import json
import os
import re
import sys
from collections import Counter

from clang import cindex
from clang.cindex import CursorKind as K, TypeKind as T

if os.environ.get("LIBCLANG"):
    cindex.Config.set_library_file(os.environ["LIBCLANG"])

ROOT = os.path.realpath(sys.argv[1])
# Programs of other systems, and copies of other projects, are not built with the rest.
TEST = ("t/", "test/", "tests/", "contrib/", "examples/", "fuzz/", "doc/", "docs/")
TYPES = (K.STRUCT_DECL, K.UNION_DECL, K.ENUM_DECL, K.TYPEDEF_DECL)
KEEP_GOING = 0x200  # CXTranslationUnit_KeepGoing
WRAPPERS = (K.UNEXPOSED_EXPR, K.PAREN_EXPR, K.CSTYLE_CAST_EXPR, K.UNARY_OPERATOR)


def emit(**fact):
    print(json.dumps(fact))


def inside(location):
    return None if location.file is None else within(location.file.name)


REAL = {}


def within(name):
    if name not in REAL:
        REAL[name] = os.path.realpath(name)
    path = REAL[name]
    return path[len(ROOT) + 1:] if path.startswith(ROOT + "/") else None


def written(location):
    """(path, line, offset) of a name; of what is handed to a macro, where it is written."""
    file, line, column, offset = cindex.c_object_p(), ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint()
    cindex.conf.lib.clang_getFileLocation(location, *map(ctypes.byref, (file, line, column, offset)))
    if not file:
        return None, 0, 0
    named = cindex.File(file)
    return within(named.name), line.value, offset.value


def sources():
    found, folders = [], set()
    for folder, names, files in os.walk(ROOT):
        names[:] = sorted(n for n in names if not n.startswith("."))
        relative = os.path.relpath(folder, ROOT) + "/"
        for name in sorted(files):
            if name.endswith(".h"):
                folders.add(folder)
                if os.path.basename(folder) not in ("include", "src"):
                    folders.add(os.path.dirname(folder))
            elif name.endswith(".c") and not relative.startswith(TEST):
                found.append(os.path.join(folder, name))
    return found, sorted(f for f in folders if f.startswith(ROOT))


def all_sources():
    """Also those that are not read."""
    found = set()
    for folder, _, files in os.walk(ROOT):
        for name in files:
            if re.search(r"\.(c|h|cc|cpp|cxx|hpp|hh)$", name):
                found.add(os.path.relpath(os.path.join(folder, name), ROOT))
    return found


def is_function_pointer(type_):
    type_ = type_.get_canonical()
    while type_.kind in (T.CONSTANTARRAY, T.INCOMPLETEARRAY, T.VARIABLEARRAY):
        type_ = type_.element_type.get_canonical()
    if type_.kind == T.POINTER:
        type_ = type_.get_pointee().get_canonical()
    return type_.kind in (T.FUNCTIONPROTO, T.FUNCTIONNOPROTO)


def structure_of(cursor):
    """`typedef struct node node;`: one type of two kinds of names."""
    if cursor.kind == K.TYPEDEF_DECL:
        named = cursor.underlying_typedef_type.get_declaration()
        if named.kind in TYPES and named.spelling == cursor.spelling:
            return named
    return cursor


class Facts:
    def __init__(self):
        self.seen = set()  # Top-level declarations of headers.
        self.definitions = {}  # Function key -> file -> (name, place, exported).
        self.fields = {}  # Field key -> (container, name, place).
        self.sites = []
        self.edges = {}  # Node -> nodes that it is put into.
        self.files = set()
        self.errors = 0
        self.broken_at = set()  # Lines with errors.
        self.texts = {}
        self.named = {}  # Key -> file -> (name, place, kind).
        self.uses = set()  # (key, file, line).
        self.unread = {}  # File -> ranges of lines that the preprocessor leaves out, or that define macros.

    # Keys

    def function_key(self, cursor):
        if cursor.linkage == cindex.LinkageKind.INTERNAL:
            return "F:%s:%s" % (inside(cursor.location), cursor.spelling)
        return "F:%s" % cursor.spelling

    def field_key(self, cursor):
        path = inside(cursor.location)
        if path is None:
            return None
        key = "M:%s:%d:%s" % (path, cursor.location.line, cursor.spelling)
        if key not in self.fields and is_function_pointer(cursor.type):
            parent = cursor.semantic_parent
            container = parent.spelling or parent.type.spelling
            container = container.split(" ")[-1] if "(" not in container else ""
            self.fields[key] = (container, cursor.spelling, "%s:%d" % (path, cursor.location.line))
        return key

    def node_of(self, cursor):
        """What a declaration holds."""
        if cursor is None:
            return None
        if cursor.kind == K.FUNCTION_DECL:
            return self.function_key(cursor)
        if cursor.kind == K.FIELD_DECL:
            return self.field_key(cursor)
        if cursor.kind == K.PARM_DECL:
            owner = cursor.semantic_parent
            if owner is None or owner.kind != K.FUNCTION_DECL:
                return None
            for at, each in enumerate(owner.get_arguments()):
                if each == cursor:
                    return "P:%s:%d" % (self.function_key(owner), at)
        if cursor.kind == K.VAR_DECL:
            if cursor.linkage == cindex.LinkageKind.EXTERNAL:
                return "V:%s" % cursor.spelling
            return "V:%s:%d:%s" % (inside(cursor.location), cursor.location.offset, cursor.spelling)
        return None

    def values(self, cursor):
        """Nodes of what an expression may be."""
        kind = cursor.kind
        if kind == K.DECL_REF_EXPR or kind == K.MEMBER_REF_EXPR:
            node = self.node_of(cursor.referenced)
            return [node] if node else []
        children = list(cursor.get_children())
        if kind in WRAPPERS:
            return [n for c in children if c.kind != K.TYPE_REF for n in self.values(c)]
        if kind == K.CONDITIONAL_OPERATOR:
            return [n for c in children[1:] for n in self.values(c)]
        if kind == K.ARRAY_SUBSCRIPT_EXPR:
            return self.values(children[0]) if children else []
        if kind == K.BINARY_OPERATOR and len(children) == 2:
            return self.values(children[1])
        if kind == K.CALL_EXPR and cursor.referenced is not None and cursor.referenced.kind == K.FUNCTION_DECL:
            return ["R:%s" % self.function_key(cursor.referenced)]
        return []

    def put(self, sources, target):
        for source in sources:
            if source and target and source != target:
                self.edges.setdefault(source, set()).add(target)

    def named_key(self, cursor):
        """Of what is named at the top of a file and is no function."""
        kind = cursor.kind
        if kind == K.VAR_DECL:
            is_top = cursor.semantic_parent is not None and cursor.semantic_parent.kind == K.TRANSLATION_UNIT
            return self.node_of(cursor) if is_top else None
        if kind in TYPES:
            cursor = structure_of(cursor)
            cursor = cursor.get_definition() or cursor
            # A structure that is only declared here is the one that is defined elsewhere.
            if not cursor.is_definition() and cursor.spelling:
                return "T:%s %s" % (cursor.kind.name, cursor.spelling)
        elif kind not in (K.ENUM_CONSTANT_DECL, K.MACRO_DEFINITION):
            return None
        path = inside(cursor.location)
        return None if path is None else "N:%s:%d:%s" % (path, cursor.location.line, cursor.spelling)

    def name(self, cursor, said):
        if structure_of(cursor) != cursor:
            return
        (path, line, at), key = written(cursor.location), self.named_key(cursor)
        if path is None or key is None or not self.is_written(path, at, cursor.spelling):
            return
        keys = [key, "T:%s %s" % (cursor.kind.name, cursor.spelling)] if cursor.kind in TYPES else [key]
        for each in keys:
            self.named.setdefault(each, {}).setdefault(path, (cursor.spelling, "%s:%d" % (path, line), said))

    def use(self, cursor):
        referenced = cursor.referenced
        path, line, at = written(cursor.location)
        if referenced is None or path is None or not self.is_written(path, at, referenced.spelling):
            return
        is_function = referenced.kind == K.FUNCTION_DECL
        key = self.function_key(referenced) if is_function else self.named_key(referenced)
        if key is not None:
            self.uses.add((key, path, line))

    def macros(self, unit, cursor):
        if cursor.kind == K.MACRO_INSTANTIATION:
            self.use(cursor)
        elif cursor.kind == K.MACRO_DEFINITION:
            path, start, end = inside(cursor.location), cursor.extent.start, cursor.extent.end
            if path is None or (path, start.line) in self.seen:
                return
            self.seen.add((path, start.line))
            # Without a body it only says that something has been read.
            if end.offset > start.offset + len(cursor.spelling):
                self.name(cursor, "constant")
            self.unread.setdefault(path, set()).add((start.line, end.line))

    def skipped(self, unit):
        found = cindex.conf.lib.clang_getAllSkippedRanges(unit)
        for at in range(found.contents.count):
            each = found.contents.ranges[at]
            path = inside(each.start)
            if path is not None:
                self.unread.setdefault(path, set()).add((each.start.line, each.end.line))

    def broken(self, unit):
        """What libclang cannot read it leaves out: of the declaration around an error, and of what no declaration holds beside it."""
        errors = set()
        for diagnostic in unit.diagnostics:
            if diagnostic.severity >= cindex.Diagnostic.Error:
                self.errors += 1
                errors.add((inside(diagnostic.location), diagnostic.location.line))
        errors = {each for each in errors if each[0] is not None and each not in self.broken_at}
        self.broken_at |= errors
        declared = {path: [] for path, _ in errors}
        for cursor in unit.cursor.get_children() if errors else ():
            path = inside(cursor.location)
            if path in declared and not cursor.kind.is_preprocessing():
                declared[path].append((cursor.extent.start.line, cursor.extent.end.line))
        for path, line in errors:
            around = [each for each in declared[path] if each[0] <= line <= each[1]]
            start = min((each[0] for each in around), default=None)
            if start is None:
                start = max((end for _, end in declared[path] if end < line), default=0) + 1
            # What libclang skips, to go on after the error, belongs to no declaration.
            last = max((each[1] for each in around), default=line)
            below = min((each[0] for each in declared[path] if each[0] > last), default=sys.maxsize)
            self.unread.setdefault(path, set()).add((start, below - 1))

    # Walks

    def unit(self, unit):
        self.skipped(unit)
        self.broken(unit)
        main = os.path.realpath(unit.spelling)
        self.files.add(main[len(ROOT) + 1:])
        for cursor in unit.cursor.get_children():
            path = inside(cursor.location)
            if path is None:
                continue
            if cursor.kind.is_preprocessing():
                self.macros(unit, cursor)
                continue
            if os.path.realpath(cursor.location.file.name) != main:
                key = (path, cursor.location.offset)
                if key in self.seen:
                    continue
                self.seen.add(key)
                self.files.add(path)
            self.visit(cursor, None)

    def visit(self, cursor, holder):
        stack = [(cursor, holder)]
        while stack:
            node, around = stack.pop()
            around = self.one(node, around)
            stack.extend((child, around) for child in node.get_children())

    def one(self, cursor, holder):
        kind = cursor.kind
        if kind == K.FUNCTION_DECL:
            if cursor.is_definition() and inside(cursor.location):
                place = "%s:%d" % (inside(cursor.location), cursor.extent.start.line)
                key = self.function_key(cursor)
                known = self.definitions.setdefault(key, {})
                known.setdefault(inside(cursor.location), (cursor.spelling, place, key.count(":") == 1))
                return (key, place)
        elif kind == K.FIELD_DECL:
            self.field_key(cursor)
        elif kind == K.ENUM_CONSTANT_DECL:
            self.name(cursor, "constant")
        elif kind in TYPES:
            if cursor.is_definition():
                self.name(cursor, "type")
        elif kind == K.TYPE_REF:
            self.use(cursor)
        elif kind == K.VAR_DECL:
            if cursor.is_definition():
                self.name(cursor, "variable")
            value = [c for c in cursor.get_children() if c.kind.is_expression()]
            if value:
                self.initialize(self.node_of(cursor), cursor.type, value[-1])
        elif kind == K.COMPOUND_LITERAL_EXPR:
            for child in cursor.get_children():
                if child.kind == K.INIT_LIST_EXPR:
                    self.initialize(None, cursor.type, child)
        elif kind == K.BINARY_OPERATOR:
            children = list(cursor.get_children())
            if len(children) == 2 and is_assignment(cursor, children):
                for target in self.values(children[0]):
                    self.put(self.values(children[1]), target)
        elif kind == K.RETURN_STMT and holder:
            for child in cursor.get_children():
                self.put([v for v in self.values(child)], "R:%s" % holder[0])
        elif kind == K.CALL_EXPR:
            self.call(cursor, holder)
        elif kind == K.DECL_REF_EXPR:
            referenced = cursor.referenced
            self.use(cursor)
            if referenced is not None and referenced.kind == K.FUNCTION_DECL:
                self.site(cursor, holder, "value", self.function_key(referenced), referenced.spelling, cursor.location)
        return holder

    def initialize(self, node, type_, value):
        while value.kind == K.UNEXPOSED_EXPR:
            children = list(value.get_children())
            if len(children) != 1:
                break
            value = children[0]
        if value.kind != K.INIT_LIST_EXPR:
            self.put(self.values(value), node)
            return
        type_ = type_.get_canonical()
        if type_.kind in (T.CONSTANTARRAY, T.INCOMPLETEARRAY):
            for child in value.get_children():
                child = last_of(child) if is_designated(child) else child
                self.initialize(node, type_.element_type, child)
        elif type_.kind == T.RECORD:
            fields = list(type_.get_fields())
            for at, child in enumerate(value.get_children()):
                if is_designated(child):
                    parts = list(child.get_children())
                    field = [p for p in parts if p.kind == K.MEMBER_REF][-1].referenced
                    if field is not None:
                        self.initialize(self.field_key(field), field.type, parts[-1])
                elif at < len(fields):
                    self.initialize(self.field_key(fields[at]), fields[at].type, child)

    def call(self, cursor, holder):
        children = list(cursor.get_children())
        if not children:
            return
        callee = children[0]
        target = [n for n in self.values(callee) if n]
        for at, argument in enumerate(cursor.get_arguments()):
            values = self.values(argument)
            if not values:
                continue
            for node in target:
                self.put(values, "P:%s:%d" % (node, at))
        for node in target[:1]:
            name = node.split(":")[-1]
            kind = {"F": "static", "M": "interface"}.get(node[0], "dynamic")
            self.site(cursor, holder, kind, node, name, end_of_name(callee))

    def site(self, cursor, holder, kind, node, name, location):
        path, line, at = written(location)
        # What a macro calls is called where the macro is defined.
        if path is not None and (node[0] == "P" or self.is_written(path, at, name)):
            start = written(cursor.extent.start)[1]
            self.sites.append((path, line, start, holder[1] if holder else "", kind, node, name))

    def is_written(self, path, at, name):
        return self.text_of(path)[at:at + len(name)] == name.encode()

    def text_of(self, path):
        if path not in self.texts:
            with open(os.path.join(ROOT, path), "rb") as file:
                self.texts[path] = file.read()
        return self.texts[path]

    def unread_names(self):
        """Of functions and members of which nobody knows whether they are called: what is not read may call them."""
        names = {name for known in self.definitions.values() for name, _, _ in known.values()}
        names |= {name for _, name, _ in self.fields.values()}
        texts = [self.text_of(path) for path in all_sources() - self.files]
        for path, ranges in self.unread.items():
            lines = self.text_of(path).split(b"\n")
            texts += [b"\n".join(lines[start - 1 : end]) for start, end in ranges]
        return names & {word.decode() for text in texts for word in re.findall(rb"[A-Za-z_]\w*", text)}

    # Results

    def settle(self):
        held = {}
        work = [(n, n) for n in list(self.edges) if n.startswith("F:")]
        members = {}
        while work:
            node, function = work.pop()
            for target in self.edges.get(node, ()):
                known = held.setdefault(target, set())
                if function not in known:
                    known.add(function)
                    work.append((target, function))
                    # What is handed to what a member holds is handed to the function.
                    for at in range(8):
                        parameter = "P:%s:%d" % (target, at)
                        if parameter in held or parameter in self.edges:
                            self.edges.setdefault(parameter, set()).add("P:%s:%d" % (function, at))
                            work.extend((parameter, f) for f in held.get(parameter, ()))
        return held

    def report(self):
        for path in sorted(self.files):
            emit(**{"is": "file", "path": path})
        for name, place, exported in (each for known in self.definitions.values() for each in known.values()):
            path, line = place.rsplit(":", 1)
            emit(**{"is": "definition"}, name=name, container="", kind="function", file=path, line=int(line), exported=exported, test=False)
        for container, name, place in self.fields.values():
            if container:
                path, line = place.rsplit(":", 1)
                emit(**{"is": "definition"}, name=name, container=container, kind="interface", file=path, line=int(line), exported=True, test=False)
        called = {(s[0], s[1], s[5]) for s in self.sites if s[4] == "static"}
        for path, line, start, holder, kind, node, name in set(self.sites):
            fact = dict(file=path, line=line, start=start, holder=holder, name=name, kind=kind)
            if kind in ("static", "value"):
                if node not in self.definitions or (kind == "value" and (path, line, node) in called):
                    continue
                target = linked(self.definitions[node], path)
                fact.update(kind="unknown") if target is None else fact.update(target=target[1])
            elif kind == "interface":
                fact["interface"] = node
                if node in self.fields and self.fields[node][0]:
                    fact["target"] = self.fields[node][2]
            else:
                fact.update(kind="interface", interface=node)
            emit(**{"is": "site"}, **fact)
        for node, functions in self.settle().items():
            if node[0] == "R":
                continue
            for function in functions:
                for _, target, _ in self.definitions.get(function, {}).values():
                    emit(**{"is": "implementation"}, interface=node, method=node.split(":")[-1], target=target)
        named = {each for known in self.named.values() for each in known.values()}
        places = Counter(place for _, place, _ in named)
        for name, place, kind in named:
            # Places of lines: of several names on one, nobody knows which is used.
            if places[place] > 1:
                continue
            path, line = place.rsplit(":", 1)
            emit(**{"is": "named"}, name=name, kind=kind, file=path, line=int(line), test=False)
        for key, path, line in self.uses:
            known = self.definitions.get(key) or self.named.get(key)
            if known is None:
                continue
            target = linked(known, path)
            is_of = dict(name=key.split(":")[-1].split(" ")[-1]) if target is None else dict(target=target[1])
            emit(**{"is": "use"}, file=path, line=line, **is_of)
        for path, ranges in self.unread.items():
            for start, end in ranges:
                emit(**{"is": "unread"}, file=path, start=start, end=end)
        for name in sorted(self.unread_names()):
            emit(**{"is": "open"}, name=name)
        emit(**{"is": "summary"}, packages=len(self.files), missing=0, errors=self.errors)


def linked(definitions, path):
    """Which of several definitions a file means: its own. What the linker decides is not known."""
    return next(iter(definitions.values())) if len(definitions) == 1 else definitions.get(path)


def is_assignment(cursor, children):
    left = children[0].extent.end.offset
    for token in cursor.get_tokens():
        if token.extent.start.offset >= left:
            return token.spelling == "="
    return False


def is_designated(cursor):
    return cursor.kind == K.UNEXPOSED_EXPR and any(c.kind == K.MEMBER_REF for c in cursor.get_children()) or (
        cursor.kind == K.UNEXPOSED_EXPR and len(list(cursor.get_children())) > 1
    )


def last_of(cursor):
    return list(cursor.get_children())[-1]


def end_of_name(cursor):
    """Of `a->b`, the place of `b`."""
    while cursor.kind in WRAPPERS:
        children = [c for c in cursor.get_children() if c.kind != K.TYPE_REF]
        if not children:
            break
        cursor = children[-1]
    return cursor.location


class RangeList(ctypes.Structure):
    _fields_ = [("count", ctypes.c_uint), ("ranges", ctypes.POINTER(cindex.SourceRange))]


def main():
    ranges = cindex.conf.lib.clang_getAllSkippedRanges
    ranges.argtypes, ranges.restype = [cindex.TranslationUnit], ctypes.POINTER(RangeList)
    found, folders = sources()
    index = cindex.Index.create()
    arguments = ["-x", "c", "-std=gnu11", "-D_GNU_SOURCE", "-w", "-ferror-limit=0"]
    arguments += [f"-I{folder}" for folder in folders]
    place = cindex.conf.lib.clang_getFileLocation
    place.argtypes = [cindex.SourceLocation] + [ctypes.c_void_p] * 4
    # A header that is missing is no reason to stop, and is not the only error.
    record = cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD | KEEP_GOING
    facts = Facts()
    limit = int(os.environ.get("FILES_MAX", "100000"))
    for path in found[:limit]:
        try:
            facts.unit(index.parse(path, args=arguments, options=record))
        except cindex.TranslationUnitLoadError:
            facts.errors += 1
    facts.report()


main()
