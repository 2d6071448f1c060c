import type { PackageOffer } from "../../plan/rollout/package-offers";
import type { ClusterSpecification } from "../../plan/cluster/specification";
import { softwareVersionIssue } from "../../plan/validation/rollout";
import { reading } from "../adoption/adoption-steps";
import { proxyVariables } from "../parameters";
import type { Script } from "../steps";

/** How long a machine may fetch lists of packages, in seconds. */
export const FETCH_SECONDS = 25;

/**
 * Reads whether a machine's repositories have a version of its containerd, for parsePackageOffer. Writes nothing that
 * stays.
 *
 * @param addresses internal addresses of the cluster's machines, which are reached without a proxy
 */
export function packageOfferScript(
  specification: ClusterSpecification,
  machine: string,
  version: string,
  addresses: readonly string[],
): Script {
  const issue = softwareVersionIssue(version);
  if (issue !== undefined) throw new Error(`containerd: ${issue}`);
  return reading("package-offer")(specification.name, machine, {
    VERSION: version,
    IMAGE_REPOSITORY: "",
    PROXY: proxyVariables(specification, addresses),
    SECONDS_TO_FETCH: FETCH_SECONDS,
  });
}

/** Parses the answer of packageOfferScript. @throws Error when it is none */
export function parsePackageOffer(answer: string): PackageOffer {
  const [kind, ...words] = answer.trim().split(/\s+/);
  if (kind === "offered" && words.length === 0) return { kind };
  if (kind === "missing" && words[0] !== undefined)
    return { kind, package: words[0], versions: words.slice(1) };
  if (kind === "unread") return { kind, why: words.join(" ") };
  throw new Error("the machine's answer about its repositories can't be read");
}
