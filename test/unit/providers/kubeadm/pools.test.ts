import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import {
  initConfiguration,
  joinConfiguration,
} from "../../../../providers/kubeadm/machine/configuration/configuration";
import { agentParameters } from "../../../../providers/kubeadm/machine/steps";
import { KUBELET_PATCH, memberOf, specificationOf } from "../../../../providers/kubeadm/plan/cluster/pools";
import type {
  ClusterSpecification,
  PoolSettings,
} from "../../../../providers/kubeadm/plan/cluster/specification";
import {
  configurationChange,
  configurationVersions,
  drainsFor,
  kubeadmVersion,
  versionFor,
} from "../../../../providers/kubeadm/plan/configuration/configuration";
import {
  pathsToRemove,
  pathsWritten,
  rolledConfiguration,
} from "../../../../providers/kubeadm/plan/configuration/rolled-configuration";
import { stagedOn, withConfiguration } from "../../../../providers/kubeadm/plan/rollout/node-agents";
import { poolSettingIssues } from "../../../../providers/kubeadm/plan/validation/pools";
import { formatPath } from "../../../../lib/validation/validation-issue";
import { exampleMachine, exampleSpecification } from "./machine/examples";

const file = (path: string, content = "cluster\n") => ({ path, content, mode: "0644" });
const base = exampleSpecification({
  kubelet: { maxPods: 110, evictionHard: { "memory.available": "200Mi" }, allowedUnsafeSysctls: ["net.*"] },
  files: [file("/etc/motd"), { ...file("/etc/audit"), role: "control-plane" }],
  registryMirrors: { "docker.io": ["https://mirror"], "quay.io": ["https://quay"] },
});
const withPools = (pools: Record<string, PoolSettings>): ClusterSpecification => ({ ...base, pools });
const PATCH = `/etc/kubernetes/patches/${KUBELET_PATCH}`;

describe("settings of a pool", () => {
  const gpu: PoolSettings = {
    kubelet: { maxPods: 40, evictionHard: { "nodefs.available": "5%" }, allowedUnsafeSysctls: ["kernel.*"] },
    files: [file("/etc/motd", "gpu\n"), file("/etc/sysctl.d/60-gpu.conf", "vm.swappiness = 1\n")],
    registryMirrors: { "docker.io": ["https://near"] },
  };
  const own = specificationOf(withPools({ gpu }), memberOf("gpu"));

  it("are over those of the cluster: maps by field, lists as a whole, files by path, mirrors by registry", () => {
    assert.deepEqual(own.kubelet, {
      maxPods: 40,
      evictionHard: { "memory.available": "200Mi", "nodefs.available": "5%" },
      allowedUnsafeSysctls: ["kernel.*"],
    });
    const texts = own.files.map(({ path, content }) => [path, content]);
    assert.deepEqual(texts.slice(0, 3), [
      ["/etc/audit", "cluster\n"],
      ["/etc/motd", "gpu\n"],
      ["/etc/sysctl.d/60-gpu.conf", "vm.swappiness = 1\n"],
    ]);
    assert.deepEqual(own.registryMirrors, { "docker.io": ["https://near"], "quay.io": ["https://quay"] });
  });

  it("reach the kubelet as a patch of kubeadm, beside the patches that the cluster has", () => {
    const patch = own.files.find(({ path }) => path === PATCH);
    assert.deepEqual(JSON.parse(patch?.content ?? ""), gpu.kubelet);
    const patched = {
      ...withPools({ gpu, "control-plane": { kubelet: { maxPods: 30 } } }),
      kubeadm: { joinConfiguration: { patches: { directory: "/etc/patches-of-join" } } },
    };
    const pathsOf = (group: string) => pathsWritten(specificationOf(patched, memberOf(group)));
    assert.ok(pathsOf("gpu").includes(`/etc/patches-of-join/${KUBELET_PATCH}`));
    assert.ok(!pathsOf("gpu").includes(PATCH));
    assert.ok(pathsOf("control-plane").includes(PATCH));
    assert.ok(pathsOf("control-plane").includes(`/etc/patches-of-join/${KUBELET_PATCH}`));
  });

  it("are given to init and join, while the cluster's own objects keep those of the cluster", () => {
    const specification = withPools({ gpu, "control-plane": { kubelet: { maxPods: 30 } } });
    const planes = [exampleMachine("cp-1")];
    const [init, , kubelet] = parseAllDocuments(initConfiguration(specification, planes[0]!, planes)).map(
      (document) => document.toJS() as Record<string, unknown>,
    );
    assert.deepEqual(init?.["patches"], { directory: "/etc/kubernetes/patches" });
    assert.equal(kubelet?.["maxPods"], 110);
    const joining = (group: string) =>
      joinConfiguration(specification, exampleMachine("w-1", { group }), "abcdef.0123456789abcdef");
    assert.match(joining("gpu"), /patches:\n {2}directory: \/etc\/kubernetes\/patches/);
    assert.doesNotMatch(joining("workers"), /patches/);
  });

  it("give the agents of the pool alone the folder of the patch, which exists before the patch", () => {
    const settings = { annotations: "alpha.[software]", staged: { kubernetes: ["1.36.3"], software: {} } };
    const parametersOf = (group: string) =>
      agentParameters(withPools({ gpu }), exampleMachine("w-1", { group }), settings);
    assert.deepEqual(parametersOf("gpu")["PATCH_FOLDERS"], ["/etc/kubernetes/patches"]);
    assert.match(
      String(parametersOf("gpu")["AGENT_CONFIGURATION"]),
      /^patches_of_join='\/etc\/kubernetes\/patches'$/m,
    );
    assert.match(String(parametersOf("gpu")["AGENT_CONFIGURATION"]), /^managed=\(.*60-gpu\.conf/m);
    assert.deepEqual(parametersOf("workers")["PATCH_FOLDERS"], []);
    assert.match(String(parametersOf("workers")["AGENT_CONFIGURATION"]), /^patches_of_join=''$/m);
    assert.doesNotMatch(String(parametersOf("workers")["AGENT_CONFIGURATION"]), /60-gpu/);
  });

  it("don't depend on the order of fields, and an empty kubelet has no patch", () => {
    const texts = [
      { maxPods: 1, podPidsLimit: 2 },
      { podPidsLimit: 2, maxPods: 1 },
    ].map((kubelet) => configurationVersions(withPools({ gpu: { kubelet } })));
    assert.deepEqual(texts[0], texts[1]);
    assert.deepEqual(specificationOf(withPools({ gpu: { kubelet: {} } }), memberOf("gpu")), base);
  });
});

describe("a change of a pool's settings", () => {
  const kubelet = { kubelet: { maxPods: 40 } };
  const roll = (
    before: ClusterSpecification,
    after: ClusterSpecification,
    over: Omit<Parameters<typeof rolledConfiguration>[0], "specification"> = {},
    machines = over.machines,
  ) => rolledConfiguration({ specification: before, ...over }, after, machines)!;
  const stagedFor = (rolled: ReturnType<typeof roll>, specification: ClusterSpecification, group: string) =>
    stagedOn(memberOf(group), withConfiguration({ kubernetes: [], software: {} }, rolled, specification))
      .configuration !== undefined;

  it("concerns its machines alone, with a drain only for the kubelet", () => {
    const after = withPools({ gpu: kubelet });
    const rolled = roll(base, after);
    assert.deepEqual(rolled.changedPools, ["gpu"]);
    assert.deepEqual(rolled.unchanged, ["control-plane", "worker"]);
    assert.deepEqual(
      ["gpu", "workers", "control-plane"].map((group) => stagedFor(rolled, after, group)),
      [true, false, false],
    );
    const [versions, { worker }] = [configurationVersions(after, rolled), configurationVersions(base)];
    assert.equal(versionFor(versions, memberOf("workers")), worker);
    assert.ok(drainsFor(worker, versionFor(versions, memberOf("gpu"))));
    const files = configurationVersions(withPools({ gpu: { files: [file("/etc/x")] } }));
    assert.ok(!drainsFor(worker, versionFor(files, memberOf("gpu"))));
  });

  it("gives kubeadm its patch of the kubelet after those of the user", () => {
    for (const own of ["kubeletconfiguration0+merge.yaml", "kubeletconfigurationzz+json.json"])
      assert.ok(own < KUBELET_PATCH, own);
  });

  it("is named by its paths, and writes nothing into the cluster's own objects", () => {
    const change = configurationChange(
      withPools({ gpu: kubelet }),
      withPools({ gpu: { kubelet: { maxPods: 50 } } }),
    );
    assert.deepEqual(change?.paths.map(formatPath), ["pools.gpu.kubelet.maxPods"]);
    assert.equal(change?.upload, false);
    assert.equal(kubeadmVersion(withPools({ gpu: kubelet })), kubeadmVersion(base));
  });

  it("is taken back with its files, which no other pool loses or gets", () => {
    const before = withPools({
      gpu: { ...kubelet, files: [file("/etc/x")] },
      ssd: { files: [file("/etc/x")] },
    });
    const first = roll(base, before);
    const after = withPools({ ssd: { files: [file("/etc/x")] } });
    const rolled = roll(before, after, { configuration: first });
    const removed = (group: string) => pathsToRemove(rolled, specificationOf(after, memberOf(group)), group);
    assert.deepEqual(removed("gpu"), [PATCH, "/etc/x"]);
    assert.deepEqual(removed("ssd"), [PATCH]);
    // what is at that path there is the machine's own
    assert.deepEqual(removed("workers"), []);
    assert.deepEqual(removed("control-plane"), []);
    const versions = configurationVersions(after, rolled);
    assert.equal(versionFor(versions, memberOf("gpu")), versionFor(rolled.baseline, memberOf("workers")));
    assert.ok(stagedFor(rolled, after, "gpu"));
    // the revision of an agent in another pool stays, so that nothing is listed for it
    assert.deepEqual(rolled.removed, []);
  });

  it("comes to a machine that moves, also into a pool that never changed, and after a kill", () => {
    const specification = withPools({ gpu: kubelet });
    const at = (group: string) => [{ name: "w-1", group }];
    const rolled = roll(specification, specification, { machines: at("gpu") }, at("workers"));
    assert.deepEqual(rolled.changedPools, ["workers"]);
    assert.ok(stagedFor(rolled, specification, "workers") && !stagedFor(rolled, specification, "gpu"));
    const later = roll(specification, specification, { configuration: rolled, machines: at("workers") });
    assert.deepEqual(later.changedPools, ["workers"]);
    assert.equal(roll(specification, specification, { machines: at("ssd") }, at("workers")), undefined);
  });

  it("keeps the baseline of machines that began with settings of their pool", () => {
    const before = withPools({ gpu: kubelet });
    const rolled = roll(before, { ...before, kubelet: { maxPods: 120 } });
    assert.equal(versionFor(rolled.baseline, memberOf("gpu")), configurationVersions(before).pools?.["gpu"]);
    // its own maxPods stays, and so does its version
    assert.equal(
      versionFor(
        configurationVersions({ ...before, kubelet: { ...base.kubelet, maxPods: 120 } }, rolled),
        memberOf("gpu"),
      ),
      versionFor(rolled.baseline, memberOf("gpu")),
    );
  });
});

describe("the rules for settings of pools", () => {
  const CASES: [title: string, pool: object, issues: RegExp[]][] = [
    ["settings that fit", { kubelet: { maxPods: 40 }, files: [{ path: "/etc/x" }] }, []],
    ["nothing", { kubelet: {} }, []],
    [
      "more pods than addresses",
      { kubelet: { maxPods: 300 } },
      [/^pools\.gpu\.kubelet\.maxPods is 300, and each node has 254/],
    ],
    [
      "another driver",
      { kubelet: { cgroupDriver: "cgroupfs" } },
      [/^pools\.gpu\.kubelet\.cgroupDriver is that of containerd/],
    ],
    [
      "a pair of which the cluster has the other part",
      { kubelet: { imageGCLowThresholdPercent: 90 } },
      [/^pools\.gpu\.kubelet\.imageGC\w+ /],
    ],
    [
      "a field that the version does not have",
      { kubelet: { featureGates: { NoSuchGate: true } } },
      [/^pools\.gpu\.kubelet\.featureGates/],
    ],
    [
      "a file below one of the cluster",
      { files: [{ path: "/etc/motd/x" }] },
      [/^pools\.gpu\.files\[0\]\.path .*cluster\.files/],
    ],
    ["a file at the path of one of the cluster", { files: [{ path: "/etc/motd" }] }, []],
    [
      "how a mirror is asked that no registry has",
      { registries: { hosts: { "https://other": { skipVerify: true } } } },
      [/^pools\.gpu\.registries\.hosts\["https:\/\/other"\] is not a URL of mirrors/],
    ],
    [
      "how a mirror of the cluster is asked",
      { registries: { hosts: { "https://mirror": { skipVerify: true } } } },
      [],
    ],
  ];
  const cluster = {
    version: "1.36.3",
    network: { plugin: { flannel: {} } },
    kubelet: { imageGCHighThresholdPercent: 85 },
    files: [{ path: "/etc/motd" }],
    registries: { mirrors: { "docker.io": ["https://mirror"] } },
  };
  const issuesOf = (pools: object, groups = ["gpu"]) =>
    poolSettingIssues({ ...cluster, pools } as Parameters<typeof poolSettingIssues>[0], groups).map(
      ({ path, message }) => `${formatPath(path)} ${message}`,
    );
  for (const [title, pool, expected] of CASES)
    it(`${expected.length === 0 ? "accept" : "refuse"} ${title}`, () => {
      const found = issuesOf({ gpu: pool });
      assert.equal(found.length, expected.length, found.join("\n"));
      expected.forEach((pattern, index) => assert.match(found[index] ?? "", pattern));
    });

  it("refuse a pool that no machine is in, and know that of the control planes", () => {
    assert.deepEqual(issuesOf({ gpus: {} }), [
      'pools.gpus "gpus" is not a pool of this cluster; did you mean "gpu"?',
    ]);
    assert.deepEqual(issuesOf({ "control-plane": { kubelet: { maxPods: 20 } } }), []);
  });

  it("say nothing for a pool that is wrong in the cluster already", () => {
    const wrong = { ...cluster, kubelet: { maxPods: 300 }, pools: { gpu: { kubelet: { podPidsLimit: 9 } } } };
    assert.deepEqual(poolSettingIssues(wrong as Parameters<typeof poolSettingIssues>[0], ["gpu"]), []);
  });
});
