// Command edgeoracle writes the true edges of a Go repository, by go/types.
//
//	go run . -repo OWNER/NAME -commit SHA [-tags a,b] TREE > gold.jsonl
//
// TREE is a checkout. Every module in it is type-checked with its tests for linux/amd64, the standard library from its
// source. Other dependencies are not needed: what has a type of theirs is "unknown". Rows are those of the
// edge benchmark: {"kind": calls|extends|implements|imports, "src": "path:Qual.name", "dst": ...}, the first row is
// {"meta": {...}} with the files that were type-checked. Rules:
//   - a call is to the function, method or interface method that the type checker finds; conversions and builtins are no
//     calls; a variable that is declared with a function literal is that function, other function values are not judged
//     and are "unknown";
//   - a function literal belongs to the function around it, unless it is the value of a name: then it is that name;
//   - an embedded field is "extends", and so is (cat "implements") an interface whose methods a type has;
//   - imports are file to file: the files that define what the importing file uses of the package;
//   - files that say in their first lines that they are generated are type-checked but not covered, as an index leaves
//     them out: a call into one is "unknown", an import of one optional.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

type row struct {
	Kind    string `json:"kind"`
	Src     string `json:"src"`
	Dst     string `json:"dst,omitempty"`
	Unknown string `json:"unknown,omitempty"`
	Cat     string `json:"cat,omitempty"`
	Opt     bool   `json:"opt,omitempty"`
	N       int    `json:"n,omitempty"`
}

type oracle struct {
	root     string
	fset     *token.FileSet
	rows     map[row]int
	files    map[string]bool
	made     map[string]bool     // the files that are generated
	packages map[string][]string // import path -> files
	names    map[string]string   // where a definition's name stands -> path:Qual.name
	objects  map[string]*types.TypeName
}

func main() {
	repo := flag.String("repo", "", "OWNER/NAME")
	commit := flag.String("commit", "", "the commit that TREE is at")
	tags := flag.String("tags", "", "build tags")
	flag.Parse()
	root, err := filepath.Abs(flag.Arg(0))
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	o := &oracle{root: root, fset: token.NewFileSet(), rows: map[row]int{}, files: map[string]bool{}, made: map[string]bool{}, packages: map[string][]string{},
		names: map[string]string{}, objects: map[string]*types.TypeName{}}
	loaded := load(o.fset, root, modules(root), *tags)
	for _, p := range loaded {
		for _, file := range p.files {
			o.define(p, file)
		}
	}
	for _, p := range loaded {
		for _, file := range p.files {
			o.use(p, file)
		}
	}
	o.implement()
	o.write(*repo, *commit)
}

// path is the position's file relative to the root, "" outside of it. Lines that name what a file was made of are no matter.
func (o *oracle) path(at token.Pos) string {
	if !at.IsValid() {
		return ""
	}
	path, err := filepath.Rel(o.root, o.fset.PositionFor(at, false).Filename)
	if err != nil || strings.HasPrefix(path, "..") {
		return ""
	}
	return filepath.ToSlash(path)
}

// key tells positions of one file in several loads of it apart by file and offset alone.
func (o *oracle) key(at token.Pos) string {
	p := o.fset.PositionFor(at, false)
	return fmt.Sprintf("%s:%d", p.Filename, p.Offset)
}

func (o *oracle) name(at token.Pos) string { return o.names[o.key(at)] }

func (o *oracle) set(at token.Pos, qual string) {
	if path := o.path(at); path != "" {
		o.names[o.key(at)] = path + ":" + qual
	}
}

func receiver(decl *ast.FuncDecl) string {
	expr := decl.Recv.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.ParenExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.Name
		default:
			return "?"
		}
	}
}

func (o *oracle) define(p *checked, file *ast.File) {
	if path := o.path(file.Pos()); path != "" {
		o.files[path] = true
		o.made[path] = isGenerated(filepath.Join(o.root, path))
		o.packages[p.types.Path()] = append(o.packages[p.types.Path()], path)
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			qual := d.Name.Name
			if d.Recv != nil && len(d.Recv.List) > 0 {
				qual = receiver(d) + "." + qual
			}
			o.set(d.Name.Pos(), qual)
			if d.Body != nil {
				o.defineInside(p, d.Body, qual)
			}
		case *ast.GenDecl:
			o.defineSpecs(p, d, "")
		}
	}
}

func (o *oracle) defineSpecs(p *checked, d *ast.GenDecl, prefix string) {
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			qual := join(prefix, s.Name.Name)
			o.set(s.Name.Pos(), qual)
			if tn, ok := p.info.Defs[s.Name].(*types.TypeName); ok && !tn.IsAlias() {
				if path := o.path(s.Name.Pos()); path != "" {
					o.objects[path+":"+qual] = tn
				}
			}
			if it, ok := s.Type.(*ast.InterfaceType); ok {
				for _, m := range it.Methods.List {
					for _, n := range m.Names {
						o.set(n.Pos(), qual+"."+n.Name)
					}
				}
			}
		case *ast.ValueSpec:
			for i, n := range s.Names {
				if len(s.Values) == len(s.Names) {
					if lit, ok := ast.Unparen(s.Values[i]).(*ast.FuncLit); ok && len(s.Names) == 1 {
						qual := join(prefix, n.Name)
						o.set(n.Pos(), qual)
						o.defineInside(p, lit.Body, qual)
						continue
					}
				}
			}
		}
	}
}

var generatedLine = regexp.MustCompile(`(?i)^\s*//.*\bgenerated\b.*\bdo not edit\b`)

// isGenerated looks at the first 20 lines, as tools do that say it below the name of the package.
func isGenerated(file string) bool {
	text, _ := os.ReadFile(file)
	for i, line := range strings.SplitN(string(text), "\n", 21) {
		if i < 20 && generatedLine.MatchString(line) {
			return true
		}
	}
	return false
}

func join(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "." + name
}

// literal is the function literal that a statement makes the value of one name, if any.
func literal(n ast.Node) (*ast.Ident, *ast.FuncLit) {
	switch s := n.(type) {
	case *ast.AssignStmt:
		if len(s.Lhs) == 1 && len(s.Rhs) == 1 {
			id, ok := s.Lhs[0].(*ast.Ident)
			lit, isLit := s.Rhs[0].(*ast.FuncLit)
			if ok && isLit {
				return id, lit
			}
		}
	case *ast.ValueSpec:
		if len(s.Names) == 1 && len(s.Values) == 1 {
			if lit, ok := s.Values[0].(*ast.FuncLit); ok {
				return s.Names[0], lit
			}
		}
	}
	return nil, nil
}

func (o *oracle) defineInside(p *checked, body ast.Node, qual string) {
	ast.Inspect(body, func(n ast.Node) bool {
		if id, lit := literal(n); lit != nil {
			inner := join(qual, id.Name)
			if obj := p.info.ObjectOf(id); obj != nil && obj.Parent() != p.types.Scope() {
				o.set(obj.Pos(), inner)
			}
			o.defineInside(p, lit.Body, inner)
			return false
		}
		if d, ok := n.(*ast.GenDecl); ok && d.Tok == token.TYPE {
			o.defineSpecs(p, d, qual)
		}
		return true
	})
}

func (o *oracle) add(r row) { o.rows[r]++ }

func (o *oracle) use(p *checked, file *ast.File) {
	path := o.path(file.Pos())
	if path == "" {
		return
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				o.useInside(p, path, d.Body, o.name(d.Name.Pos()))
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok {
					o.embed(p, path, t)
				}
				o.useInside(p, path, spec, path+":<module>")
			}
		}
	}
	o.imports(p, path, file)
}

func (o *oracle) embed(p *checked, path string, t *ast.TypeSpec) {
	var fields *ast.FieldList
	switch s := t.Type.(type) {
	case *ast.StructType:
		fields = s.Fields
	case *ast.InterfaceType:
		fields = s.Methods
	default:
		return
	}
	for _, f := range fields.List {
		if len(f.Names) > 0 {
			continue
		}
		expr := f.Type
		if star, ok := expr.(*ast.StarExpr); ok {
			expr = star.X
		}
		switch e := expr.(type) {
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		}
		var id *ast.Ident
		switch e := expr.(type) {
		case *ast.Ident:
			id = e
		case *ast.SelectorExpr:
			id = e.Sel
		}
		if id == nil {
			continue
		}
		if obj := p.info.Uses[id]; obj != nil {
			if dst := o.name(obj.Pos()); dst != "" {
				o.add(row{Kind: "extends", Src: o.name(t.Name.Pos()), Dst: dst, Cat: "embedded"})
			}
		}
	}
}

func (o *oracle) useInside(p *checked, path string, body ast.Node, src string) {
	ast.Inspect(body, func(n ast.Node) bool {
		if id, lit := literal(n); lit != nil && (n == body || !strings.HasSuffix(src, ":<module>")) {
			inner := path + ":" + id.Name
			if !strings.HasSuffix(src, ":<module>") {
				inner = src + "." + id.Name
			}
			o.useInside(p, path, lit.Body, inner)
			return false
		}
		if d, ok := n.(*ast.GenDecl); ok && d.Tok == token.TYPE {
			for _, spec := range d.Specs {
				o.embed(p, path, spec.(*ast.TypeSpec))
			}
		}
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if tv, ok := p.info.Types[call.Fun]; ok && (tv.IsType() || tv.IsBuiltin()) {
			return true
		}
		o.call(p, call, src)
		return true
	})
}

func (o *oracle) call(p *checked, call *ast.CallExpr, src string) {
	fun := ast.Unparen(call.Fun)
	switch e := fun.(type) {
	case *ast.IndexExpr:
		fun = e.X
	case *ast.IndexListExpr:
		fun = e.X
	}
	var id *ast.Ident
	cat := "bare"
	switch e := fun.(type) {
	case *ast.Ident:
		id = e
	case *ast.SelectorExpr:
		id = e.Sel
		cat = "member"
		if s := p.info.Selections[e]; s != nil {
			if len(s.Index()) > 1 {
				cat = "promoted"
			}
			if types.IsInterface(s.Recv()) {
				cat = "interface"
			}
		} else {
			cat = "qualified"
		}
	default:
		return // a function literal that is called where it stands, or the result of a call
	}
	obj := p.info.Uses[id]
	if obj == nil {
		o.add(row{Kind: "calls", Src: src, Unknown: id.Name})
		return
	}
	switch f := obj.(type) {
	case *types.Func:
		if dst := o.name(f.Origin().Pos()); dst != "" {
			o.add(row{Kind: "calls", Src: src, Dst: dst, Cat: cat})
		}
	case *types.Var:
		if dst := o.name(f.Pos()); dst != "" {
			o.add(row{Kind: "calls", Src: src, Dst: dst, Cat: "value"})
		} else {
			o.add(row{Kind: "calls", Src: src, Unknown: id.Name})
		}
	}
}

// packageOf is the path of another package whose own name an identifier is, "" for all others.
func (o *oracle) packageOf(p *checked, id *ast.Ident) string {
	obj := p.info.Uses[id]
	if obj == nil || obj.Pkg() == nil || obj.Parent() != obj.Pkg().Scope() {
		return ""
	}
	return obj.Pkg().Path()
}

func (o *oracle) imports(p *checked, path string, file *ast.File) {
	dotted := map[string]bool{}
	for _, spec := range file.Imports {
		if spec.Name != nil && spec.Name.Name == "_" { // nothing is used: any file of the package may be the reason
			for _, dst := range o.packages[strings.Trim(spec.Path.Value, "\"")] {
				o.add(row{Kind: "imports", Src: path + ":<module>", Dst: dst + ":<module>", Opt: true})
			}
		}
		if spec.Name != nil && spec.Name.Name == "." {
			dotted[strings.Trim(spec.Path.Value, "\"")] = true
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && dotted[o.packageOf(p, id)] {
			if dst := o.path(p.info.Uses[id].Pos()); dst != "" && dst != path {
				o.add(row{Kind: "imports", Src: path + ":<module>", Dst: dst + ":<module>"})
			}
		}
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		id, ok := sel.X.(*ast.Ident)
		if !ok {
			return true
		}
		if _, ok := p.info.Uses[id].(*types.PkgName); ok {
			if obj := p.info.Uses[sel.Sel]; obj != nil {
				if dst := o.path(obj.Pos()); dst != "" && dst != path {
					o.add(row{Kind: "imports", Src: path + ":<module>", Dst: dst + ":<module>"})
				}
			}
		}
		return true
	})
}

// implement compares method sets of all named types and interfaces of the repository that have methods.
func (o *oracle) implement() {
	names := make([]string, 0, len(o.objects))
	for name := range o.objects {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, in := range names {
		iface, ok := o.objects[in].Type().Underlying().(*types.Interface)
		if !ok || iface.NumMethods() == 0 || !iface.IsMethodSet() {
			continue
		}
		for _, tn := range names {
			t := o.objects[tn].Type()
			if tn == in {
				continue
			}
			if types.IsInterface(t) {
				continue
			}
			if generic(t) || generic(o.objects[in].Type()) {
				o.add(row{Kind: "extends", Src: tn, Dst: in, Cat: "implements", Opt: true}) // some of its types may
				continue
			}
			if has(t, iface) {
				o.add(row{Kind: "extends", Src: tn, Dst: in, Cat: "implements"})
			}
		}
	}
}

func generic(t types.Type) bool {
	named, ok := t.(*types.Named)
	return ok && named.TypeParams().Len() > 0
}

// has compares by the text of signatures: a package that is loaded twice (with and without its tests) has two sets of types.
func has(t types.Type, iface *types.Interface) bool {
	set := types.NewMethodSet(types.NewPointer(t))
	for i := 0; i < iface.NumMethods(); i++ {
		m := iface.Method(i)
		s := set.Lookup(m.Pkg(), m.Name())
		if s == nil && !m.Exported() {
			for j := 0; j < set.Len(); j++ {
				if f := set.At(j).Obj(); f.Name() == m.Name() && f.Pkg() != nil && m.Pkg() != nil && f.Pkg().Path() == m.Pkg().Path() {
					s = set.At(j)
				}
			}
		}
		if s == nil || text(s.Type()) != text(m.Type()) {
			return false
		}
	}
	return true
}

// text writes a type without the names of parameters, which are no part of it.
func text(t types.Type) string {
	switch t := t.(type) {
	case *types.Pointer:
		return "*" + text(t.Elem())
	case *types.Slice:
		return "[]" + text(t.Elem())
	case *types.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), text(t.Elem()))
	case *types.Map:
		return "map[" + text(t.Key()) + "]" + text(t.Elem())
	case *types.Chan:
		return fmt.Sprintf("chan%d %s", t.Dir(), text(t.Elem()))
	case *types.Signature:
		var b strings.Builder
		for _, tuple := range []*types.Tuple{t.Params(), t.Results()} {
			b.WriteString("(")
			for i := 0; i < tuple.Len(); i++ {
				b.WriteString(text(tuple.At(i).Type()) + ",")
			}
			b.WriteString(")")
		}
		return b.String() + fmt.Sprint(t.Variadic())
	}
	return types.TypeString(types.Unalias(t), nil)
}

func (o *oracle) write(repo, commit string) {
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	files := make([]string, 0, len(o.files))
	for f := range o.files {
		if !o.made[f] {
			files = append(files, f)
		}
	}
	sort.Strings(files)
	out.Encode(map[string]any{"meta": map[string]any{"repo": repo, "commit": commit, "engines": "go/types", "files": files}})
	rows := make([]row, 0, len(o.rows))
	kept := map[row]int{}
	for r, n := range o.rows {
		src, _, _ := strings.Cut(r.Src, ":")
		dst, name, _ := strings.Cut(r.Dst, ":")
		if o.made[src] {
			continue
		}
		r.Opt = r.Opt || o.made[dst]
		if o.made[dst] && r.Kind == "calls" {
			r = row{Kind: r.Kind, Src: r.Src, Unknown: name[strings.LastIndex(name, ".")+1:]}
		}
		kept[r] += n
	}
	for r, n := range kept {
		r.N = n
		rows = append(rows, r)
	}
	sort.Slice(rows, func(i, j int) bool {
		a, b := rows[i], rows[j]
		return a.Kind+"\x00"+a.Src+"\x00"+a.Dst+"\x00"+a.Unknown+"\x00"+a.Cat < b.Kind+"\x00"+b.Src+"\x00"+b.Dst+"\x00"+b.Unknown+"\x00"+b.Cat
	})
	for _, r := range rows {
		out.Encode(r)
	}
}
