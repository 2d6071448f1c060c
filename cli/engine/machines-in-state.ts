import { isObject, parseJson, readJsonObjectOf } from "../../lib/json";
import { parseOwner } from "../../lib/ownership/owner";
import { OWN_TYPES } from "../../lib/pulumi/state";
import type { MachineAccess } from "../../providers/kubeadm/client/machine-access";
import type { BackupSettings } from "../../providers/kubeadm/plan/backup/backup";
import type { JumpHost, Machine, SshCredentials } from "../../providers/kubeadm/plan/cluster/machine";

/** Key of the engine's objects for secret values. */
const SIGNATURE = "4dabf18193072939515e22adb298388d";

/** The machines of a cluster, and how to reach them. */
type MachinesInState = Omit<MachineAccess, "seconds"> & {
  readonly machines: readonly Machine[];
  /** Absent when no snapshots are kept. */
  readonly backup?: BackupSettings;
};

/** Components whose machines Cluster API manages: foresail enters none of them. */
const WITHOUT_MACHINES = ["foresail:azimuth:AzimuthCluster", "foresail:machine-pool:MachinePool"];

/**
 * Returns the machines of the kubeadm cluster in a stack's state, with the inputs of its last run; undefined for a stack
 * whose machines Cluster API manages.
 *
 * @param exported what `pulumi stack export --show-secrets` printed
 * @throws Error when the stack has no kubeadm cluster
 */
export function machinesInState(exported: string): MachinesInState | undefined {
  const { deployment } = readJsonObjectOf("the output of pulumi stack export", exported) as {
    deployment?: { resources?: { type: string; inputs?: unknown }[] };
  };
  const inputsOf = (kind: string) =>
    deployment?.resources?.find(({ type }) => type === `${OWN_TYPES}${kind}`)?.inputs;
  const found = inputsOf("NodeAgents");
  if (found === undefined) {
    if (deployment?.resources?.some(({ type }) => WITHOUT_MACHINES.includes(type))) return undefined;
    throw new Error("the stack has no kubeadm cluster whose machines have node agents; run `up` first");
  }
  const inputs = unsealed(found) as {
    specification: { name: string };
    machines: Machine[];
    credentials: SshCredentials;
    jumpHost?: JumpHost;
  };
  const { specification, machines, credentials, jumpHost } = inputs;
  const { secretFiles, backup } = (unsealed(inputsOf("NodeRollout")) ?? {}) as {
    secretFiles?: string[];
    backup?: BackupSettings;
  };
  const { owner: recorded = {} } = (unsealed(inputsOf("ClusterOwner")) ?? {}) as { owner?: object };
  const owner = parseOwner({ ...recorded });
  return {
    cluster: specification.name,
    machines,
    credentials,
    ...(jumpHost ? { jumpHost } : {}),
    ...(owner ? { owner } : {}),
    ...(secretFiles ? { secretFiles } : {}),
    ...(backup ? { backup } : {}),
  };
}

/** Returns a value of the state with the plain text of its secrets. */
export function unsealed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unsealed);
  if (!isObject(value)) return value;
  if (SIGNATURE in value && typeof value.plaintext === "string") return unsealed(parseJson(value.plaintext));
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, unsealed(each)]));
}
