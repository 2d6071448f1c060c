import type { TestCluster } from "./test-cluster";

const FOLDER = "/var/log/kubernetes";
const POLICY_FILE = "/etc/kubernetes/audit/policy.yaml";

/** Whole requests that change Nodes or evict pods, and nothing else. */
const POLICY = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Request
    verbs: [patch, update]
    resources: [{ group: "", resources: [nodes] }]
  - level: Metadata
    verbs: [create]
    resources: [{ group: "", resources: [pods/eviction] }]
  - level: None
`;

/** Fields of the cluster's configuration that make each API server write what changes its Nodes. */
export const AUDITED = {
  kubeadm: {
    clusterConfiguration: {
      apiServer: {
        extraArgs: [
          { name: "audit-policy-file", value: POLICY_FILE },
          { name: "audit-log-path", value: `${FOLDER}/audit.log` },
        ],
        extraVolumes: [
          {
            name: "audit-policy",
            hostPath: "/etc/kubernetes/audit",
            mountPath: "/etc/kubernetes/audit",
            readOnly: true,
          },
          { name: "audit-log", hostPath: FOLDER, mountPath: FOLDER, pathType: "DirectoryOrCreate" },
        ],
      },
    },
  },
  files: [{ path: POLICY_FILE, content: POLICY }],
};

/** One change of a Node, as an API server saw it. */
export interface NodeChange {
  readonly at: string;
  readonly node: string;
  readonly userAgent: string;
  readonly user: string;
  /** Annotations that were written; null: removed. */
  readonly annotations: Readonly<Record<string, string | null>>;
  /** Absent: not written. */
  readonly unschedulable?: boolean | null;
}

interface AuditEvent {
  readonly requestReceivedTimestamp?: string;
  readonly userAgent?: string;
  readonly user?: { readonly username?: string };
  readonly objectRef?: {
    readonly resource?: string;
    readonly name?: string;
    readonly subresource?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  readonly requestObject?: {
    readonly metadata?: { readonly annotations?: Readonly<Record<string, string | null>> };
    readonly spec?: { readonly unschedulable?: boolean | null };
  };
}

/** The changes of Nodes in one API server's log, those that it accepted. */
function nodeChanges(log: string): NodeChange[] {
  return log.split("\n").flatMap((line) => {
    // an API server that is being replaced may leave half a line
    if (!line.endsWith("}")) return [];
    const event = JSON.parse(line) as AuditEvent;
    const { objectRef, requestObject } = event;
    if (
      objectRef?.resource !== "nodes" ||
      objectRef.subresource ||
      (event.responseStatus?.code ?? 500) >= 300
    )
      return [];
    return [
      {
        at: event.requestReceivedTimestamp ?? "",
        node: objectRef.name ?? "",
        userAgent: event.userAgent ?? "",
        user: event.user?.username ?? "",
        annotations: requestObject?.metadata?.annotations ?? {},
        ...("unschedulable" in (requestObject?.spec ?? {})
          ? { unschedulable: requestObject?.spec?.unschedulable ?? null }
          : {}),
      },
    ];
  });
}

/** The changes of Nodes that all API servers of a cluster have seen, in the order of time. */
export async function auditedChanges(
  cluster: TestCluster,
  controlPlanes: readonly string[],
): Promise<NodeChange[]> {
  const logs = await Promise.all(
    controlPlanes.map((machine) => cluster.onMachine(machine, `cat ${FOLDER}/audit.log`)),
  );
  return logs.flatMap(nodeChanges).sort((one, other) => one.at.localeCompare(other.at));
}
