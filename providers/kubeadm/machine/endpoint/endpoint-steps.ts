import type { EndpointFacts } from "../../plan/endpoint/moved-endpoint";
import { type ClusterSpecification, controlPlaneEndpoint } from "../../plan/cluster/specification";
import { assertSettings } from "../../plan/validation/settings";
import { namedFacts, reading } from "../adoption/adoption-steps";
import { endpointParameters } from "../parameters";
import { ownerParameters, type Script, step } from "../steps";

const readFacts = reading("endpoint-facts");

/** Reads whether a machine can move to a specification's endpoint, for parseEndpointFacts. Changes nothing. */
export function endpointFactsScript(specification: ClusterSpecification, machine: string): Script {
  assertSettings(specification);
  return readFacts(specification.name, machine, {
    ...ownerParameters(specification.name, machine),
    ENDPOINT: controlPlaneEndpoint(specification.endpoint),
  });
}

/** Parses the answer of endpointFactsScript. */
export function parseEndpointFacts(answer: string): EndpointFacts {
  const facts = namedFacts(answer);
  const of = (name: string) => (facts.get(name) ?? "").trim();
  return {
    ...(of("unreached") === "" ? {} : { unreached: of("unreached") }),
    ...(of("unnamed") === "" ? {} : { unnamed: of("unnamed") }),
    ...(of("kubeProxy") === "" ? {} : { hasKubeProxy: of("kubeProxy") === "yes" }),
  };
}

/**
 * Writes a specification's endpoint into kubeadm-config, cluster-info and the configuration of kube-proxy, through a
 * control plane. Its answer is empty.
 *
 * @param former endpoints that these may have
 */
export function moveEndpointScript(
  specification: ClusterSpecification,
  machine: string,
  former: readonly string[],
): Script {
  assertSettings(specification);
  return step("move-endpoint", specification.name, machine, {
    ...endpointParameters(specification, former),
  });
}
