package main

import (
	"go/ast"
	"go/token"
	"go/types"
)

// What a receiver is, by where its variable was declared: causes of what is missed are told apart by it.
type forms struct {
	info *types.Info
	// By the place of the name that declares a variable.
	declared map[token.Pos]string
}

func formsOf(info *types.Info, file *ast.File) forms {
	its := forms{info: info, declared: map[token.Pos]string{}}
	for _, each := range file.Decls {
		if values, ok := each.(*ast.GenDecl); ok {
			for _, spec := range values.Specs {
				if value, ok := spec.(*ast.ValueSpec); ok {
					its.declare(value.Names, "package variable")
				}
			}
		}
	}
	ast.Inspect(file, func(node ast.Node) bool {
		its.read(node)
		return true
	})
	return its
}

func (its forms) read(node ast.Node) {
	switch node := node.(type) {
	case *ast.FuncDecl:
		its.fields(node.Recv, "own receiver")
	case *ast.FuncType:
		its.fields(node.Params, "parameter")
		its.fields(node.Results, "named result")
	case *ast.RangeStmt:
		its.assigned(node.Key, "range variable")
		its.assigned(node.Value, "range variable")
	case *ast.AssignStmt:
		if node.Tok == token.DEFINE {
			for at, each := range node.Lhs {
				its.assigned(each, formOfValue(node.Rhs, at, len(node.Lhs)))
			}
		}
	case *ast.ValueSpec:
		for at, each := range node.Names {
			form := "local, declared"
			if node.Type == nil {
				form = formOfValue(node.Values, at, len(node.Names))
			}
			its.declare([]*ast.Ident{each}, form)
		}
	case *ast.TypeSwitchStmt:
		if assign, ok := node.Assign.(*ast.AssignStmt); ok {
			its.assigned(assign.Lhs[0], "type switch")
		}
	}
}

func (its forms) fields(list *ast.FieldList, form string) {
	if list == nil {
		return
	}
	for _, each := range list.List {
		its.declare(each.Names, form)
	}
}

func (its forms) assigned(node ast.Expr, form string) {
	if name, ok := node.(*ast.Ident); ok {
		its.declare([]*ast.Ident{name}, form)
	}
}

// The first one counts: package variables and type switches are seen from outside.
func (its forms) declare(names []*ast.Ident, form string) {
	for _, each := range names {
		if _, ok := its.declared[each.Pos()]; !ok {
			its.declared[each.Pos()] = form
		}
	}
}

func formOfValue(values []ast.Expr, at, names int) string {
	if len(values) == 1 {
		at = 0
	}
	if at >= len(values) {
		return "local, other"
	}
	switch value := withoutParentheses(values[at]).(type) {
	case *ast.CallExpr:
		if name, ok := value.Fun.(*ast.Ident); ok && name.Name == "new" {
			return "local, from literal"
		}
		return "local, from call"
	case *ast.CompositeLit:
		return "local, from literal"
	case *ast.UnaryExpr:
		if value.Op == token.AND {
			return formOfValue([]ast.Expr{value.X}, 0, 1)
		}
		if value.Op == token.ARROW {
			return "local, from channel"
		}
	case *ast.TypeAssertExpr:
		return "local, from assertion"
	case *ast.SelectorExpr:
		return "local, from field"
	case *ast.IndexExpr:
		return "local, from element"
	case *ast.Ident:
		return "local, from variable"
	}
	return "local, other"
}

func withoutParentheses(node ast.Expr) ast.Expr {
	if its, ok := node.(*ast.ParenExpr); ok {
		return withoutParentheses(its.X)
	}
	return node
}

func (its forms) of(node ast.Expr) string {
	switch node := withoutParentheses(node).(type) {
	case *ast.StarExpr:
		return its.of(node.X)
	case *ast.UnaryExpr:
		if node.Op == token.AND {
			return its.of(node.X)
		}
	case *ast.Ident:
		return its.ofName(node)
	case *ast.SelectorExpr:
		if name, ok := node.X.(*ast.Ident); ok {
			if _, ok := its.info.Uses[name].(*types.PkgName); ok {
				return "variable of a package"
			}
		}
		return "field"
	case *ast.CallExpr:
		return "chained call"
	case *ast.IndexExpr, *ast.IndexListExpr:
		return "element"
	case *ast.TypeAssertExpr:
		return "assertion"
	case *ast.CompositeLit:
		return "literal"
	}
	return "other"
}

func (its forms) ofName(name *ast.Ident) string {
	switch object := its.info.Uses[name].(type) {
	case *types.PkgName:
		return "package"
	case *types.TypeName:
		return "method expression"
	case *types.Const:
		return "constant"
	case *types.Var:
		if form, ok := its.declared[object.Pos()]; ok {
			return form
		}
		// Declared in another file of the package.
		return "package variable"
	}
	return "other"
}
