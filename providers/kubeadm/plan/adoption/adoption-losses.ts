import { stringify } from "yaml";
import { printable } from "../../../../lib/text/quote";
import type { MatchedMachine } from "./adoption-facts";
import { keepingPatch, KUBELET_FILE, lostSettings, type RewrittenObject } from "./lost-settings";
import { NODE_PATHS } from "../cluster/node-paths";

/** The file with a patch of the kubelet's configuration, as kubeadm finds it in a folder of patches. */
const KUBELET_PATCH = `${NODE_PATHS.ownPatches}/kubeletconfiguration0+merge.yaml`;

const objectsOf = ({ rewritten }: MatchedMachine): readonly RewrittenObject[] =>
  rewritten && "objects" in rewritten ? rewritten.objects : [];

/** Returns a note for each setting that the first rollout of versions takes away, or why that is not known. */
export function lostNotes(matched: readonly MatchedMachine[]): string[] {
  const sameVersions = new Set(matched.map(({ node }) => node.version)).size === 1;
  const notes = matched.flatMap((machine) => {
    const { node, rewritten } = machine;
    if (rewritten && "unread" in rewritten)
      return [
        `${node.name}: what kubeadm would write again could not be read: ${printable(rewritten.unread)}`,
      ];
    return [false, true].flatMap((isOfCluster) => {
      const objects = objectsOf(machine).filter((each) => each.isOfCluster === isOfCluster);
      const who = isOfCluster ? "the cluster" : node.name;
      return lostSettings(objects, sameVersions).map(
        ({ change, setting, object }) =>
          `${who}: the first rollout of versions ${change === "loses" ? "removes" : "puts back"} ${setting} of ${object}`,
      );
    });
  });
  const isOfPods = matched.some((machine) =>
    lostSettings(
      objectsOf(machine).filter(({ isOfCluster, object }) => !isOfCluster && object !== KUBELET_FILE),
      sameVersions,
    ).some(({ change }) => change === "loses"),
  );
  return isOfPods
    ? [
        ...notes,
        "static pods: to keep their settings, put them into the ConfigMap kubeadm-config (extraArgs, extraVolumes, extraEnvs), where upgrades find them",
      ]
    : notes;
}

/** Returns the text of comments that offer patches of kubeadm for settings of single machines' kubelets. */
export function patchOffers(matched: readonly MatchedMachine[]): string[] {
  const offers = matched.flatMap((machine) => {
    const kubelet = objectsOf(machine).find(({ object }) => object === KUBELET_FILE);
    const patch = kubelet && keepingPatch(kubelet);
    if (patch === undefined) return [];
    const lines = stringify(patch, { lineWidth: 0 }).trimEnd().split("\n");
    return [`${machine.node.name}: ${KUBELET_PATCH}`, ...lines.map((line) => `  ${printable(line)}`)];
  });
  return offers.length === 0
    ? []
    : [
        `Settings of single kubelets, which kubeadm does not know. A rollout of versions keeps those in these files of the machines:`,
        ...offers,
      ];
}
