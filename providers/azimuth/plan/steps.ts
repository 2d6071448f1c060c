import { flag, line, optional, text, token, value } from "../../../lib/steps/line";
import { defineSteps, type StepOf } from "../../../lib/steps/steps";

const secret = value("Secret [^\\s,]+")("secret");

export const zenithKeypairSteps = defineSteps({
  make: line`make an ed25519 key in the ${secret}, and reserve a name for it at ${token("url")}`,
  restore: line`write the key of the state to the ${secret} again, because it was deleted`,
  reserve: line`reserve a name for the key that is in the ${secret}`,
  take: line`take the key that is in the ${secret}, for ${token("fqdn")}`,
  writeFiles: line`write ${text("files")} with the key to the ${secret}`,
});
export type ZenithKeypairStep = StepOf<typeof zenithKeypairSteps>;

export const etcdKeySteps = defineSteps({
  make: line`make a key in the ${secret}`,
  decode: line`remove the second encoding of the key in the ${secret}: kube-apiserver takes 32 bytes, not 44`,
});

export const clusterReadySteps = defineSteps({
  wait: line`wait at most ${token("seconds")} s until the control plane and all machines are ready${optional(line`: ${text("why")}`)}`,
});
export type ClusterReadyStep = StepOf<typeof clusterReadySteps>;

export const statusStampSteps = defineSteps({
  stamp: line`write status.lastUpdated of Cluster ${token("cluster")}${flag("unlessSet", ", unless it is set")}`,
});
