import type { Outputs } from "../../../lib/pulumi/state";

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
