import * as command from "@pulumi/command/remote";
import * as pulumi from "@pulumi/pulumi";
import { packScript, UNPACK } from "../../providers/kubeadm/machine/shell";
import { backendsOf, prepareScript } from "../../providers/kubeadm/machine/steps";
import { registryCredentialsToml } from "../../providers/kubeadm/machine/parameters";
import { recordPort } from "../../providers/kubeadm/plan/loopback-port";
import type { ClusterSpecification, Endpoint } from "../../providers/kubeadm/plan/specification";
import { jumpHostKey, machineKey } from "../../providers/kubeadm/plan/machine";
import type { JumpHost, Machine, SshCredentials } from "../../providers/kubeadm/plan/machine";
import { prepareResource } from "../../providers/kubeadm/plan/resource-names";

interface PreparedMachineArgs {
  specification: pulumi.Output<ClusterSpecification>;
  /** That of the specification, which may be secret as a whole. */
  endpoint: pulumi.Output<Endpoint>;
  machine: pulumi.Output<Machine>;
  /** The control planes, for the loopback endpoint's first configuration. */
  controlPlanes: pulumi.Output<Pick<Machine, "name" | "internalAddress">[]>;
  /** The machines that are reached without a proxy: all, or none without a proxy. */
  withoutProxy: pulumi.Output<Pick<Machine, "name" | "internalAddress">[]>;
  credentials: pulumi.Output<SshCredentials>;
  jumpHost?: pulumi.Output<JumpHost>;
  registryCredentials?: pulumi.Input<Record<string, { username: string; password: string }>>;
  /** Time limit for SSH to answer, in seconds. */
  sshSeconds: number;
  /** Time limit of one connection attempt, in seconds. */
  dialSeconds: number;
  revision?: string;
}

/**
 * Prepares one machine for kubeadm: an `@pulumi/command` over SSH with a pinned host key and without logging.
 * Script text, connection and credentials are not desired state, so changing them runs nothing. A new
 * `bootstrapRevision` makes a new command, with the current connection.
 */
export function prepareMachine(
  cluster: string,
  name: string,
  args: PreparedMachineArgs,
  opts: pulumi.CustomResourceOptions,
): command.Command {
  const script = pulumi
    .all([
      args.specification,
      args.machine,
      args.controlPlanes,
      args.withoutProxy,
      args.registryCredentials ?? {},
    ])
    .apply(([specification, machine, controlPlanes, withoutProxy, registryCredentials]) => {
      const { text } = prepareScript(
        specification,
        machine,
        backendsOf(controlPlanes),
        backendsOf(withoutProxy),
      );
      return packScript(`{\n${text}\n}\n${registryCredentialsToml(registryCredentials)}`);
    });
  return new command.Command(
    prepareResource(cluster, name, args.revision),
    {
      connection: commandConnection(args),
      create: pulumi
        .all([args.machine, args.endpoint])
        .apply(([{ user }, endpoint]) =>
          [`${UNPACK} | ${user === "root" ? "" : "sudo -n "}bash -s`, ...recorded(endpoint)].join(" "),
        ),
      stdin: pulumi.secret(script),
      logging: command.Logging.None,
    },
    { ...opts, ignoreChanges: ["connection", "create", "stdin"], additionalSecretOutputs: ["stdin"] },
  );
}

/** Returns the comment by which the state shows what the machine was prepared for. */
const recorded = (endpoint: Endpoint) => ("loopback" in endpoint ? [recordPort(endpoint.loopback.port)] : []);

function commandConnection({
  sshSeconds,
  dialSeconds,
  ...args
}: PreparedMachineArgs): pulumi.Output<pulumi.Unwrap<command.CommandArgs["connection"]>> {
  const limits = { dialErrorLimit: Math.ceil(sshSeconds / dialSeconds), perDialTimeout: dialSeconds };
  const target = ({ address: host, port, user, hostKey }: JumpHost, privateKey: string | undefined) => ({
    ...{ host, port, user, hostKey, ...limits },
    ...(privateKey ? { privateKey } : { agentSocketPath: process.env.SSH_AUTH_SOCK }),
  });
  return pulumi
    .all([args.machine, args.credentials, args.jumpHost])
    .apply(([machine, credentials, jump]) => ({
      ...target(machine, machineKey(credentials, machine.name)),
      ...(jump ? { proxy: target(jump, jumpHostKey(credentials)) } : {}),
    }));
}
