import { readFileSync } from "node:fs";

/** Names the file of a kubeconfig that may only read, for previews by whoever may not change anything. */
export const READER_KUBECONFIG = "FORESAIL_READER_KUBECONFIG";

/**
 * With which credentials check, diff and read look at the cluster: the reader's when the environment names its
 * kubeconfig, else those that the resource has.
 *
 * @throws Error when the named file can't be read
 */
export function observationAccess(kubeconfig: string): string;
export function observationAccess(kubeconfig: string | undefined): string | undefined;
export function observationAccess(kubeconfig: string | undefined): string | undefined {
  const file = process.env[READER_KUBECONFIG];
  return file ? readFileSync(file, "utf8") : kubeconfig;
}
