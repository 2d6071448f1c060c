import { readFileSync } from "node:fs";

/** Environment variable with the path of a read-only kubeconfig, for previews by users without write permission. */
export const READER_KUBECONFIG = "FORESAIL_READER_KUBECONFIG";

/**
 * Returns the kubeconfig with which check, diff and read access the cluster: the reader's if the environment names it,
 * otherwise the resource's own.
 *
 * @throws Error when the named file can't be read
 */
export function observationAccess(kubeconfig: string): string;
export function observationAccess(kubeconfig: string | undefined): string | undefined;
export function observationAccess(kubeconfig: string | undefined): string | undefined {
  const file = process.env[READER_KUBECONFIG];
  return file ? readFileSync(file, "utf8") : kubeconfig;
}
