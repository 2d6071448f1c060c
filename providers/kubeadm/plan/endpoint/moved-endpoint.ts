import { quoted } from "../../../../lib/text/quote";
import { displayLine } from "../../../../lib/text/display";
import { issueAt, type ValidationIssue } from "../../../../lib/validation/validation-issue";
import { controlPlaneEndpoint, type ClusterSpecification } from "../cluster/specification";

/** What a member of a cluster says about an endpoint to which it is to move. */
export interface EndpointFacts {
  /** Why the API servers did not answer it there with a certificate of the cluster's authority; absent if they did. */
  unreached?: string;
  /** Why the certificate of its own API server is not for that endpoint; absent if it is, and on workers. */
  unnamed?: string;
  /** Whether the cluster has a DaemonSet kube-proxy; absent where the machine can't tell. */
  hasKubeProxy?: boolean;
}

type WithEndpoint = Pick<ClusterSpecification, "endpoint">;

/** Returns whether two specifications have an external endpoint each: nodes can move from one to another. */
export const areExternal = (...specifications: WithEndpoint[]): boolean =>
  specifications.every(({ endpoint }) => "external" in endpoint);

/**
 * Returns why a cluster can't move to another endpoint. A load balancer hands each connection to any API server, so all of
 * them need a certificate with its name before the first node moves.
 *
 * @param facts by machine
 */
export function movedEndpointIssues(
  news: WithEndpoint,
  facts: ReadonlyMap<string, EndpointFacts>,
): ValidationIssue[] {
  const { endpoint } = news;
  if ("loopback" in endpoint) return [];
  const { host } = endpoint.external;
  const unnamed = [...facts].filter(([, { unnamed: why }]) => why !== undefined);
  if (unnamed.length > 0)
    return unnamed.flatMap(([machine, { unnamed: why = "" }]) =>
      issueAt(
        ["endpoint", "external", "host"],
        `${machine}: the certificate of its API server is not for ${quoted(host)} (${displayLine(why)}); put the old endpoint back, ` +
          "add the name to kubeadm.clusterConfiguration.apiServer.certSANs, run `up`, then change the endpoint",
      ),
    );
  return [...facts].flatMap(([machine, { unreached: why }]) =>
    issueAt(
      ["endpoint", "external"],
      why === undefined
        ? undefined
        : `${machine} does not reach the API servers of this cluster at ${controlPlaneEndpoint(endpoint)} (${displayLine(why)}); ` +
            "let it forward to them, or put the old endpoint back",
    ),
  );
}
