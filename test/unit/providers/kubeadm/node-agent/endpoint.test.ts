import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { parse } from "yaml";
import { parseEndpointFacts } from "../../../../../providers/kubeadm/machine/endpoint/endpoint-steps";
import { LOCAL_KUBECTL } from "../machine/local-kubectl";
import { ShellMachine } from "../machine/run-shell";

const OLD = "lb-1.example.org:6443";
const NEW = "lb-2.example.org:8443";
const OWN = "10.0.0.2:6443";
const kubeconfig = (server: string) =>
  `apiVersion: v1\nclusters:\n- cluster:\n    certificate-authority-data: Q0E=\n    server: https://${server}\n  name: kubernetes\n`;

describe("a machine that moves to another endpoint", function () {
  this.timeout(120_000);
  let machine: ShellMachine;
  const read = (file: string) => readFileSync(machine.path(`/etc/kubernetes/${file}`), "utf8");
  const serverOf = (name: string) => /server: https:\/\/(.*)/.exec(read(`${name}.conf`))?.[1];
  const run = (command: string, former = [OLD]) =>
    machine.run(
      {
        ...{ "common/settings": "all", "common/adopted": "all", "common/etcd-manifest": "all" },
        "common/moved-endpoint": "all",
        "common/plain-yaml": "all",
        "node-agent/configuration": "all",
      },
      {
        ...{ AGENT_PATH: machine.path("/var/lib/foresail/agent"), MEMBER_PATH: machine.path("/member") },
        ...{ CA_BUNDLE: "", PROXY: [], REGISTRIES: [], REGISTRY_HOSTS: [], BASELINE: "" },
        ...{ FILE_PATHS: [], FILE_MODES: [], FILE_OWNERS: [], FILE_CONTENTS: [], REMOVED_PATHS: [] },
        ...{ REMOVED_NAMES: [], ENDPOINT: NEW, FORMER_ENDPOINTS: former },
      },
      command,
    );
  const names = ["admin", "super-admin", "controller-manager", "scheduler", "kubelet"];

  /** A control plane as kubeadm leaves it. @param own the servers of its own programs */
  function controlPlane(own = OWN): void {
    machine.write(
      "/etc/kubernetes/manifests/kube-apiserver.yaml",
      `    kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint: ${OWN}\n`,
    );
    for (const name of names)
      machine.write(`/etc/kubernetes/${name}.conf`, kubeconfig(name.endsWith("admin") ? OLD : own), 0o600);
  }

  beforeEach(() => {
    machine = new ShellMachine();
    for (const name of ["systemctl", "ctr", "update-ca-certificates"]) machine.program(name, "");
    machine.program("kubelet", "echo Kubernetes v1.36.3");
    machine.program("kubectl", `echo "$@" >>${machine.path("/calls")}`);
  });

  it("replaces the address in the kubelet's kubeconfig, once the API servers answer it there, and goes back", () => {
    machine.write("/etc/kubernetes/kubelet.conf", kubeconfig(OLD), 0o600);
    for (let round = 1; round <= 2; round++) {
      const { stdout, stderr, status } = run("install_configuration");
      assert.deepEqual([stdout, stderr, status], ["", "", 0]);
      assert.equal(read("kubelet.conf"), kubeconfig(NEW));
    }
    assert.equal(statSync(machine.path("/etc/kubernetes/kubelet.conf")).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(machine.path("/etc/kubernetes")), ["kubelet.conf"]);
    const [call, ...others] = readFileSync(machine.path("/calls"), "utf8").trim().split("\n");
    assert.match(call!, new RegExp(` --server https://${NEW} .* get --raw /readyz$`));
    assert.deepEqual(others, []);
    assert.equal(run("restore_configuration").status, 0);
    assert.equal(read("kubelet.conf"), kubeconfig(OLD));
  });

  it("changes nothing when the API servers do not answer there", () => {
    controlPlane(OLD);
    machine.program("kubectl", "echo no route to host >&2; exit 1");
    const { stdout, status } = run("install_configuration");
    assert.deepEqual([stdout, status], [`the API servers do not answer at ${NEW}: no route to host\n`, 1]);
    assert.deepEqual(
      names.map((name) => serverOf(name)),
      names.map(() => OLD),
    );
    assert.deepEqual(
      readdirSync(machine.path("/etc/kubernetes")).filter((name) => name.startsWith(".")),
      [],
    );
  });

  it("leaves the programs of a control plane at its own API server, also where that was the endpoint", () => {
    for (const former of [[OLD], [OLD, OWN]]) {
      controlPlane();
      assert.equal(run("install_configuration", former).status, 0);
      assert.deepEqual(
        names.map((name) => serverOf(name)),
        [NEW, NEW, OWN, OWN, OWN],
      );
    }
  });

  it("lists the kubeconfigs that changed, since static pods read two of them at their start", () => {
    controlPlane(OLD);
    run("install_configuration");
    const changed = run("list_changed_files").stdout.replaceAll(`${machine.root}/etc/kubernetes/`, "");
    assert.deepEqual(
      changed.trim().split("\n"),
      names.map((name) => `${name}.conf`),
    );
  });

  it("ends a change that was killed between two files, and goes back to the files from before it", () => {
    controlPlane(OLD);
    run("install_configuration");
    machine.write("/etc/kubernetes/kubelet.conf", kubeconfig(OLD), 0o600);
    run("install_configuration");
    assert.equal(serverOf("kubelet"), NEW);
    run("restore_configuration");
    assert.deepEqual(
      names.map((name) => serverOf(name)),
      names.map(() => OLD),
    );
  });

  it("leaves other addresses alone, and everything as long as the endpoint has never changed", () => {
    machine.write("/etc/kubernetes/kubelet.conf", kubeconfig("127.0.0.1:6443"));
    assert.equal(run("install_configuration").status, 0);
    assert.equal(serverOf("kubelet"), "127.0.0.1:6443");
    machine.write("/etc/kubernetes/kubelet.conf", kubeconfig(OLD));
    assert.equal(run("install_configuration", []).status, 0);
    assert.equal(serverOf("kubelet"), OLD);
    assert.equal(existsSync(machine.path("/calls")), false);
  });
});

describe("the question whether a machine can move to another endpoint", () => {
  const machine = new ShellMachine();
  machine.write("/etc/kubernetes/kubelet.conf", kubeconfig(OLD));
  const asked = (curl: string) => {
    machine.program("curl", curl);
    machine.write("/run/here", "");
    const parameters = { ...{ MACHINE: "w-1", OWNER: "" }, ENDPOINT: NEW };
    const { stdout, stderr, status } = machine.step("endpoint/endpoint-facts", parameters, [
      "common/authority",
    ]);
    assert.deepEqual([stderr, status], ["", 0]);
    assert.deepEqual(readdirSync(machine.path("/run")), ["here"]);
    return parseEndpointFacts(stdout);
  };
  const cases: [string, string, object][] = [
    ["a ready API server", "printf 200", {}],
    ["one that admits no anonymous requests", "printf 401", {}],
    ["a load balancer without servers", "printf 503", { unreached: "it answers with status 503" }],
    [
      "another authority",
      "printf 000; echo 'curl: (60) self-signed' >&2; exit 60",
      { unreached: "curl: (60) self-signed" },
    ],
  ];
  for (const [what, curl, facts] of cases)
    it(`is answered for ${what}`, () => {
      assert.deepEqual(asked(curl), facts);
    });

  it("gives curl the cluster's authority, and no proxy", () => {
    const { unreached } = asked(`
[[ " $* " == *" --noproxy * "* && "$*" == *"https://${NEW}/readyz" ]] || exit 3
while [ $# -gt 1 ] && [ "$1" != --cacert ]; do shift; done; cat "$2" >&2; exit 1`);
    assert.equal(unreached, "CA");
  });

  it("asks a control plane for its own certificate and for kube-proxy, too", () => {
    machine.write("/etc/kubernetes/manifests/kube-apiserver.yaml", "");
    machine.program("kubectl", "echo daemonset.apps/kube-proxy");
    const curl = `case "$*" in *" --connect-to ::127.0.0.1:6443 "*) echo no name >&2; exit 60 ;; *) printf 200 ;; esac`;
    assert.deepEqual(asked(curl), { unnamed: "no name", hasKubeProxy: true });
    machine.program("kubectl", "");
    assert.deepEqual(asked("printf 200"), { hasKubeProxy: false });
    machine.program("kubectl", "exit 1");
    assert.deepEqual(asked("printf 200"), {});
  });
});

describe("the step that moves the cluster's own objects to another endpoint", () => {
  const machine = new ShellMachine();
  const object = (name: string) => readFileSync(machine.path(`/run/${name}`), "utf8");
  // a file for each ConfigMap: its text, or the patch that replaced it
  machine.program(
    "kubectl",
    `${LOCAL_KUBECTL}
echo "$*" >>${machine.path("/calls")}
args=$*; name=\${args#*configmap }; file="${machine.path("/run")}/\${name%% *}"
case "$*" in
*"get configmap "*) cat "$file" ;;
*"patch configmap "*) sed -n 's/^    //p' "\${@: -1}" >"$file.new"; head -n 2 "\${@: -1}" >"$file.key"; mv "$file.new" "$file" ;;
*"get daemonset "*jsonpath*) ;;
*"get daemonset "*) [ ! -e "${machine.path("/run")}/kube-proxy" ] || echo daemonset.apps/kube-proxy ;;
esac`,
  );
  const move = () => {
    machine.write("/calls", "");
    machine.write("/run/foresail-step/here", "");
    return machine.step(
      "endpoint/move-endpoint",
      {
        MACHINE: "cp-1",
        ...{ ENDPOINT: NEW, FORMER_ENDPOINTS: [OLD] },
      },
      ["common/moved-endpoint", "common/plain-yaml", "common/kube-proxy"],
    );
  };
  const restarts = () => object("../calls").match(/restartedAt/g)?.length ?? 0;
  const cluster = (endpoint: string) =>
    `apiServer: {}\nclusterName: controlPlaneEndpoint\n${endpoint}kind: ClusterConfiguration\n`;
  const config = (server: string) => `${kubeconfig(server)}kind: Config\n`;
  const asFlow = (text: string) => JSON.stringify(parse(text));
  const quoted = (text: string) =>
    text.replace(/(server|controlPlaneEndpoint): (.*)/g, "'$1':   '$2' # ours");

  for (const [what, before, form] of [
    ["after another one", `controlPlaneEndpoint: ${OLD}\n`, String],
    ["after one in quotes", 'controlPlaneEndpoint: "lb-1.example.org"\n', String],
    ["after none", "", String],
    ["in JSON", `controlPlaneEndpoint: ${OLD}\n`, asFlow],
    ["with quotes and comments", `controlPlaneEndpoint: ${OLD}\n`, quoted],
  ] as const)
    it(`writes kubeadm-config, cluster-info and kube-proxy's configuration, ${what}`, () => {
      machine.write("/run/kubeadm-config", form(cluster(before)));
      machine.write("/run/cluster-info", form(config(OLD)));
      machine.write("/run/kube-proxy", form(config(OLD)));
      for (let round = 1; round <= 2; round++) {
        const { stdout, stderr, status } = move();
        assert.deepEqual([stdout, stderr, status], ["", "", 0]);
        assert.deepEqual(parse(object("kubeadm-config")), {
          ...{ apiServer: {}, clusterName: "controlPlaneEndpoint", kind: "ClusterConfiguration" },
          controlPlaneEndpoint: NEW,
        });
        for (const name of ["cluster-info", "kube-proxy"])
          assert.deepEqual(parse(object(name)), parse(config(NEW)));
        assert.equal(object("kube-proxy.key"), "data:\n  kubeconfig.conf: |\n");
        // a kill may have come between the two
        assert.equal(restarts(), 1);
      }
      assert.doesNotMatch(object("../calls"), / patch configmap /);
    });

  it("refuses a kubeadm-config that it can't change, before it writes anything", () => {
    machine.write("/run/kubeadm-config", "no: kind\n");
    const { stdout, status } = move();
    assert.equal(status, 65);
    assert.match(stdout, /^cp-1: the ConfigMap kubeadm-config has no form.*Object 'Kind' is missing/);
    assert.doesNotMatch(object("../calls"), / patch /);
  });

  it("refuses a cluster-info whose former address it can't replace", () => {
    machine.write("/run/kubeadm-config", cluster(""));
    const text = config(OLD).replace("server:", `note: https://${OLD}\n    server:`);
    machine.write("/run/cluster-info", text);
    const { stdout, status } = move();
    assert.equal(status, 65);
    assert.match(stdout, /^cp-1: the ConfigMap cluster-info has no form/m);
    assert.equal(object("cluster-info"), text);
  });
});
