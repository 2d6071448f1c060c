import { isDeepStrictEqual } from "node:util";
import { controlPlaneEndpoint, type ClusterSpecification } from "./specification";

export interface Refusal {
  property: string;
  reason: string;
}

/**
 * What of a running cluster's specification can't change, each with the reason and the way round it. An
 * earlier specification of undefined means that there is no cluster yet.
 */
export function refuseSpecificationChange(
  olds: ClusterSpecification | undefined,
  news: ClusterSpecification,
): Refusal[] {
  if (!olds) return [];
  const refusals: Refusal[] = [];
  const fixed = (property: string, before: unknown, after: unknown, mend: string) => {
    if (!isDeepStrictEqual(before, after))
      refusals.push({
        property,
        reason: `is ${JSON.stringify(before)} and can't become ${JSON.stringify(after)}: ${mend}`,
      });
  };
  const rebuild =
    "kubeadm fixes it when the cluster is made; set it back, or make a new cluster beside this one";
  fixed("specification.name", olds.name, news.name, rebuild);
  fixed(
    "specification.endpoint",
    controlPlaneEndpoint(olds.endpoint),
    controlPlaneEndpoint(news.endpoint),
    rebuild,
  );
  fixed("specification.network.podCidr", olds.network.podCidr, news.network.podCidr, rebuild);
  fixed("specification.network.serviceCidr", olds.network.serviceCidr, news.network.serviceCidr, rebuild);
  fixed("specification.network.dnsDomain", olds.network.dnsDomain, news.network.dnsDomain, rebuild);
  fixed("specification.network.bridge", olds.network.bridge, news.network.bridge, rebuild);
  fixed("specification.encryptSecretsAtRest", olds.encryptSecretsAtRest, news.encryptSecretsAtRest, rebuild);
  return refusals;
}
