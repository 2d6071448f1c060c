import assert from "node:assert/strict";
import { parse } from "yaml";
import {
  keepingPatch,
  lostSettings,
  type RewrittenObject,
} from "../../../../../providers/kubeadm/plan/adoption/lost-settings";

const object = "the static pod kube-apiserver";
const lines = (current: unknown, rendered: unknown[], comparesTags = true) =>
  lostSettings([{ object, isOfCluster: false, current, rendered }], comparesTags).map(
    ({ change, setting }) => `${change} ${setting}`,
  );

const POD = `
metadata:
  name: kube-apiserver
  creationTimestamp: null
  labels: { component: kube-apiserver, tier: control-plane }
spec:
  containers:
    - name: kube-apiserver
      image: registry.k8s.io/kube-apiserver:v1.36.3
      command: [kube-apiserver, --advertise-address=10.0.0.1, --profiling=false]
      resources: { requests: { cpu: 250m } }
      volumeMounts: [{ mountPath: /etc/ssl/certs, name: ca-certs, readOnly: true }]
  hostNetwork: true
  volumes: [{ name: ca-certs, hostPath: { path: /etc/ssl/certs, type: DirectoryOrCreate } }]
status: {}
`;
type Pod = {
  metadata: Record<string, unknown>;
  spec: { containers: Record<string, unknown>[]; volumes: unknown[]; [key: string]: unknown };
};
const pod = (edit: (main: Record<string, unknown>, whole: Pod) => void = () => undefined): Pod => {
  const read = parse(POD) as Pod;
  edit(read.spec.containers[0] ?? {}, read);
  return read;
};
const COMMAND = ["kube-apiserver", "--advertise-address=10.0.0.1", "--profiling=false"];
const command = (...more: string[]) => pod((main) => (main["command"] = [...COMMAND, ...more]));

describe("what kubeadm takes away from a static pod", () => {
  const cases: Record<string, [current: unknown, expected: string[]]> = {
    "nothing from its own, in any form": [
      pod((main, whole) => {
        main["command"] = [...COMMAND].reverse();
        main["env"] = [];
        delete whole.metadata["creationTimestamp"];
      }),
      [],
    ],
    "a flag": [command("--audit-log-path=/var/log/audit.log"), ["loses --audit-log-path"]],
    "a flag with another value, once": [
      pod((main) => (main["command"] = [...COMMAND.slice(0, 2), "--profiling=true"])),
      ["loses --profiling"],
    ],
    "a flag without a value": [command("--contention-profiling"), ["loses --contention-profiling"]],
    "a flag that is there twice": [
      command("--oidc-required-claim=a=1", "--oidc-required-claim=b=2"),
      ["loses --oidc-required-claim"],
    ],
    "nothing from a flag that others removed, which comes back": [
      pod((main) => (main["command"] = COMMAND.slice(0, 2))),
      ["gets back --profiling"],
    ],
    "a limit and another request": [
      pod((main) => (main["resources"] = { requests: { cpu: "1" }, limits: { memory: "1Gi" } })),
      ["loses request cpu", "loses limit memory"],
    ],
    "a variable, a volume and its mount": [
      pod((main, whole) => {
        main["env"] = [{ name: "HTTPS_PROXY", value: "http://user:s3cret@proxy" }];
        main["volumeMounts"] = [
          { mountPath: "/etc/ssl/certs", name: "ca-certs", readOnly: true },
          { mountPath: "/var/log/audit", name: "audit" },
        ];
        whole.spec.volumes.push({ name: "audit", hostPath: { path: "/var/log/audit" } });
      }),
      ["loses mount /var/log/audit", "loses variable HTTPS_PROXY", "loses volume audit"],
    ],
    "a container, a label, an annotation and a field": [
      pod((_main, whole) => {
        whole.spec.containers.push({ name: "kms-plugin", image: "kms" });
        whole.metadata["labels"] = { component: "kube-apiserver", tier: "control-plane", team: "a" };
        whole.metadata["annotations"] = { note: "b" };
        whole.spec["dnsPolicy"] = "ClusterFirstWithHostNet";
      }),
      ["loses label team", "loses annotation note", "loses container kms-plugin", "loses spec.dnsPolicy"],
    ],
    "an image of another registry": [
      pod((main) => (main["image"] = "mirror.example/kube-apiserver:v1.36.3")),
      ["loses image"],
    ],
    "what has control characters, printable": [command("--a\u001b[2J=1"), ["loses --a\\u{1b}[2J"]],
  };
  for (const [title, [current, expected]] of Object.entries(cases))
    it(title, () => assert.deepEqual(lines(current, [pod()]).sort(), [...expected].sort()));

  it("names no value", () => {
    const lost = lostSettings(
      [
        { object, isOfCluster: false, current: command("--token=s3cret"), rendered: [pod()] },
        {
          object,
          isOfCluster: false,
          current: pod((main) => (main["env"] = [{ name: "A", value: "s3cret" }])),
          rendered: [pod()],
        },
      ],
      true,
    );
    assert.equal(lost.length, 2);
    assert.doesNotMatch(JSON.stringify(lost), /s3cret/);
  });

  it("leaves tags of images out while nodes have different versions, and peers of etcd always", () => {
    const older = pod((main) => (main["image"] = "registry.k8s.io/kube-apiserver:v1.35.4"));
    assert.deepEqual(lines(older, [pod()], false), []);
    assert.deepEqual(lines(older, [pod()], true), ["loses image"]);
    assert.deepEqual(
      lines(command("--initial-cluster=a=b", "--initial-cluster-state=existing"), [pod()]),
      [],
    );
  });

  it("leaves a setting of the stack out, before and after it is written", () => {
    const audited = command("--audit-log-path=/a");
    assert.deepEqual(lines(audited, [pod(), audited]), []);
    assert.deepEqual(lines(audited, [audited, pod()]), []);
    assert.deepEqual(lines(pod(), [pod(), audited]), []);
    assert.deepEqual(lines(command("--other=1"), [pod(), audited]), ["loses --other"]);
  });

  it("lists at most forty settings, and counts the others", () => {
    const many = lines(command(...Array.from({ length: 60 }, (_, at) => `--flag-${at}=1`)), [pod()]);
    assert.equal(many.length, 41);
    assert.equal(many.at(-1), "loses 20 more settings");
  });
});

describe("what kubeadm takes away from a kubelet", () => {
  const RENDERED = {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    cgroupDriver: "systemd",
    syncFrequency: "0s",
    logging: { flushFrequency: 0, verbosity: 0 },
    authentication: { webhook: { enabled: true, cacheTTL: "0s" } },
    clusterDNS: ["10.96.0.10"],
  };
  const OWN = {
    ...RENDERED,
    syncFrequency: undefined,
    logging: {},
    containerRuntimeEndpoint: "unix:///run/containerd/containerd.sock",
    maxPods: 250,
    imageGCHighThresholdPercent: 0,
    systemReserved: { memory: "1Gi", cpu: "500m" },
    clusterDNS: ["169.254.20.10"],
    staticPodURLHeader: { Authorization: ["s3cret"] },
  };
  const kubelet: RewrittenObject = { object: "k", isOfCluster: false, current: OWN, rendered: [RENDERED] };

  it("is each setting, and none that is not set", () => {
    assert.deepEqual(
      lostSettings([kubelet], true).map(({ change, setting }) => `${change} ${setting}`),
      [
        "loses clusterDNS",
        "loses maxPods",
        "loses imageGCHighThresholdPercent",
        "loses systemReserved.memory",
        "loses systemReserved.cpu",
        "loses staticPodURLHeader.Authorization",
      ],
    );
  });

  it("is kept by a patch with these values alone, and without what may be secret", () => {
    assert.deepEqual(keepingPatch(kubelet), {
      clusterDNS: ["169.254.20.10"],
      maxPods: 250,
      imageGCHighThresholdPercent: 0,
      systemReserved: { memory: "1Gi", cpu: "500m" },
    });
    assert.equal(keepingPatch({ ...kubelet, current: RENDERED }), undefined);
  });

  it("is nothing where kubeadm renders nothing", () => {
    assert.deepEqual(lostSettings([{ ...kubelet, rendered: [] }], true), []);
    assert.deepEqual(lostSettings([{ ...kubelet, current: undefined }], true), []);
  });
});
