import { waitFor } from "../../lib/wait";
import { run } from "../../sandbox/nodes/command";
import { KUBERNETES_VERSION } from "../../sandbox/systems/ssh-configuration";
import type { TestCluster } from "./test-cluster";

const NOT_READY_SECONDS = 120;
const POD_SECONDS = 90;
/** This many consecutive responses show that no traffic still goes to a dead server. */
const IN_A_ROW = 10;

interface NodeObject {
  readonly metadata?: { readonly name?: string };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

const isReady = ({ status }: NodeObject): boolean =>
  status?.conditions?.find(({ type }) => type === "Ready")?.status === "True";

/** The names of the Nodes that are Ready, sorted. */
export async function readyNodes(cluster: Pick<TestCluster, "withApi">): Promise<string[]> {
  return cluster.withApi(async (client) =>
    ((await client.listNodes()) as NodeObject[])
      .filter(isReady)
      .map(({ metadata }) => metadata?.name ?? "")
      .sort(),
  );
}

/** Waits until the cluster has noticed that a node is dead. */
export async function awaitNotReady(cluster: TestCluster, node: string): Promise<void> {
  await cluster.withApi((client) =>
    client.watchUntil<void, NodeObject>({
      what: `Node ${node} to be noticed`,
      apiVersion: "v1",
      kind: "Node",
      name: node,
      seconds: NOT_READY_SECONDS,
      decide: ([object]) => (object && !isReady(object) ? { done: undefined } : { pending: "it is Ready" }),
    }),
  );
}

/** Runs kubectl with the exported kubeconfig, at one control plane's context or the current one. */
export async function askOverContext(
  cluster: TestCluster,
  controlPlane: string | undefined,
  args: readonly string[],
): Promise<string> {
  const { file } = await cluster.kubeconfig();
  const { kubectl } = cluster.toolchain.kubernetes(KUBERNETES_VERSION);
  const context = controlPlane === undefined ? [] : ["--context", `${cluster.name}-${controlPlane}`];
  return run(kubectl, ["--kubeconfig", file, ...context, "--request-timeout", "20s", ...args]);
}

/**
 * Asks the API from within a pod of the check's Deployment on a machine: its network and its resolver, the cluster's
 * own certificate authority, and the name that every in-cluster client uses.
 * @throws WaitTimeout unless it answers ten times in a row in time
 */
export async function askFromPod(cluster: TestCluster, machine: string): Promise<void> {
  const script = `
pod=$(pgrep -x echo | head -n 1)
[ -n "$pod" ] || { echo "no echo pod on this machine" >&2; exit 1; }
cat "/proc/$pod/root/etc/resolv.conf" > /run/foresail-test-resolv.conf
nsenter --target "$pod" --net unshare --mount bash -euc '
mount --bind /run/foresail-test-resolv.conf /etc/resolv.conf
for attempt in $(seq ${IN_A_ROW}); do
  curl --silent --show-error --fail --max-time 5 --cacert /etc/kubernetes/pki/ca.crt https://kubernetes.default.svc.cluster.local/version >/dev/null
done'`;
  await waitFor({
    what: `the API to answer a pod on ${machine}`,
    seconds: POD_SECONDS,
    probe: async () => {
      try {
        await cluster.onMachine(machine, script, 60);
        return { done: undefined };
      } catch (error) {
        return { pending: error instanceof Error ? error.message : String(error) };
      }
    },
  });
}
