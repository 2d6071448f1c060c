import { creationAdvice, needsFault, type FailedCreation } from "../../core/openstack/creation-advice";

const ASK_SECONDS = 20;

/**
 * Asks the cloud why an object could not be made.
 * @param server how a server is called in the cloud
 * @returns the reason and what to do; undefined when the provider's own words say it
 */
export async function explainCreationFailure(
  failed: Omit<FailedCreation, "fault"> & { server?: string },
  place: { cloud?: string; region?: string },
): Promise<string | undefined> {
  const { server, ...creation } = failed;
  const fault = server !== undefined && needsFault(creation) ? await readFault(server, place) : undefined;
  return creationAdvice({ ...creation, ...(fault === undefined ? {} : { fault }) });
}

async function readFault(
  server: string,
  place: { cloud?: string; region?: string },
): Promise<string | undefined> {
  const { Cloud, serverFault } = await import("../../clients/openstack/index.js");
  const cloud = await Cloud.open(place, { seconds: ASK_SECONDS });
  try {
    return await serverFault(cloud, server);
  } finally {
    cloud.close();
  }
}
