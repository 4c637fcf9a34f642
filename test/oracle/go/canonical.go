package main

import (
	"fmt"
	"go/types"
	"strings"
)

// A type as text: the same for identical types, also of a package that was checked twice. types.TypeString is not, as
// it keeps the names of parameters, and of byte, rune and any.
func canonical(its types.Type) string {
	switch its := its.(type) {
	case *types.Basic:
		return types.Typ[its.Kind()].Name()
	case *types.Named:
		return canonicalNamed(its)
	case *types.TypeParam:
		return fmt.Sprintf("$%d", its.Index())
	case *types.Pointer:
		return "*" + canonical(its.Elem())
	case *types.Slice:
		return "[]" + canonical(its.Elem())
	case *types.Array:
		return fmt.Sprintf("[%d]%s", its.Len(), canonical(its.Elem()))
	case *types.Map:
		return "map[" + canonical(its.Key()) + "]" + canonical(its.Elem())
	case *types.Chan:
		return fmt.Sprintf("chan%d %s", its.Dir(), canonical(its.Elem()))
	case *types.Signature:
		return "func" + canonicalSignature(its)
	case *types.Struct:
		var fields []string
		for at := 0; at < its.NumFields(); at++ {
			field := its.Field(at)
			fields = append(fields, fmt.Sprintf("%s %s %t %q", field.Name(), canonical(field.Type()), field.Embedded(), its.Tag(at)))
		}
		return "struct{" + strings.Join(fields, ";") + "}"
	case *types.Interface:
		var methods []string
		for at := 0; at < its.NumMethods(); at++ {
			methods = append(methods, canonicalMethod(its.Method(at)))
		}
		return "interface{" + strings.Join(methods, ";") + "}"
	}
	return its.String()
}

func canonicalNamed(its *types.Named) string {
	var text strings.Builder
	if pkg := its.Obj().Pkg(); pkg != nil {
		text.WriteString(pkg.Path() + ".")
	}
	text.WriteString(its.Obj().Name())
	for at := 0; at < its.TypeArgs().Len(); at++ {
		text.WriteString("[" + canonical(its.TypeArgs().At(at)) + "]")
	}
	return text.String()
}

// Name and types of a method.
func canonicalMethod(method *types.Func) string {
	name := method.Name() + canonicalSignature(method.Type().(*types.Signature))
	if !method.Exported() && method.Pkg() != nil {
		return method.Pkg().Path() + "." + name
	}
	return name
}

func canonicalSignature(its *types.Signature) string {
	text := canonicalTuple(its.Params()) + canonicalTuple(its.Results())
	if its.Variadic() {
		text += "..."
	}
	return text
}

func canonicalTuple(its *types.Tuple) string {
	var all []string
	for at := 0; at < its.Len(); at++ {
		all = append(all, canonical(its.At(at).Type()))
	}
	return "(" + strings.Join(all, ",") + ")"
}
