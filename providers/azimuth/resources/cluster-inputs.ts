import { report } from "../../../lib/pulumi/log";

/** The common inputs of a cluster's resources on a management cluster. */
export interface AzimuthInputs {
  /** Kubeconfig of the management cluster; secret. */
  kubeconfig: string;
  /** "project/stack" */
  stack: string;
  namespace: string;
  /** Name of the cluster. */
  cluster: string;
  steps?: string[];
}

/** Returns the resource's name for messages: "ServiceSync az-demo/demo". */
export function nameOf(type: string, { namespace, cluster }: AzimuthInputs): string {
  return `${type} ${namespace}/${cluster}`;
}

/** Returns the changed fields that require a replacement. */
export function movedFields(olds: AzimuthInputs, news: AzimuthInputs): string[] {
  return (["namespace", "cluster"] as const).filter((field) => olds[field] !== news[field]);
}

/** Returns a function that prints a resource's progress lines. */
export function progressOf(resource: string): (line: string) => void {
  return (line) => report(resource, line);
}
