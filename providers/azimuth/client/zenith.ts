import {
  azimuthRefs,
  CLUSTER_LABEL,
  FQDN_ANNOTATION,
  MANAGED_BY_LABEL,
  SUBDOMAIN_ANNOTATION,
} from "../plan/names";
import { keyedEntry, type KeyedFile, withKey } from "../plan/zenith-values";
import { MADE_BY, type OwnerRef } from "../../kubernetes/plan/adoption";
import { type KubernetesClient, KubernetesError } from "../../../lib/kubernetes";
import { generateKey } from "../../../lib/ssh/generated-key";
import { HttpClient } from "../../../lib/http-client";
import { printable, shortened } from "../../../lib/text/quote";
import { isKnown } from "../../../lib/unknown";
import { type Deadline, Transient, waitFor } from "../../../lib/wait";

/** The registrar responded with a refusal. */
class RegistrarRefusal extends Error {
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

/** How long to retry a registrar that does not respond or has a server error, and how the wait is reported. */
type ReserveOptions = Omit<Deadline, "what">;

const CALL_MILLISECONDS = 15_000;

/**
 * Reserves a subdomain for the owner of a key. Each call reserves another one.
 *
 * @param publicKey "ssh-ed25519 AAAA…"
 * @throws RegistrarRefusal for a response that a retry does not fix, WaitTimeout
 */
async function reserveSubdomain(
  registrarAdminUrl: string,
  publicKey: string,
  options: ReserveOptions,
): Promise<ZenithReservation> {
  const url = `${registrarAdminUrl.replace(/\/$/, "")}/admin/reserve`;
  return waitFor<ZenithReservation>({
    ...options,
    what: `the Zenith registrar at ${url}`,
    probe: async (signal) => ({ done: await askOnce(url, publicKey, signal) }),
  });
}

async function askOnce(url: string, publicKey: string, signal: AbortSignal): Promise<ZenithReservation> {
  const http = new HttpClient({});
  try {
    // without the comment, because the registrar compares keys
    const body = { public_keys: [publicKey.split(" ").slice(0, 2).join(" ")] };
    const call = { method: "POST", url, body, milliseconds: CALL_MILLISECONDS, signal } as const;
    const response = await http.send(call).catch(({ message }: Error) => {
      throw new Transient(`no answer (${message})`);
    });
    const { status, text } = response;
    if (status >= 500) throw new Transient(`${status}: ${text.slice(0, 200)}`);
    if (status < 200 || status > 299) throw new RegistrarRefusal(url, status, text.slice(0, 300));
    const { subdomain, fqdn } = (response.body ?? {}) as Partial<ZenithReservation>;
    if (!subdomain || !fqdn)
      throw new RegistrarRefusal(url, status, `no subdomain in: ${text.slice(0, 200)}`);
    return { subdomain, fqdn };
  } finally {
    http.close();
  }
}

/** The cluster that a key and its files belong to, its owner, and the stack that creates them: "project/stack". */
interface ZenithRef {
  namespace: string;
  cluster: string;
  stack: string;
  owner: OwnerRef;
}

interface Secret {
  metadata: { annotations?: Record<string, string>; uid?: string; ownerReferences?: OwnerRef[] };
  data?: Record<string, string>;
}

interface KeyPair {
  /** OpenSSH text */
  privateKey: string;
  /** "ssh-ed25519 AAAA…" */
  publicKey: string;
}

interface EnsureKeyArgs extends ReserveOptions {
  registrarAdminUrl: string;
  owner: OwnerRef;
  /** the expected key and its reserved name, if they were created before */
  known?: KeyPair & ZenithReservation;
}

/** The Secrets of a cluster with Zenith: its key with the reserved name, and the files that contain the key. */
export class ZenithSecrets {
  private readonly key;
  private readonly files;
  private readonly labels;

  constructor(
    private readonly management: KubernetesClient,
    private readonly ref: ZenithRef,
  ) {
    ({ zenithKey: this.key, zenithFiles: this.files } = azimuthRefs(ref));
    this.labels = { [MANAGED_BY_LABEL]: "foresail", [CLUSTER_LABEL]: ref.cluster };
  }

  /** Returns the existing key; without a name while none is reserved. */
  async readKey(): Promise<(KeyPair & Partial<ZenithReservation>) | undefined> {
    const secret = await this.management.get<Secret>(this.key);
    if (secret === undefined) return undefined;
    const { metadata, data = {} } = secret;
    const text = (key: string) => Buffer.from(data[key] ?? "", "base64").toString("utf8");
    const [privateKey, publicKey] = [text("id_ed25519"), text("id_ed25519.pub")];
    if (privateKey === "" || publicKey === "")
      throw new Error(
        `the Secret ${this.key.namespace}/${this.key.name} has no id_ed25519 and id_ed25519.pub; ` +
          `if nothing else uses it, delete it, and the next run creates another one`,
      );
    const { [SUBDOMAIN_ANNOTATION]: subdomain, [FQDN_ANNOTATION]: fqdn } = metadata.annotations ?? {};
    return { privateKey, publicKey, ...(subdomain && fqdn ? { subdomain, fqdn } : {}) };
  }

  /**
   * Ensures the Secret with the key and its reserved name. Writes the key before it reserves a name, so that an
   * interrupted run continues with the same key; never replaces an existing key.
   *
   * @returns `made`: whether this call created the Secret
   * @throws RegistrarRefusal, WaitTimeout, KubernetesError
   */
  async ensureKey(args: EnsureKeyArgs): Promise<KeyPair & ZenithReservation & { made: boolean }> {
    const { known, registrarAdminUrl, owner, progress, ...deadline } = args;
    let key = await this.readKey();
    let made = false;
    if (key === undefined) {
      const pair = known ?? newKey(this.ref.cluster);
      made = await this.createKey(pair, owner);
      key = made ? pair : await this.readKey();
      if (key === undefined)
        throw new Error("the Secret was deleted right after its creation; run `up` again");
      progress?.(
        made ? "created the key's Secret" : "another writer has just created the key's Secret; using it",
      );
    }
    const { privateKey, publicKey, subdomain, fqdn } = key;
    if (subdomain !== undefined && fqdn !== undefined)
      return { privateKey, publicKey, subdomain, fqdn, made };
    const reserved =
      known ?? (await reserveSubdomain(registrarAdminUrl, publicKey, { ...deadline, progress }));
    const annotations = { [SUBDOMAIN_ANNOTATION]: reserved.subdomain, [FQDN_ANNOTATION]: reserved.fqdn };
    await this.management.mergePatch(this.key, { metadata: { annotations } });
    progress?.(`${reserved.fqdn} is reserved for it`);
    return { privateKey, publicKey, subdomain: reserved.subdomain, fqdn: reserved.fqdn, made };
  }

  /** @returns false when the Secret already exists */
  private async createKey({ privateKey, publicKey }: KeyPair, owner: OwnerRef): Promise<boolean> {
    const { namespace, name } = this.key;
    const { apiVersion, kind, name: ownerName, uid } = owner;
    const reference = { apiVersion, kind, name: ownerName, uid, controller: true, blockOwnerDeletion: true };
    try {
      await this.management.create({
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name, namespace, labels: this.labels, ownerReferences: [reference] },
        stringData: { id_ed25519: privateKey, "id_ed25519.pub": publicKey },
      });
      return true;
    } catch (error) {
      if (error instanceof KubernetesError && error.reason === "AlreadyExists") return false;
      throw error;
    }
  }

  /** Reads the Secret with the files. @throws Error when it is neither of this stack nor of the cluster that it has */
  private async readOwnFiles(): Promise<Secret | undefined> {
    const secret = await this.management.get<Secret>(this.files);
    if (secret === undefined) return secret;
    const { annotations = {}, ownerReferences = [] } = secret.metadata;
    const maker = annotations[MADE_BY];
    // the identity decides whose the owner is, so a renamed stack and one that took the cluster over have its files
    const { kind, name, uid } = this.ref.owner;
    // a preview may not have the uid; where the owner is gone, the Secret goes with it
    const isOwner = (owner: OwnerRef) =>
      isKnown(uid) ? owner.uid === uid : owner.kind === kind && owner.name === name;
    const isOfCluster = ownerReferences.some(isOwner);
    if (maker === this.ref.stack || (maker !== undefined && isOfCluster)) return secret;
    throw new Error(
      `the Secret ${this.files.namespace}/${this.files.name} was created by ` +
        `${maker === undefined ? "another program" : `the stack ${printable(shortened(maker))}`}; ` +
        `if nothing else uses it, delete it, or choose another name for the cluster`,
    );
  }

  /**
   * Returns the files that are missing from the Secret or differ.
   *
   * @param privateKey undefined while there is none
   * @throws Error when this stack did not create the Secret
   */
  async missingFiles(files: readonly KeyedFile[], privateKey: string | undefined): Promise<KeyedFile[]> {
    if (files.length === 0) return [];
    const { data = {} } = (await this.readOwnFiles()) ?? {};
    return files.filter(
      (file) => privateKey === undefined || data[keyedEntry(file)] !== encoded(file, privateKey),
    );
  }

  /** Writes the files to their Secret. @throws Error when this stack did not create it; KubernetesError */
  async writeFiles(files: readonly KeyedFile[], privateKey: string, owner: OwnerRef): Promise<void> {
    if (files.length === 0) return;
    const { uid } = (await this.readOwnFiles())?.metadata ?? {};
    const { apiVersion, kind, name, namespace } = this.files;
    const metadata = {
      name,
      namespace,
      uid,
      labels: this.labels,
      annotations: { [MADE_BY]: this.ref.stack },
      ownerReferences: [owner],
    };
    const data = Object.fromEntries(files.map((file) => [keyedEntry(file), encoded(file, privateKey)]));
    await this.management.apply({ apiVersion, kind, metadata, data }, { force: true });
  }

  /** Deletes the Secret with the files if this stack created it. */
  async deleteFiles(): Promise<void> {
    const secret = await this.management.get<Secret>(this.files);
    if (secret?.metadata.annotations?.[MADE_BY] === this.ref.stack) await this.management.delete(this.files);
  }
}

function newKey(cluster: string): KeyPair {
  const { private: privateKey, public: publicKey } = generateKey({ comment: cluster });
  return { privateKey, publicKey };
}

const encoded = (file: KeyedFile, privateKey: string): string =>
  Buffer.from(withKey(file, privateKey)).toString("base64");
