import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { registryCredentialsToml } from "../../../../../providers/kubeadm/machine/parameters";
import type { ReadFor } from "../../../../../providers/kubeadm/machine/facts/machine-reading";
import { exampleSpecification } from "./examples";
import { readableMachine, readMachine } from "./read-machine";
import { CONTAINERD_FUNCTIONS, type ShellMachine } from "./run-shell";

const MARK = "cluster=demo machine=cp-1\n";
const OWN = "/etc/containerd/config.toml";

/** Returns what a machine says that its preparation changes. */
const dueOf = (host: ShellMachine, over: Partial<ReadFor> = {}): string[] =>
  (readMachine(host, over).facts.get("due") ?? "").replaceAll(host.root, "").split("\n");

describe("the list of what a preparation changes", () => {
  const filesOf = (count: number) =>
    Array.from({ length: count }, (_, at) => ({
      path: `/etc/own/${"folder-of-a-long-name/".repeat(3)}${at}.conf`,
      mode: "0600",
      content: "x",
    }));

  it("is whole for more files than fit into 8 KiB", () => {
    const due = dueOf(readableMachine(), { specification: exampleSpecification({ files: filesOf(300) }) });
    assert.equal(due.filter((line) => line.startsWith("file /etc/own/")).length, 300);
    assert.ok(due.at(-1)?.startsWith("file "), due.at(-1));
  });

  it("says how many lines it leaves out beyond its limit, and their sum", () => {
    const host = readableMachine();
    const specification = exampleSpecification({ files: filesOf(60) });
    const all = readMachine(host, { specification }).facts.get("due") ?? "";
    const lines = (
      readMachine(host, { specification }, (text) =>
        text.replace("longest=262144", "longest=2000"),
      ).facts.get("due") ?? ""
    ).split("\n");
    const shown = lines.slice(0, -1);
    const rest = all.split("\n").slice(shown.length);
    assert.ok(all.startsWith(`${shown.join("\n")}\n`));
    const sum = createHash("sha256")
      .update(`${rest.join("\n")}\n`)
      .digest("hex");
    assert.equal(lines.at(-1), `more ${rest.length} ${sum}`);
  });

  it("is cut in time", () => {
    const files = filesOf(3000).map((file) => ({
      ...file,
      path: file.path.replace("own", "own".repeat(20)),
    }));
    const due = dueOf(readableMachine(), { specification: exampleSpecification({ files }) });
    assert.match(due.at(-1) ?? "", /^more [1-9][0-9]* [0-9a-f]{64}$/);
  });

  it("is the same for a machine that was prepared before, but for what is there already", () => {
    const host = readableMachine();
    host.program("apt-mark", "true");
    const asNew = dueOf(host);
    host.write("/etc/foresail/machine", MARK);
    host.write("/var/lib/foresail/prepared", "of other settings");
    assert.deepEqual(dueOf(host), asNew);
    assert.equal(readMachine(host).facts.get("prepared"), "yes");
    host.write("/etc/modules-load.d/foresail.conf", "overlay\nbr_netfilter\n");
    host.write("/etc/sysctl.d/90-foresail.conf", "of others\n");
    const due = dueOf(host);
    assert.ok(!due.some((line) => line.endsWith("modules-load.d/foresail.conf")));
    assert.ok(due.includes("replaced /etc/sysctl.d/90-foresail.conf"));
  });
});

describe("containerd in the list", () => {
  it("does not pass for a program that is missing", () => {
    const host = readableMachine();
    host.program("dpkg-query", "echo 'installed, containerd.io, containerd, runc'");
    // the machine of the test may have one
    const without = `command() { if [ "$*" = "-v containerd" ] && [ "$(type -t containerd)" != function ]; then return 1; fi; builtin command "$@"; }\n`;
    const { facts } = readMachine(host, {}, (text) => text.replace("\ntell clock", `\n${without}tell clock`));
    assert.match(facts.get("refusal.containerd") ?? "", /but there is no program containerd/);
    assert.match(facts.get("due") ?? "", /^begin/);
  });
});

describe("containerd's settings in the list", () => {
  const SETTINGS = `printf '  %s\n' '[p.registry]' 'config_path = ""' '[p.runtimes.runc]' 'runtime_type = "io.containerd.runc.v2"' '[p.runtimes.runc.options]' 'SystemdCgroup = x' '[p.images]' 'sandbox_image = "old"'`;
  const DEFAULTS = `echo 'version = 3'
${SETTINGS}`;
  const login = (password: string) =>
    registryCredentialsToml({ "r.example.com": { username: "u", password } });
  const sumOf = (text: string) => createHash("sha256").update(text).digest("hex");
  const credentials = login("one");
  const credentialsSum = sumOf(credentials);

  /** A machine whose containerd has what a preparation with these credentials wrote. */
  function prepared(): ShellMachine {
    const host = readableMachine();
    host.program("containerd", DEFAULTS);
    host.program("kubeadm", "echo registry.k8s.io/pause:3.10.2");
    host.program("systemctl", "exit 0");
    host.program("ctr", "exit 0");
    host.write("/run/none", "");
    const parameters = {
      ...{ MACHINE: "cp-1", VERSION: "1.36.3", IMAGE_REPOSITORY: "", SYSTEMD_CGROUP: "true" },
      ...{ REGISTRIES: [], REGISTRY_HOSTS: [] },
    };
    const { status, stdout, stderr } = host.run(
      { ...CONTAINERD_FUNCTIONS, "common/settings": "all", "common/preparation": ["note"] },
      parameters,
      `in_container=no restart_containerd=no; require_effective_containerd() { :; }; exec 5<<'TOML'\n${credentials}TOML\nconfigure_containerd`,
    );
    assert.equal(status, 0, stdout + stderr);
    assert.match(readFileSync(host.path(OWN), "utf8"), /cri\.v1\.images"\.registry\.configs/);
    host.write("/etc/foresail/machine", MARK);
    host.write("/var/lib/foresail/prepared", "x");
    return host;
  }
  const lineOf = (host: ShellMachine, over: Partial<ReadFor> = { credentialsSum }) =>
    dueOf(host, over).filter((line) => line.endsWith(OWN));

  it("are not listed if they are as the preparation writes them", () => {
    assert.deepEqual(lineOf(prepared()), []);
    assert.deepEqual(lineOf(prepared(), {}), []);
  });

  it("are replaced when others changed them, and new when others removed them", () => {
    const host = prepared();
    const text = readFileSync(host.path(OWN), "utf8");
    writeFileSync(host.path(OWN), text.replace("SystemdCgroup = true", "SystemdCgroup = false"));
    assert.deepEqual(lineOf(host), [`replaced ${OWN}`]);
    rmSync(host.path(OWN));
    assert.deepEqual(lineOf(host), [`file ${OWN}`]);
    writeFileSync(host.path(OWN), text);
    assert.deepEqual(lineOf(host), []);
  });

  for (const [name, over] of [
    [
      "another cgroup driver",
      { specification: exampleSpecification({ kubelet: { cgroupDriver: "cgroupfs" } }) },
    ],
    [
      "another repository of images",
      { specification: exampleSpecification({ imageRepository: "r.example.com/k8s" }) },
    ],
    ["other credentials", { credentialsSum: sumOf(login("two")) }],
    ["no credentials any more", { credentialsSum: sumOf("") }],
  ] as const)
    it(`are replaced for ${name}`, () => {
      assert.deepEqual(lineOf(prepared(), { credentialsSum, ...over }), [`replaced ${OWN}`]);
    });

  it("are replaced when nothing knows the pause image, or containerd does not answer", () => {
    const version = "1.36.99";
    assert.deepEqual(
      lineOf(prepared(), { credentialsSum, specification: exampleSpecification({ version }) }),
      [`replaced ${OWN}`],
    );
    const host = prepared();
    host.program("containerd", "exit 1");
    assert.deepEqual(lineOf(host), [`replaced ${OWN}`]);
  });

  it("are compared with those of others that were there first", () => {
    const host = prepared();
    host.write("/var/lib/foresail/before/containerd.toml", 'root = "/srv"\ndisabled_plugins = ["cri"]\n');
    const socket = `address = "${host.path("/run/containerd/containerd.sock")}"`;
    host.program(
      "containerd",
      `[ "$1 $3 $4" = "--config config dump" ] || exit 1; cat "$2"; echo '  ${socket}'\n${SETTINGS}`,
    );
    assert.deepEqual(lineOf(host), [`replaced ${OWN}`]);
    const settings = readFileSync(host.path(OWN), "utf8").replace("version = 3\n", "");
    const own = settings.replaceAll("cri.v1.images", "grpc.v1.cri");
    writeFileSync(host.path(OWN), `root = "/srv"\ndisabled_plugins = []\n  ${socket}\n${own}`);
    assert.deepEqual(lineOf(host), []);
  });
});

describe("a bundle by URL in the list", () => {
  const SHA = "0a".repeat(32);
  const specification = exampleSpecification({
    source: { bundle: { url: "https://files.example.com/bundle.tar.gz", sha256: SHA } },
  });
  const programs = (host: ShellMachine) =>
    dueOf(host, { specification }).filter((line) => /^(bundle|program|unsure) /.test(line));

  it("is downloaded, and which programs differ is known only where there are none", () => {
    const host = readableMachine();
    assert.deepEqual(programs(host), [
      `bundle ${SHA}`,
      "program kubeadm",
      "program kubelet",
      "program kubectl",
    ]);
    host.write("/usr/local/bin/kubelet", "old");
    // of an earlier download
    host.write("/var/lib/foresail/bundle/bin/kubelet", "old");
    host.write("/var/lib/foresail/bundle/.sha256", "another");
    assert.deepEqual(programs(host), [
      `bundle ${SHA}`,
      "program kubeadm",
      "unsure kubelet",
      "program kubectl",
    ]);
  });

  it("is compared after its download", () => {
    const host = readableMachine();
    host.write("/var/lib/foresail/bundle/.sha256", SHA);
    for (const name of ["kubeadm", "kubelet", "kubectl"])
      host.write(`/var/lib/foresail/bundle/bin/${name}`, "new");
    host.write("/usr/local/bin/kubelet", "new");
    host.write("/usr/local/bin/kubeadm", "old");
    assert.deepEqual(programs(host), ["program kubeadm", "program kubectl"]);
  });
});

describe("the images of a kubeadm that is on the machine", () => {
  const source = { packages: { repository: "https://packages.example.com/v{minor}/deb/" } };
  const imagesOf = (text: string) => {
    const host = readableMachine();
    host.write("/usr/bin/kubeadm", `#!/bin/bash\n${text}\n`);
    chmodSync(host.path("/usr/bin/kubeadm"), 0o755);
    const started = Date.now();
    const specification = exampleSpecification({ source });
    const { facts } = readMachine(host, { specification }, (script) =>
      script.replaceAll("/usr/bin/kubeadm", host.path("/usr/bin/kubeadm")),
    );
    return { images: facts.get("images"), seconds: (Date.now() - started) / 1000 };
  };
  const VERSION = 'if [ "$1" = version ]; then echo v1.36.3; exit; fi';

  it("are named by it", () => {
    assert.equal(imagesOf(`${VERSION}\necho registry.k8s.io/etcd:1`).images, "registry.k8s.io/etcd:1");
    assert.equal(imagesOf("echo v1.35.0").images, undefined);
    assert.equal(imagesOf("exit 1").images, undefined);
  });

  it("are unread when it does not answer, and the machine says the rest in time", () => {
    for (const text of [`${VERSION}\nsleep 60`, "sleep 60"]) {
      const { images, seconds } = imagesOf(text);
      assert.equal(images, "unread");
      assert.ok(seconds < 13, String(seconds));
    }
  });
});
