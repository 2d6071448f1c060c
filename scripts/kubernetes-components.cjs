/*
 * Adds the newest patches of providers/kubeadm/plan/cluster/kubernetes-minors.ts, and versions that are named, to the table of
 * the versions of etcd, CoreDNS and pause, as the sources of kubeadm have them. Rows that are there stay.
 *   node scripts/kubernetes-components.cjs [VERSION...]
 */
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

const FOLDER = path.join(__dirname, "..", "providers", "kubeadm", "plan", "cluster");
const FILE = path.join(FOLDER, "kubernetes-components.ts");
const FIRST_MINOR = 31;
const ROW = /^ {2}"([\d.]+)": \{ etcd: "([^"]+)", coredns: "([^"]+)", pause: "([^"]+)" \},$/gm;

/**
 * Returns the tags that kubeadm of this version uses, from its constants.go.
 *
 * @throws Error when one is missing
 */
function componentsIn(source, version) {
  const minor = Number(version.split(".")[1]);
  const constant = (name) => {
    const found = new RegExp(`^\\s*${name} = "([^"]+)"`, "m").exec(source)?.[1];
    if (found === undefined) throw new Error(`constants.go of ${version} has no ${name}`);
    return found;
  };
  // the map has the versions that differ from the default one, by minor or by the distance to kubeadm's own
  const [map = ""] = /SupportedEtcdVersion = map\[uint8\]string\{[^}]*\}/.exec(source) ?? [];
  const own = new RegExp(
    `^\\s*(?:${minor}|uint8\\(getSkewedKubernetesVersion\\(0\\)\\.Minor\\(\\)\\)): +"([^"]+)"`,
    "m",
  );
  return {
    etcd: own.exec(map)?.[1] ?? constant("DefaultEtcdVersion"),
    coredns: constant("CoreDNSVersion"),
    pause: constant("PauseVersion"),
  };
}

/** Returns the table's file with these rows added, sorted by version. */
function withRows(text, added) {
  const rows = new Map(
    [...text.matchAll(ROW)].map(([, version, etcd, coredns, pause]) => [version, { etcd, coredns, pause }]),
  );
  for (const [version, row] of added) rows.set(version, row);
  const number = (version) => version.split(".").reduce((sum, part) => sum * 1000 + Number(part), 0);
  const lines = [...rows]
    .sort(([one], [other]) => number(one) - number(other))
    .map(
      ([version, { etcd, coredns, pause }]) =>
        `  "${version}": { etcd: "${etcd}", coredns: "${coredns}", pause: "${pause}" },`,
    );
  const start = text.indexOf("= {\n") + "= {\n".length;
  return `${text.slice(0, start)}${lines.join("\n")}\n${text.slice(text.indexOf("\n};\n", start - 1) + 1)}`;
}

function sourceOf(version) {
  // outside the project, whose folders have modules of their own
  const output = execFileSync("go", ["mod", "download", "-json", `k8s.io/kubernetes@v${version}`], {
    cwd: os.tmpdir(),
    encoding: "utf8",
  });
  return fs.readFileSync(path.join(JSON.parse(output).Dir, "cmd/kubeadm/app/constants/constants.go"), "utf8");
}

function main(named) {
  const text = fs.readFileSync(FILE, "utf8");
  const minors = fs.readFileSync(path.join(FOLDER, "kubernetes-minors.ts"), "utf8");
  const newest = [...minors.matchAll(/patch: "(1\.(\d+)\.\d+)"/g)]
    .filter(([, , minor]) => Number(minor) >= FIRST_MINOR)
    .map(([, version]) => version);
  const known = new Set([...text.matchAll(ROW)].map(([, version]) => version));
  const due = [...new Set([...newest, ...named])].filter((version) => !known.has(version));
  fs.writeFileSync(
    FILE,
    withRows(
      text,
      due.map((version) => [version, componentsIn(sourceOf(version), version)]),
    ),
  );
}

module.exports = { componentsIn, withRows };
if (require.main === module) main(process.argv.slice(2));
