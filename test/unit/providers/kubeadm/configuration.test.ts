import assert from "node:assert/strict";
import fc from "fast-check";
import {
  configurationChange,
  configurationVersions,
  changesCertificate,
  changesEtcd,
  changesKubeadm,
  completedVersion,
  drainsFor,
  preparedVersion,
} from "../../../../providers/kubeadm/plan/configuration/configuration";
import { rolledConfiguration } from "../../../../providers/kubeadm/plan/configuration/rolled-configuration";
import { refuseSpecificationChange } from "../../../../providers/kubeadm/plan/configuration/immutables";
import type { ClusterSpecification } from "../../../../providers/kubeadm/plan/cluster/specification";
import { formatPath } from "../../../../lib/validation/validation-issue";
import { exampleSpecification } from "./machine/examples";

type Change = Partial<ClusterSpecification>;

const running = exampleSpecification();
const file = { path: "/etc/kubernetes/audit/policy.yaml", content: "rules: []", mode: "0600" };
const withAudit = (value: string): Change => ({
  kubeadm: {
    clusterConfiguration: { apiServer: { extraArgs: [{ name: "audit-policy-file", value }] } },
  },
});
const withEtcd = (name: string, value = "1", list = "extraArgs"): Change => ({
  kubeadm: { clusterConfiguration: { etcd: { local: { [list]: [{ name, value }] } } } },
});
const withNames = (...certSANs: string[]): Change => ({
  kubeadm: { clusterConfiguration: { apiServer: { certSANs } } },
});
const changed = (change: Change, olds = running) => configurationChange(olds, { ...olds, ...change });

/** Which parts of the versions a change changes: a worker has no static pods. */
const partsOf = (change: Change) => {
  const [before, after] = [configurationVersions(running), configurationVersions({ ...running, ...change })];
  const differing = (role: "worker" | "control-plane") =>
    before[role].split(".").map((part, index) => (part === after[role].split(".")[index] ? "-" : "x"));
  return { worker: differing("worker").join(""), "control-plane": differing("control-plane").join("") };
};

describe("the configuration of nodes", () => {
  const none = { upload: false, kubeProxy: false };
  const cases: [Change, string, string[], object, string][] = [
    [{ files: [file] }, "x-", ["files"], none, "x--"],
    [{ caBundle: "PEM" }, "x-", ["caBundle"], none, "x--"],
    [{ proxy: { http: "http://p:3128", noProxy: [] } }, "x-", ["proxy"], none, "x--"],
    [
      { registryMirrors: { "docker.io": ["https://m"] } },
      "x-",
      ['registries.mirrors["docker.io"]'],
      none,
      "x--",
    ],
    [{ kubelet: { maxPods: 9 } }, "-x", ["kubelet.maxPods"], { ...none, upload: true }, "-x-"],
    [
      withAudit("/a"),
      "--",
      ["kubeadm.clusterConfiguration.apiServer.extraArgs"],
      { ...none, upload: true },
      "--x",
    ],
    [
      withEtcd("quota-backend-bytes"),
      "--",
      ["kubeadm.clusterConfiguration.etcd.local.extraArgs"],
      { ...none, upload: true },
      "---",
    ],
    [
      withNames("api.example.org"),
      "--",
      ["kubeadm.clusterConfiguration.apiServer.certSANs"],
      { ...none, upload: true },
      "--x",
    ],
    [{ certificateNames: ["api.example.org"] }, "--", ["certificateNames"], { ...none, upload: true }, "---"],
    [{ kubeProxy: { mode: "nftables" } }, "--", ["kubeProxy.mode"], { ...none, kubeProxy: true }, "---"],
  ];
  for (const [change, worker, paths, own, controlPlane] of cases)
    it(`gets ${JSON.stringify(change)}`, () => {
      assert.deepEqual(partsOf(change), { worker, "control-plane": controlPlane });
      const found = changed(change);
      assert.deepEqual(found?.paths.map(formatPath), paths);
      assert.deepEqual({ upload: found?.upload, kubeProxy: found?.kubeProxy }, own);
    });

  it("has a version for each part: files and containerd, the kubelet, and a control plane's static pods", () => {
    const versions = configurationVersions(running);
    assert.match(versions["control-plane"], /^[0-9a-f]{6}(\.[0-9a-f]{6}){2}$/);
    assert.equal(versions["control-plane"].startsWith(`${versions.worker}.`), true);
    assert.equal(versions.worker.startsWith(`${preparedVersion(running, "worker")}.`), true);
  });

  it("drains a node for another kubelet configuration alone", () => {
    assert.equal(drainsFor("a.b", "a.c"), true);
    assert.equal(drainsFor("a.b.c", "a.x.c"), true);
    assert.equal(drainsFor("a.b", "x.b"), false);
    assert.equal(drainsFor("a.b.c", "a.b.x"), false);
    assert.equal(drainsFor("unknown", "a.b"), true);
  });

  it("concerns kubeadm unless files and containerd's settings alone change", () => {
    assert.equal(changesKubeadm("a.b", "x.b"), false);
    assert.equal(changesKubeadm("a.b.c", "x.b.c"), false);
    assert.equal(changesKubeadm("a.b", "a.x"), true);
    assert.equal(changesKubeadm("a.b.c", "a.b.x"), true);
    assert.equal(changesKubeadm("unknown", "a.b"), true);
  });

  it("is one that state of older releases has no field of", () => {
    const older = { ...running } as Partial<ClusterSpecification>;
    for (const field of ["kubelet", "kubeProxy", "kubeadm", "files", "registryMirrors"] as const)
      delete older[field];
    assert.deepEqual(configurationVersions(older as ClusterSpecification), configurationVersions(running));
    assert.equal(configurationChange(older as ClusterSpecification, running), undefined);
  });

  it("rolls out from its first change on, also back to what it was", () => {
    const news = { ...running, files: [file] };
    assert.equal(rolledConfiguration({}, running), undefined, "a new cluster");
    assert.equal(
      rolledConfiguration({ specification: running }, { ...running, version: "1.36.4" }),
      undefined,
    );
    const first = rolledConfiguration({ specification: running }, news);
    assert.deepEqual(first, { baseline: configurationVersions(running), removed: [] });
    const back = rolledConfiguration({ specification: news, configuration: first }, running);
    assert.deepEqual(back, { baseline: configurationVersions(running), removed: [file.path] });
    const again = rolledConfiguration({ specification: running, configuration: back }, news);
    assert.deepEqual(again?.removed, [], "a file that is configured again");
  });

  it("names the roles that no change has concerned yet, and none of them again when it is taken back", () => {
    const news = { ...running, ...withEtcd("quota-backend-bytes", "4294967296") };
    const first = rolledConfiguration({ specification: running }, news);
    assert.deepEqual(first?.unchanged, ["worker"]);
    const back = rolledConfiguration({ specification: news, configuration: first }, running);
    assert.deepEqual(back?.unchanged, ["worker"]);
    const both = rolledConfiguration(
      { specification: running, configuration: back },
      { ...running, files: [file] },
    );
    assert.equal(both?.unchanged, undefined);
    const again = rolledConfiguration(
      { specification: { ...running, files: [file] }, configuration: both },
      running,
    );
    assert.equal(again?.unchanged, undefined, "machines may still have the file");
  });

  describe("with other settings of etcd", () => {
    const news = { ...running, ...withEtcd("quota-backend-bytes", "4294967296") };
    const first = rolledConfiguration({ specification: running }, news)!;

    it("has a fourth part on control planes from their first change on", () => {
      const [before, after] = [configurationVersions(running), configurationVersions(news, first)];
      assert.match(first.baseline["control-plane"], /^[0-9a-f]{6}(\.[0-9a-f]{6}){3}$/);
      assert.equal(first.baseline["control-plane"].startsWith(before["control-plane"]), true);
      assert.deepEqual([first.baseline.worker, after.worker], [before.worker, before.worker]);
      assert.equal(after["control-plane"].startsWith(`${before["control-plane"]}.`), true);
      assert.equal(changesEtcd(first.baseline["control-plane"], after["control-plane"]), true);
      assert.equal(changesEtcd("a.b.c", "a.x.c"), false);
      assert.equal(drainsFor(first.baseline["control-plane"], after["control-plane"]), false);
    });

    it("keeps the versions of a cluster that has such settings and changes others", () => {
      const file2 = { ...news, files: [file] };
      const rolled = rolledConfiguration({ specification: news }, file2);
      assert.deepEqual(rolled?.baseline, configurationVersions(running));
      const older = { specification: file2, configuration: rolled };
      assert.deepEqual(rolledConfiguration(older, file2), rolled);
      assert.deepEqual(
        configurationVersions(file2, rolled),
        configurationVersions({ ...running, files: [file] }),
      );
    });

    it("completes the versions of nodes that have none of etcd, also when it goes back", () => {
      const back = rolledConfiguration({ specification: news, configuration: first }, running)!;
      assert.deepEqual(back, first);
      const desired = configurationVersions(running, back)["control-plane"];
      const reported = configurationVersions(running)["control-plane"];
      assert.equal(completedVersion(reported, back.baseline["control-plane"]), desired);
      assert.equal(completedVersion("a.b.c.d", back.baseline["control-plane"]), "a.b.c.d");
    });
  });

  describe("with other names in the API servers' certificates", () => {
    const news = { ...running, ...withNames("b.example.org", "a.example.org") };
    const rolled = rolledConfiguration({ specification: running }, news)!;
    const versionOf = (specification: ClusterSpecification, configuration = rolled) =>
      configurationVersions(specification, configuration)["control-plane"];

    it("has a fifth part on control planes from their first change on, and leaves etcd's as it is", () => {
      const before = rolled.baseline["control-plane"];
      assert.match(before, /^[0-9a-f]{6}(\.[0-9a-f]{6}){4}$/);
      assert.deepEqual(rolled.baseline.worker, configurationVersions(running).worker);
      assert.equal(changesCertificate(before, versionOf(news)), true);
      assert.equal(changesEtcd(before, versionOf(news)), false);
      assert.equal(drainsFor(before, versionOf(news)), false);
      assert.equal(changesCertificate("a.b.c.d", "a.b.c.x"), false);
    });

    it("keeps the version of a cluster that has names and changes other settings", () => {
      const other = rolledConfiguration({ specification: news }, { ...news, files: [file] });
      assert.deepEqual(other, { baseline: configurationVersions(news), removed: [] });
      assert.match(other.baseline["control-plane"], /^[0-9a-f]{6}(\.[0-9a-f]{6}){2}$/);
    });

    it("has one version for the same names, in whichever field and order", () => {
      const certificateNames = ["a.example.org"];
      const olds = { ...running, ...withNames("b.example.org"), certificateNames };
      const [one, other] = [news, olds].map((specification) => versionOf(specification));
      assert.equal(changesCertificate(one!, other!), false);
    });

    it("remembers the names that go away, until they come back", () => {
      assert.equal("removedNames" in rolled, false);
      const less = { ...running, ...withNames("b.example.org") };
      const fewer = rolledConfiguration({ specification: news, configuration: rolled }, less);
      assert.deepEqual(fewer?.removedNames, ["a.example.org"]);
      const none = rolledConfiguration({ specification: less, configuration: fewer }, running);
      assert.deepEqual(none?.removedNames, ["a.example.org", "b.example.org"]);
      const back = rolledConfiguration({ specification: running, configuration: none }, news);
      assert.deepEqual(back, rolled);
    });
  });

  it("removes the mirrors of a registry that has none any more", () => {
    const olds = { ...running, registryMirrors: { "docker.io": ["https://m"] } };
    assert.deepEqual(rolledConfiguration({ specification: olds }, running)?.removed, [
      "/etc/containerd/certs.d/docker.io/hosts.toml",
    ]);
  });

  const maps = fc.dictionary(fc.constantFrom("a", "b", "etcd", "apiServer", "data-dir"), fc.string(), {
    maxKeys: 3,
  });
  const fields = {
    etcdArguments: (value: object) => ({
      kubeadm: {
        clusterConfiguration: {
          etcd: {
            local: {
              extraArgs: Object.entries(value).map(([name, text]) => ({ name, value: text as string })),
            },
          },
        },
      },
    }),
    kubelet: (value: object) => ({ kubelet: value }),
    kubeProxy: (value: object) => ({ kubeProxy: value }),
    clusterConfiguration: (value: object) => ({ kubeadm: { clusterConfiguration: value } }),
    initConfiguration: (value: object) => ({ kubeadm: { initConfiguration: value } }),
    apiServer: (value: object) => ({ kubeadm: { clusterConfiguration: { apiServer: value } } }),
    names: (value: object) => withNames(...Object.entries(value).map(String).sort()),
    imageRepository: (value: object) => ({ imageRepository: JSON.stringify(value) }),
    caBundle: (value: object) => ({ caBundle: JSON.stringify(value) }),
    files: (value: object) => ({ files: [{ ...file, content: JSON.stringify(value) }] }),
  };
  it("gets every change, unless that is refused: none is only recorded", () => {
    const names = Object.keys(fields) as (keyof typeof fields)[];
    fc.assert(
      fc.property(maps, maps, fc.constantFrom(...names), (before, after, name) => {
        const olds = { ...running, ...(fields[name](before) as Change) };
        const news = { ...running, ...(fields[name](after) as Change) };
        const isSame = isEqual(before, after);
        const isHandled =
          configurationChange(olds, news) !== undefined || refuseSpecificationChange(olds, news).length > 0;
        assert.equal(isHandled, !isSame);
      }),
    );
  });
});

const isEqual = (one: object, other: object) =>
  JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort());
