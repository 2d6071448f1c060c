import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { registryCredentialsToml } from "../../../../../providers/kubeadm/machine/parameters";
import { hostsToml, type Registries } from "../../../../../providers/kubeadm/plan/configuration/registries";
import { pathsWritten } from "../../../../../providers/kubeadm/plan/configuration/rolled-configuration";
import { prepareScript } from "../../../../../providers/kubeadm/machine/steps";
import { exampleMachine, exampleSpecification } from "./examples";
import { CONTAINERD_FUNCTIONS, containerdProgram, ShellMachine } from "./run-shell";

const backends = [{ name: "cp-1", address: "10.0.0.11" }];

describe("containerd's configuration on a machine", () => {
  it("has mirrors, credentials, and systemd's cgroups unless the kubelet uses others", () => {
    for (const [cgroupDriver, expected] of [
      [undefined, true],
      ["cgroupfs", false],
    ] as const) {
      const specification = exampleSpecification({ kubelet: cgroupDriver ? { cgroupDriver } : {} });
      const { text } = prepareScript(specification, exampleMachine("w-1"), backends);
      const SYSTEMD_CGROUP = /^SYSTEMD_CGROUP='(.*)'$/m.exec(text)?.[1] ?? "";
      const machine = new ShellMachine();
      machine.program("containerd", containerdProgram(machine.root));
      machine.program("kubeadm", 'echo "images $*" >&2; echo r.example.com/pause:3.10');
      machine.program("ctr", 'echo ctr "$*"');
      const calls = machine.path("/systemctl-calls");
      machine.program("systemctl", `[ "$1" = show ] || echo "$*" >>${calls}`);
      machine.write("/run/none", "");
      const parameters = {
        VERSION: "1.36.3",
        IMAGE_REPOSITORY: "r.example.com",
        SYSTEMD_CGROUP,
        REGISTRIES: ["docker.io"],
        REGISTRY_HOSTS: ["server\n"],
      };
      const commands =
        "in_container=no restart_containerd=no; exec 5<<<'credentials'; configure_containerd\n" +
        "exec 5<<<'credentials'; configure_containerd";
      const { stdout, stderr } = machine.run(
        { "common/settings": "all", "common/preparation": ["note"], ...CONTAINERD_FUNCTIONS },
        parameters,
        commands,
      );
      // the second time, nothing changes
      const noted = "== did file /etc/containerd/config.toml\n";
      assert.deepEqual([stdout.replaceAll(machine.root, ""), stderr], [noted, ""]);
      const restart = ["daemon-reload", "enable --quiet containerd", "restart containerd"];
      const made = readFileSync(calls, "utf8").trim().split("\n");
      assert.deepEqual(made, [...restart, "is-active --quiet containerd"]);
      assert.equal(
        readFileSync(machine.path("/etc/containerd/config.toml"), "utf8").replaceAll(machine.root, ""),
        `  sandbox_image = "r.example.com/pause:3.10"\n  [p.registry]\n  config_path = "/etc/containerd/certs.d"\n  [p.runtimes.runc]\n` +
          `  runtime_type = "io.containerd.runc.v2"\n  [p.runtimes.runc.options]\n            SystemdCgroup = ${expected}\ncredentials\n`,
      );
      const hosts = machine.path("/etc/containerd/certs.d/docker.io/hosts.toml");
      assert.equal(readFileSync(hosts, "utf8"), "server\n");
    }
  });

  it("is refused with systemd's reason, when systemd does not start containerd with it", () => {
    const machine = new ShellMachine();
    machine.program("containerd", containerdProgram(machine.root));
    machine.program("kubeadm", "echo r.example.com/pause:3.10");
    machine.program(
      "systemctl",
      'case $* in restart*) echo "Job failed"; exit 1 ;; *ActiveState*) printf "ActiveState=failed\\nSubState=failed\\nNRestarts=3\\n" ;; esac',
    );
    const lines = [
      "1 host systemd[1]: containerd.service: Main process exited, code=exited, status=1/FAILURE",
      "1 host containerd[9]: no such plugin",
    ];
    machine.program("journalctl", `printf '%s\\n' ${lines.map((each) => `'${each}'`).join(" ")}`);
    machine.write("/run/none", "");
    const parameters = {
      ...{ VERSION: "1.36.3", IMAGE_REPOSITORY: "r.example.com", SYSTEMD_CGROUP: "true" },
      ...{ REGISTRIES: [], REGISTRY_HOSTS: [] },
    };
    const { stdout, status } = machine.run(
      { "common/settings": "all", "common/preparation": ["note"], ...CONTAINERD_FUNCTIONS },
      parameters,
      "in_container=no restart_containerd=no; exec 5<<<''; configure_containerd",
    );
    assert.equal(status, 65);
    assert.match(
      stdout,
      /systemd does not start containerd \(.*status=1\/FAILURE.*; its last words: no such plugin\)/,
    );
  });

  it("uses the path of a mirror below /v2 as it is", () => {
    const isOverridden = (mirror: string) =>
      hostsToml("docker.io", { registryMirrors: { "docker.io": [mirror] } }).includes("override_path = true");
    assert.deepEqual(
      [
        "https://harbor.example.com/v2/dockerhub",
        "https://m.example.com",
        "https://m.example.com/v2",
        "https://m.example.com/v2/",
        "https://m.example.com/repository/docker",
      ].map(isOverridden),
      [true, false, false, false, false],
    );
  });

  it("may be of a registry with the name of what every object inherits", () => {
    assert.equal(
      hostsToml("constructor", {
        registryMirrors: {},
        registryServers: { constructor: "https://r.example.com" },
      }),
      `server = "https://r.example.com"\n\n[host."https://r.example.com"]\n  capabilities = ["pull", "resolve"]\n`,
    );
  });

  it("has the settings of each mirror and server, whether a registry has mirrors or not", () => {
    const [harbor, own] = ["https://harbor.example.com/dockerhub/v2/cache", "http://r.example.com:5000"];
    const registries: Registries = {
      registryMirrors: { "docker.io": [harbor, "https://m.example.com"] },
      registryServers: { "docker.io": "https://m.example.com", "r.example.com:5000": own },
      registryHosts: {
        [harbor]: {
          overridePath: true,
          skipVerify: true,
          ca: ["/etc/ssl/harbor.crt"],
          header: { "X-Site": 'a "b"', "X-Other": "c" },
        },
        "https://m.example.com": { capabilities: ["pull"] },
      },
    };
    assert.equal(
      hostsToml("docker.io", registries),
      `server = "https://m.example.com"
capabilities = ["pull"]

[host."${harbor}"]
  capabilities = ["pull", "resolve"]
  override_path = true
  skip_verify = true
  ca = ["/etc/ssl/harbor.crt"]
  header = { "X-Site" = "a \\"b\\"", "X-Other" = "c" }

[host."https://m.example.com"]
  capabilities = ["pull"]
`,
    );
    assert.equal(
      hostsToml("r.example.com:5000", registries),
      `server = "${own}"\n\n[host."${own}"]\n  capabilities = ["pull", "resolve"]\n`,
    );
    assert.deepEqual(pathsWritten({ files: [], ...registries }), [
      "/etc/containerd/certs.d/docker.io/hosts.toml",
      "/etc/containerd/certs.d/r.example.com:5000/hosts.toml",
    ]);
  });

  it("has credentials of docker.io for the host that containerd asks", () => {
    const own = { username: "u", password: "p" };
    const hostsOf = (credentials: Parameters<typeof registryCredentialsToml>[0]) =>
      [
        ...registryCredentialsToml(credentials).matchAll(/configs\."([^"]*)"\.auth.*\n.*username = "(.*)"/g),
      ].map(([, host, user]) => [host, user]);
    assert.deepEqual(hostsOf({ "docker.io": own, "r.example.com": own }), [
      ["r.example.com", "u"],
      ["registry-1.docker.io", "u"],
    ]);
    const both = { "docker.io": own, "registry-1.docker.io": { username: "v", password: "p" } };
    assert.deepEqual(hostsOf(both), [["registry-1.docker.io", "v"]]);
  });

  it("has registry mirrors and credentials in the form of containerd", () => {
    assert.equal(
      hostsToml("docker.io", { registryMirrors: { "docker.io": ["https://m.example.com"] } }),
      'server = "https://registry-1.docker.io"\n\n[host."https://m.example.com"]\n  capabilities = ["pull", "resolve"]\n',
    );
    assert.equal(
      hostsToml("_default", { registryMirrors: { _default: ["https://m.example.com"] } }),
      '\n[host."https://m.example.com"]\n  capabilities = ["pull", "resolve"]\n',
    );
    assert.equal(
      registryCredentialsToml({ "r.example.com": { username: "u", password: 'p"w' } }),
      '[plugins."io.containerd.grpc.v1.cri".registry.configs."r.example.com".auth]\n  username = "u"\n  password = "p\\"w"\n',
    );
  });
});
