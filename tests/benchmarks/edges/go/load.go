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

// checked is a package with its tests, or the tests of a package that are a package of their own.
type checked struct {
	types *types.Package
	info  *types.Info
	files []*ast.File
}

type module struct{ path, folder string }

var moduleLine = regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)`)

func modules(root string) (found []module) {
	filepath.WalkDir(root, func(at string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && at != root && (name == "testdata" || name == "vendor" || name[0] == '.' || name[0] == '_') {
			return filepath.SkipDir
		}
		if name == "go.mod" {
			text, _ := os.ReadFile(at)
			if m := moduleLine.FindSubmatch(text); m != nil {
				found = append(found, module{string(m[1]), filepath.Dir(at)})
			}
		}
		return nil
	})
	sort.Slice(found, func(i, j int) bool { return len(found[i].path) > len(found[j].path) })
	return found
}

type loader struct {
	fset    *token.FileSet
	modules []module
	context build.Context
	std     types.Importer
	plain   map[string]*types.Package // by import path; nil while it is being checked
	parsed  map[string]*ast.File
}

func load(fset *token.FileSet, root string, found []module, tags string) (result []*checked) {
	l := &loader{fset: fset, modules: found, context: build.Default, plain: map[string]*types.Package{},
		parsed: map[string]*ast.File{}}
	l.context.GOOS, l.context.GOARCH, l.context.CgoEnabled = "linux", "amd64", false
	if tags != "" {
		l.context.BuildTags = strings.Split(tags, ",")
	}
	build.Default = l.context
	l.std = importer.ForCompiler(fset, "source", nil)
	for _, m := range found {
		filepath.WalkDir(m.folder, func(at string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.IsDir() {
				return err
			}
			name := entry.Name()
			if at != m.folder {
				if name == "testdata" || name == "vendor" || name[0] == '.' || name[0] == '_' {
					return filepath.SkipDir
				}
				if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
					return filepath.SkipDir // a module of its own
				}
			}
			rest, _ := filepath.Rel(m.folder, at)
			result = append(result, l.folder(path.Join(m.path, filepath.ToSlash(rest)), at)...)
			return nil
		})
	}
	return result
}

// files parses what a build takes of a folder: by package name, the files of tests apart.
func (l *loader) sources(folder string) (plain, tests map[string][]*ast.File) {
	plain, tests = map[string][]*ast.File{}, map[string][]*ast.File{}
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		if match, err := l.context.MatchFile(folder, name); err != nil || !match {
			continue
		}
		at := filepath.Join(folder, name)
		file := l.parsed[at]
		if file == nil {
			var err error
			if file, err = parser.ParseFile(l.fset, at, nil, parser.SkipObjectResolution); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
			if file == nil {
				continue
			}
			l.parsed[at] = file
		}
		if strings.HasSuffix(name, "_test.go") {
			tests[file.Name.Name] = append(tests[file.Name.Name], file)
		} else {
			plain[file.Name.Name] = append(plain[file.Name.Name], file)
		}
	}
	return plain, tests
}

func (l *loader) folder(at, folder string) (result []*checked) {
	plain, tests := l.sources(folder)
	names := map[string]bool{}
	for name := range plain {
		names[name] = true
	}
	for name := range tests {
		names[name] = true
	}
	for name := range names {
		result = append(result, l.check(at, append(append([]*ast.File{}, plain[name]...), tests[name]...)))
	}
	return result
}

func (l *loader) check(at string, files []*ast.File) *checked {
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
		Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
		Implicits: map[ast.Node]types.Object{}, Instances: map[*ast.Ident]types.Instance{}}
	config := types.Config{Importer: l, FakeImportC: true, Error: func(error) {}}
	found, _ := config.Check(at, l.fset, files, info)
	return &checked{found, info, files}
}

// Import gives packages of the repository and of the standard library; others are empty and have errors.
func (l *loader) Import(at string) (*types.Package, error) {
	for _, m := range l.modules {
		if at != m.path && !strings.HasPrefix(at, m.path+"/") {
			continue
		}
		if known, ok := l.plain[at]; ok {
			if known == nil {
				return nil, fmt.Errorf("cycle at %s", at)
			}
			return known, nil
		}
		l.plain[at] = nil
		plain, _ := l.sources(filepath.Join(m.folder, filepath.FromSlash(strings.TrimPrefix(at, m.path))))
		best := ""
		for name, files := range plain {
			if best == "" || name != "main" && (best == "main" || len(files) > len(plain[best])) {
				best = name
			}
		}
		if best == "" {
			delete(l.plain, at)
			continue
		}
		l.plain[at] = l.check(at, plain[best]).types
		return l.plain[at], nil
	}
	if !strings.Contains(strings.SplitN(at, "/", 2)[0], ".") {
		return l.std.Import(at)
	}
	return nil, fmt.Errorf("%s is not here", at)
}
