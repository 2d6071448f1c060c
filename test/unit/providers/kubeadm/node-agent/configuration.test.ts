import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { shellFile } from "../../../../../providers/kubeadm/machine/shell";
import { annotationKeys } from "../../../../../providers/kubeadm/plan/rollout/annotations";
import { LOCAL_KUBECTL } from "../machine/local-kubectl";
import { ShellMachine } from "../machine/run-shell";
import { askedMachine, ASKED_VERSION as VERSION, AgentMachine } from "./agent-machine";

const KEYS = annotationKeys();

/** The calls that change the machine, without what it writes to its Node. */
const workOf = ({ changes }: AgentMachine) => changes.filter((change) => !change.includes("annotate"));

describe("a node agent that is asked for a configuration", function () {
  this.timeout(120_000);

  it("applies it on a worker: its files, the kubelet's configuration, and a restart of the kubelet", () => {
    const machine = askedMachine();
    assert.equal(machine.run("--once").status, 0);
    assert.deepEqual(workOf(machine), [
      `install configuration ${VERSION} install`,
      `kubeadm upgrade node phase kubelet-config --kubeconfig ${machine.folder}/etc/kubernetes/kubelet.conf`,
      "systemctl daemon-reload",
      "systemctl restart kubelet",
    ]);
    assert.equal(machine.annotations[KEYS.current("configuration")], VERSION);
    assert.equal(machine.annotations[KEYS.ready], "true");
  });

  it("applies it on a control plane: its static pods, too, with the patches of the machine", () => {
    const machine = askedMachine({ controlPlane: true, patches: { join: "/etc/patches" } });
    assert.equal(machine.run("--once").status, 0);
    assert.deepEqual(workOf(machine).slice(1, 3), [
      "kubeadm upgrade node phase control-plane --certificate-renewal=false --etcd-upgrade=false --patches=/etc/patches",
      `kubeadm upgrade node phase kubelet-config --kubeconfig ${machine.folder}/etc/kubernetes/admin.conf --patches=/etc/patches`,
    ]);
  });

  describe("with other settings of etcd", () => {
    const WITH_ETCD = `${VERSION}.dddddd`;
    const MANIFEST = "/etc/kubernetes/manifests/etcd.yaml";

    /** A control plane with a member, of which the installer writes the manifest. @param does what happens then */
    function memberMachine(manifest: string, does = "", version = WITH_ETCD): AgentMachine {
      const machine = askedMachine({ controlPlane: true, patches: { join: "/etc/patches" } });
      machine.put(MANIFEST, "old\n");
      for (const [process, name] of ["etcd", "kube-apiserver"].entries())
        machine.put(`/proc/${process + 1}/comm`, `${name}\n`);
      mkdirSync(`${machine.folder}/proc/9`);
      const member = `if [ "$1" = etcd ]; then
  printf '%s\\n' ${manifest} >"$2"
  ${does}
elif [ "$1" = baseline ]; then printf ${VERSION}.eeeeee
elif [ "$1" = restore ]; then echo old >${machine.folder}${MANIFEST}; fi`;
      machine.stage("configuration", version, member);
      machine.annotate(KEYS.desired("configuration"), version);
      machine.put("/var/lib/foresail/agent/configuration", `${VERSION}.eeeeee`);
      return machine;
    }
    const restarted = (text: string) =>
      `(until grep -q ${text} "\${2%/*}/manifests/etcd.yaml"; do sleep 0.01; done; echo etcd >"\${2%/etc/*}/proc/9/comm") >/dev/null 2>&1 &`;

    it("gives etcd its manifest before the other static pods, and waits for its new process", () => {
      const machine = memberMachine("new", restarted("new"));
      const { status, output } = machine.run("--once");
      assert.equal(status, 0, output);
      assert.equal(machine.read(MANIFEST), "new\n");
      const order = [
        "configuration aaaaaa.bbbbbb.cccccc.dddddd etcd",
        "kubeadm upgrade node phase control-plane",
        // an API server that starts again before has the former arguments, which name former files
        "configuration aaaaaa.bbbbbb.cccccc.dddddd remove",
      ].map((call) => machine.calls.findIndex((made) => made.includes(call)));
      assert.ok(order[0]! > 0, machine.calls.join("\n"));
      assert.deepEqual(
        order,
        [...order].sort((one, other) => one - other),
        machine.calls.join("\n"),
      );
      assert.equal(machine.annotations[KEYS.current("configuration")], WITH_ETCD);
    });

    it("does not restart a member whose manifest stays the same, as after a kill", () => {
      const machine = memberMachine("old");
      assert.equal(machine.run("--once").status, 0);
      assert.equal(machine.read(MANIFEST), "old\n");
    });

    it("leaves etcd alone when its part of the version stays, or is that of the baseline", () => {
      for (const [before, now] of [
        ["aaaaaa.bbbbbb.ffffff.dddddd", WITH_ETCD],
        ["aaaaaa.bbbbbb.ffffff", `${VERSION}.eeeeee`],
      ] as const) {
        const machine = memberMachine("new", "", now);
        machine.put("/var/lib/foresail/agent/configuration", before);
        assert.equal(machine.run("--once").status, 0);
        assert.equal(machine.read(MANIFEST), "old\n");
        assert.equal(machine.annotations[KEYS.current("configuration")], now);
      }
    });

    it("gives etcd its manifest back when a change has begun that came to other settings of etcd", () => {
      const machine = memberMachine("old", restarted("old"));
      machine.put(MANIFEST, "new\n");
      machine.put("/var/lib/foresail/agent/configuration", WITH_ETCD);
      machine.put("/var/lib/foresail/agent/changing", `${VERSION}.ffffff\n`);
      const { status, output } = machine.run("--once");
      assert.equal(status, 0, output);
      assert.equal(machine.read(MANIFEST), "old\n");
    });

    it("goes back when the member keeps ending, whose new pod is the last one for a while", () => {
      const logs = "/var/log/pods/kube-system_etcd-w-1_0123/etcd";
      const machine = memberMachine(
        "new",
        `for time in 0 1 2; do echo '2026-11-26T10:00:00Z stderr F Error: bad' >\${2%/etc/*}${logs}/$time.log; done`,
      );
      mkdirSync(machine.folder + logs, { recursive: true });
      // etcd is healthy a moment after it has its manifest back
      machine.useScript("curl", [
        `if [[ $* == *2381* ]]; then echo x >>${machine.folder}/state/asked; [ "$(wc -l <${machine.folder}/state/asked)" -gt 2 ]; fi`,
      ]);
      assert.equal(machine.run("--once").status, 1);
      const message = machine.annotations[KEYS.message] ?? "";
      assert.match(
        message,
        /^etcd ended three times right after its start.*went back to its previous configuration$/,
      );
    });

    it("goes back when the member does not come up with it, before anything else changes", () => {
      const machine = memberMachine("new");
      assert.equal(machine.run("--once").status, 1);
      assert.equal(machine.read(MANIFEST), "old\n");
      assert.doesNotMatch(workOf(machine).join("\n"), /kubeadm upgrade/);
      const message = machine.annotations[KEYS.message] ?? "";
      assert.match(message, /^etcd is not healthy five minutes.*went back to its previous configuration$/);
    });
  });

  it("does nothing on a machine that has it, and nothing outside of the change window", () => {
    const machine = askedMachine();
    machine.annotate(KEYS.changesAllowed, "false");
    assert.equal(machine.run("--once").status, 0);
    assert.deepEqual(workOf(machine), []);
    machine.annotate(KEYS.changesAllowed, "true");
    machine.run("--once");
    const work = workOf(machine);
    machine.run("--once");
    assert.deepEqual(workOf(machine), work);
  });

  it("applies the configuration that it reports, when another one has begun since", () => {
    const machine = askedMachine();
    machine.put("/var/lib/foresail/agent/configuration", VERSION);
    machine.put("/var/lib/foresail/agent/changing", "aaaaaa.dddddd.cccccc\n");
    assert.equal(machine.run("--once").status, 0);
    assert.equal(workOf(machine)[0], `install configuration ${VERSION} install`);
    assert.equal(existsSync(`${machine.folder}/var/lib/foresail/agent/changing`), false);
    const done = workOf(machine);
    assert.equal(machine.run("--once").status, 0);
    assert.deepEqual(workOf(machine), done);
  });

  it("goes back when kubeadm fails, says so on its Node, and does not try again at once", () => {
    const machine = askedMachine({ controlPlane: true });
    machine.fail("phase control-plane", "error: static pod kube-apiserver did not come up", 1);
    assert.equal(machine.run("--once").status, 1);
    assert.deepEqual(workOf(machine).slice(2), ["systemctl daemon-reload", "systemctl restart kubelet"]);
    assert.ok(machine.calls.includes(`install configuration ${VERSION} restore`));
    const message = machine.annotations[KEYS.message]!;
    assert.match(message, /did not come up; this machine went back to its previous configuration$/);
    assert.equal(machine.annotations[KEYS.current("configuration")], undefined);
    assert.equal(machine.annotations[KEYS.ready], "false");
  });

  for (const [behaviour, state, text] of [
    ["reports that its Node is not Ready", "ready-later", "False 20"],
    ["never reports again", "silent", "True 2026-11-01"],
    ["never reports again after a last report of the former one", "silent last-report", "True 20"],
  ] as const)
    it(`goes back when the kubelet is healthy, but ${behaviour}`, () => {
      const machine = askedMachine();
      for (const name of state.split(" ")) machine.state(name, "False");
      const { output, status } = machine.run("--once");
      assert.equal(status, 1, output);
      assert.equal(workOf(machine).filter((call) => call === "systemctl restart kubelet").length, 2);
      assert.ok(machine.calls.includes(`install configuration ${VERSION} restore`));
      const message = machine.annotations[KEYS.message]!;
      assert.ok(message.includes(`(Ready is ${text}`), message);
    });

  it("does not wait for a Node that was not Ready before", () => {
    const machine = askedMachine();
    machine.state("ready", "False");
    assert.equal(machine.run("--once").status, 0);
    assert.equal(machine.annotations[KEYS.current("configuration")], VERSION);
  });
});

describe("the installer of a configuration", () => {
  const PATHS = ["/etc/audit/policy.yaml", "/opt/new"];
  const machine = new ShellMachine();
  const calls = 'echo "$(basename "$0") $*"';
  for (const name of ["update-ca-certificates", "ctr"]) machine.program(name, calls);
  // what systemctl says belongs to the message of a refused start, so its calls are in a file
  const systemctlCalls = machine.path("/systemctl-calls");
  machine.program("systemctl", `echo "$*" >>${systemctlCalls}`);
  machine.program("kubelet", "echo Kubernetes v1.36.3");
  machine.write(PATHS[0]!, "old\n", 0o640);
  machine.write("/etc/gone", "gone\n");
  const run = (command: string, over: Record<string, string | string[]> = {}) =>
    machine.run(
      {
        ...{ "common/settings": "all", "common/adopted": "all", "common/etcd-manifest": "all" },
        ...{ "common/moved-endpoint": "all", "common/plain-yaml": "all" },
        "node-agent/configuration": "all",
      },
      {
        AGENT_PATH: machine.path("/var/lib/foresail/agent"),
        MEMBER_PATH: machine.path("/var/lib/foresail/member"),
        CA_BUNDLE: "",
        PROXY: [],
        REGISTRIES: ["docker.io"],
        REGISTRY_HOSTS: ["server"],
        FILE_PATHS: PATHS.map((path) => machine.path(path)),
        FILE_MODES: ["0600", "0644"],
        FILE_OWNERS: ["", ""],
        FILE_CONTENTS: ["new", "new"],
        REMOVED_PATHS: [machine.path("/etc/gone")],
        REMOVED_NAMES: [],
        BASELINE: "",
        ...{ ENDPOINT: "lb.example.org:6443", FORMER_ENDPOINTS: [] },
        ...over,
      },
      command,
    );
  const read = (file: string) => readFileSync(machine.path(file), "utf8");
  const changedFiles = () => run("list_changed_files").stdout.replaceAll(machine.root, "").trim().split("\n");

  it("writes and removes files, lists them, also when it is repeated, and restarts containerd only when it must", () => {
    for (let round = 1; round <= 2; round++) {
      const stays = round === 1 ? "test -e /etc/gone; " : "";
      const { stdout, stderr, status } = run(`install_configuration; ${stays}remove_former_files`);
      assert.deepEqual([stdout, stderr, status], ["", "", 0]);
      assert.deepEqual([read(PATHS[0]!), read(PATHS[1]!)], ["new\n", "new\n"]);
      assert.equal(existsSync(machine.path("/etc/gone")), false);
      assert.equal(read("/etc/containerd/certs.d/docker.io/hosts.toml"), "server\n");
      assert.deepEqual(changedFiles(), [...PATHS, "/etc/gone"]);
    }
  });

  it("puts every file back as it was", () => {
    const { stderr, status } = run("restore_configuration");
    assert.deepEqual([stderr, status], ["", 0]);
    assert.deepEqual([read(PATHS[0]!), read("/etc/gone")], ["old\n", "gone\n"]);
    for (const path of [PATHS[1]!, "/etc/containerd/certs.d/docker.io/hosts.toml"])
      assert.equal(existsSync(machine.path(path)), false, path);
    const again = run("restore_configuration");
    assert.deepEqual([again.stdout, again.status], ["", 0]);
  });

  it("goes back to what was before a change that another one followed before it had ended", () => {
    run("install_configuration", { FILE_CONTENTS: ["half", "half"] });
    run("install_configuration", { FILE_PATHS: [machine.path(PATHS[0]!)] });
    assert.equal(read(PATHS[0]!), "new\n");
    run("restore_configuration");
    assert.equal(read(PATHS[0]!), "old\n");
    assert.equal(existsSync(machine.path(PATHS[1]!)), false);
  });

  it("restarts containerd for a proxy, and for one that is taken away", () => {
    const restarts = () => read("/systemctl-calls").match(/^restart containerd$/gm)?.length;
    assert.equal(existsSync(systemctlCalls), false);
    run("install_configuration", { PROXY: ["HTTP_PROXY=http://p:1"] });
    assert.equal(restarts(), 1);
    machine.write("/var/lib/foresail/agent/configuration", "aaaaaa.bbbbbb");
    run("install_configuration");
    assert.equal(restarts(), 2);
    assert.equal(
      existsSync(machine.path("/etc/systemd/system/containerd.service.d/foresail-proxy.conf")),
      false,
    );
  });

  it("gives an adopted machine its own file back, and keeps what foresail did not write", () => {
    const [own = "", fresh = ""] = PATHS;
    rmSync(machine.path("/var/lib/foresail/agent"), { recursive: true, force: true });
    machine.write("/var/lib/foresail/member", "adopted 2026-11-23T00:00:00Z\n");
    rmSync(machine.path(own), { force: true });
    machine.write(own, "theirs\n", 0o640);
    machine.write("/etc/gone", "theirs, too\n");
    rmSync(machine.path(fresh), { force: true });
    for (let round = 1; round <= 2; round++)
      assert.equal(run("install_configuration; remove_former_files").status, 0);
    assert.deepEqual([read(own), read(fresh), read("/etc/gone")], ["new\n", "new\n", "theirs, too\n"]);
    const without = { FILE_PATHS: [], REMOVED_PATHS: PATHS.map((path) => machine.path(path)) };
    for (let round = 1; round <= 2; round++)
      assert.equal(run("install_configuration; remove_former_files; list_changed_files", without).status, 0);
    assert.deepEqual([read(own), existsSync(machine.path(fresh))], ["theirs\n", false]);
    assert.equal(statSync(machine.path(own)).mode & 0o777, 0o640);
    // what others write there from now on is theirs
    machine.write(fresh, "theirs\n");
    run("install_configuration; remove_former_files", without);
    assert.equal(read(fresh), "theirs\n");
  });

  it("lets kubeadm render etcd's manifest for this member out of the cluster's configuration", () => {
    const manifest = [
      "    - --initial-cluster=cp-1=https://a:2380,cp-2=https://b:2380",
      "    - --initial-cluster-state=existing",
      "    - --name=cp-2",
      "    image: etcd:old",
    ];
    machine.write("/etc/kubernetes/manifests/etcd.yaml", `${manifest.join("\n")}\n`);
    machine.write(
      "/etc/kubernetes/manifests/kube-apiserver.yaml",
      "    kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint: 10.0.0.2:6443\n",
    );
    machine.write("/run/here", "");
    machine.program(
      "kubectl",
      `${LOCAL_KUBECTL}\ncase $* in *kubeadm-config*) echo '{"clusterName":"demo","kind":"ClusterConfiguration"}' ;; *) exit 1 ;; esac`,
    );
    machine.program(
      "kubeadm",
      `while [ "$1" != --config ]; do shift; done
{ sed "s/^/# /" "$2"; echo "# $3"; echo "    - --initial-cluster=cp-2=b"; echo "    image: new"; } >"$KUBEADM_INIT_DRYRUN_DIR/etcd.yaml"`,
    );
    const { status, stderr } = run(`render_etcd ${machine.path("/etc/new.yaml")} --patches=/p`);
    assert.deepEqual([status, stderr], [0, ""]);
    const text = read("/etc/new.yaml");
    for (const line of [
      "#   name: cp-2",
      '#   advertiseAddress: "10.0.0.2"',
      "# clusterName: demo",
      "# --patches=/p",
    ])
      assert.ok(text.split("\n").includes(line), text);
    assert.equal(text.slice(text.indexOf("    -")), `${[...manifest.slice(0, 2), manifest[3]].join("\n")}\n`);
    assert.deepEqual(readdirSync(machine.path("/run")), ["here"]);
    machine.program("kubeadm", "echo unknown field >&2; exit 1");
    const refused = run(`render_etcd ${machine.path("/etc/other.yaml")}`);
    assert.match(refused.stdout, /kubeadm init phase etcd local --dry-run: unknown field/);
    assert.equal(existsSync(machine.path("/etc/other.yaml")), false);
  });

  it("is text that no other installer has", () => {
    assert.doesNotMatch(shellFile("node-agent/installer"), /FILE_PATHS/);
  });
});
