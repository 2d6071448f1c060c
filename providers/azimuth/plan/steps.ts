import { whether, stepLine, optional, prose, token, value } from "../../../lib/steps/line";
import { defineSteps, type StepOf } from "../../../lib/steps/steps";

const secret = value("Secret [^\\s,]+")("secret");

export const zenithKeypairSteps = defineSteps({
  make: stepLine`make an ed25519 key in the ${secret}, and reserve a name for it at ${token("url")}`,
  restore: stepLine`write the key of the state to the ${secret} again, because it was deleted`,
  reserve: stepLine`reserve a name for the key that is in the ${secret}`,
  take: stepLine`take the key that is in the ${secret}, for ${token("fqdn")}`,
  writeFiles: stepLine`write ${prose("files")} with the key to the ${secret}`,
});
export type ZenithKeypairStep = StepOf<typeof zenithKeypairSteps>;

export const etcdKeySteps = defineSteps({
  make: stepLine`make a key in the ${secret}`,
  decode: stepLine`remove the second encoding of the key in the ${secret}: kube-apiserver takes 32 bytes, not 44`,
});

export const clusterReadySteps = defineSteps({
  wait: stepLine`wait at most ${token("seconds")} s until the control plane and all machines are ready${optional(stepLine`: ${prose("why")}`)}`,
});
export type ClusterReadyStep = StepOf<typeof clusterReadySteps>;

export const statusStampSteps = defineSteps({
  stamp: stepLine`write status.lastUpdated of Cluster ${token("cluster")}${whether("unlessSet", ", unless it is set")}`,
});
