import { report } from "../../../lib/pulumi/log";

/** What every resource of a cluster on a management cluster carries. */
export interface AzimuthInputs {
  /** of the management cluster */
  kubeconfig: string;
  /** "project/stack" */
  stack: string;
  namespace: string;
  /** name of the cluster */
  cluster: string;
  steps?: string[];
}

/** The resource as a person knows it: "ServiceSync az-demo/demo". */
export function nameOf(type: string, { namespace, cluster }: AzimuthInputs): string {
  return `${type} ${namespace}/${cluster}`;
}

/** What another state or address of the cluster's resources hangs on: those are replaced. */
export function movedFields(olds: AzimuthInputs, news: AzimuthInputs): string[] {
  return (["namespace", "cluster"] as const).filter((field) => olds[field] !== news[field]);
}

/** Prints lines of progress of a resource. */
export function progressOf(resource: string): (line: string) => void {
  return (line) => report(resource, line);
}
