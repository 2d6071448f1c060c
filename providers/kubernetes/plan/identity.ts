/** The identity of an object in the API. */
export interface Identity {
  apiVersion: string;
  kind: string;
  namespace?: string;
  name: string;
}

/** Returns the group of an apiVersion; "" for the core group. */
export function apiGroupOf(apiVersion: string): string {
  return apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
}

/**
 * Returns an identity that is the same in every API version of the object: "MachinePool.cluster.x-k8s.io/demo/pool-a".
 */
export function identityText({ apiVersion, kind, namespace, name }: Identity): string {
  const group = apiGroupOf(apiVersion);
  return [group === "" ? kind : `${kind}.${group}`, ...(namespace ? [namespace] : []), name].join("/");
}

/** Returns an object's name for messages: "MachinePool demo/pool-a". */
export function objectName({ kind, namespace, name }: Omit<Identity, "apiVersion">): string {
  return `${kind} ${namespace ? `${namespace}/` : ""}${name}`;
}
