// Lists the fields of Kubernetes' configuration objects, and the flags, feature gates, admission plugins and cipher suites of
// its components, from the sources of its Go modules: as JSON for one version, as the file providers/kubeadm/plan/validation/kubernetes-fields.ts for several.
//
//	go run ./scripts/kubernetes-fields 1.36.3
//
// It only reads sources, nothing is compiled. Modules that are not in the module cache are downloaded.
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"sort"
	"strings"
)

// kinds are the objects that foresail merges a user's settings into, with the packages of their types.
var kinds = []struct{ pkg, kind string }{
	{"k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm/v1beta4", "ClusterConfiguration"},
	{"k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm/v1beta4", "InitConfiguration"},
	{"k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm/v1beta4", "JoinConfiguration"},
	{"k8s.io/kubelet/config/v1beta1", "KubeletConfiguration"},
	{"k8s.io/kube-proxy/config/v1alpha1", "KubeProxyConfiguration"},
}

// known are types of other modules; what is not known is "any".
var known = map[string]any{
	"metav1.Duration": "text",
	"metav1.TypeMeta": map[string]any{"apiVersion": "text", "kind": "text"},
	"v1.Taint":        map[string]any{"key": "text", "value": "text", "effect": "text", "timeAdded": "any"},
	"EnvVar":          map[string]any{"name": "text", "value": "text", "valueFrom": "any"},
	"Arg":             "argument",
	// types with decoders of their own
	"BootstrapTokenString": "text",
	"TimeOrMetaDuration":   "any",
	"v1.PullPolicy":        "text",
	"v1.HostPathType":      "text",
}

// A minor version, with its own modules.
type release struct{ kubernetes string }

var folders = map[string]string{}

// folder returns the folder of a package in the module cache, "" for a module that is not Kubernetes' own.
func (r release) folder(pkg string) string {
	parts := strings.SplitN(pkg, "/", 3)
	if parts[0] != "k8s.io" || len(parts) < 2 {
		return ""
	}
	module, version := "k8s.io/"+parts[1], "v0"+strings.TrimPrefix(r.kubernetes, "1")
	switch parts[1] {
	case "kubernetes":
		version = "v" + r.kubernetes
	case "api", "utils", "klog", "kube-openapi":
		return ""
	}
	at := module + "@" + version
	if _, found := folders[at]; !found {
		folders[at] = download(at)
		if folders[at] == "" {
			// fields don't change in a patch version, and not every one is kept by every proxy
			folders[at] = download(module + "@" + version[:strings.LastIndex(version, ".")] + ".0")
		}
		if folders[at] == "" {
			panic("no module " + at)
		}
	}
	if len(parts) < 3 {
		return folders[at]
	}
	return filepath.Join(folders[at], parts[2])
}

// etcdVersion is where kubeadm has the version of etcd that it runs: "3.6.5-0", with the number of the image.
var etcdVersion = regexp.MustCompile(`DefaultEtcdVersion\s*=\s*"([0-9.]+)-`)

// etcdFolder returns the folder of the server of kubeadm's etcd in the module cache.
func (r release) etcdFolder() string {
	constants, err := os.ReadFile(filepath.Join(r.folder("k8s.io/kubernetes/cmd/kubeadm/app/constants"), "constants.go"))
	if err != nil {
		panic(err)
	}
	found := etcdVersion.FindSubmatch(constants)
	if found == nil {
		panic("kubeadm " + r.kubernetes + " has no version of etcd")
	}
	at := "go.etcd.io/etcd/server/v3@v" + string(found[1])
	if _, known := folders[at]; !known {
		folders[at] = download(at)
		if folders[at] == "" {
			// without a network, another patch version, which has the same flags
			minor := at[:strings.LastIndex(at, ".")+1]
			if others, _ := filepath.Glob(filepath.Join(os.Getenv("GOMODCACHE"), minor+"*")); len(others) > 0 {
				folders[at] = others[0]
			}
		}
		if folders[at] == "" {
			panic("no module " + at)
		}
	}
	return folders[at]
}

// download returns the folder of a module in the module cache, "" when it can't be had.
func download(module string) string {
	if cached := filepath.Join(os.Getenv("GOMODCACHE"), module); os.Getenv("GOMODCACHE") != "" {
		if _, err := os.Stat(cached); err == nil {
			return cached
		}
	}
	command := exec.Command("go", "mod", "download", "-json", module)
	command.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	command.Dir = os.TempDir()
	output, _ := command.Output()
	var found struct{ Dir string }
	_ = json.Unmarshal(output, &found)
	return found.Dir
}

// parse reads the sources of a folder, or one of them.
func parse(folder string) []*ast.File {
	files := []*ast.File{}
	paths := []string{folder}
	if !strings.HasSuffix(folder, ".go") {
		paths, _ = filepath.Glob(filepath.Join(folder, "*.go"))
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_windows.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			panic(err)
		}
		files = append(files, file)
	}
	return files
}

// fields returns the JSON form of a struct type of a package.
func (r release) fields(pkg, name string) any {
	folder := r.folder(pkg)
	if folder == "" {
		return "any"
	}
	for _, file := range parse(folder) {
		for _, declaration := range file.Decls {
			group, isType := declaration.(*ast.GenDecl)
			if !isType {
				continue
			}
			for _, spec := range group.Specs {
				if typed, isType := spec.(*ast.TypeSpec); isType && typed.Name.Name == name {
					return r.shape(pkg, file, typed.Type)
				}
			}
		}
	}
	panic("no type " + pkg + "." + name)
}

func (r release) shape(pkg string, file *ast.File, expression ast.Expr) any {
	switch typed := expression.(type) {
	case *ast.StarExpr:
		return r.shape(pkg, file, typed.X)
	case *ast.ArrayType:
		return []any{r.shape(pkg, file, typed.Elt)}
	case *ast.MapType:
		return map[string]any{"*": r.shape(pkg, file, typed.Value)}
	case *ast.StructType:
		return r.structure(pkg, file, typed)
	case *ast.Ident:
		switch name := typed.Name; {
		case name == "string":
			return "text"
		case name == "bool":
			return "boolean"
		case strings.HasPrefix(name, "int"), strings.HasPrefix(name, "uint"):
			return "integer"
		case strings.HasPrefix(name, "float"):
			return "number"
		case known[name] != nil:
			return known[name]
		default:
			return r.fields(pkg, name)
		}
	case *ast.SelectorExpr:
		alias := typed.X.(*ast.Ident).Name
		for _, from := range []string{alias, strings.TrimPrefix(alias, "core")} {
			if shape := known[from+"."+typed.Sel.Name]; shape != nil {
				return shape
			}
		}
		for _, imported := range file.Imports {
			path := strings.Trim(imported.Path.Value, `"`)
			named := imported.Name != nil && imported.Name.Name == alias || imported.Name == nil && filepath.Base(path) == alias
			// its types have decoders of their own
			if named && !strings.HasPrefix(path, "k8s.io/apimachinery") {
				return r.fields(path, typed.Sel.Name)
			}
		}
	}
	return "any"
}

func (r release) structure(pkg string, file *ast.File, typed *ast.StructType) any {
	shape := map[string]any{}
	for _, field := range typed.Fields.List {
		tag := ""
		if field.Tag != nil {
			tag = reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json")
		}
		name, options, _ := strings.Cut(tag, ",")
		inner := r.shape(pkg, file, field.Type)
		switch {
		case name == "-":
		case name == "" && (strings.Contains(options, "inline") || len(field.Names) == 0):
			for key, value := range inner.(map[string]any) {
				shape[key] = value
			}
		case name != "":
			shape[name] = inner
		default:
			shape[field.Names[0].Name] = inner
		}
	}
	return shape
}

// join returns one shape of those of all minors. The name of a field that some don't have ends with them: "name 33-36".
func join(minors []int, shapes []any) any {
	first := -1
	for index := range shapes {
		if shapes[index] != nil {
			first = index
		}
	}
	switch shapes[first].(type) {
	case []any:
		items := make([]any, len(shapes))
		for index, shape := range shapes {
			if list, isList := shape.([]any); isList {
				items[index] = list[0]
			}
		}
		return []any{join(minors, items)}
	case map[string]any:
		joined := map[string]any{}
		for _, key := range keys(shapes) {
			values, having := make([]any, len(shapes)), []int{}
			all := 0
			for index, shape := range shapes {
				fields, isMap := shape.(map[string]any)
				if !isMap {
					continue
				}
				all++
				if value := fields[key]; value != nil {
					values[index], having = value, append(having, minors[index])
				}
			}
			joined[ranged(key, having, all)] = join(minors, values)
		}
		return joined
	}
	return shapes[first]
}

func ranged(key string, having []int, all int) string {
	if len(having) == all {
		return key
	}
	return fmt.Sprintf("%s %d-%d", key, having[0], having[len(having)-1])
}

func keys(shapes []any) []string {
	found := map[string]bool{}
	for _, shape := range shapes {
		if fields, isMap := shape.(map[string]any); isMap {
			for key := range fields {
				found[key] = true
			}
		}
	}
	names := []string{}
	for name := range found {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// joinedNames returns the names of all minors, sorted, as the names of fields.
func joinedNames(versions []string, minors []int, namesOf func(release) []string) []string {
	shapes := []any{}
	for _, version := range versions {
		names := map[string]any{}
		for _, name := range namesOf(release{version}) {
			names[name] = "text"
		}
		shapes = append(shapes, names)
	}
	joined := []string{}
	for name := range join(minors, shapes).(map[string]any) {
		joined = append(joined, name)
	}
	sort.Strings(joined)
	return joined
}

func main() {
	versions := os.Args[1:]
	minors := []int{}
	for _, version := range versions {
		var minor int
		if _, err := fmt.Sscanf(version, "1.%d.", &minor); err != nil {
			panic(err)
		}
		minors = append(minors, minor)
	}
	all := map[string]any{}
	for _, each := range kinds {
		shapes := []any{}
		for _, version := range versions {
			shapes = append(shapes, release{version}.fields(each.pkg, each.kind))
		}
		all[each.kind] = join(minors, shapes)
	}
	flags := map[string]any{}
	for component := range flagPackages {
		flags[component] = joinedNames(versions, minors, func(r release) []string { return r.flags(component) })
	}
	flags["etcd"] = joinedNames(versions, minors, release.etcdFlags)
	values := map[string]any{}
	for kind := range valueKinds {
		values[kind] = joinedNames(versions, minors, func(r release) []string { return r.flagsOfKind(kind) })
	}
	output, err := json.Marshal(map[string]any{
		"kinds": all, "flags": flags, "flagValues": values, "minors": minors,
		"gates":        joinedGates(versions, minors),
		"kubeadmGates": joinedNames(versions, minors, release.kubeadmGates),
		"plugins":      joinedNames(versions, minors, release.admissionPlugins),
		"cipherSuites": cipherSuites(),
	})
	if err != nil {
		panic(err)
	}
	if len(versions) == 1 {
		fmt.Println(string(output))
		return
	}
	fmt.Printf(source, minors[0], minors[len(minors)-1], wrapped(string(output)))
}

// source is the text of the generated file.
const source = `/*
 * Fields of Kubernetes' configuration objects, and flags, feature gates, admission plugins and cipher suites of its
 * components in 1.%d to 1.%d, from the sources of its Go modules. "npm run fields" writes this file; nothing is edited here.
 * The name of what only some minor versions have ends with the first and the last of them. A feature gate has a letter for
 * each minor: "-" where it does not exist, "f" where it is free, and "1" or "0" where it is locked.
 */
export const KUBERNETES_FIELDS =
` + "  `%s`;\n"

// wrapped breaks JSON after commas, so that a change of it is readable.
func wrapped(text string) string {
	lines, line := []string{}, ""
	for _, part := range strings.SplitAfter(text, ",") {
		if len(line)+len(part) > 118 {
			lines, line = append(lines, line), ""
		}
		line += part
	}
	return strings.Join(append(lines, line), "\n")
}
