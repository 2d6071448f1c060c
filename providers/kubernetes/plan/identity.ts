/** What names an object in the API. */
export interface Identity {
  apiVersion: string;
  kind: string;
  namespace?: string;
  name: string;
}

/** The group of an apiVersion; "" for the core group. */
export function groupOf(apiVersion: string): string {
  return apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
}

/** The same for every version of the API in which an object can be read: "MachinePool.cluster.x-k8s.io/demo/pool-a". */
export function identityText({ apiVersion, kind, namespace, name }: Identity): string {
  const group = groupOf(apiVersion);
  return [group === "" ? kind : `${kind}.${group}`, ...(namespace ? [namespace] : []), name].join("/");
}

/** How messages name an object: "MachinePool demo/pool-a". */
export function objectName({ kind, namespace, name }: Omit<Identity, "apiVersion">): string {
  return `${kind} ${namespace ? `${namespace}/` : ""}${name}`;
}
