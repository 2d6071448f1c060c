import { API_SERVER_PORT, SSH_PORT } from "../../lib/validation/ports";
import { DEFAULT_POOL, DEFAULT_SSH } from "../../providers/kubeadm/plan/cluster/defaults";
import * as pulumi from "@pulumi/pulumi";
import { CONTROL_PLANE_GROUP } from "../../providers/kubeadm/plan/cluster/machine";
import type { JumpHost, Machine, SshCredentials } from "../../providers/kubeadm/plan/cluster/machine";
import { isPlain } from "../../lib/pulumi/arguments";
import type { DeepInput, ResourceArgs } from "../../lib/pulumi/dynamic-resource";
import { HostKey, type Timeouts } from "../../providers/kubeadm/resources/declarations";
import { podNetworkKind } from "./defaults";
import type { ClusterSpecification } from "../../providers/kubeadm/plan/cluster/specification";
import type { CheckedArgs, MachineArgs } from "./kubeadm-cluster-args";

/** Returns the SSH credentials of all machines, as one secret. */
export function sshCredentials(args: Pick<CheckedArgs, "machines" | "ssh">): pulumi.Output<SshCredentials> {
  const own = Object.fromEntries(
    args.machines.flatMap(({ name, privateKey }) => (privateKey === undefined ? [] : [[name, privateKey]])),
  );
  const byName = args.ssh.privateKeys;
  // state has an empty list of them too
  const areGiven = byName !== undefined || Object.keys(own).length > 0;
  const credentials = pulumi
    .all([args.ssh.privateKey, args.ssh.jumpHost?.privateKey, byName ?? {}, pulumi.all(own)])
    .apply(([privateKey, jumpHostPrivateKey, keys, ownKeys]) => ({
      ...(privateKey ? { privateKey } : {}),
      ...(jumpHostPrivateKey ? { jumpHostPrivateKey } : {}),
      ...(areGiven ? { privateKeys: { ...keys, ...ownKeys } } : {}),
    }));
  return pulumi.secret(credentials);
}

/** Returns the user of machines without one of their own; an empty name counts as none. */
const userOf = ({ ssh }: Pick<CheckedArgs, "ssh">) => ssh.user || DEFAULT_SSH.user;

export function jumpHost(args: Pick<CheckedArgs, "ssh">): pulumi.Output<JumpHost> | undefined {
  const host = args.ssh.jumpHost;
  if (!host) return undefined;
  const { address, port = SSH_PORT, user, hostKey } = host;
  return pulumi.output({ address, port, user: user || userOf(args), hostKey });
}

/** Returns whether host keys are required, for previews, with the machines whose keys are not configured. */
export function describeHostKeys(args: Pick<CheckedArgs, "machines" | "ssh">): string {
  const required = args.ssh.requireHostKeys;
  const pinned = args.machines.filter(({ hostKey }) => hostKey === undefined).map(({ name }) => name);
  const names = pinned.length > 0 ? `; pinned at first contact: ${pinned.join(", ")}` : "";
  return `ssh.requireHostKeys is ${required ? "on" : "off"}${names}`;
}

/** Returns the group of a machine: the control planes, or its worker pool. */
export function groupOf(machine: MachineArgs): string {
  return machine.role === "control-plane" ? CONTROL_PLANE_GROUP : (machine.pool ?? DEFAULT_POOL);
}

/** A machine as input of resources: fields that decide about resources are plain, fields for SSH may be known later. */
export type MachineInputs = ResourceArgs<Machine> & Pick<Machine, "name" | "role" | "group">;

/** Returns host:port; an address that is known already adds no output. */
function apiServerAt(address: pulumi.Input<string>): pulumi.Input<string> {
  if (isPlain(address)) return `${address}:${API_SERVER_PORT}`;
  return pulumi.interpolate`${address}:${API_SERVER_PORT}`;
}

/**
 * Returns the machines with their defaults and their host keys. A HostKey resource reads keys that are not
 * configured at first contact. Each field has its own Output, so a preview with an unknown host key still shows
 * what happens to the machine.
 */
export function describeMachines(
  cluster: string,
  args: CheckedArgs,
  { credentials, timeouts }: { credentials: pulumi.Output<SshCredentials>; timeouts: Timeouts },
  opts: pulumi.CustomResourceOptions,
): MachineInputs[] {
  return args.machines.map((machine) => {
    const { name, role, address, port = args.ssh.port } = machine;
    const firstContact = () =>
      new HostKey(
        `${cluster}-${name}-host-key`,
        { machine: name, address, port, jumpHost: jumpHost(args), credentials, timeoutSeconds: timeouts.ssh },
        opts,
      ).hostKey;
    return {
      name,
      role,
      group: groupOf(machine),
      address,
      port,
      user: machine.user || userOf(args),
      hostKey: machine.hostKey ?? firstContact(),
      internalAddress: machine.internalAddress || address,
      apiServer: machine.apiServer ?? apiServerAt(address),
      labels: machine.labels ?? {},
      taints: machine.taints ?? [],
    };
  });
}

/**
 * Returns the machines without the workers whose first contact failed under `--continue-on-error`. Nothing runs on those, so
 * what concerns the whole cluster neither records them nor waits for them. A preview has all machines.
 *
 * @param fields returns what the resource takes of a machine
 */
export function contactedMachines<T>(
  machines: readonly MachineInputs[],
  fields: (machine: MachineInputs) => DeepInput<T>,
): DeepInput<T>[] | pulumi.Output<T[]> {
  const mayFail = ({ role, hostKey }: MachineInputs) => role === "worker" && !isPlain(hostKey);
  if (pulumi.runtime.isDryRun() || !machines.some(mayFail)) return machines.map(fields);
  const contacted = machines.map(async (machine) =>
    !mayFail(machine) || (await hasValue(machine.hostKey)) ? [fields(machine)] : [],
  );
  return pulumi.output(Promise.all(contacted).then((each) => each.flat())) as pulumi.Output<T[]>;
}

/** Returns whether an input has a value in this run: an output of a resource that failed has none. */
function hasValue(input: pulumi.Input<unknown>): Promise<boolean> {
  // the published declarations leave this property out
  return (pulumi.output(input) as unknown as { isKnown: Promise<boolean> }).isKnown;
}

/** Returns what the cluster wants of machines that become nodes, which are read before they are prepared. */
export function machinesToPrepare(
  machines: readonly MachineInputs[],
  { specification }: { specification: pulumi.Output<ClusterSpecification> },
  args: Pick<CheckedArgs, "network">,
) {
  const internalAddresses = pulumi
    .output(machines.map(({ name, internalAddress }) => ({ name, internalAddress })))
    .apply((all) => Object.fromEntries(all.map((each) => [each.name, each.internalAddress])));
  return { specification, podNetwork: podNetworkKind(args), internalAddresses };
}
