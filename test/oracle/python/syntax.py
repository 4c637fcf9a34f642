"""What Python's own parser says of files: their definitions, classes, calls and other uses of names.

    python3 syntax.py ROOT < paths

prints one JSON object a file. Places are `line:column`, both from 0, columns in UTF-16 units as SCIP has them.
"""

import ast
import json
import os
import sys


class Reader(ast.NodeVisitor):
    def __init__(self, text):
        self.lines = text.split("\n")
        self.functions, self.classes, self.calls, self.values = [], [], [], []
        self.holder, self.container, self.closures = "", [], 0
        # How the variables of the function around were declared: causes of what is missed are told apart by it.
        self.forms = [{}]
        self.called = set()
        # A variable that is another name of something: where both are, and its name.
        self.aliases, self.aliased = {}, {}
        # Names that are defined: at the top, by classes in their bodies.
        self.variables = []
        # Where names stand that nothing uses: lines of imports, places of what is defined.
        self.imports, self.imported, self.defining = [], [], []

    def column(self, line, byte):
        text = self.lines[line - 1].encode()[:byte].decode(errors="replace")
        return len(text.encode("utf-16-le")) // 2

    def place(self, node):
        """Of the last name of an expression."""
        if isinstance(node, ast.Attribute):
            return f"{node.end_lineno - 1}:{self.column(node.end_lineno, node.end_col_offset) - len(node.attr)}"
        if isinstance(node, ast.Name):
            return f"{node.lineno - 1}:{self.column(node.lineno, node.col_offset)}"
        if isinstance(node, ast.Subscript):
            return self.place(node.value)
        return ""

    def name_after(self, node, keyword):
        text = self.lines[node.lineno - 1]
        at = text.index(keyword, self.column(node.lineno, node.col_offset)) + len(keyword)
        at = text.index(node.name, at)
        return f"{node.lineno - 1}:{len(text[:at].encode('utf-16-le')) // 2}"

    def visit_FunctionDef(self, node):
        decorators = [last_name(each) for each in node.decorator_list]
        for each in node.decorator_list:
            self.visit(each)
        for each in node.args.defaults + [one for one in node.args.kw_defaults if one]:
            self.visit(each)
        outer = self.container[-1] if self.container else {"kind": "", "name": "", "at": ""}
        at = self.name_after(node, "def")
        self.functions.append(
            {
                "at": at,
                "line": node.lineno,
                "name": node.name,
                "container": outer["name"],
                "class": outer["at"] if outer["kind"] == "class" else "",
                "decorators": decorators,
            }
        )
        before = self.holder
        self.holder = node.lineno
        self.container.append({"kind": "function", "name": node.name, "at": at})
        forms = {}
        arguments = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
        for place, each in enumerate(arguments):
            own = place == 0 and outer["kind"] == "class" and each.arg in ("self", "cls")
            forms[each.arg] = "own receiver" if own else "parameter, annotated" if each.annotation else "parameter"
        for each in [node.args.vararg, node.args.kwarg]:
            if each:
                forms[each.arg] = "parameter, several"
        self.forms.append(forms)
        for each in node.body:
            self.visit(each)
        self.forms.pop()
        self.container.pop()
        self.holder = before

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node):
        for each in node.decorator_list + node.bases + [one.value for one in node.keywords]:
            self.visit(each)
        at = self.name_after(node, "class")
        top = not self.container
        bases = [self.place(each) for each in node.bases]
        self.classes.append({"at": at, "line": node.lineno, "name": node.name, "bases": bases, "top": top})
        self.container.append({"kind": "class", "name": node.name, "at": at})
        self.forms.append({})
        for each in node.body:
            self.visit(each)
        self.forms.pop()
        self.container.pop()

    def define(self, target):
        outer = self.container[-1] if self.container else {"kind": "", "name": ""}
        if isinstance(target, ast.Name) and (outer["kind"] == "" or len(self.container) == 1 and outer["kind"] == "class"):
            found = {"at": self.place(target), "line": target.lineno, "name": target.id}
            self.variables.append({**found, "container": outer["name"]})

    def visit_Import(self, node):
        self.imports += range(node.lineno, node.end_lineno + 1)
        if not self.container:
            self.imported += [getattr(each, "asname", None) or getattr(each, "name", each) for each in node.names]

    visit_ImportFrom = visit_Global = visit_Nonlocal = visit_Import

    def visit_Lambda(self, node):
        self.closures += 1
        self.generic_visit(node)
        self.closures -= 1

    def declare(self, target, form):
        for each in ast.walk(target):
            if isinstance(each, ast.Name):
                self.forms[-1][each.id] = form

    def visit_Assign(self, node):
        for each in node.targets:
            if isinstance(each, ast.Name) and isinstance(node.value, (ast.Name, ast.Attribute)):
                self.aliases[self.place(each)] = self.place(node.value)
                self.aliased[self.place(each)] = last_name(node.value)
            self.define(each)
            many = isinstance(each, (ast.Tuple, ast.List))
            if isinstance(each, (ast.Name, ast.Tuple, ast.List)):
                self.declare(each, "local, unpacked" if many else form_of_value(node.value))
        self.generic_visit(node)

    def visit_AnnAssign(self, node):
        self.define(node.target)
        self.declare(node.target, "local, annotated")
        self.generic_visit(node)

    def visit_AugAssign(self, node):
        # It reads what it sets.
        if isinstance(node.target, ast.Attribute):
            self.visit(node.target.value)
        self.visit(node.value)

    def visit_NamedExpr(self, node):
        self.declare(node.target, form_of_value(node.value))
        self.generic_visit(node)

    def visit_For(self, node):
        self.declare(node.target, "loop variable")
        self.generic_visit(node)

    visit_AsyncFor = visit_For

    def visit_comprehension(self, node):
        self.declare(node.target, "loop variable")
        self.generic_visit(node)

    def visit_comprehended(self, node):
        # What a comprehension declares stands behind its use.
        for each in node.generators:
            self.visit(each)
        for each in ("key", "value", "elt"):
            if hasattr(node, each):
                self.visit(getattr(node, each))

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_comprehended

    def visit_withitem(self, node):
        if node.optional_vars:
            self.declare(node.optional_vars, "with … as")
        self.generic_visit(node)

    def visit_ExceptHandler(self, node):
        if node.name:
            self.forms[-1][node.name] = "except … as"
        self.generic_visit(node)

    def visit_Call(self, node):
        at = self.place(node.func) if isinstance(node.func, (ast.Name, ast.Attribute)) else ""
        if at:
            self.called.add(at)
            self.calls.append(self.use(node.func, at, node.lineno))
        self.generic_visit(node)

    def visit_keyword(self, node):
        # It names a parameter.
        if node.arg:
            self.defining.append(f"{node.lineno - 1}:{self.column(node.lineno, node.col_offset)}")
        self.visit(node.value)

    def visit_Name(self, node):
        self.value(node)

    def visit_Attribute(self, node):
        self.value(node)
        self.visit(node.value)

    def value(self, node):
        at = self.place(node)
        inside = any(each["kind"] == "function" for each in self.container)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and not inside:
            self.defining.append(at)
        if at not in self.called and isinstance(node.ctx, ast.Load):
            self.values.append(self.use(node, at, node.lineno))

    def use(self, node, at, start):
        line = int(at.split(":")[0]) + 1
        found = {"at": at, "line": line, "start": start, "holder": self.holder, "closure": self.closures > 0}
        if isinstance(node, ast.Name):
            is_own = self.forms[-1].get(node.id) == "own receiver"
            own = next((each["at"] for each in reversed(self.container) if each["kind"] == "class"), "")
            return {**found, "name": node.id, "form": "plain", "through": "", "class": own if is_own else ""}
        through = ""
        if is_super(node.value):
            through = "super"
        elif isinstance(node.value, (ast.Name, ast.Attribute)):
            through = self.place(node.value)
        return {**found, "name": node.attr, "form": self.form(node.value), "through": through}

    def form(self, node):
        if isinstance(node, ast.Name):
            for forms in reversed(self.forms):
                if node.id in forms:
                    return forms[node.id]
            return "global name"
        if is_super(node):
            return "super()"
        if isinstance(node, ast.Await):
            return "awaited"
        if isinstance(node, ast.Attribute):
            own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            return "own field" if own else "field"
        if isinstance(node, ast.Call):
            return "chained call"
        if isinstance(node, ast.Subscript):
            return "element"
        if isinstance(node, (ast.Constant, ast.JoinedStr)):
            return "literal"
        return "other"


def is_super(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def last_name(node):
    if isinstance(node, ast.Call):
        return last_name(node.func)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def form_of_value(node):
    if isinstance(node, ast.Await):
        return "local, awaited"
    if isinstance(node, ast.Call):
        return "local, from call"
    if isinstance(node, ast.Attribute):
        return "local, from field"
    if isinstance(node, ast.Subscript):
        return "local, from element"
    return "local, other"


def main():
    root = sys.argv[1]
    for path in sys.stdin.read().split("\n"):
        try:
            with open(os.path.join(root, path), encoding="utf-8") as file:
                text = file.read()
            reader = Reader(text)
            reader.visit(ast.parse(text))
        except (OSError, SyntaxError, ValueError, RecursionError):
            continue
        print(
            json.dumps(
                {
                    "path": path,
                    "functions": reader.functions,
                    "classes": reader.classes,
                    "calls": reader.calls,
                    "aliases": reader.aliases,
                    "aliased": reader.aliased,
                    "values": reader.values,
                    "variables": reader.variables,
                    "imports": reader.imports,
                    "imported": reader.imported,
                    "defining": reader.defining,
                }
            )
        )


main()
