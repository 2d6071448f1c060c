import type { PlanFacts } from "../../../../cli/forecast/facts";
import type { PodParts } from "../../../../lib/kubernetes/drain/plan";
import type { NodeParts } from "../../../../providers/kubeadm/plan/rollout/observed";

/** A Node of a plain kubeadm cluster, which foresail has never seen. */
export function plainNode(name: string, version: string, ready = true): NodeParts {
  const labels: Record<string, string> = name.startsWith("cp")
    ? { "node-role.kubernetes.io/control-plane": "" }
    : {};
  const condition = { type: "Ready", status: ready ? "True" : "Unknown", reason: "NodeStatusUnknown" };
  return {
    metadata: { name, labels },
    status: { conditions: [condition], nodeInfo: { kubeletVersion: `v${version}` } },
  };
}

interface PodArgs {
  node: string;
  owner?: string;
  emptyDir?: string;
  labels?: Record<string, string>;
  phase?: string;
  ready?: boolean;
  spec?: PodParts["spec"];
}

/** A running pod. */
export function plainPod(
  name: string,
  { node, owner, emptyDir, labels = {}, phase = "Running", ready = true, spec }: PodArgs,
): PodParts {
  return {
    metadata: {
      name,
      namespace: "shop",
      labels,
      ...(owner ? { ownerReferences: [{ kind: owner, name: "x", controller: true }] } : {}),
    },
    spec: { nodeName: node, volumes: emptyDir ? [{ name: emptyDir, emptyDir: {} }] : [], ...spec },
    status: { phase, conditions: [{ type: "Ready", status: ready ? "True" : "False" }] },
  };
}

/** A cluster without blockers. */
export function cleanFacts(over: Partial<PlanFacts> = {}): PlanFacts {
  return {
    server: "https://192.0.2.10:6443",
    nodes: ["cp-1", "cp-2", "cp-3", "w-1", "w-2"].map((name) => plainNode(name, "1.35.4")),
    pods: [plainPod("web-1", { node: "w-1", owner: "ReplicaSet", labels: { app: "web" } })],
    budgets: [],
    clusterVersion: "1.35.4",
    certificates: [
      {
        what: "the API server's certificate (https://192.0.2.10:6443)",
        notAfter: "2027-10-01T00:00:00.000Z",
      },
    ],
    metrics: "",
    unaskedServers: [],
    notes: [],
    unread: [],
    ...over,
  };
}

/** A cluster with one blocker of each kind. */
export function troubledFacts(): PlanFacts {
  return cleanFacts({
    nodes: [
      ...["cp-1", "cp-2", "cp-3"].map((name) => plainNode(name, "1.34.4")),
      plainNode("w-1", "1.34.4"),
      plainNode("w-2", "1.30.1"),
      plainNode("w-3", "1.34.4", false),
    ],
    pods: [
      plainPod("web-1", { node: "w-1", owner: "ReplicaSet", labels: { app: "web" } }),
      plainPod("web-2", { node: "w-2", owner: "ReplicaSet", labels: { app: "web", tier: "front" } }),
      plainPod("logs", { node: "w-2", owner: "DaemonSet", labels: { app: "web" }, emptyDir: "spool" }),
      plainPod("migration", { node: "w-1" }),
      plainPod("old-job", { node: "w-1", phase: "Succeeded", labels: { app: "web" } }),
      plainPod("cache", { node: "w-1", owner: "StatefulSet", emptyDir: "data" }),
    ],
    budgets: [
      {
        metadata: { name: "web", namespace: "shop" },
        spec: { selector: { matchLabels: { app: "web" } } },
        status: { disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 2 },
      },
      {
        metadata: { name: "front", namespace: "shop" },
        spec: { selector: { matchExpressions: [{ key: "tier", operator: "In", values: ["front"] }] } },
        status: { disruptionsAllowed: 1, currentHealthy: 1, desiredHealthy: 0 },
      },
      {
        metadata: { name: "web", namespace: "other" },
        spec: { selector: {} },
        status: { disruptionsAllowed: 0 },
      },
    ],
    clusterVersion: "1.34.4",
    certificates: [
      {
        what: "the API server's certificate (https://192.0.2.10:6443)",
        notAfter: "2026-12-01T00:00:00.000Z",
      },
      {
        what: "the kubeconfig's client certificate (context admin)",
        isOfKubeconfig: true,
        notAfter: "2026-11-01T00:00:00.000Z",
      },
    ],
    metrics: [
      "# TYPE apiserver_requested_deprecated_apis gauge",
      'apiserver_requested_deprecated_apis{group="things.k8s.io",removed_release="1.36",resource="things",subresource="",version="v1beta1"} 1',
      'apiserver_requested_deprecated_apis{group="",removed_release="",resource="componentstatuses",subresource="",version="v1"} 1',
      'apiserver_requested_deprecated_apis{group="later.k8s.io",removed_release="1.40",resource="things",subresource="",version="v1beta1"} 1',
    ].join("\n"),
    notes: ["these credentials may not get the moon"],
  });
}
