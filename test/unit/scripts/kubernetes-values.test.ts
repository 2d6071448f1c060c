import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { cacheFolder } from "../../../sandbox/toolchain/cache";
import { componentValueIssues } from "../../../providers/kubeadm/plan/validation/component-values";
import { controllersOf } from "../../../providers/kubeadm/plan/validation/controller-manager";
import { fieldsOf } from "../../../providers/kubeadm/plan/validation/known-fields";
import { leaveOut } from "../../left-out";

/** Versions whose programs the sandbox has. */
const VERSIONS = ["1.36.3", "1.37.2"];
const PROGRAMS = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy"];

const SUITE = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256";
const OTHER_SUITE = "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384";
/** Arguments of a scheduler, of which some end it at its start. */
const ANSWERED = [
  ["tls-cipher-suites="],
  [`tls-cipher-suites=${SUITE},TLS_RSA_WITH_AES_128_GCM_SHA256`],
  [`tls-cipher-suites="${SUITE}"`],
  [`tls-cipher-suites=${SUITE}, ${OTHER_SUITE}`],
  [`tls-cipher-suites=${SUITE},`],
  [`tls-cipher-suites=${OTHER_SUITE}`],
  [`tls-cipher-suites=${OTHER_SUITE}`, "tls-min-version=VersionTLS13"],
  [`tls-cipher-suites=${OTHER_SUITE}`, "disable-http2-serving=true"],
  [`tls-cipher-suites=${OTHER_SUITE}`, `tls-cipher-suites=${SUITE}`],
  ["tls-cipher-suites=TLS_AES_128_GCM_SHA256"],
  ["tls-cipher-suites=ECDHE-RSA-AES128-GCM-SHA256"],
  ["tls-cipher-suites=TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305,TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"],
  ["tls-min-version="],
  ["tls-min-version=VersionTLS13"],
  ["tls-min-version=1.2"],
  ["feature-gates= AllAlpha = false ,,AllBeta=T"],
  ["feature-gates=AllAlpha"],
  ["feature-gates=AllAlpha=yes"],
  ["feature-gates=kube:AllAlpha=false"],
  ["feature-gates=SidecarContainers=true"],
  ["feature-gates=SidecarContainers=false"],
  ["feature-gates=HPAContainerMetrics=true"],
  ["feature-gates=SidecarContainer=true"],
];

const folderOf = (version: string) => path.join(cacheFolder(), "programs", `kubernetes-${version}`);
const output = (version: string, program: string, ...args: string[]) => {
  const { stdout, stderr } = spawnSync(path.join(folderOf(version), program), args, {
    encoding: "utf8",
    timeout: 60_000,
  });
  return stdout + stderr;
};

/** Tells whether a scheduler begins to serve with these arguments, and what it has written if not. */
async function serves(version: string, args: string[], folder: string): Promise<true | string> {
  const common = [
    "--kubeconfig",
    path.join(folder, "kubeconfig"),
    "--authentication-kubeconfig=",
    "--leader-elect=false",
  ];
  const serving = ["--bind-address=127.0.0.1", "--cert-dir", folder, `--secure-port=${await freePort()}`];
  const flags = args.map((one) => `--${one}`);
  const child = spawn(path.join(folderOf(version), "kube-scheduler"), [...common, ...serving, ...flags], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const limit = setTimeout(() => child.kill("SIGKILL"), 30_000);
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    if (said.includes("Serving securely on")) child.kill("SIGKILL");
  });
  await once(child, "close");
  clearTimeout(limit);
  // what fails when it begins to serve comes after
  return said.includes("Serving securely on") && !said.includes("command failed") ? true : said;
}

async function freePort(): Promise<number> {
  const { createServer } = await import("node:net");
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

describe("values of the programs of Kubernetes", function () {
  this.timeout(300_000);
  let folder = "";
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), "foresail-values-"));
    const names = { cluster: "a", user: "a" };
    writeFileSync(
      path.join(folder, "kubeconfig"),
      JSON.stringify({
        clusters: [{ name: "a", cluster: { server: "https://127.0.0.1:1" } }],
        users: [{ name: "a", user: {} }],
        contexts: [{ name: "a", context: names }],
        "current-context": "a",
      }),
    );
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const version of VERSIONS) {
    const needed = function (this: Mocha.Context): boolean {
      if (existsSync(folderOf(version))) return true;
      leaveOut(this, `needs the programs of Kubernetes ${version}`);
      return false;
    };

    it(`include exactly the controllers that the controller manager of ${version} lists`, function () {
      if (!needed.call(this)) return;
      const [, listed = ""] =
        /All controllers: (.*)/.exec(output(version, "kube-controller-manager", "--help")) ?? [];
      // the others are former names
      const known = controllersOf(version).filter((name) => name.endsWith("-controller"));
      assert.deepEqual(
        known.filter((name) => name !== "resource-claim-controller").sort(),
        listed.split(", ").sort(),
      );
    });

    it(`include every gate, plugin and suite that the programs of ${version} list`, function () {
      if (!needed.call(this)) return;
      const { gates, plugins, cipherSuites } = fieldsOf(version);
      for (const program of PROGRAMS) {
        const listed = output(version, program, "--help").matchAll(/\b([A-Z]\w+)=true\|false/g);
        const names = [...listed].map(([, name = ""]) => name);
        assert.ok(names.length > 100, program);
        assert.deepEqual(
          names.filter((name) => gates[name] === undefined),
          [],
          program,
        );
      }
      const help = output(version, "kube-apiserver", "--help").replace(/\s+/g, " ");
      const listed = (pattern: RegExp) =>
        [...help.matchAll(pattern)].flatMap(([, names = ""]) => names.split(", "));
      assert.deepEqual(
        [...new Set(listed(/list of admission plugins: ([^.]*)\./g))].sort(),
        [...plugins].sort(),
      );
      assert.deepEqual(
        [...new Set(listed(/(?:Preferred|Insecure) values: ([^.]*)\./g))].sort(),
        [...cipherSuites].sort(),
      );
    });

    for (const value of [true, false])
      it(`include what ${version} says to every feature gate that is ${value}`, function () {
        if (!needed.call(this)) return;
        const { gates } = fieldsOf(version);
        const names = Object.keys(gates).filter((name) => !name.startsWith("All"));
        // with all gates, the controller manager knows most
        const said = output(
          version,
          "kube-controller-manager",
          "--kubeconfig=/absent",
          `--feature-gates=${names.map((name) => `${name}=${value}`).join(",")}`,
        );
        const refused = [...said.matchAll(/cannot set feature gate (\w+) to/g)].map(([, name]) => name);
        assert.doesNotMatch(said, /unrecognized feature gate/);
        assert.deepEqual(refused.sort(), names.filter((name) => gates[name] === (value ? "0" : "1")).sort());
      });

    it(`are refused exactly where the scheduler of ${version} does not start`, async function () {
      if (!needed.call(this)) return;
      for (const written of ANSWERED) {
        const extraArgs = written.map((one) => {
          const [name = "", ...value] = one.split("=");
          return { name, value: value.join("=") };
        });
        const issues = componentValueIssues({
          version,
          kubeadm: { clusterConfiguration: { scheduler: { extraArgs } } },
        });
        const answer = await serves(version, written, folder);
        assert.equal(
          issues.length === 0,
          answer === true,
          `${written.join(" ")}: ${JSON.stringify(issues)}: ${answer}`,
        );
      }
    });

    it(`are refused exactly where the API server of ${version} refuses admission plugins`, function () {
      if (!needed.call(this)) return;
      const known = fieldsOf(version).plugins;
      const others = fieldsOf().plugins.filter((name) => !known.includes(name));
      const tried: Record<string, string>[] = [
        { "enable-admission-plugins": "NodeRestriction,PodSecurityPolicy" },
        { "enable-admission-plugins": "NodeRestriction, AlwaysPullImages" },
        { "enable-admission-plugins": "NodeRestriction," },
        { "enable-admission-plugins": "" },
        { "enable-admission-plugins": "AlwaysPullImages", "disable-admission-plugins": "AlwaysPullImages" },
        { "enable-admission-plugins": "AlwaysPullImages", "disable-admission-plugins": "NodeRestriction" },
        { "enable-admission-plugins": known.join(",") },
        ...others.map((name) => ({ "enable-admission-plugins": name })),
      ];
      for (const values of tried) {
        const extraArgs = Object.entries(values).map(([name, value]) => ({ name, value }));
        const issues = componentValueIssues({
          version,
          kubeadm: { clusterConfiguration: { apiServer: { extraArgs } } },
        });
        const said = output(
          version,
          "kube-apiserver",
          ...extraArgs.map(({ name, value }) => `--${name}=${value}`),
        );
        // the other errors are about etcd and keys, which it does not get
        assert.match(said, /etcd-servers/);
        assert.equal(
          issues.length > 0,
          /admission-plugins/.test(said.replace(/^.*Flag --.*$/gm, "")),
          `${JSON.stringify(values)}: ${said.slice(-500)}`,
        );
      }
    });
  }
});
