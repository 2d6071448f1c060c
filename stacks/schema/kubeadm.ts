import { z } from "zod";
import { PASS_THROUGH, passThroughIssues } from "../../providers/kubeadm/plan/validation/pass-through";
import { rules } from "./rule";

/** Returns the schema of a Kubernetes configuration object that is merged last. Refuses fields that foresail sets. */
function passThrough(object: keyof typeof PASS_THROUGH) {
  const kind = PASS_THROUGH[object];
  return rules(z.record(z.string(), z.unknown()), (value) => passThroughIssues(kind, value))
    .default({})
    .describe(`Merged last into the ${kind.kind} (${kind.apiVersion}).`);
}

export const KubeadmPassThrough = z.strictObject({
  clusterConfiguration: passThrough("clusterConfiguration"),
  initConfiguration: passThrough("initConfiguration"),
  joinConfiguration: passThrough("joinConfiguration"),
});
export const KubeletPassThrough = passThrough("kubelet");
export const KubeProxyPassThrough = passThrough("kubeProxy");
