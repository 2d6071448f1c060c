package main

import (
	"go/ast"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Flags that every component but the kubelet has.
var serving = []string{
	"k8s.io/apiserver/pkg/server/options/serving.go",
	"k8s.io/apiserver/pkg/server/options/authentication.go",
	"k8s.io/apiserver/pkg/server/options/authorization.go",
	"k8s.io/apiserver/pkg/util/version",
	"k8s.io/component-base/compatibility",
	"k8s.io/component-base/config/options",
	"k8s.io/component-base/metrics",
}

// flagPackages are the folders, with those below them, and the files in which the flags of a component are registered.
var flagPackages = map[string][]string{
	"kube-apiserver": append([]string{
		"k8s.io/kubernetes/cmd/kube-apiserver/app",
		"k8s.io/kubernetes/pkg/kubeapiserver/options",
		"k8s.io/kubernetes/pkg/controlplane/apiserver/options",
		"k8s.io/kubernetes/plugin/pkg/admission/defaulttolerationseconds",
		"k8s.io/apiserver/pkg/server/options",
	}, serving...),
	"kube-controller-manager": append([]string{
		"k8s.io/kubernetes/cmd/kube-controller-manager/app",
		"k8s.io/controller-manager",
		"k8s.io/cloud-provider/options",
	}, serving...),
	"kube-scheduler": append([]string{"k8s.io/kubernetes/cmd/kube-scheduler/app"}, serving...),
	"kubelet":        {"k8s.io/kubernetes/cmd/kubelet/app", "k8s.io/kubernetes/pkg/kubelet/config/flags.go"},
}

// etcdPackages are the files in which the flags of etcd are registered: a module with versions of its own.
var etcdPackages = []string{"embed/config.go", "etcdmain/config.go"}

// everywhere are folders with flags of every component.
var everywhere = []string{"k8s.io/component-base/featuregate", "k8s.io/component-base/logs/api"}

// unlisted are flags whose names are put together in the sources, or that are those of another module (cAdvisor).
var unlisted = map[string]string{
	"kube-apiserver": "audit-log-batch-buffer-size audit-log-batch-max-size audit-log-batch-max-wait audit-log-batch-throttle-burst " +
		"audit-log-batch-throttle-enable audit-log-batch-throttle-qps audit-log-mode audit-log-truncate-enabled " +
		"audit-log-truncate-max-batch-size audit-log-truncate-max-event-size audit-webhook-batch-buffer-size " +
		"audit-webhook-batch-max-size audit-webhook-batch-max-wait audit-webhook-batch-throttle-burst " +
		"audit-webhook-batch-throttle-enable audit-webhook-batch-throttle-qps audit-webhook-mode audit-webhook-truncate-enabled " +
		"audit-webhook-truncate-max-batch-size audit-webhook-truncate-max-event-size",
	"kube-controller-manager": "concurrent-rc-syncs",
	"kubelet": "application-metrics-count-limit boot-id-file container-hints containerd containerd-namespace enable-load-reader " +
		"event-storage-age-limit event-storage-event-limit global-housekeeping-interval housekeeping-interval log-cadvisor-usage " +
		"machine-id-file storage-driver-buffer-duration storage-driver-db storage-driver-host storage-driver-password " +
		"storage-driver-secure storage-driver-table storage-driver-user",
}

var (
	methods  = regexp.MustCompile(`^(AddFlag|Var|VarP|VarPF|.+Var|.+VarP|String|StringSlice|Bool|Int|Int32|Int64|Float32|Duration)$`)
	flagName = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
)

// A registered flag, and the method that registers it: "BoolVar".
type flag struct{ name, method string }

// valueKinds are the methods that register flags whose values are checked.
var valueKinds = map[string]*regexp.Regexp{
	"boolean":  regexp.MustCompile(`^Bool(Var|VarP)?$`),
	"duration": regexp.MustCompile(`^Duration(Var|VarP)?$`),
	"integer":  regexp.MustCompile(`^Int(32|64)?(Var|VarP)?$`),
}

// flags returns the names of the flags that the sources of a component register.
func (r release) flags(component string) []string {
	names := append(strings.Fields(unlisted[component]), "v", "vmodule")
	for _, found := range r.registered(component) {
		names = append(names, found.name)
	}
	return names
}

// etcdFlags returns the names of the flags that the sources of kubeadm's etcd register.
func (r release) etcdFlags() []string {
	names := []string{}
	for _, file := range etcdPackages {
		for _, found := range flagsOf(parse(filepath.Join(r.etcdFolder(), file))) {
			// others are fields of log lines
			if strings.HasSuffix(found.method, "Var") || found.method == "AddFlag" {
				names = append(names, found.name)
			}
		}
	}
	return names
}

// flagsOfKind returns the flags of all components that have values of one kind wherever they are registered.
func (r release) flagsOfKind(kind string) []string {
	isOther := map[string]bool{}
	for component := range flagPackages {
		for _, found := range r.registered(component) {
			isOther[found.name] = isOther[found.name] || !valueKinds[kind].MatchString(found.method)
		}
	}
	names := []string{}
	for name, other := range isOther {
		if !other {
			names = append(names, name)
		}
	}
	return names
}

func (r release) registered(component string) []flag {
	flags := []flag{}
	for _, pkg := range append(flagPackages[component], everywhere...) {
		_ = filepath.WalkDir(r.folder(pkg), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && (entry.IsDir() || path == r.folder(pkg)) {
				flags = append(flags, flagsOf(parse(path))...)
			}
			return nil
		})
	}
	return flags
}

func flagsOf(files []*ast.File) []flag {
	flags, constants := []flag{}, map[string]string{}
	inspect := func(visit func(ast.Node)) {
		for _, file := range files {
			ast.Inspect(file, func(node ast.Node) bool { visit(node); return true })
		}
	}
	inspect(func(node ast.Node) {
		if spec, isValue := node.(*ast.ValueSpec); isValue && len(spec.Names) == len(spec.Values) {
			for index, name := range spec.Names {
				constants[name.Name] = text(spec.Values[index], nil)
			}
		}
	})
	inspect(func(node ast.Node) {
		call, isCall := node.(*ast.CallExpr)
		if !isCall {
			return
		}
		name := ""
		switch called := call.Fun.(type) {
		case *ast.SelectorExpr:
			name = called.Sel.Name
		case *ast.Ident:
			name = called.Name
		}
		if !methods.MatchString(name) {
			return
		}
		for _, argument := range call.Args[:min(len(call.Args), 3)] {
			if found := text(argument, constants); flagName.MatchString(found) {
				flags = append(flags, flag{found, name})
				return
			}
		}
	})
	return flags
}

// text returns the value of a string, "" for what is not one.
func text(expression ast.Expr, constants map[string]string) string {
	switch typed := expression.(type) {
	case *ast.BasicLit:
		if typed.Kind == token.STRING {
			value, _ := strconv.Unquote(typed.Value)
			return value
		}
	case *ast.Ident:
		return constants[typed.Name]
	}
	return ""
}
