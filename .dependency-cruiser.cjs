// The import rules of the layout (docs/adr/0001-layers.md): which room may use which. `npm run lint` checks them.

/** What a decision may use of lib/: no I/O, no Pulumi. */
const PURE =
  "^lib/(ownership|steps|text|validation)/|^lib/(clock|json|yaml|error-message|merge|short-hash|unknown|differences)\\.ts$|^lib/pulumi/state\\.ts$|" +
  "^lib/kubernetes/(drain/plan|objects|own-objects|quantity)\\.ts$";
const OWN_TOOLS = "^(sandbox|test|bench|scripts)/";
const NODE_IO = "^(node:)?(fs|net|http|https|http2|tls|dns|child_process|dgram|worker_threads)(/|$)";

/** Code in `from` imports only from what `to` allows, among the project's own folders. */
const only = (name, from, to) => ({
  name,
  severity: "error",
  from: { path: from },
  to: { path: "^index\\.ts$|^(package|stacks|components|providers|lib|cli|policy)/", pathNot: to },
});

module.exports = {
  forbidden: [
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    {
      name: "no-product-on-tools",
      comment: "Nothing in the product uses the sandbox, the tests, the bench or the scripts.",
      severity: "error",
      from: { pathNot: OWN_TOOLS },
      to: { path: OWN_TOOLS },
    },
    only("program", "^index\\.ts$", "^stacks/"),
    only(
      "package",
      "^package/",
      "^package/|^components/|^providers/[^/]+/(plan|resources)/|^lib/pulumi/stack\\.ts$",
    ),
    only("stacks", "^stacks/", "^stacks/|^components/|^providers/[^/]+/plan/|^lib/"),
    only(
      "components",
      "^components/([^/]+)/",
      // the arguments of a component are described by the schema of a stack file
      "^components/($1|kubeadm)/|^components/[^/]+\\.ts$|^stacks/schema/|^providers/|^lib/",
    ),
    // `foresail doctor` runs the program of a stack file
    only("cli-program", "^cli/engine/stack-program\\.ts$", "^cli/|^providers/|^lib/|^stacks/"),
    // `foresail config show` has to know which keys are secret
    only(
      "cli",
      "^cli/(?!engine/stack-program\\.ts$)",
      "^cli/|^providers/[^/]+/(plan|client)/|^lib/|^stacks/schema/keys\\.ts$",
    ),
    only(
      "clouds",
      "^providers/(azimuth|collector|machine-pool|openstack|tumblebug)/",
      "^providers/($1|helm|kubeadm|kubernetes)/|^lib/",
    ),
    only(
      "kubeadm",
      "^providers/(kubeadm|kubernetes|helm)/",
      "^providers/($1|kubernetes)/|^providers/guards\\.ts$|^lib/",
    ),
    only("policy", "^policy/", "^policy/|^providers/[^/]+/plan/|^lib/"),
    only("plans", "(^|/)plan/", `/plan/|${PURE}`),
    {
      name: "plans-are-pure",
      comment: "A decision does no I/O and does not know Pulumi.",
      severity: "error",
      from: { path: "(^|/)plan/" },
      to: { path: `${NODE_IO}|node_modules/(@pulumi|@kubernetes|ssh2)/` },
    },
    only("lib", "^lib/", "^lib/"),
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^(bin|node_modules|\\.sandbox)/" },
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { extensions: [".ts", ".js", ".cjs", ".mjs", ".json"] },
  },
};
