import type { Outputs } from "../../../lib/pulumi/state";
import type { CloudRef, UnmetRequirement } from "./cloud-facts";

/** What Pulumi's OpenStack provider does not read from clouds.yaml, or has no good default for. */
export interface ProviderSettings {
  /** Which endpoints of the catalog it calls; absent for the public ones, its default. */
  endpointType?: string;
  maxRetries?: number;
}

/** How often the provider sends a request again that is answered with 429 and Retry-After, or loses its connection. */
const MAX_RETRIES = 10;

/**
 * Returns the settings of the provider. A stack of a release that gave it none gets them with the next run that changes
 * machines, because they are an update of the provider, and a preview without changes stays empty.
 *
 * @param endpoints which endpoints foresail calls; undefined if the configuration of the cloud can't be read
 * @param recorded what the provider was given; undefined in a new stack
 */
export function providerSettings(
  endpoints: string | undefined,
  recorded: Outputs | undefined,
  changesMachines: boolean,
): ProviderSettings {
  const isOfEarlierRelease = recorded !== undefined && !("maxRetries" in recorded);
  if (isOfEarlierRelease && !changesMachines) return {};
  const recordedEndpoints = recorded?.endpointType;
  const known = endpoints ?? (typeof recordedEndpoints === "string" ? recordedEndpoints : "public");
  return { ...(known === "public" ? {} : { endpointType: known }), maxRetries: MAX_RETRIES };
}

/** What a program's own provider says about its cloud. */
export interface GivenProvider extends CloudRef {
  authUrl?: string;
  tenantId?: string;
  tenantName?: string;
}

/** What foresail read about the cloud, which it asks by itself. */
interface ReadCloud {
  authUrl: string;
  region?: string;
  auth: { scope?: { project?: { id?: string; name?: string } } };
}

/**
 * Returns why the provider that a program gives to its cluster can't be used: it would change another cloud, region or project
 * than foresail reads.
 *
 * @param asked the arguments of the cluster
 */
export function givenProviderIssues(
  given: GivenProvider,
  asked: CloudRef,
  read: ReadCloud,
): UnmetRequirement[] {
  const other = (property: string, theirs: string, own: string | undefined) => ({
    property: "provider",
    reason: `the provider given to this cluster has ${property} ${theirs}, and the cluster ${own ?? "none"}; foresail asks the cloud by the cluster's arguments, so both must name the same`,
  });
  const issues: UnmetRequirement[] = [];
  if (given.cloud !== undefined && given.cloud !== asked.cloud)
    issues.push(other("cloud", given.cloud, asked.cloud));
  const service = (url: string) => url.replace(/(\/v3)?\/*$/, "");
  if (given.authUrl !== undefined && service(given.authUrl) !== service(read.authUrl))
    issues.push(other("authUrl", given.authUrl, read.authUrl));
  // without a region of its own, it takes that of clouds.yaml
  const region = given.region ?? (asked.region === undefined ? read.region : undefined);
  if (region !== read.region) issues.push(other("region", region ?? "none", read.region));
  const { id, name } = read.auth.scope?.project ?? {};
  if (given.tenantId !== undefined && id !== undefined && given.tenantId !== id)
    issues.push(other("tenantId", given.tenantId, id));
  if (given.tenantName !== undefined && name !== undefined && given.tenantName !== name)
    issues.push(other("tenantName", given.tenantName, name));
  return issues;
}
