package main

import (
	"go/types"
	"sort"
)

// A method that may run when `Method` of `Interface` is called.
type implementation struct {
	Is        string `json:"is"`
	Interface string `json:"interface"`
	Method    string `json:"method"`
	Target    string `json:"target"`
}

// Of all interfaces through which is called, and of those of the tree. Methods are compared as text, not by
// types.Implements: a package that is checked with and without its tests has every type twice.
func implementationsOf(tree *tree, definitions *definitions, sites *sites) []implementation {
	wanted := map[string]*types.Interface{}
	for name, each := range sites.interfaces {
		wanted[name] = each
	}
	// A method as text -> types that have it -> where.
	having := map[string]map[*types.Named]string{}
	for _, each := range definitions.types {
		if own, ok := each.Underlying().(*types.Interface); ok {
			wanted[canonical(each)] = own
			continue
		}
		methods := types.NewMethodSet(types.NewPointer(each))
		for at := 0; at < methods.Len(); at++ {
			function, ok := methods.At(at).Obj().(*types.Func)
			if !ok {
				continue
			}
			key := canonicalMethod(function)
			if having[key] == nil {
				having[key] = map[*types.Named]string{}
			}
			having[key][each] = targetOf(function, definitions)
		}
	}
	var found []implementation
	for name, each := range wanted {
		found = append(found, implementing(name, each, having)...)
	}
	sort.Slice(found, func(i, j int) bool {
		one, other := found[i], found[j]
		if one.Interface != other.Interface {
			return one.Interface < other.Interface
		}
		if one.Method != other.Method {
			return one.Method < other.Method
		}
		return one.Target < other.Target
	})
	return found
}

// Empty for a method that an embedded interface or another library brings.
func targetOf(function *types.Func, definitions *definitions) string {
	if types.IsInterface(function.Type().(*types.Signature).Recv().Type()) {
		return ""
	}
	return definitions.of(function)
}

func implementing(name string, its *types.Interface, having map[string]map[*types.Named]string) []implementation {
	if its.NumMethods() == 0 {
		return nil
	}
	var found []implementation
	seen := map[implementation]bool{}
	for candidate := range having[canonicalMethod(its.Method(0))] {
		if !hasAll(its, candidate, having) {
			continue
		}
		for at := 0; at < its.NumMethods(); at++ {
			method := its.Method(at)
			each := implementation{Is: "implementation", Interface: name, Method: method.Name(), Target: having[canonicalMethod(method)][candidate]}
			if each.Target != "" && !seen[each] {
				seen[each] = true
				found = append(found, each)
			}
		}
	}
	return found
}

func hasAll(its *types.Interface, candidate *types.Named, having map[string]map[*types.Named]string) bool {
	for at := 0; at < its.NumMethods(); at++ {
		if _, ok := having[canonicalMethod(its.Method(at))][candidate]; !ok {
			return false
		}
	}
	return true
}
