import {
  CLUSTER_LABEL,
  FQDN_ANNOTATION,
  MANAGED_BY_LABEL,
  SUBDOMAIN_ANNOTATION,
  zenithSecretName,
} from "../plan/names";
import { KubernetesError, type KubernetesClient } from "../../../lib/kubernetes";
import { generateKey } from "../../../lib/ssh/generated-key";
import { type ReserveOptions, reserveSubdomain, type ZenithReservation } from "./registrar";

/** The cluster that the key belongs to. */
export interface ZenithSecretRef {
  namespace: string;
  cluster: string;
}

interface KeyPair {
  /** OpenSSH text */
  privateKey: string;
  /** "ssh-ed25519 AAAA…" */
  publicKey: string;
}

type ZenithKey = KeyPair & Partial<ZenithReservation>;

interface EnsureZenithSecretArgs extends ZenithSecretRef, ReserveOptions {
  registrarAdminUrl: string;
  owner: { apiVersion: string; kind: string; name: string; uid?: string };
  /** the expected key and its reserved name, if they were created before */
  known?: KeyPair;
  knownName?: ZenithReservation;
}

interface Secret {
  metadata: { annotations?: Record<string, string>; resourceVersion?: string };
  data?: Record<string, string>;
}

const refOf = ({ namespace, cluster }: ZenithSecretRef) => ({
  apiVersion: "v1",
  kind: "Secret",
  namespace,
  name: zenithSecretName(cluster),
});

/** Returns the existing key; without a name while none is reserved. */
export async function readZenithSecret(
  management: Pick<KubernetesClient, "get">,
  ref: ZenithSecretRef,
): Promise<ZenithKey | undefined> {
  const secret = await management.get<Secret>(refOf(ref));
  return secret && keyOf(secret, ref);
}

function keyOf({ metadata: { annotations = {} }, data = {} }: Secret, ref: ZenithSecretRef): ZenithKey {
  const text = (key: string) => Buffer.from(data[key] ?? "", "base64").toString("utf8");
  const [privateKey, publicKey] = [text("id_ed25519"), text("id_ed25519.pub")];
  if (privateKey === "" || publicKey === "")
    throw new Error(
      `the Secret ${ref.namespace}/${zenithSecretName(ref.cluster)} has no id_ed25519 and id_ed25519.pub; ` +
        `delete it if nobody needs it, then a new one is made`,
    );
  const { [SUBDOMAIN_ANNOTATION]: subdomain, [FQDN_ANNOTATION]: fqdn } = annotations;
  return { privateKey, publicKey, ...(subdomain && fqdn ? { subdomain, fqdn } : {}) };
}

/**
 * Ensures the Secret with the key and its reserved name. Writes the key before it reserves a name, so that an
 * interrupted run continues with the same key; never replaces an existing key.
 *
 * @returns `made`: whether this call created the Secret
 * @throws RegistrarRefusal, WaitTimeout, KubernetesError
 */
export async function ensureZenithSecret(
  management: Pick<KubernetesClient, "get" | "create" | "mergePatch">,
  args: EnsureZenithSecretArgs,
): Promise<KeyPair & ZenithReservation & { made: boolean }> {
  const { progress } = args;
  let key = await readZenithSecret(management, args);
  let made = false;
  if (key === undefined) {
    const generated = args.known ?? newKey(args.cluster);
    made = await createSecret(management, args, generated);
    key = made ? generated : await readZenithSecret(management, args);
    if (key === undefined) throw new Error("the Secret went as soon as it was there; run the same again");
    progress?.(made ? "made the key's Secret" : "somebody else made the key's Secret just now: taken");
  }
  const { privateKey, publicKey } = key;
  if (key.subdomain !== undefined && key.fqdn !== undefined)
    return { privateKey, publicKey, subdomain: key.subdomain, fqdn: key.fqdn, made };
  const { subdomain, fqdn } =
    args.knownName ?? (await reserveSubdomain(args.registrarAdminUrl, publicKey, args));
  await management.mergePatch(refOf(args), {
    metadata: { annotations: { [SUBDOMAIN_ANNOTATION]: subdomain, [FQDN_ANNOTATION]: fqdn } },
  });
  progress?.(`${fqdn} is reserved for it`);
  return { privateKey, publicKey, subdomain, fqdn, made };
}

function newKey(cluster: string): KeyPair {
  const { private: privateKey, public: publicKey } = generateKey({ comment: cluster });
  return { privateKey, publicKey };
}

/** @returns false when the Secret already exists */
async function createSecret(
  management: Pick<KubernetesClient, "create">,
  { namespace, cluster, owner }: EnsureZenithSecretArgs,
  { privateKey, publicKey }: KeyPair,
): Promise<boolean> {
  const { apiVersion, kind, name, uid } = owner;
  try {
    await management.create({
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        name: zenithSecretName(cluster),
        namespace,
        labels: { [MANAGED_BY_LABEL]: "foresail", [CLUSTER_LABEL]: cluster },
        ownerReferences: [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }],
      },
      stringData: { id_ed25519: privateKey, "id_ed25519.pub": publicKey },
    });
    return true;
  } catch (error) {
    if (error instanceof KubernetesError && error.reason === "AlreadyExists") return false;
    throw error;
  }
}
