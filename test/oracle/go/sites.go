package main

import (
	"go/ast"
	"go/types"
)

type site struct {
	Is   string `json:"is"`
	File string `json:"file"`
	// Of the called name, and where the call begins.
	Line  int `json:"line"`
	Start int `json:"start"`
	// `path:line` of the function around it; empty outside of functions.
	Holder string `json:"holder"`
	Name   string `json:"name"`
	// static · interface · value · outside · dynamic · unknown
	Kind string `json:"kind"`
	// `path:line` of what is meant; empty outside of the tree.
	Target string `json:"target,omitempty"`
	// The interface through which is called.
	Interface string `json:"interface,omitempty"`
	// What stands before the dot.
	Form     string `json:"form"`
	Closure  bool   `json:"closure,omitempty"`
	Promoted bool   `json:"promoted,omitempty"`
}

type sites struct {
	tree        *tree
	definitions *definitions
	all         []site
	// By their name; called through somewhere.
	interfaces map[string]*types.Interface
}

func newSites(tree *tree, definitions *definitions) *sites {
	return &sites{tree: tree, definitions: definitions, interfaces: map[string]*types.Interface{}}
}

func (its *sites) read(checked checked) {
	for _, each := range checked.files {
		reader := &fileReader{sites: its, info: checked.info, forms: formsOf(checked.info, each), called: map[*ast.Ident]bool{}}
		ast.Walk(reader, each)
	}
}

// A walk through a file: calls first, so that the name of a call is not taken for a value once more.
type fileReader struct {
	*sites
	info   *types.Info
	forms  forms
	called map[*ast.Ident]bool
	holder string
	// Depth of function literals.
	closures int
}

func (its *fileReader) Visit(node ast.Node) ast.Visitor {
	switch node := node.(type) {
	case *ast.FuncDecl:
		inner := *its
		inner.holder = its.definitions.byPlace[its.tree.place(node.Name.Pos())]
		return &inner
	case *ast.FuncLit:
		inner := *its
		inner.closures++
		return &inner
	case *ast.CallExpr:
		its.call(node)
	case *ast.SelectorExpr:
		if !its.called[node.Sel] {
			its.called[node.Sel] = true
			its.value(node.Sel, node)
		}
	case *ast.Ident:
		if !its.called[node] {
			its.value(node, nil)
		}
	}
	return its
}

func (its *fileReader) call(node *ast.CallExpr) {
	if is := its.info.Types[node.Fun]; is.IsType() || is.IsBuiltin() {
		return
	}
	switch called := calledIn(node.Fun).(type) {
	case *ast.Ident:
		its.called[called] = true
		its.add(called, node, its.meaning(its.info.Uses[called], nil), "plain")
	case *ast.SelectorExpr:
		its.called[called.Sel] = true
		found := its.meaning(its.info.Uses[called.Sel], called)
		form := its.forms.of(called.X)
		// A package that is missing is no less outside.
		if found.Kind == "unknown" && form == "package" {
			found.Kind = "outside"
		}
		its.add(called.Sel, node, found, form)
	}
}

// A function that is named, not called.
func (its *fileReader) value(name *ast.Ident, selector *ast.SelectorExpr) {
	function, ok := its.info.Uses[name].(*types.Func)
	if !ok || its.definitions.of(function) == "" {
		return
	}
	found, form := site{Kind: "value", Target: its.definitions.of(function)}, "plain"
	if selector != nil {
		form = its.forms.of(selector.X)
	}
	its.add(name, name, found, form)
}

func (its *fileReader) meaning(object types.Object, selector *ast.SelectorExpr) site {
	function, ok := object.(*types.Func)
	if !ok {
		if object == nil {
			return site{Kind: "unknown"}
		}
		return site{Kind: "dynamic"}
	}
	found := site{Kind: "static", Target: its.definitions.of(function)}
	var selection *types.Selection
	if selector != nil {
		selection = its.info.Selections[selector]
	}
	if selection != nil {
		found.Promoted = len(selection.Index()) > 1
		if through := interfaceOf(selection, function); through != nil {
			found.Kind, found.Interface = "interface", canonical(through)
			its.interfaces[found.Interface] = through.Underlying().(*types.Interface)
			return found
		}
	}
	if found.Target == "" {
		found.Kind = "outside"
	}
	return found
}

// The interface whose method is called, as the receiver has it; nil for a method of a concrete type.
func interfaceOf(selection *types.Selection, function *types.Func) types.Type {
	receiver := function.Type().(*types.Signature).Recv()
	if receiver == nil || !types.IsInterface(receiver.Type()) {
		return nil
	}
	its := selection.Recv()
	if parameter, ok := its.(*types.TypeParam); ok {
		its = parameter.Constraint()
	}
	if types.IsInterface(its) {
		return its
	}
	// A struct that embeds the interface.
	return receiver.Type()
}

func (its *fileReader) add(name *ast.Ident, node ast.Node, found site, form string) {
	if found.Target == "" && !its.definitions.names[name.Name] {
		return
	}
	at := its.tree.place(name.Pos())
	found.Is, found.File, found.Line, found.Start = "site", at.file, at.line, its.tree.place(node.Pos()).line
	found.Holder, found.Name, found.Form, found.Closure = its.holder, name.Name, form, its.closures > 0
	its.all = append(its.all, found)
}

// Without parentheses and type arguments.
func calledIn(node ast.Expr) ast.Expr {
	switch its := node.(type) {
	case *ast.ParenExpr:
		return calledIn(its.X)
	case *ast.IndexExpr:
		return calledIn(its.X)
	case *ast.IndexListExpr:
		return calledIn(its.X)
	}
	return node
}
