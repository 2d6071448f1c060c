import type { Outputs } from "../../../lib/pulumi/state";
import { isUnknown } from "../../../lib/unknown";
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

/** What a program's own provider says about its cloud. A preview knows only the fields that the program sets. */
export interface GivenProvider extends CloudRef {
  authUrl?: string;
  tenantId?: string;
  tenantName?: string;
  applicationCredentialId?: string;
}

/** What foresail read about the cloud, which it asks by itself. */
interface ReadCloud extends CloudRef {
  authUrl: string;
  /** Region of the entry or the environment, without the cluster's own. */
  entryRegion?: string;
  auth: {
    identity?: { application_credential?: { id?: string } };
    scope?: { project?: { id?: string; name?: string } };
  };
}

/**
 * Returns why the provider that a program gives to its cluster can't be used: it would change another cloud, region or
 * project than foresail reads. Compares what both name; a field that is unknown in a preview is compared by the run.
 */
export function givenProviderIssues(given: GivenProvider, read: ReadCloud): UnmetRequirement[] {
  const issues: UnmetRequirement[] = [];
  const compare = (property: keyof GivenProvider, theirs: string | undefined, own: string | undefined) => {
    if (isUnknown(theirs) || theirs === own) return;
    // a program may treat the id of its credential as a secret
    const difference =
      property === "applicationCredentialId"
        ? `another ${property} than the cluster`
        : `${property} ${theirs ?? "none"}, and the cluster ${own ?? "none"}`;
    issues.push({
      property: "provider",
      reason: `the provider given to this cluster has ${difference}; foresail asks the cloud by the cluster's arguments, so both must name the same`,
    });
  };
  const compareIfBoth = (property: keyof GivenProvider, own: string | undefined) => {
    if (given[property] !== undefined && own !== undefined) compare(property, given[property], own);
  };
  const { project } = read.auth.scope ?? {};
  const service = (url: string) => url.replace(/(\/v3)?\/*$/, "");
  // a provider with an address of its own needs no entry of clouds.yaml
  if (given.cloud !== undefined || given.authUrl === undefined) compare("cloud", given.cloud, read.cloud);
  if (given.authUrl !== undefined && service(given.authUrl) !== service(read.authUrl))
    compare("authUrl", given.authUrl, read.authUrl);
  // without a region of its own, it takes that of the entry
  compare("region", given.region ?? read.entryRegion, read.region);
  compareIfBoth("tenantId", project?.id);
  compareIfBoth("tenantName", project?.name);
  compareIfBoth("applicationCredentialId", read.auth.identity?.application_credential?.id);
  return issues;
}
