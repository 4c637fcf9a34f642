package main

import (
	"go/ast"
	"go/types"
	"strings"
)

// A constant, variable or type at the top of a package.
type named struct {
	Is   string `json:"is"`
	Name string `json:"name"`
	// constant · variable · type
	Kind string `json:"kind"`
	File string `json:"file"`
	// Of the name.
	Line int  `json:"line"`
	Test bool `json:"test"`
}

// A line that uses one of them, or a function.
type use struct {
	Is     string `json:"is"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	Target string `json:"target"`
}

// What is defined at the top of packages, and every line that names it; the receivers of methods name no type here.
func usesOf(tree *tree, definitions *definitions) []any {
	var facts []any
	seen := map[any]bool{}
	add := func(fact any) {
		if !seen[fact] {
			seen[fact] = true
			facts = append(facts, fact)
		}
	}
	// The files of a package are checked again with its tests.
	receivers := map[*ast.Ident]bool{}
	for _, checked := range tree.checked {
		noteReceivers(checked.files, receivers)
	}
	for _, checked := range tree.checked {
		for name, object := range checked.info.Defs {
			if kind := kindAtTop(object); kind != "" && name.Name != "_" {
				at := tree.place(name.Pos())
				add(named{Is: "named", Name: name.Name, Kind: kind, File: at.file, Line: at.line, Test: strings.HasSuffix(at.file, "_test.go")})
			}
		}
		for name, object := range checked.info.Uses {
			target := usedAt(tree, definitions, object)
			if target == "" || receivers[name] {
				continue
			}
			at := tree.place(name.Pos())
			add(use{Is: "use", File: at.file, Line: at.line, Target: target})
		}
	}
	return facts
}

func usedAt(tree *tree, definitions *definitions, object types.Object) string {
	if function, ok := object.(*types.Func); ok {
		return definitions.of(function)
	}
	if kindAtTop(object) == "" {
		return ""
	}
	return tree.place(object.Pos()).String()
}

func kindAtTop(object types.Object) string {
	if object == nil || object.Pkg() == nil || object.Parent() != object.Pkg().Scope() {
		return ""
	}
	switch object.(type) {
	case *types.Const:
		return "constant"
	case *types.Var:
		return "variable"
	case *types.TypeName:
		return "type"
	}
	return ""
}

func noteReceivers(files []*ast.File, found map[*ast.Ident]bool) {
	for _, file := range files {
		for _, declared := range file.Decls {
			if function, ok := declared.(*ast.FuncDecl); ok && function.Recv != nil {
				ast.Inspect(function.Recv, func(node ast.Node) bool {
					if name, ok := node.(*ast.Ident); ok {
						found[name] = true
					}
					return true
				})
			}
		}
	}
}
