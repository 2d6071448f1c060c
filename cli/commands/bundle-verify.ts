import { messageOf } from "../../lib/error-message";
import { unreadable } from "../../lib/files";
import { readBundle } from "../../providers/kubeadm/client/bundle/reading";
import type { Architecture } from "../../providers/kubeadm/plan/bundle/software";
import { bundleFaults } from "../../providers/kubeadm/plan/bundle/verification";
import { kubernetesVersionIssue } from "../../providers/kubeadm/plan/validation/kubernetes-version";
import { plural } from "../../lib/text/plural";
import { EXIT, UsageError } from "../terminal/exit-codes";
import { print } from "../terminal/terminal";

export interface BundleVerifyOptions {
  /** A folder, or a .tar.gz. */
  readonly bundle: string;
  readonly kubernetes?: string;
  readonly arch?: Architecture;
}

/**
 * Reads every file of a bundle, and prints what is missing, what was changed, and what does not fit.
 *
 * @returns the exit code: `failed` if there is something
 */
export async function bundleVerify(
  { bundle: place, kubernetes, arch }: BundleVerifyOptions,
  say = print,
): Promise<number> {
  const issue = kubernetes === undefined ? undefined : kubernetesVersionIssue(kubernetes);
  if (issue !== undefined) throw new UsageError(`--kubernetes: ${issue}`);
  const bundle = await readBundle(place).catch((error: unknown) => {
    throw unreadable(place, "the bundle", `name a folder or a .tar.gz (${messageOf(error)})`, error);
  });
  const faults = bundleFaults(bundle, {
    ...(kubernetes !== undefined && { kubernetes }),
    ...(arch !== undefined && { architecture: arch }),
  });
  for (const fault of faults) say(`${place}: ${fault}`);
  if (faults.length > 0) {
    say(`${plural(faults.length, "fault")}; make the bundle anew with \`foresail bundle create\``);
    return EXIT.failed;
  }
  const { list, files, images } = bundle;
  const what = list === undefined ? "" : `Kubernetes ${list.kubernetes} for ${list.architecture}, `;
  say(
    `${place}: ${what}${plural(files.size, "file")} and ${plural(images.length, "image")}, all as they were made`,
  );
  return EXIT.done;
}
