import * as pulumi from "@pulumi/pulumi";
import { refuseArguments } from "../../lib/pulumi/arguments";
import { readStackResources } from "../../lib/pulumi/stack";
import type { StateResources } from "../../lib/pulumi/state";
import { loopbackPort, loopbackPortIn } from "../../providers/kubeadm/plan/endpoint/loopback-port";
import type { Endpoint } from "../../providers/kubeadm/plan/cluster/specification";
import type { EndpointArgs, CheckedArgs, MachineArgs } from "./kubeadm-cluster-args";
import { argumentIssues } from "./validation";

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

/** Returns a cluster's endpoint. It reads the stack's state only if the arguments name no port. */
export function endpointOf(cluster: string, args: CheckedArgs): pulumi.Output<Endpoint> {
  const { endpoint } = args;
  const decided = isOpen(endpoint)
    ? recordedEndpoint(cluster, args).then((found) => {
        refuseArguments(`KubeadmCluster ${cluster}`, argumentIssues({ ...args, endpoint: found }));
        return found;
      })
    : endpoint;
  return pulumi.output<EndpointArgs>(decided) as pulumi.Output<Endpoint>;
}

/** Returns the endpoint that the stack's outputs name, or else its resources: outputs are read much faster. */
async function recordedEndpoint(cluster: string, args: CheckedArgs): Promise<EndpointArgs> {
  const port = loopbackPortIn(await args.nodesEndpoint?.());
  if (port !== undefined) return { loopback: { port } };
  return endpointIn(await readStackResources(), cluster, args.machines, args.endpoint);
}

/** Whether the arguments leave the port to the state. */
function isOpen(endpoint: EndpointArgs | undefined): endpoint is undefined | { loopback: object } {
  return !endpoint || ("loopback" in endpoint && endpoint.loopback.port === undefined);
}
