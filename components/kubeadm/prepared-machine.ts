import { createHash } from "node:crypto";
import { getVersion } from "@pulumi/command/utilities";
import type { CommandArgs } from "@pulumi/command/remote";
import * as pulumi from "@pulumi/pulumi";
import { packScript, UNPACK } from "../../providers/kubeadm/machine/shell";
import { backendsOf, prepareScript, withOwner } from "../../providers/kubeadm/machine/steps";
import { registryCredentialsToml } from "../../providers/kubeadm/machine/parameters";
import { recordPort } from "../../providers/kubeadm/plan/endpoint/loopback-port";
import type { ClusterSpecification, Endpoint } from "../../providers/kubeadm/plan/cluster/specification";
import { jumpHostKey, machineKey } from "../../providers/kubeadm/plan/cluster/machine";
import type { JumpHost, Machine, SshCredentials } from "../../providers/kubeadm/plan/cluster/machine";
import type { PodNetworkKind } from "../../providers/kubeadm/plan/endpoint/network-ports";
import { prepareResource } from "../../providers/kubeadm/plan/cluster/resource-names";
import { isPlain } from "../../lib/pulumi/arguments";
import { isStackId } from "../../lib/ownership/owner";
import type { StackOwner } from "../stack-owner";
import type { KubeadmClusterArgs } from "./kubeadm-cluster-args";
import type { MachineInputs } from "./machines";

interface PreparationArgs {
  /** The stack as the owner of the machines. */
  owner: StackOwner;
  specification: pulumi.Output<ClusterSpecification>;
  /** That of the specification, which may be secret as a whole. */
  endpoint: pulumi.Output<Endpoint>;
  /** The control planes, for the loopback endpoint's first configuration. */
  controlPlanes: pulumi.Output<Pick<Machine, "name" | "internalAddress">[]>;
  /** The machines that are reached without a proxy: all, or none without a proxy. */
  withoutProxy: pulumi.Output<Pick<Machine, "name" | "internalAddress">[]>;
  credentials: pulumi.Output<SshCredentials>;
  jumpHost?: pulumi.Output<JumpHost>;
  /** Configurations of other pod networks are refused. */
  podNetwork: PodNetworkKind;
  registryCredentials?: pulumi.Input<Record<string, { username: string; password: string }>>;
  /** Time limit for SSH to answer, in seconds. */
  sshSeconds: number;
  /** Time limit of one connection attempt, in seconds. */
  dialSeconds: number;
  revision?: string;
}

type Connection = pulumi.Unwrap<CommandArgs["connection"]>;

interface CommandInputs {
  connection: pulumi.Output<Connection>;
  create: pulumi.Output<string>;
  stdin: pulumi.Output<string>;
  /** The progress of a step is on standard error, and so are the last lines of its log when it fails. */
  logging: "stderr";
}

/**
 * The `Command` of `@pulumi/command/remote`, with the inputs of a preparation alone. Its own class registers seven more
 * properties without a value, and each costs a dozen promises: a fifth of a large preview's memory (docs/benchmarks.md).
 */
export class Preparation extends pulumi.CustomResource {
  /** What the command printed. A preview does not know it while the command is still to run. */
  readonly stdout!: pulumi.Output<string>;

  constructor(name: string, inputs: CommandInputs, opts: pulumi.CustomResourceOptions) {
    super(
      "command:remote:Command",
      name,
      { ...inputs, stdout: undefined },
      {
        version: getVersion(),
        ignoreChanges: ["connection", "create", "stdin", "logging"],
        additionalSecretOutputs: ["stdin", "connection"],
        replaceOnChanges: ["triggers[*]"],
        ...opts,
      },
    );
  }
}

/**
 * Prepares machines for kubeadm: for each an `@pulumi/command` over SSH with a pinned host key, whose log is the progress.
 * Script text, connection and credentials are not desired state, so changing them runs nothing. A new
 * `bootstrapRevision` makes new commands, with the current connection.
 *
 * @returns the commands by the names of their machines
 */
export function prepareMachines(
  cluster: string,
  machines: readonly MachineInputs[],
  args: PreparationArgs,
  opts: pulumi.CustomResourceOptions,
): Map<string, Preparation> {
  const scripts = scriptsOf(args);
  const connections = connectionsOf(args);
  const commandLines = args.endpoint.apply((endpoint) => commandLine(endpoint));
  const command = (fields: MachineInputs) => {
    const machine: Given = isPlain<Machine>(fields)
      ? fields
      : pulumi.output({ ...fields, hostKey: orNone(fields.hostKey) });
    const inputs: CommandInputs = {
      connection: rendered(connections, machine),
      create: rendered(commandLines, machine),
      stdin: rendered(scripts, machine),
      logging: "stderr",
    };
    return new Preparation(prepareResource(cluster, fields.name, args.revision), inputs, opts);
  };
  return new Map(machines.map((machine) => [machine.name, command(machine)]));
}

/** No SSH key, so that no connection with it succeeds. */
const NO_KEY = "none: the first contact failed";

/**
 * Returns a host key, or in a run no valid one if the resource that reads it has failed. The engine skips the command then,
 * since it depends on that resource, but it first refuses a connection without a host key, which would end the whole run.
 */
function orNone(hostKey: pulumi.Input<string>): pulumi.Input<string> {
  if (pulumi.runtime.isDryRun() || typeof hostKey === "string") return hostKey;
  // the published declarations leave out that `apply` may get what is unknown, which is not a string
  const key = pulumi.output(hostKey) as unknown as {
    apply: (render: (value: unknown) => string, withUnknowns: true) => pulumi.Output<string>;
  };
  return key.apply((value) => (typeof value === "string" ? value : NO_KEY), true);
}

/** A machine; one whose fields are all known already costs no outputs of its own. */
type Given = Machine | pulumi.Output<Machine>;

function rendered<T>(render: pulumi.Output<(machine: Machine) => T>, machine: Given): pulumi.Output<T> {
  if (!pulumi.Output.isInstance(machine)) return render.apply((call) => call(machine));
  return pulumi.all([render, machine]).apply(([call, known]) => call(known));
}

/** Returns what renders a machine's command, with a comment by which the state shows the port that it is prepared for. */
const commandLine = (endpoint: Endpoint) => {
  const comment = "loopback" in endpoint ? ` ${recordPort(endpoint.loopback.port)}` : "";
  return ({ user }: Machine) => `${UNPACK} | ${user === "root" ? "" : "sudo -n "}bash -s${comment}`;
};

/** Returns what renders the packed script of a machine; secret. */
function scriptsOf(args: PreparationArgs): pulumi.Output<(machine: Machine) => string> {
  const { specification, controlPlanes, withoutProxy, podNetwork, registryCredentials = {}, owner } = args;
  return pulumi.secret(
    pulumi
      .all([specification, controlPlanes, withoutProxy, registryCredentials, owner.id])
      .apply(([settings, members, reached, credentials, id]) => {
        const self = isStackId(id) ? { id, stack: owner.stack } : undefined;
        const [backends, direct] = [backendsOf(members), backendsOf(reached)];
        const secrets = registryCredentialsToml(credentials);
        return (machine: Machine) => {
          const script = withOwner(prepareScript(settings, machine, backends, direct, podNetwork), self);
          return packScript(`{\n${script.text}\n}\n${secrets}`);
        };
      }),
  );
}

/** Returns a value for each machine that is unknown while its preparation is still to run. */
export const preparationsDone = (
  machines: readonly Pick<MachineInputs, "name">[],
  prepared: ReadonlyMap<string, Preparation>,
) =>
  Object.fromEntries(
    machines.flatMap(({ name }) => {
      const done = prepared.get(name)?.stdout.apply(() => "done");
      return done === undefined ? [] : [[name, done] as const];
    }),
  );

/** Returns the SHA-256 of the registries' credentials, by which a machine tells whether it has them; secret. */
export const credentialsSum = ({ registries }: Pick<KubeadmClusterArgs, "registries">) =>
  pulumi.secret(
    pulumi
      .output(registries?.credentials ?? {})
      .apply((known) => createHash("sha256").update(registryCredentialsToml(known)).digest("hex")),
  );

/** Returns what describes the connection to a machine; secret. */
function connectionsOf(args: PreparationArgs): pulumi.Output<(machine: Machine) => Connection> {
  const { sshSeconds, dialSeconds } = args;
  const limits = { dialErrorLimit: Math.ceil(sshSeconds / dialSeconds), perDialTimeout: dialSeconds };
  const target = ({ address: host, port, user, hostKey }: JumpHost, privateKey: string | undefined) => ({
    host,
    port,
    user,
    hostKey,
    ...limits,
    ...(privateKey ? { privateKey } : { agentSocketPath: process.env.SSH_AUTH_SOCK }),
  });
  return pulumi.secret(
    pulumi.all([args.credentials, args.jumpHost]).apply(([credentials, jump]) => (machine: Machine) => ({
      ...target(machine, machineKey(credentials, machine.name)),
      ...(jump ? { proxy: target(jump, jumpHostKey(credentials)) } : {}),
    })),
  );
}
