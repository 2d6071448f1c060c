import {
  choice,
  count,
  each,
  flag,
  line,
  number,
  optional,
  paths,
  phrase,
  text,
  token,
  value,
  word,
  words,
} from "../../../lib/steps/line";
import { type CommonStep, defineSteps, type StepOf } from "../../../lib/steps/steps";

const machine = word("machine");
const ofPool = line` (pool ${word("pool")} is removed)`;
const end = flag("staysCordoned", "left cordoned", "uncordon");
const renews = optional(line`, renew ${count("certificates", "certificate")}`);
const etcdMember = flag("etcdMember", "remove its etcd member, ");

/** What the preparation of a machine changes, as the machine tells before it. */
const PREPARATION = {
  loadModules: line`${machine}: load the kernel modules ${text("modules")}`,
  setKernel: line`${machine}: set for the kernel ${text("settings")}`,
  swapOff: line`${machine}: turn swap off, now and in /etc/fstab: ${text("devices")}`,
  installPackages: line`${machine}: install from its distribution ${text("packages")}`,
  installPrograms: line`${machine}: install ${words("programs")} ${token("version")} from ${choice("source", ["the Kubernetes repository", "the bundle"])}`,
  downloadBundle: line`${machine}: download the bundle with the SHA-256 ${token("sum")}`,
  installDiffering: line`${machine}: install ${words("programs")} ${token("version")} from the bundle where they differ, which only its download tells`,
  /** What a machine's answer has no room for. */
  moreChanges: line`${machine}: ${count("changes", "more change")} of files, not listed here, whose list has the SHA-256 ${token("sum")}`,
  writeFiles: line`${machine}: write ${paths("files")}`,
  replaceFiles: line`${machine}: replace ${paths("files")}`,
  removeFiles: line`${machine}: remove ${paths("files")}`,
  rebootFirst: line`${machine}: reboot, since its packages ask for it`,
};

export const preparationSteps = defineSteps(PREPARATION);
export type PreparationStep = Exclude<StepOf<typeof preparationSteps>, { kind: CommonStep["kind"] }>;

export const nodeGroupSteps = defineSteps({
  ...PREPARATION,
  join: line`${machine}: join as worker of ${word("pool")}, wait until Ready`,
  joinControlPlane: line`${machine}: join as control plane unless it is one, wait until Ready`,
  /** A member whose Node was deleted by hand. */
  register: line`${machine}: register again, since it is a member without a Node: restart its kubelet, wait until Ready, set its labels and taints`,
  /** A member whose Node has no label of a group: its join was interrupted, or others removed the label. */
  complete: line`${machine}: is a member without the label of its group: wait until Ready, set its labels and taints`,
  /** A worker that was given up, and answers again. */
  rejoin: line`${machine}: is a member that was given up: reset its membership, join as worker of ${word("pool")}, wait until Ready`,
  /** The same of a control plane, which etcd may still have: only the run can tell. */
  rejoinControlPlane: line`${machine}: is a member that was given up: reset its membership, join as control plane, or register again if etcd has it; wait until Ready`,
  spreadDns: line`cluster DNS: move its pods apart if all of them are on one node`,
  /** Labels and taints of a Node. */
  settings: line`${machine}: ${each(
    "changes",
    line`${choice("what", ["label", "taint"])} ${token("setting")}${flag("removed", " removed")}`,
  )}`,
  remove: line`${machine}: ${flag("interrupted", "prepared by a run that was interrupted; ")}cordon, drain, ${optional(
    line`wait at most ${number("detachSeconds")} s until its volumes are detached, `,
  )}${etcdMember}kubeadm reset, delete its Node${optional(ofPool)}`,
  /** The end of a removal that an earlier run began, of a machine that is configured again. */
  keep: line`${machine}: stays, although an earlier run began to remove it: ${end}`,
  /** The removal of a machine that does not exist any more. */
  lose: line`${machine}: lost, ${etcdMember}delete its Node`,
  loseOfPool: line`${machine}: lost, delete its Node, kubeadm reset if it answers${ofPool}`,
  resetOfPool: line`${machine}: kubeadm reset if it answers, its Node is gone${ofPool}`,
  notReady: line`${machine} is not Ready: ${text("why")}`,
  leavesNotReady: line`${machine} is not Ready and will be drained, unless others reset it; if its machine is gone, list it under \`lost\`: ${text("why")}`,
  /** What others have installed or configured on a machine that joins, and what stays. */
  keeps: line`${machine}: keeps ${text("what")}`,
  /** A machine that could not be asked whether it can join. */
  unasked: line`${machine}: could not be asked whether it can join; the run asks it first: ${text("why")}`,
  /** A Node that says that it belongs to a group. A kubelet can write the label to its own Node. */
  unknownMember: line`${machine} has the label foresail/group=${word("pool")}, but is not a machine of this stack, so nothing is done to it; remove the label or the Node, or list it under \`lost\``,
});
export type NodeGroupStep = StepOf<typeof nodeGroupSteps>;

export const nodeAgentsSteps = defineSteps({
  install: line`${machine}: install node agent ${text("version")}`,
  follow: line`${machine}: follow the annotations ${text("annotations")}`,
  stage: line`${machine}: stage ${text("version")}`,
  restage: line`${machine}: restage ${text("version")}`,
  unstage: line`${machine}: no longer stage ${text("version")}`,
  drift: line`${machine}: ${choice("how", ["report", "repair"])} files that others change`,
});
export type NodeAgentsStep = StepOf<typeof nodeAgentsSteps>;

export const loopbackEndpointSteps = defineSteps({
  forward: line`${machine}: put ${words("controlPlanes")} behind 127.0.0.1`,
});
export type LoopbackEndpointStep = StepOf<typeof loopbackEndpointSteps>;

export const adminKubeconfigSteps = defineSteps({
  /** The repair of a control plane whose API server does not answer because certificates have ended. */
  renewEnded: line`${machine}: renew ${count("certificates", "certificate")} over SSH, since the first one ended on ${token("day")}, and restart etcd, the API server, the controller manager and the scheduler`,
  restartRenewed: line`${machine}: restart etcd, the API server, the controller manager and the scheduler over SSH, since an interrupted run renewed their certificates`,
  unreadCertificates: line`${machine}: its certificates could not be read, so it is left as it is: ${text("why")}`,
});
export type AdminKubeconfigStep = StepOf<typeof adminKubeconfigSteps>;

export const encryptionKeySteps = defineSteps({
  add: line`${machine}: add the encryption key ${word("key")}, restart its API server`,
  promote: line`${machine}: encrypt Secrets with ${word("key")}, restart its API server`,
  rewrite: line`cluster: write every Secret again, encrypted with ${word("key")}`,
  remove: line`${machine}: remove the encryption keys before ${word("key")}, restart its API server`,
});
export type EncryptionKeyStep = StepOf<typeof encryptionKeySteps>;

export const clusterOwnerSteps = defineSteps({
  ...PREPARATION,
  /** The change of a machine's owner. */
  takeOver: line`${machine}: take over from ${text("from")}`,
});
export type ClusterOwnerStep = StepOf<typeof clusterOwnerSteps>;

export const clusterInitSteps = defineSteps({
  init: line`${value("(?:[^\\s:,]+|the first control plane)")("machine")}: kubeadm init, unless a control plane is a member already${optional(
    line`; Kubernetes ${token("version")} with ${text("components")}`,
  )}`,
  /** The claim of a member of a cluster that foresail did not make. */
  adopt: line`${machine}: adopt as ${choice("role", ["control plane", "worker"])} of the cluster${optional(
    line` at ${token("endpoint")}, Kubernetes ${token("version")}`,
  )}`,
  /** The identity of the stack on machines that an earlier release marked. */
  own: line`record this stack as the owner on ${words("machines")}`,
  configuration: line`configuration: ${text("paths")}; each node gets it from its rollout`,
  upload: line`cluster: write kubeadm-config and kubelet-config`,
  kubeProxy: line`cluster: write the configuration of kube-proxy, and restart it on each node in turn`,
  /** Another address of the API servers for the nodes, in the cluster's own objects. */
  endpoint: line`cluster: write the endpoint ${token("endpoint")} into kubeadm-config${flag("kubeProxy", ", cluster-info and the configuration of kube-proxy, and restart kube-proxy on each node in turn", " and cluster-info")}`,
  keepCredentials: line`${machine}: keeps the registry credentials that it has; machines that join later get the new ones`,
});

export type ClusterInitStep = StepOf<typeof clusterInitSteps>;

export const readerAccountSteps = defineSteps({
  /** The owner in a cluster that has no record of it, or the former one's. */
  own: line`cluster: record ${token("stack")} as its owner${optional(line`, instead of ${text("former")}`)}`,
  /** Settings that an interrupted run left in the cluster's own objects, and that the stack does not have. */
  kubeadm: line`cluster: write kubeadm-config and kubelet-config again, since an interrupted run left other settings there`,
  kubeProxy: line`cluster: write the configuration of kube-proxy again, and restart it on each node in turn, since an interrupted run left other settings there`,
  endpoint: line`cluster: write the endpoint ${token("endpoint")} again, since an interrupted run left another one in kubeadm-config, cluster-info or the configuration of kube-proxy`,
  apply: line`cluster: ${choice("how", ["install", "update"])} the ValidatingAdmissionPolicy ${word("policy")}, for the annotations ${text("annotations")}`,
  write: line`cluster: ${choice("how", ["create", "update"])} the ${word("object")} ${word("name")}`,
  /** An object that others deleted or changed. */
  restore: line`cluster: restore the ${word("object")} ${word("name")} (${text("why")})`,
  /** Objects that could not be compared with what foresail wrote. */
  unreadObjects: line`cluster: not compared, since it could not be read: ${value("[^:;]+")("objects")}; ${text("why")}`,
});

export type ReaderAccountStep = StepOf<typeof readerAccountSteps>;

export const nodeRolloutSteps = defineSteps({
  /** The change of a node to a version. */
  upgrade: line`${machine} ${optional(line`${word("from")} → `)}${word("to")}${optional(
    line`, ${each("software", line`${token("name")} ${token("from")} → ${token("to")}`)}`,
  )} (${flag("resumed", "begun by an earlier run: ")}${flag("staysCordoned", "", "cordon, ")}${flag("keepsPods", "keep its pods", "drain")}, ${choice(
    "how",
    [
      "kubeadm upgrade apply",
      "kubeadm upgrade node",
      "the node agent changes it",
      "desired versions written",
    ],
  )}${renews}, ${end})`,
  /** The change of a node's configuration at the same versions. */
  configure: line`${machine}: ${flag("resumed", "begun by an earlier run: ")}configuration ${token("from")} → ${token("to")} (${flag(
    "cordons",
    "cordon, ",
  )}${flag("drains", "drain, ")}apply its files${optional(line`, put back ${text("repairs")}`)}${flag("etcd", ", restart etcd")}${flag("certificate", ", give the API server a certificate with the new names")}${flag("endpoint", ", connect to the new endpoint")}${flag("staticPods", ", restart the static pods that change")}, restart the kubelet${renews}${flag(
    "uncordons",
    ", uncordon",
  )})`,
  /** The repair of files that others changed. */
  repair: line`${machine}: ${flag("resumed", "begun by an earlier run: ")}repair ${text("files")} (${flag(
    "cordons",
    "cordon, ",
  )}${flag("drains", "drain, ")}put the files back, restart what reads them${renews}${flag("uncordons", ", uncordon")})`,
  /** The renewal of a control plane's certificates. */
  renew: line`${machine}: ${flag("resumed", "begun by an earlier run: ")}renew ${count("certificates", "certificate")} (the first ends on ${token("day")}), restart etcd, the API server, the controller manager and the scheduler`,
  /** A machine whose kubelet can't use the API any more. */
  renewKubelet: line`${machine}: the certificate of its kubelet ended on ${token("day")}: sign a new one, restart the kubelet, wait until Ready`,
  /** Certificates that end soon, and that no step renews. */
  ending: line`${machine}: certificates end in ${count("days", "day")}, on ${token("day")}: ${text("names")}`,
  ended: line`${machine}: certificates ended on ${token("day")}: ${text("names")}`,
  /** Of a step's certificates, how long the first one is valid: a step that says so would be another one each day. */
  renewsIn: line`${machine}: ${count("days", "day")} left until the first certificate that is renewed ends`,
  /** Files that others changed, which stay as they are. */
  drifted: line`${machine}: differs from what foresail wrote: ${text("files")}`,
  /** The return to what the node has: an earlier run asked for something that the configuration no longer has. */
  back: line`${machine}: back to ${each("software", line`${token("name")} ${token("to")} (an earlier run asked for ${token("asked")})`)} (${flag(
    "drains",
    "cordon, drain, ",
  )}complete what had begun on it, ${end})`,
  /** A copy of etcd and of the files of a control plane, before the first control plane changes. */
  snapshot: line`${machine}: snapshot etcd to ${text("folder")}, encrypted for ${count("recipients", "recipient")}; the newest ${number("keep")}${optional(
    line` of the last ${number("days")} days`,
  )} stay there`,
  /** The end of a change that an earlier run made. */
  finish: line`${machine} ${word("to")} (begun by an earlier run: ${end})`,
  /** A node whose machine a later run deletes. */
  leavesLater: line`${machine}: stays at ${word("version")}, since a later run replaces or removes it`,
  waits: line`${machine}: stays at ${word("version")} until later runs have replaced or removed ${words("machines")}`,
  /** A node that could begin if others of its pool, which people cordoned, took pods again. */
  cordoned: line`${machine}: stays as it is until these are uncordoned: ${words("machines")}`,
  /** A node that could begin if these, whose kubelets do not report, were Ready. */
  notReady: line`${machine}: stays as it is until these are Ready: ${words("machines")}`,
  /** Which nodes change first, and why. */
  order: line`order: ${choice("what", [
    "control planes first, since no kubelet may be newer than an API server",
    "one worker first, and the others when it is Ready with the change",
    "one worker first, the other workers when it is Ready with the change, and control planes last, since a failure there costs the most",
    "workers first, and control planes last, since a failure there costs the most",
  ])}`,
  /** A change that failed on a node, which went back. */
  failedBefore: line`${machine}: went back from this change in an earlier run, and is tried first again; no other node gets the change before: ${text("why")}`,
  outage: line`there ${choice("planes", [
    "is one control plane: the API does not answer while it changes",
    "are two control planes: etcd has no quorum, and the API does not answer, while one changes",
  ])}`,
  /** A line of the diff of what a change of configuration does to files. */
  diff: line`diff ${number("at")} |${text("text")}`,
  /** A line of the diff of what others changed in files. */
  driftDiff: line`drift ${number("at")} |${text("text")}`,
  /** What the diff of these nodes leaves out. */
  partialDiff: line`the diff of ${phrase("machines")} leaves out the static pods and the kubelet's configuration, which kubeadm ${token("version")} writes after it is installed`,
  noDiff: line`no diff of ${phrase("machines")}: ${text("why")}`,
  /** A setting that others wrote or removed, and kubeadm does not know. */
  lost: line`${machine}: ${choice("change", ["loses", "gets back"])} ${text("setting")}, since kubeadm writes ${phrase("object")} again`,
  lostOfCluster: line`the cluster ${choice("change", ["loses", "gets back"])} ${text("setting")}, since kubeadm writes ${phrase("object")} again`,
  noLost: line`whether ${phrase("machines")} would lose settings that others wrote could not be read: ${text("why")}`,
  /** Machines that could not say whether a repository has a version. */
  unreadPackage: line`whether a repository of ${phrase("machines")} has containerd ${token("version")} could not be read: ${text("why")}`,
  drainBlocked: line`${machine}: the drain would ${choice("how", ["be refused", "wait"])}: ${text("why")}`,
});
export type NodeRolloutStep = StepOf<typeof nodeRolloutSteps>;
