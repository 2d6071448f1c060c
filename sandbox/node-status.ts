/** The fields of a Kubernetes Node from which its state is read. */
export interface NodeObject {
  readonly metadata?: { readonly name?: string; readonly labels?: Readonly<Record<string, string>> };
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
    readonly nodeInfo?: { readonly kubeletVersion?: string };
  };
}

/** One node as `npm run status` shows it. */
export interface NodeStatus {
  readonly name: string;
  readonly role: string;
  /** As its kubelet reports it, such as "v1.36.3"; null if unknown. */
  readonly version: string | null;
  /** "Ready", or the reason why it is not ready. */
  readonly status: string;
}

/** Returns "Ready", or the reason as the kubelet or the node controller reports it. */
export function readiness(node: NodeObject): string {
  const condition = node.status?.conditions?.find(({ type }) => type === "Ready");
  if (condition === undefined) return "NotReady: its kubelet has not reported yet";
  if (condition.status === "True") return "Ready";
  const words = [condition.reason, condition.message].filter((each) => each !== undefined && each !== "");
  return words.length === 0 ? `Ready is ${condition.status}` : words.join(": ");
}

/**
 * Combines the configured nodes with those that the cluster reports.
 * @param recorded the nodes of the stack's configuration
 * @param live the cluster's nodes, or the reason why they could not be read
 */
export function mergeNodes(
  recorded: readonly { readonly name: string; readonly role: string }[],
  live: readonly NodeObject[] | string,
): NodeStatus[] {
  if (typeof live === "string") return recorded.map((node) => ({ ...node, version: null, status: live }));
  const merged = recorded.map(({ name, role }) => {
    const node = live.find((each) => each.metadata?.name === name);
    return node === undefined
      ? { name, role, version: null, status: "not a member of the cluster" }
      : show(node, name, role);
  });
  for (const node of live) {
    const name = node.metadata?.name ?? "";
    if (recorded.some((each) => each.name === name)) continue;
    const isControlPlane = "node-role.kubernetes.io/control-plane" in (node.metadata?.labels ?? {});
    merged.push(show(node, name, isControlPlane ? "control-plane" : "worker"));
  }
  return merged;
}

function show(node: NodeObject, name: string, role: string): NodeStatus {
  return { name, role, version: node.status?.nodeInfo?.kubeletVersion ?? null, status: readiness(node) };
}
