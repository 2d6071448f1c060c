import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { machineReadingScript } from "../../../../../providers/kubeadm/machine/facts/machine-reading";
import { findingsOf } from "../../../../../providers/kubeadm/plan/facts/table";
import { exampleSpecification } from "./examples";
import { readableMachine as machine, readMachine as read, wanted } from "./read-machine";

describe("the reading of a machine", () => {
  it("answers what the machine's programs and files say, each fact by its name", () => {
    const { facts } = read(machine());
    const said = (name: string) => facts.get(name);
    assert.match(said("refusal.system") ?? "", /^cp-1: runs rocky 9; foresail supports Debian 12/);
    assert.deepEqual(
      ["machineId", "hostName", "kernel", "processors", "timeSync", "ufw", "holds", "halfInstalled"].map(
        said,
      ),
      ["abc", "host-1", "6.1.0", "1", "no", "Status: active", "conntrack", "halfway"],
    );
    assert.match(said("laterSettings") ?? "", /^\S*99-hardening\.conf:net\.ipv4\.ip_forward = 0$/);
    assert.equal(said("distributions"), "k3s");
    assert.equal(said("listening"), "tcp 0.0.0.0:10250 kubelet");
    assert.match(said("mounts") ?? "", /^\/etc 40000 500000 ext4 rw,noexec$/m);
    assert.match(said("modules") ?? "", /^(overlay|br_netfilter) (missing|loaded)$/m);
    assert.equal(said("nameServers"), "127.0.0.1");
    assert.match(said("packages") ?? "", /^containerd 1\.2-3\n.*socat \n/s);
    assert.equal(said("cloudInit"), "running");
    assert.equal(said("bundle"), "missing");
    assert.equal(said("automaticReboots"), '"true"');
  });

  it("asks the repository for its versions, and pages for their status", () => {
    const source = { packages: { repository: "https://packages.example.com/v{minor}/deb/" } };
    const { facts } = read(machine(), { specification: exampleSpecification({ source }) });
    assert.equal(facts.get("repositoryVersions"), "kubeadm 1.36.3-1.1");
    assert.deepEqual([facts.get("page.repository"), facts.get("page.registry")], ["403", "403"]);
  });

  it("is what the table refuses a machine by", () => {
    const found = findingsOf([
      { ...wanted(), specification: exampleSpecification(), reading: read(machine()) },
    ]).map(({ name }) => name);
    for (const name of [
      "operating system",
      "processors",
      "ports of a node",
      "another distribution of Kubernetes",
    ])
      assert.ok(found.includes(name), `${name} in ${found.join(", ")}`);
  });

  it("lists what the preparation changes: the same files that it would write, and no more", () => {
    const host = machine();
    const kinds = (name: string) =>
      (read(host).facts.get("due") ?? "")
        .replaceAll(host.root, "")
        .split("\n")
        .filter((line) => line.startsWith(`${name} `))
        .map((line) => line.slice(name.length + 1));
    assert.deepEqual(kinds("package").slice(0, 3), ["containerd", "conntrack", "socat"]);
    assert.deepEqual(kinds("program"), ["kubeadm", "kubelet", "kubectl"]);
    const files = [
      "/etc/systemd/system/kubelet.service.d/00-foresail-environment.conf",
      "/etc/modules-load.d/foresail.conf",
      "/etc/sysctl.d/90-foresail.conf",
      "/etc/systemd/system/kubelet.service",
      "/etc/containerd/config.toml",
      "/etc/systemd/system/foresail-endpoint.service",
      "/etc/foresail/haproxy.cfg",
      "/usr/local/lib/foresail/bridge",
      "/etc/systemd/system/foresail-bridge.service",
    ];
    assert.deepEqual(kinds("file"), files);
    host.write("/etc/modules-load.d/foresail.conf", "overlay\nbr_netfilter\n");
    host.write("/etc/containerd/config.toml", "version = 2\n");
    host.write("/etc/apt/apt.conf.d/90foresail-proxy", "of an earlier cluster\n");
    assert.deepEqual(
      kinds("file"),
      files.filter((path) => !/modules-load|containerd/.test(path)),
    );
    assert.deepEqual(kinds("replaced"), ["/etc/containerd/config.toml"]);
    assert.deepEqual(kinds("removed"), ["/etc/apt/apt.conf.d/90foresail-proxy"]);
  });

  it("gets sums of the user's files, not their contents, and reads no pipe", () => {
    const host = machine();
    const contents = ["token: one\n", "token: two", "token: three\n", "token: four\n"];
    const files = contents.map((content, at) => ({ path: `/etc/own/${at}`, mode: "0600", content }));
    const specification = exampleSpecification({ files });
    const script = machineReadingScript(wanted({ specification }));
    assert.doesNotMatch(script.text, /token: /);
    host.write("/etc/own/0", "token: one\n");
    host.write("/etc/own/1", "token: else\n");
    execFileSync("mkfifo", [host.path("etc/own/2")]);
    symlinkSync("0", host.path("etc/own/3"));
    const own = (read(host, { specification }).facts.get("due") ?? "").replaceAll(host.root, "").split("\n");
    assert.deepEqual(
      own.filter((line) => line.includes("/etc/own/")),
      ["replaced /etc/own/1", "replaced /etc/own/2", "replaced /etc/own/3"],
    );
  });

  it("is short on a member, and on a prepared machine", () => {
    const host = machine();
    host.write("/var/lib/foresail/prepared", "x");
    const prepared = read(host).facts;
    assert.deepEqual([prepared.get("prepared"), prepared.get("listening")], ["yes", undefined]);
    host.write("/var/lib/foresail/member", "x");
    assert.deepEqual([...read(host).facts.keys()], ["clock", "member"]);
  });

  it("changes nothing on the machine", () => {
    const host = machine();
    const files = () =>
      spawnSync("find", [host.root, "-newermt", "@0", "-printf", "%p %T@ %s\\n"], { encoding: "utf8" })
        .stdout;
    const before = files();
    read(host);
    assert.equal(files(), before);
  });

  it("answers in time when a page, a neighbor and the packages do not", () => {
    const host = machine();
    host.program("curl", "sleep 30");
    host.program("apt-get", "sleep 30");
    const started = Date.now();
    const { facts } = read(host, { neighbors: ["cp-2 192.0.2.1 22"] });
    assert.ok(Date.now() - started < 9000, String(Date.now() - started));
    assert.equal(facts.get("refusal.installation"), undefined);
  });
});
