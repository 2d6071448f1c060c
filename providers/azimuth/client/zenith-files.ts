import { CLUSTER_LABEL, MANAGED_BY_LABEL, zenithFilesSecretName } from "../plan/names";
import { keyedEntry, type KeyedFile, withKey } from "../plan/zenith-values";
import { MADE_BY, type Owner } from "../../kubernetes/plan/adoption";
import type { KubernetesClient } from "../../../lib/kubernetes";
import type { ZenithSecretRef } from "./zenith-secret";

/** The Secret's cluster, and the stack that created the Secret. */
interface ZenithFilesPlace extends ZenithSecretRef {
  /** "project/stack" */
  stack: string;
}

interface WriteZenithFilesArgs extends ZenithFilesPlace {
  files: readonly KeyedFile[];
  /** OpenSSH text */
  privateKey: string;
  owner: Owner;
}

interface Secret {
  metadata: { annotations?: Record<string, string>; uid?: string };
  data?: Record<string, string>;
}

const refOf = ({ namespace, cluster }: ZenithSecretRef) => ({
  apiVersion: "v1",
  kind: "Secret",
  namespace,
  name: zenithFilesSecretName(cluster),
});

const nameOf = (ref: ZenithSecretRef) => `Secret ${ref.namespace}/${zenithFilesSecretName(ref.cluster)}`;

/** Reads the Secret. @throws Error when another creator's name is on it */
async function readOwn(
  management: Pick<KubernetesClient, "get">,
  ref: ZenithFilesPlace,
): Promise<Secret | undefined> {
  const secret = await management.get<Secret>(refOf(ref));
  const maker = secret?.metadata.annotations?.[MADE_BY];
  if (secret === undefined || maker === ref.stack) return secret;
  throw new Error(
    `the ${nameOf(ref)} was made by ${maker === undefined ? "somebody else" : `the stack ${maker}`}; ` +
      `delete it if nobody needs it, or choose another name for the cluster`,
  );
}

/**
 * Returns the files that are missing from the Secret or differ.
 *
 * @param privateKey undefined while there is none
 * @throws Error when this stack did not create the Secret
 */
export async function missingZenithFiles(
  management: Pick<KubernetesClient, "get">,
  args: ZenithFilesPlace & { files: readonly KeyedFile[]; privateKey: string | undefined },
): Promise<KeyedFile[]> {
  const { files, privateKey } = args;
  if (files.length === 0) return [];
  const { data = {} } = (await readOwn(management, args)) ?? {};
  return files.filter(
    (file) => privateKey === undefined || data[keyedEntry(file)] !== encoded(file, privateKey),
  );
}

const encoded = (file: KeyedFile, privateKey: string): string =>
  Buffer.from(withKey(file, privateKey)).toString("base64");

/** Writes the files to their Secret. @throws Error when this stack did not create it; KubernetesError */
export async function writeZenithFiles(
  management: Pick<KubernetesClient, "get" | "apply">,
  args: WriteZenithFilesArgs,
): Promise<void> {
  const { files, privateKey, owner, cluster, stack } = args;
  if (files.length === 0) return;
  const existing = await readOwn(management, args);
  const { apiVersion, kind, name, namespace } = refOf(args);
  const { uid } = existing?.metadata ?? {};
  await management.apply(
    {
      apiVersion,
      kind,
      metadata: {
        name,
        namespace,
        labels: { [MANAGED_BY_LABEL]: "foresail", [CLUSTER_LABEL]: cluster },
        annotations: { [MADE_BY]: stack },
        ownerReferences: [owner],
        ...(uid === undefined ? {} : { uid }),
      },
      data: Object.fromEntries(files.map((file) => [keyedEntry(file), encoded(file, privateKey)])),
    },
    { force: true },
  );
}

/** Deletes the Secret if this stack created it. */
export async function deleteZenithFiles(
  management: Pick<KubernetesClient, "get" | "delete">,
  ref: ZenithFilesPlace,
): Promise<void> {
  const secret = await management.get<Secret>(refOf(ref));
  if (secret?.metadata.annotations?.[MADE_BY] === ref.stack) await management.delete(refOf(ref));
}
