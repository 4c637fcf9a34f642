package main

import (
	"os"
	"path/filepath"
	"testing"
)

const storeText = `package store

import "example.com/missing"

type Store interface {
	Get(key string) string
	Each(visit func(key string, value any, raw []byte))
}

type Memory struct{ missing.Base }

func (m *Memory) Get(key string) string { return m.read(key) }

func (m *Memory) read(key string) string { m.Lost(); m.Gone(); return key }

func (m *Memory) Each(func(k string, v interface{}, r []uint8)) {}

type Wrapped struct{ *Memory }

func New() *Wrapped { return &Wrapped{} }
`

const useText = `package use

import "example.com/tree/store"

func through(s store.Store) string { return s.Get("a") }

func direct() string {
	wrapped := store.New()
	return func() string { return wrapped.
		Get("b") }()
}

var named = direct

func Lost() {}
`

const testText = `package use

import "testing"

type fake struct{}

func (fake) Get(string) string { return "" }

func (fake) Each(func(string, any, []byte)) {}

func TestThrough(t *testing.T) { through(fake{}) }
`

const outerText = `package use_test

import (
	"testing"

	"example.com/tree/use"
)

func TestNothing(t *testing.T) { use.Helper() }
`

const exportText = `package use

func Helper() {}
`

func factsOfTree(t *testing.T) ([]definition, []site, []implementation) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":             "module example.com/tree\n",
		"store/store.go":     storeText,
		"use/use.go":         useText,
		"use/use_test.go":    testText,
		"use/outer_test.go":  outerText,
		"use/export_test.go": exportText,
	} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var definitions []definition
	var sites []site
	var implementations []implementation
	for _, fact := range factsOf(loadTree(root)) {
		switch fact := fact.(type) {
		case definition:
			definitions = append(definitions, fact)
		case site:
			sites = append(sites, fact)
		case implementation:
			implementations = append(implementations, fact)
		}
	}
	return definitions, sites, implementations
}

func TestEachCallHasItsMeaning(t *testing.T) {
	_, sites, _ := factsOfTree(t)
	wanted := []site{
		{File: "store/store.go", Line: 12, Kind: "static", Target: "store/store.go:14", Form: "own receiver"},
		{File: "use/use.go", Line: 5, Kind: "interface", Target: "store/store.go:6", Form: "parameter", Interface: "example.com/tree/store.Store"},
		{File: "use/use.go", Line: 8, Kind: "static", Target: "store/store.go:20", Form: "package"},
		{File: "use/use.go", Line: 10, Kind: "static", Target: "store/store.go:12", Form: "local, from call", Promoted: true, Closure: true},
		{File: "use/use.go", Line: 13, Kind: "value", Target: "use/use.go:7", Form: "plain"},
		{File: "use/use_test.go", Line: 11, Kind: "static", Target: "use/use.go:5", Form: "plain"},
		{File: "use/outer_test.go", Line: 9, Kind: "static", Target: "use/export_test.go:3", Form: "package"},
	}
	for _, each := range wanted {
		if !hasSite(sites, each) {
			t.Errorf("%s:%d is not the %s call of %s: %+v", each.File, each.Line, each.Kind, each.Target, sites)
		}
	}
}

func TestACallOfSomethingMissingIsUnknownAndListedOnlyWhereItsNameIsDefined(t *testing.T) {
	_, sites, _ := factsOfTree(t)
	if lost := (site{File: "store/store.go", Line: 14, Kind: "unknown", Form: "own receiver"}); !hasSite(sites, lost) {
		t.Errorf("the call of Lost is not unknown: %+v", sites)
	}
	for _, each := range sites {
		if each.Name == "Gone" {
			t.Errorf("nothing of the tree is named %s: %+v", each.Name, each)
		}
	}
}

func TestImplementationsAreFoundAlsoInTestsAndThroughEmbedding(t *testing.T) {
	_, _, implementations := factsOfTree(t)
	found := map[string]bool{}
	for _, each := range implementations {
		found[each.Method+" "+each.Target] = true
	}
	for _, each := range []string{"Get store/store.go:12", "Get use/use_test.go:7"} {
		if !found[each] {
			t.Errorf("%s is not among %v", each, found)
		}
	}
}

func TestDefinitionsOfTestsAreListedOnce(t *testing.T) {
	definitions, _, _ := factsOfTree(t)
	count := map[string]int{}
	for _, each := range definitions {
		count[each.Container+"."+each.Name]++
	}
	for _, each := range []string{"Store.Get", "Memory.Get", "fake.Get", ".through", ".Helper"} {
		if count[each] != 1 {
			t.Errorf("%s is listed %d times", each, count[each])
		}
	}
}

func hasSite(sites []site, wanted site) bool {
	for _, each := range sites {
		if each.File == wanted.File && each.Line == wanted.Line && each.Kind == wanted.Kind &&
			each.Target == wanted.Target && each.Form == wanted.Form && each.Interface == wanted.Interface &&
			each.Promoted == wanted.Promoted && each.Closure == wanted.Closure {
			return true
		}
	}
	return false
}
