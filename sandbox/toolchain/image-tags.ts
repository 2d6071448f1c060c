import path from "node:path";
import { runCommand } from "./run-command";

/** The tags that kubeadm of one version expects for images that are not part of the release. */
export interface ImageTags {
  readonly etcd: string;
  readonly pause: string;
  readonly coredns: string;
}

/**
 * Reads the tags from what `kubeadm config images list` prints.
 * @throws Error when one of them is missing
 */
export function parseImageTags(list: string): ImageTags {
  const tag = (image: string): string => {
    const found = list.split("\n").find((line) => line.includes(`/${image}:`));
    if (found === undefined) throw new Error(`kubeadm config images list does not name ${image}:\n${list}`);
    return found.slice(found.lastIndexOf(":") + 1).trim();
  };
  return { etcd: tag("etcd"), pause: tag("pause"), coredns: tag("coredns") };
}

/** Runs the kubeadm in the folder; the explicit version avoids a network lookup. */
export async function imageTags(folder: string, version: string): Promise<Record<string, string>> {
  const args = ["config", "images", "list", "--kubernetes-version", `v${version}`];
  return { ...parseImageTags(await runCommand(path.join(folder, "kubeadm"), args, { minutes: 0.5 })) };
}
