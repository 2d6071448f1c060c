import type { V1Lease, V1Node, V1Pod } from "@kubernetes/client-node";

/** A reference to one object of the API. */
export interface ObjectRef {
  apiVersion: string;
  kind: string;
  /** of a namespaced kind; default "default" */
  namespace?: string;
  name: string;
}

/** Any object as the API returns it. */
export interface KubernetesObject {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
  [field: string]: unknown;
}

interface ObjectMeta {
  name?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  [field: string]: unknown;
}

/** An object to write. */
export type NewObject = KubernetesObject & {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta & { name: string };
};

/** A library type as JSON: times are text. */
export type Wire<T> = T extends Date ? string : T extends object ? { [Key in keyof T]: Wire<T[Key]> } : T;

/** A library type as JSON of which every field may be missing, for decisions that need only some. */
export type Parts<T> = T extends Date
  ? string
  : T extends (infer Item)[]
    ? Parts<Item>[]
    : T extends object
      ? { [Key in keyof T]?: Parts<T[Key]> }
      : T;

export type Node = Wire<V1Node>;
export type Pod = Wire<V1Pod>;
export type LeaseObject = Wire<V1Lease>;

/** Returns the reference to an object. */
export function refOf(object: NewObject): ObjectRef {
  const { apiVersion, kind, metadata } = object;
  return { apiVersion, kind, namespace: metadata.namespace, name: metadata.name };
}

/** Returns whether an object as the API returns it contains all that was sent to create it. */
export function containsSent(found: KubernetesObject, { stringData, ...sent }: NewObject): boolean {
  const texts = Object.entries((stringData ?? {}) as Record<string, string>);
  const encoded = texts.map(([key, text]): [string, string] => [key, Buffer.from(text).toString("base64")]);
  const data = { ...(sent.data as object | undefined), ...Object.fromEntries(encoded) };
  return contains(found, texts.length > 0 ? { ...sent, data } : sent);
}

/** The API drops fields that are null, and empty lists and objects. */
function contains(found: unknown, sent: unknown): boolean {
  if (sent === null || sent === undefined) return true;
  if (typeof sent !== "object") return found === sent;
  const fields: [string, unknown][] = Object.entries(sent);
  const entries = fields.filter(([, value]) => value !== null && value !== undefined);
  if (entries.length === 0) return true;
  if (typeof found !== "object" || found === null) return false;
  if (Array.isArray(sent) && (!Array.isArray(found) || found.length !== sent.length)) return false;
  return entries.every(([key, value]) => contains((found as Record<string, unknown>)[key], value));
}
