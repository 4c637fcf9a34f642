// What the type checker of Go says of a tree: its definitions, and what each call in it means.
//
//	oracle ROOT
//
// prints one JSON object a line; ../README.md explains their fields.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: oracle ROOT")
		os.Exit(2)
	}
	root, err := filepath.Abs(os.Args[1])
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	out := bufio.NewWriter(os.Stdout)
	print := json.NewEncoder(out)
	print.SetEscapeHTML(false)
	for _, fact := range factsOf(loadTree(root)) {
		if err := print.Encode(fact); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if err := out.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func factsOf(tree *tree) []any {
	definitions := newDefinitions(tree)
	sites := newSites(tree, definitions)
	for _, checked := range tree.checked {
		definitions.read(checked)
	}
	for _, checked := range tree.checked {
		sites.read(checked)
	}
	var facts []any
	for _, file := range tree.judged() {
		facts = append(facts, file)
	}
	for _, each := range definitions.all {
		facts = append(facts, each)
	}
	for _, each := range sites.all {
		facts = append(facts, each)
	}
	facts = append(facts, usesOf(tree, definitions)...)
	for _, each := range implementationsOf(tree, definitions, sites) {
		facts = append(facts, each)
	}
	return append(facts, summary{
		Is: "summary", Packages: len(tree.folders), Missing: len(tree.missing), Errors: tree.errors,
	})
}

type summary struct {
	Is string `json:"is"`
	// Folders with a package.
	Packages int `json:"packages"`
	// Imported packages whose source is not there.
	Missing int `json:"missing"`
	// Of the type checker; nearly all follow from what is missing.
	Errors int `json:"errors"`
}
