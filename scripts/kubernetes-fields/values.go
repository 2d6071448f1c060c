package main

import (
	"crypto/tls"
	"fmt"
	"go/ast"
	"path/filepath"
	"sort"
	"strings"
)

// gatePackages have the feature gates of Kubernetes' programs. Not every program has those of all of them.
var gatePackages = []string{
	"k8s.io/kubernetes/pkg/features",
	"k8s.io/apiserver/pkg/features",
	"k8s.io/apiextensions-apiserver/pkg/features",
	"k8s.io/client-go/features",
	"k8s.io/controller-manager/pkg/features",
	"k8s.io/component-base/featuregate",
	"k8s.io/component-base/logs/api/v1",
	"k8s.io/component-base/metrics/features",
	"k8s.io/component-base/zpages/features",
}

// Letters of the states of a feature gate in a minor version.
const (
	absent      = "-"
	free        = "f"
	lockedTrue  = "1"
	lockedFalse = "0"
)

// gates returns the letter of each feature gate of a minor version.
func (r release) gates(minor int) map[string]string {
	files, constants := []*ast.File{}, map[string]string{}
	for _, pkg := range gatePackages {
		files = append(files, parse(r.folder(pkg))...)
	}
	for _, file := range files {
		constantsOf(file, constants)
	}
	letters := map[string]string{}
	for _, file := range files {
		ast.Inspect(file, func(node ast.Node) bool {
			literal, isLiteral := node.(*ast.CompositeLit)
			if !isLiteral || !isGates(literal.Type) {
				return true
			}
			for _, element := range literal.Elts {
				entry := element.(*ast.KeyValueExpr)
				name, letter := constants[lastName(entry.Key)], letterOf(entry.Value.(*ast.CompositeLit), minor)
				if before, found := letters[name]; found && before != letter {
					// programs differ
					letter = free
				}
				if name != "" && letter != absent {
					letters[name] = letter
				}
			}
			return false
		})
	}
	return letters
}

func constantsOf(file *ast.File, constants map[string]string) {
	ast.Inspect(file, func(node ast.Node) bool {
		if spec, isValue := node.(*ast.ValueSpec); isValue && len(spec.Names) == len(spec.Values) {
			for index, name := range spec.Names {
				if value := text(spec.Values[index], constants); value != "" {
					constants[name.Name] = value
				}
			}
		}
		return true
	})
}

// lastName returns the name of an identifier, and of one of another package.
func lastName(expression ast.Expr) string {
	switch typed := expression.(type) {
	case *ast.Ident:
		return typed.Name
	case *ast.SelectorExpr:
		return typed.Sel.Name
	}
	return ""
}

// isGates tells a map[featuregate.Feature]featuregate.FeatureSpec, and one of VersionedSpecs.
func isGates(expression ast.Expr) bool {
	typed, isMap := expression.(*ast.MapType)
	value := ""
	if isMap {
		value = lastName(typed.Value)
	}
	return isMap && lastName(typed.Key) == "Feature" && (value == "FeatureSpec" || value == "VersionedSpecs")
}

// letterOf reads {Default: …, LockToDefault: …}, or a list of them with versions, of which the last one that is not newer counts.
func letterOf(literal *ast.CompositeLit, minor int) string {
	letter := absent
	for _, element := range literal.Elts {
		if spec, isSpec := element.(*ast.CompositeLit); isSpec {
			if since(spec) <= minor {
				letter = letterOf(spec, minor)
			}
			continue
		}
		if letter == absent {
			letter = free
		}
		entry := element.(*ast.KeyValueExpr)
		if lastName(entry.Key) == "LockToDefault" && lastName(entry.Value) == "true" {
			letter = lockedFalse
		}
	}
	if letter == lockedFalse {
		for _, element := range literal.Elts {
			if entry, isEntry := element.(*ast.KeyValueExpr); isEntry && lastName(entry.Key) == "Default" && lastName(entry.Value) == "true" {
				return lockedTrue
			}
		}
	}
	return letter
}

// since returns the minor version of {Version: version.MustParse("1.30"), …}.
func since(spec *ast.CompositeLit) int {
	minor := 0
	ast.Inspect(spec, func(node ast.Node) bool {
		if call, isCall := node.(*ast.CallExpr); isCall && lastName(call.Fun) == "MustParse" {
			_, _ = fmt.Sscanf(text(call.Args[0], nil), "1.%d", &minor)
		}
		return true
	})
	return minor
}

// kubeadmGates returns the names of kubeadm's own feature gates.
func (r release) kubeadmGates() []string {
	names, constants := []string{}, map[string]string{}
	for _, file := range parse(r.folder("k8s.io/kubernetes/cmd/kubeadm/app/features")) {
		constantsOf(file, constants)
		ast.Inspect(file, func(node ast.Node) bool {
			literal, isLiteral := node.(*ast.CompositeLit)
			if isLiteral && lastName(literal.Type) == "FeatureList" {
				for _, element := range literal.Elts {
					names = append(names, constants[lastName(element.(*ast.KeyValueExpr).Key)])
				}
			}
			return true
		})
	}
	return names
}

// admissionPlugins returns the names of the API server's admission plugins, which are constants of their packages.
func (r release) admissionPlugins() []string {
	names := []string{}
	for _, file := range parse(r.folder("k8s.io/kubernetes/pkg/kubeapiserver/options/plugins.go")) {
		packages := map[string]string{}
		for _, imported := range file.Imports {
			path := strings.Trim(imported.Path.Value, `"`)
			alias := filepath.Base(path)
			if imported.Name != nil {
				alias = imported.Name.Name
			}
			packages[alias] = path
		}
		ast.Inspect(file, func(node ast.Node) bool {
			spec, isValue := node.(*ast.ValueSpec)
			if !isValue || spec.Names[0].Name != "AllOrderedPlugins" {
				return true
			}
			for _, element := range spec.Values[0].(*ast.CompositeLit).Elts {
				plugin, constants := element.(*ast.SelectorExpr), map[string]string{}
				for _, source := range parse(r.folder(packages[lastName(plugin.X)])) {
					constantsOf(source, constants)
				}
				names = append(names, constants[plugin.Sel.Name])
			}
			return false
		})
	}
	return names
}

// cipherSuites returns the names of Go's cipher suites, and those that Kubernetes has kept (component-base/cli/flag).
func cipherSuites() []string {
	names := []string{"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305"}
	for _, suite := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		names = append(names, suite.Name)
	}
	sort.Strings(names)
	return names
}

// joinedGates returns the letters of each feature gate in all minors.
func joinedGates(versions []string, minors []int) map[string]string {
	joined := map[string]string{}
	for index, version := range versions {
		for name, letter := range (release{version}).gates(minors[index]) {
			if joined[name] == "" {
				joined[name] = strings.Repeat(absent, len(minors))
			}
			joined[name] = joined[name][:index] + letter + joined[name][index+1:]
		}
	}
	return joined
}
