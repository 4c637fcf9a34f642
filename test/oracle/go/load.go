package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

// All packages of a tree. Libraries other than the standard one are missing, and what depends on their types is unknown.
type tree struct {
	root    string
	fset    *token.FileSet
	folders map[string]*folder
	// Paths of imports that neither the tree nor the standard library has.
	missing  map[string]bool
	errors   int
	checked  []checked
	standard types.Importer
}

// One folder: a package, its own tests, and the tests beside it (package x_test).
type folder struct {
	importPath string
	name       string
	plain      []*ast.File
	tests      []*ast.File
	outer      []*ast.File
	// As other packages import it, and with its own tests, as those beside it import it.
	pkg, tested *types.Package
	isChecking  bool
}

// Files with the types that are known of them.
type checked struct {
	pkg   *types.Package
	files []*ast.File
	info  *types.Info
}

type file struct {
	Is   string `json:"is"`
	Path string `json:"path"`
	Test bool   `json:"test"`
}

func loadTree(root string) *tree {
	// With cgo the importer would run a C compiler.
	build.Default.CgoEnabled = false
	fset := token.NewFileSet()
	its := &tree{
		root: root, fset: fset, folders: map[string]*folder{}, missing: map[string]bool{},
		standard: importer.ForCompiler(fset, "source", nil),
	}
	its.parse()
	for _, each := range its.sorted() {
		its.check(each)
	}
	for _, each := range its.sorted() {
		its.checkTests(each)
	}
	return its
}

func (its *tree) sorted() []*folder {
	var all []*folder
	for _, each := range its.folders {
		all = append(all, each)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].importPath < all[j].importPath })
	return all
}

// Folders that the go command leaves out are left out.
func (its *tree) parse() {
	modules := map[string]string{}
	filepath.WalkDir(its.root, func(dir string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return nil
		}
		name := entry.Name()
		if dir != its.root && (name == "vendor" || name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
			return filepath.SkipDir
		}
		if module := moduleIn(dir); module != "" {
			modules[dir] = module
		} else if parent, ok := modules[filepath.Dir(dir)]; ok {
			modules[dir] = path.Join(parent, name)
		}
		if importPath, ok := modules[dir]; ok {
			its.parseFolder(dir, importPath)
		}
		return nil
	})
}

var moduleLine = regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)`)

func moduleIn(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return ""
	}
	found := moduleLine.FindSubmatch(text)
	if found == nil {
		return ""
	}
	return string(found[1])
}

func (its *tree) parseFolder(dir, importPath string) {
	paths, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	byName := map[string][]*ast.File{}
	isTest := map[*ast.File]bool{}
	for _, each := range paths {
		fits, err := build.Default.MatchFile(dir, filepath.Base(each))
		if err != nil || !fits {
			continue
		}
		parsed, err := parser.ParseFile(its.fset, each, nil, 0)
		if err != nil {
			continue
		}
		isTest[parsed] = strings.HasSuffix(each, "_test.go")
		name := parsed.Name.Name
		byName[name] = append(byName[name], parsed)
	}
	name := nameOfMost(byName, isTest)
	if name == "" {
		return
	}
	found := &folder{importPath: importPath, name: name}
	for _, each := range byName[name] {
		if isTest[each] {
			found.tests = append(found.tests, each)
		} else {
			found.plain = append(found.plain, each)
		}
	}
	for _, each := range byName[name+"_test"] {
		if isTest[each] {
			found.outer = append(found.outer, each)
		}
	}
	its.folders[importPath] = found
}

func nameOfMost(byName map[string][]*ast.File, isTest map[*ast.File]bool) string {
	best, most := "", -1
	for name, files := range byName {
		plain := 0
		for _, each := range files {
			if !isTest[each] {
				plain++
			}
		}
		isOuter := strings.HasSuffix(name, "_test") && plain == 0
		if isOuter {
			if _, ok := byName[strings.TrimSuffix(name, "_test")]; ok {
				continue
			}
			name = strings.TrimSuffix(name, "_test")
		}
		if plain > most || (plain == most && name < best) {
			best, most = name, plain
		}
	}
	return best
}

func (its *tree) check(each *folder) *types.Package {
	if each.pkg != nil || each.isChecking {
		return each.pkg
	}
	each.isChecking = true
	each.pkg = its.checkFiles(each.importPath, each.name, each.plain, each.plain, importerOf(its.importPackage))
	each.isChecking = false
	return each.pkg
}

func (its *tree) checkTests(each *folder) {
	each.tested = each.pkg
	if len(each.tests) > 0 {
		all := append(append([]*ast.File{}, each.plain...), each.tests...)
		each.tested = its.checkFiles(each.importPath, each.name, all, each.tests, importerOf(its.importPackage))
	}
	if len(each.outer) > 0 {
		its.checkFiles(each.importPath+"_test", each.name+"_test", each.outer, each.outer,
			importerOf(func(importPath string) (*types.Package, error) {
				if importPath == each.importPath {
					return each.tested, nil
				}
				return its.importPackage(importPath)
			}))
	}
}

// Checks `files`, and keeps what is known of `wanted`. An error leaves the rest standing.
func (its *tree) checkFiles(importPath, name string, files, wanted []*ast.File, imports types.Importer) *types.Package {
	info := &types.Info{
		Types:      map[ast.Expr]types.TypeAndValue{},
		Defs:       map[*ast.Ident]types.Object{},
		Uses:       map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	config := types.Config{
		Importer: imports,
		Error:    func(error) { its.errors++ },
		Sizes:    types.SizesFor("gc", "amd64"),
	}
	pkg := types.NewPackage(importPath, name)
	func() {
		// The checker of Go 1.19 panics on some code that later versions allow.
		defer func() {
			if reason := recover(); reason != nil {
				fmt.Fprintf(os.Stderr, "%s: the type checker gave up: %v\n", importPath, reason)
			}
		}()
		types.NewChecker(&config, its.fset, pkg, info).Files(files)
	}()
	pkg.MarkComplete()
	its.checked = append(its.checked, checked{pkg: pkg, files: wanted, info: info})
	return pkg
}

type importerOf func(importPath string) (*types.Package, error)

func (its importerOf) Import(importPath string) (*types.Package, error) { return its(importPath) }

// The checker makes an empty package of one that is missing, and takes whatever comes from it as unknown.
func (its *tree) importPackage(importPath string) (*types.Package, error) {
	if importPath == "unsafe" {
		return types.Unsafe, nil
	}
	if own, ok := its.folders[importPath]; ok {
		if pkg := its.check(own); pkg != nil {
			return pkg, nil
		}
		return nil, fmt.Errorf("%s imports itself", importPath)
	}
	if isStandard(importPath) {
		if pkg, err := its.standard.Import(importPath); err == nil {
			return pkg, nil
		}
	}
	its.missing[importPath] = true
	return nil, fmt.Errorf("%s is missing", importPath)
}

// Only paths of the standard library begin with a word without a dot.
func isStandard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

func (its *tree) judged() []file {
	var all []file
	for _, each := range its.checked {
		for _, parsed := range each.files {
			name := its.place(parsed.Package).file
			all = append(all, file{Is: "file", Path: name, Test: strings.HasSuffix(name, "_test.go")})
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Path < all[j].Path })
	return all
}

type place struct {
	// Relative to the root; empty outside of the tree.
	file   string
	line   int
	column int
}

func (its *tree) place(pos token.Pos) place {
	if !pos.IsValid() {
		return place{}
	}
	at := its.fset.PositionFor(pos, false)
	relative, err := filepath.Rel(its.root, at.Filename)
	if err != nil || strings.HasPrefix(relative, "..") {
		return place{}
	}
	return place{file: filepath.ToSlash(relative), line: at.Line, column: at.Column}
}

func (its place) String() string {
	if its.file == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", its.file, its.line)
}
