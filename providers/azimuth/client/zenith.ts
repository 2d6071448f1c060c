import {
  azimuthRefs,
  CLUSTER_LABEL,
  FQDN_ANNOTATION,
  MANAGED_BY_LABEL,
  SUBDOMAIN_ANNOTATION,
  zenithFilesSecretName,
  zenithSecretName,
} from "../plan/names";
import { keyedEntry, type KeyedFile, withKey } from "../plan/zenith-values";
import { MADE_BY, type Owner } from "../../kubernetes/plan/adoption";
import { type KubernetesClient, KubernetesError } from "../../../lib/kubernetes";
import { generateKey } from "../../../lib/ssh/generated-key";
import { HttpClient } from "../../../lib/http-client";
import { Transient, waitFor } from "../../../lib/wait";

/** The registrar responded with a refusal. */
export class RegistrarRefusal extends Error {
  override readonly name = "RegistrarRefusal";
  readonly code = "ZenithRegistrar";
  readonly next = "check azimuth.zenith.registrarAdminUrl and the registrar's log, then run `up` again";

  constructor(
    readonly url: string,
    readonly status: number,
    readonly remote: string,
  ) {
    super(`POST ${url}: the Zenith registrar answered ${status}: ${remote}`);
  }
}

/** A name at which Zenith exposes a service. */
interface ZenithReservation {
  subdomain: string;
  fqdn: string;
}

interface ReserveOptions {
  /** how long to retry a registrar that does not respond or has a server error */
  seconds: number;
  signal?: AbortSignal;
  progress?: (line: string) => void;
}

const CALL_MILLISECONDS = 15_000;

/**
 * Reserves a subdomain for the owner of a key. Each call reserves another one.
 *
 * @param publicKey "ssh-ed25519 AAAA…"
 * @throws RegistrarRefusal for a response that a retry does not fix, WaitTimeout
 */
export async function reserveSubdomain(
  registrarAdminUrl: string,
  publicKey: string,
  { seconds, signal, progress }: ReserveOptions,
): Promise<ZenithReservation> {
  const url = `${registrarAdminUrl.replace(/\/$/, "")}/admin/reserve`;
  return waitFor<ZenithReservation>({
    what: `the Zenith registrar at ${url}`,
    seconds,
    signal,
    progress,
    probe: async (ended) => ({ done: await askOnce(url, publicKey, ended) }),
  });
}

async function askOnce(url: string, publicKey: string, signal: AbortSignal): Promise<ZenithReservation> {
  const http = new HttpClient({});
  try {
    // without the comment, because the registrar compares keys
    const body = { public_keys: [publicKey.split(" ").slice(0, 2).join(" ")] };
    const call = { method: "POST", url, body, milliseconds: CALL_MILLISECONDS, signal } as const;
    const {
      status,
      text,
      body: answer,
    } = await http.send(call).catch(({ message }: Error) => {
      throw new Transient(`no answer (${message})`);
    });
    if (status >= 500) throw new Transient(`${status}: ${text.slice(0, 200)}`);
    if (status < 200 || status > 299) throw new RegistrarRefusal(url, status, text.slice(0, 300));
    const { subdomain, fqdn } = (answer ?? {}) as Partial<ZenithReservation>;
    if (!subdomain || !fqdn)
      throw new RegistrarRefusal(url, status, `no subdomain in: ${text.slice(0, 200)}`);
    return { subdomain, fqdn };
  } finally {
    http.close();
  }
}

/** The cluster that a key and its files belong to. */
interface ZenithRef {
  namespace: string;
  cluster: string;
}

interface Secret {
  metadata: { annotations?: Record<string, string>; uid?: string };
  data?: Record<string, string>;
}

const labelsOf = (cluster: string) => ({ [MANAGED_BY_LABEL]: "foresail", [CLUSTER_LABEL]: cluster });

interface KeyPair {
  /** OpenSSH text */
  privateKey: string;
  /** "ssh-ed25519 AAAA…" */
  publicKey: string;
}

/** Returns the existing key; without a name while none is reserved. */
export async function readZenithSecret(
  management: Pick<KubernetesClient, "get">,
  ref: ZenithRef,
): Promise<(KeyPair & Partial<ZenithReservation>) | undefined> {
  const secret = await management.get<Secret>(azimuthRefs(ref).zenithKey);
  if (secret === undefined) return undefined;
  const { metadata, data = {} } = secret;
  const text = (key: string) => Buffer.from(data[key] ?? "", "base64").toString("utf8");
  const [privateKey, publicKey] = [text("id_ed25519"), text("id_ed25519.pub")];
  if (privateKey === "" || publicKey === "")
    throw new Error(
      `the Secret ${ref.namespace}/${zenithSecretName(ref.cluster)} has no id_ed25519 and id_ed25519.pub; ` +
        `if nothing else uses it, delete it, and the next run creates another one`,
    );
  const { [SUBDOMAIN_ANNOTATION]: subdomain, [FQDN_ANNOTATION]: fqdn } = metadata.annotations ?? {};
  return { privateKey, publicKey, ...(subdomain && fqdn ? { subdomain, fqdn } : {}) };
}

interface EnsureZenithSecretArgs extends ZenithRef, ReserveOptions {
  registrarAdminUrl: string;
  owner: Owner;
  /** the expected key and its reserved name, if they were created before */
  known?: KeyPair;
  knownName?: ZenithReservation;
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
  const { cluster, known, knownName, registrarAdminUrl, progress } = args;
  let key = await readZenithSecret(management, args);
  let made = false;
  if (key === undefined) {
    const pair = known ?? newKey(cluster);
    made = await createSecret(management, args, pair);
    key = made ? pair : await readZenithSecret(management, args);
    if (key === undefined) throw new Error("the Secret was deleted right after its creation; run `up` again");
    progress?.(
      made ? "created the key's Secret" : "another writer has just created the key's Secret; using it",
    );
  }
  const { privateKey, publicKey, subdomain, fqdn } = key;
  if (subdomain !== undefined && fqdn !== undefined) return { privateKey, publicKey, subdomain, fqdn, made };
  const reserved = knownName ?? (await reserveSubdomain(registrarAdminUrl, publicKey, args));
  const annotations = { [SUBDOMAIN_ANNOTATION]: reserved.subdomain, [FQDN_ANNOTATION]: reserved.fqdn };
  await management.mergePatch(azimuthRefs(args).zenithKey, { metadata: { annotations } });
  progress?.(`${reserved.fqdn} is reserved for it`);
  return { privateKey, publicKey, ...reserved, made };
}

function newKey(cluster: string): KeyPair {
  const { private: privateKey, public: publicKey } = generateKey({ comment: cluster });
  return { privateKey, publicKey };
}

/** @returns false when the Secret already exists */
async function createSecret(
  management: Pick<KubernetesClient, "create">,
  ref: EnsureZenithSecretArgs,
  { privateKey, publicKey }: KeyPair,
): Promise<boolean> {
  const { apiVersion, kind, name, uid } = ref.owner;
  const { namespace, name: secret } = azimuthRefs(ref).zenithKey;
  const ownerReferences = [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }];
  try {
    await management.create({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: secret, namespace, labels: labelsOf(ref.cluster), ownerReferences },
      stringData: { id_ed25519: privateKey, "id_ed25519.pub": publicKey },
    });
    return true;
  } catch (error) {
    if (error instanceof KubernetesError && error.reason === "AlreadyExists") return false;
    throw error;
  }
}

/** The cluster of the Secret with the files, and the stack that created it: "project/stack". */
interface ZenithFilesRef extends ZenithRef {
  stack: string;
}

const isOwn = (secret: Secret, { stack }: ZenithFilesRef) => secret.metadata.annotations?.[MADE_BY] === stack;

/** Reads the Secret with the files. @throws Error when this stack did not create it */
async function readOwn(
  management: Pick<KubernetesClient, "get">,
  ref: ZenithFilesRef,
): Promise<Secret | undefined> {
  const secret = await management.get<Secret>(azimuthRefs(ref).zenithFiles);
  if (secret === undefined || isOwn(secret, ref)) return secret;
  const maker = secret.metadata.annotations?.[MADE_BY];
  throw new Error(
    `the Secret ${ref.namespace}/${zenithFilesSecretName(ref.cluster)} was created by ` +
      `${maker === undefined ? "another program" : `the stack ${maker}`}; ` +
      `if nothing else uses it, delete it, or choose another name for the cluster`,
  );
}

const encoded = (file: KeyedFile, privateKey: string): string =>
  Buffer.from(withKey(file, privateKey)).toString("base64");

/**
 * Returns the files that are missing from the Secret or differ.
 *
 * @param privateKey undefined while there is none
 * @throws Error when this stack did not create the Secret
 */
export async function missingZenithFiles(
  management: Pick<KubernetesClient, "get">,
  args: ZenithFilesRef & { files: readonly KeyedFile[]; privateKey: string | undefined },
): Promise<KeyedFile[]> {
  const { files, privateKey } = args;
  if (files.length === 0) return [];
  const { data = {} } = (await readOwn(management, args)) ?? {};
  return files.filter(
    (file) => privateKey === undefined || data[keyedEntry(file)] !== encoded(file, privateKey),
  );
}

/** Writes the files to their Secret. @throws Error when this stack did not create it; KubernetesError */
export async function writeZenithFiles(
  management: Pick<KubernetesClient, "get" | "apply">,
  args: ZenithFilesRef & { files: readonly KeyedFile[]; privateKey: string; owner: Owner },
): Promise<void> {
  const { files, privateKey, owner, cluster, stack } = args;
  if (files.length === 0) return;
  const { uid } = (await readOwn(management, args))?.metadata ?? {};
  const { apiVersion, kind, name, namespace } = azimuthRefs(args).zenithFiles;
  const metadata = {
    ...{ name, namespace, labels: labelsOf(cluster) },
    annotations: { [MADE_BY]: stack },
    ownerReferences: [owner],
    ...(uid === undefined ? {} : { uid }),
  };
  const data = Object.fromEntries(files.map((file) => [keyedEntry(file), encoded(file, privateKey)]));
  await management.apply({ apiVersion, kind, metadata, data }, { force: true });
}

/** Deletes the Secret with the files if this stack created it. */
export async function deleteZenithFiles(
  management: Pick<KubernetesClient, "get" | "delete">,
  ref: ZenithFilesRef,
): Promise<void> {
  const secret = await management.get<Secret>(azimuthRefs(ref).zenithFiles);
  if (secret && isOwn(secret, ref)) await management.delete(azimuthRefs(ref).zenithFiles);
}
