package main

import (
	"go/ast"
	"go/types"
	"strings"
)

type definition struct {
	Is        string `json:"is"`
	Name      string `json:"name"`
	Container string `json:"container"`
	// function · method · interface: a method of an interface
	Kind     string `json:"kind"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Exported bool   `json:"exported"`
	Test     bool   `json:"test"`
}

// Definitions by the place of their name: a file that is checked with and without tests has two objects for each.
type definitions struct {
	tree *tree
	all  []definition
	// Place of the name -> `path:line` of the definition.
	byPlace map[place]string
	names   map[string]bool
	// Types and interfaces that have a name, each once.
	types []*types.Named
	seen  map[place]bool
}

func newDefinitions(tree *tree) *definitions {
	return &definitions{tree: tree, byPlace: map[place]string{}, names: map[string]bool{}, seen: map[place]bool{}}
}

func (its *definitions) read(checked checked) {
	for _, each := range checked.files {
		for _, declared := range each.Decls {
			if function, ok := declared.(*ast.FuncDecl); ok {
				its.function(function)
			}
		}
		ast.Inspect(each, func(node ast.Node) bool {
			if spec, ok := node.(*ast.TypeSpec); ok {
				its.named(checked, spec)
			}
			return true
		})
	}
}

func (its *definitions) function(node *ast.FuncDecl) {
	kind, container := "function", ""
	if node.Recv != nil && len(node.Recv.List) == 1 {
		kind, container = "method", nameOfType(node.Recv.List[0].Type)
	}
	its.define(node.Name, definition{Kind: kind, Container: container, Line: its.tree.place(node.Pos()).line})
}

func (its *definitions) named(checked checked, spec *ast.TypeSpec) {
	if node, ok := spec.Type.(*ast.InterfaceType); ok {
		for _, each := range node.Methods.List {
			for _, name := range each.Names {
				its.define(name, definition{Kind: "interface", Container: spec.Name.Name, Line: its.tree.place(name.Pos()).line})
			}
		}
	}
	at := its.tree.place(spec.Name.Pos())
	if its.seen[at] || spec.Assign.IsValid() {
		return
	}
	its.seen[at] = true
	if object := checked.info.Defs[spec.Name]; object != nil {
		if named, ok := object.Type().(*types.Named); ok {
			its.types = append(its.types, named)
		}
	}
}

func (its *definitions) define(name *ast.Ident, found definition) {
	at := its.tree.place(name.Pos())
	if _, ok := its.byPlace[at]; ok {
		return
	}
	found.Is, found.Name, found.File = "definition", name.Name, at.file
	found.Exported, found.Test = name.IsExported(), strings.HasSuffix(at.file, "_test.go")
	its.byPlace[at] = place{file: at.file, line: found.Line}.String()
	its.names[name.Name] = true
	its.all = append(its.all, found)
}

// `path:line` of a function of the tree; empty for others.
func (its *definitions) of(function *types.Func) string {
	return its.byPlace[its.tree.place(function.Origin().Pos())]
}

// `*Server[T]` -> `Server`
func nameOfType(node ast.Expr) string {
	switch its := node.(type) {
	case *ast.Ident:
		return its.Name
	case *ast.StarExpr:
		return nameOfType(its.X)
	case *ast.ParenExpr:
		return nameOfType(its.X)
	case *ast.IndexExpr:
		return nameOfType(its.X)
	case *ast.IndexListExpr:
		return nameOfType(its.X)
	}
	return ""
}
