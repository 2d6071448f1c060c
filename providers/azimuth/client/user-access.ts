import { isDeepStrictEqual } from "node:util";
import { API, kubeconfigSecretName, oidcClientName, userKubeconfigSecretName } from "../plan/names";
import { parseYaml, userKubeconfig } from "../plan/user-kubeconfig";
import { MONITOR_MANAGER } from "../../kubernetes/plan/adoption";
import { KindNotServed, type KubernetesClient, type NewObject } from "../../../lib/kubernetes";
import { patchRecord, type RecordRef } from "./cluster-record";

interface Secret {
  metadata?: { labels?: Record<string, string>; ownerReferences?: { uid?: string }[] };
  data?: { value?: string };
}

/** What to write so that Azimuth's portal provides a kubeconfig to users; empty when everything is up to date. */
export interface UserAccess {
  /** one line for each change */
  lines: string[];
  secret?: NewObject;
  /** `status.kubeconfigSecretName` */
  kubeconfigSecretName?: string;
  /** why Cluster API's kubeconfig can't be given to users */
  problem?: string;
}

/**
 * Compares the kubeconfig of a cluster's users with what azimuth-capi-operator would write. With OpenID Connect it is
 * the Secret <cluster>-kubeconfig-user, made from Cluster API's <cluster>-kubeconfig. The record names that Secret, or
 * Cluster API's own without OpenID Connect. Returns no change before the record and Cluster API's Secret exist.
 *
 * @throws KubernetesError
 */
export async function compareUserAccess(
  client: Pick<KubernetesClient, "get">,
  { namespace, cluster }: RecordRef,
): Promise<UserAccess> {
  const secretRef = (name: string) => ({ apiVersion: "v1", kind: "Secret", namespace, name });
  const [record, admin, oidcClient, live] = await Promise.all([
    client.get<{ metadata?: { uid?: string }; status?: { kubeconfigSecretName?: string } }>({
      apiVersion: API.azimuth,
      kind: "Cluster",
      namespace,
      name: cluster,
    }),
    client.get<Secret>(secretRef(kubeconfigSecretName(cluster))),
    readOidcClient(client, { namespace, cluster }),
    client.get<Secret>(secretRef(userKubeconfigSecretName(cluster))),
  ]);
  const uid = record?.metadata?.uid;
  if (uid === undefined || admin?.data?.value === undefined) return { lines: [] };
  const nameIs = (name: string): UserAccess =>
    record?.status?.kubeconfigSecretName === name
      ? { lines: [] }
      : { lines: [`kubeconfigSecretName: ${name}`], kubeconfigSecretName: name };
  if (oidcClient === undefined) return nameIs(kubeconfigSecretName(cluster));
  const { issuerUrl, clientId } = oidcClient.status ?? {};
  if (!issuerUrl || !clientId) return { lines: [] };
  const name = userKubeconfigSecretName(cluster);
  let text: string;
  try {
    text = userKubeconfig(Buffer.from(admin.data.value, "base64").toString("utf8"), { issuerUrl, clientId });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const secret = `${namespace}/${kubeconfigSecretName(cluster)}`;
    return { lines: [], problem: `the kubeconfig in the Secret ${secret} can't be given to users: ${why}` };
  }
  const named = nameIs(name);
  if (live && isSame(live, text, admin, uid)) return named;
  const owner = { apiVersion: API.azimuth, kind: "Cluster", name: cluster, uid };
  return {
    ...named,
    lines: [`write the users' kubeconfig to the Secret ${namespace}/${name}`, ...named.lines],
    secret: {
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        name,
        namespace,
        labels: admin.metadata?.labels ?? {},
        ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
      },
      data: { value: Buffer.from(text).toString("base64") },
    },
  };
}

/** Ignores the order of keys, because azimuth-capi-operator writes another one. */
function isSame({ metadata, data }: Secret, text: string, admin: Secret, uid: string): boolean {
  const { labels = {}, ownerReferences = [] } = metadata ?? {};
  return (
    ownerReferences.some((owner) => owner.uid === uid) &&
    Object.entries(admin.metadata?.labels ?? {}).every(([label, value]) => labels[label] === value) &&
    isDeepStrictEqual(parseYaml(Buffer.from(data?.value ?? "", "base64").toString("utf8")), parseYaml(text))
  );
}

async function readOidcClient(
  client: Pick<KubernetesClient, "get">,
  { namespace, cluster }: RecordRef,
): Promise<{ status?: { issuerUrl?: string; clientId?: string } } | undefined> {
  const name = oidcClientName(cluster);
  try {
    return await client.get({ apiVersion: API.identity, kind: "OIDCClient", namespace, name });
  } catch (error) {
    if (error instanceof KindNotServed) return undefined;
    throw error;
  }
}

/** Returns the messages: what is written, or why nothing is. */
export function linesOf({ lines, problem }: UserAccess): string[] {
  return problem === undefined ? lines : [problem];
}

/** Writes the result of `compareUserAccess`: the Secret first, so that the record names an existing one. */
export async function writeUserAccess(
  client: Pick<KubernetesClient, "apply" | "mergePatch">,
  ref: RecordRef,
  { secret, kubeconfigSecretName: name }: UserAccess,
): Promise<void> {
  if (secret) await client.apply(secret, { fieldManager: MONITOR_MANAGER, force: true });
  if (name !== undefined) await patchRecord(client, ref, { kubeconfigSecretName: name });
}
