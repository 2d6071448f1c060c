import * as pulumi from "@pulumi/pulumi";
import { refuseArguments } from "../../lib/pulumi/arguments";
import { readStackResources } from "../../lib/pulumi/stack";
import type { StateResources } from "../../lib/pulumi/state";
import type { ValidationIssue } from "../../lib/validation/validation-issue";
import { loopbackPort, loopbackPortIn } from "../../providers/kubeadm/plan/endpoint/loopback-port";
import type { Endpoint } from "../../providers/kubeadm/plan/cluster/specification";
import type { EndpointArgs, MachineArgs } from "./kubeadm-cluster-args";

/** Returns the endpoint, with the port of one on loopback, which the state decides if the arguments name none. */
export function endpointIn(
  existing: StateResources,
  cluster: string,
  machines: readonly Pick<MachineArgs, "name">[],
  endpoint: EndpointArgs = { loopback: {} },
): EndpointArgs {
  if (!isOpen(endpoint)) return endpoint;
  const names = machines.map(({ name }) => name);
  return { loopback: { port: loopbackPort(cluster, names, existing) } };
}

/** What decides about the endpoint of a cluster. */
interface EndpointSettings {
  endpoint: EndpointArgs;
  machines: readonly Pick<MachineArgs, "name">[];
  /** Reads `endpoints.nodes` of the stack's last run. @default from the resources */
  nodesEndpoint?: () => Promise<unknown>;
}

/**
 * Returns a cluster's endpoint. It reads the stack's state only if the arguments name no port.
 *
 * @param issuesWith returns the issues of the arguments with another endpoint
 */
export function endpointOf(
  cluster: string,
  settings: EndpointSettings,
  issuesWith: (over: { endpoint: EndpointArgs }) => readonly ValidationIssue[],
): pulumi.Output<Endpoint> {
  const { endpoint } = settings;
  const decided = isOpen(endpoint)
    ? recordedEndpoint(cluster, settings).then((found) => {
        refuseArguments(`KubeadmCluster ${cluster}`, issuesWith({ endpoint: found }));
        return found;
      })
    : endpoint;
  return pulumi.output<EndpointArgs>(decided) as pulumi.Output<Endpoint>;
}

/** Returns the endpoint that the stack's outputs name, or else its resources: outputs are read much faster. */
async function recordedEndpoint(
  cluster: string,
  { endpoint, machines, nodesEndpoint }: EndpointSettings,
): Promise<EndpointArgs> {
  const port = loopbackPortIn(await nodesEndpoint?.());
  if (port !== undefined) return { loopback: { port } };
  return endpointIn(await readStackResources(), cluster, machines, endpoint);
}

/** Whether the arguments leave the port to the state. */
function isOpen({ loopback }: EndpointArgs): boolean {
  return loopback !== undefined && loopback.port === undefined;
}
