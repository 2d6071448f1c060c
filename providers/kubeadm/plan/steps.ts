import {
  choice,
  count,
  each,
  whether,
  stepLine,
  number,
  optional,
  paths,
  phrase,
  prose,
  token,
  value,
  word,
  words,
} from "../../../lib/steps/line";
import { REBOOTS } from "./updates/updates";
import { type CommonStep, defineSteps, type StepOf } from "../../../lib/steps/steps";

const machine = word("machine");
const ofPool = stepLine` (pool ${word("pool")} is removed)`;
const end = whether("staysCordoned", "left cordoned", "uncordon");
const renews = optional(stepLine`, renew ${count("certificates", "certificate")}`);
const etcdMember = whether("etcdMember", "remove its etcd member, ");

/** What the preparation of a machine changes, as the machine tells before it. */
const PREPARATION = {
  loadModules: stepLine`${machine}: load the kernel modules ${prose("modules")}`,
  setKernel: stepLine`${machine}: set for the kernel ${prose("settings")}`,
  swapOff: stepLine`${machine}: turn swap off, now and in /etc/fstab: ${prose("devices")}`,
  installPackages: stepLine`${machine}: install from its distribution ${prose("packages")}`,
  installPrograms: stepLine`${machine}: install ${words("programs")} ${token("version")} from ${choice("source", ["the Kubernetes repository", "the bundle"])}`,
  downloadBundle: stepLine`${machine}: download the bundle with the SHA-256 ${token("sum")}`,
  installDiffering: stepLine`${machine}: install ${words("programs")} ${token("version")} from the bundle where they differ, which only its download tells`,
  /** What a machine's answer has no room for. */
  moreChanges: stepLine`${machine}: ${count("changes", "more change")} of files, not listed here, whose list has the SHA-256 ${token("sum")}`,
  writeFiles: stepLine`${machine}: write ${paths("files")}`,
  replaceFiles: stepLine`${machine}: replace ${paths("files")}`,
  removeFiles: stepLine`${machine}: remove ${paths("files")}`,
  rebootFirst: stepLine`${machine}: reboot, since its packages ask for it`,
};

export const preparationSteps = defineSteps(PREPARATION);
export type PreparationStep = Exclude<StepOf<typeof preparationSteps>, { kind: CommonStep["kind"] }>;

export const nodeGroupSteps = defineSteps({
  ...PREPARATION,
  join: stepLine`${machine}: join as worker of ${word("pool")}, wait until Ready`,
  joinControlPlane: stepLine`${machine}: join as control plane unless it is one, wait until Ready`,
  /** A member whose Node was deleted by hand. */
  register: stepLine`${machine}: register again, since it is a member without a Node: restart its kubelet, wait until Ready, set its labels and taints`,
  /** A member whose Node has no label of a group: its join was interrupted, or others removed the label. */
  complete: stepLine`${machine}: is a member without the label of its group: wait until Ready, set its labels and taints`,
  /** A worker that was given up, and answers again. */
  rejoin: stepLine`${machine}: is a member that was given up: reset its membership, join as worker of ${word("pool")}, wait until Ready`,
  /** The same of a control plane, which etcd may still have: only the run can tell. */
  rejoinControlPlane: stepLine`${machine}: is a member that was given up: reset its membership, join as control plane, or register again if etcd has it; wait until Ready`,
  spreadDns: stepLine`cluster DNS: move its pods apart if all of them are on one node`,
  /** Labels and taints of a Node. */
  settings: stepLine`${machine}: ${each(
    "changes",
    stepLine`${choice("what", ["label", "taint"])} ${token("setting")}${whether("removed", " removed")}`,
  )}`,
  remove: stepLine`${machine}: ${whether("interrupted", "prepared by a run that was interrupted; ")}cordon, drain, ${optional(
    stepLine`wait at most ${number("detachSeconds")} s until its volumes are detached, `,
  )}${etcdMember}kubeadm reset, delete its Node${optional(ofPool)}`,
  /** The end of a removal that an earlier run began, of a machine that is configured again. */
  keep: stepLine`${machine}: stays, although an earlier run began to remove it: ${end}`,
  /** The removal of a machine that does not exist any more. */
  lose: stepLine`${machine}: lost, ${etcdMember}delete its Node`,
  loseOfPool: stepLine`${machine}: lost, delete its Node, kubeadm reset if it answers${ofPool}`,
  resetOfPool: stepLine`${machine}: kubeadm reset if it answers, its Node is gone${ofPool}`,
  notReady: stepLine`${machine} is not Ready: ${prose("why")}`,
  leavesNotReady: stepLine`${machine} is not Ready and will be drained, unless others reset it; if its machine is gone, list it under \`lost\`: ${prose("why")}`,
  /** What others have installed or configured on a machine that joins, and what stays. */
  keeps: stepLine`${machine}: keeps ${prose("what")}`,
  /** A machine that could not be asked whether it can join. */
  unasked: stepLine`${machine}: could not be asked whether it can join; the run asks it first: ${prose("why")}`,
  /** A Node that says that it belongs to a group. A kubelet can write the label to its own Node. */
  unknownMember: stepLine`${machine} has the label foresail/group=${word("pool")}, but is not a machine of this stack, so nothing is done to it; remove the label or the Node, or list it under \`lost\``,
});
export type NodeGroupStep = StepOf<typeof nodeGroupSteps>;

export const nodeAgentsSteps = defineSteps({
  install: stepLine`${machine}: install node agent ${prose("version")}`,
  follow: stepLine`${machine}: follow the annotations ${prose("annotations")}`,
  stage: stepLine`${machine}: stage ${prose("version")}`,
  restage: stepLine`${machine}: restage ${prose("version")}`,
  unstage: stepLine`${machine}: no longer stage ${prose("version")}`,
  drift: stepLine`${machine}: ${choice("how", ["report", "repair"])} files that others change`,
});
export type NodeAgentsStep = StepOf<typeof nodeAgentsSteps>;

export const loopbackEndpointSteps = defineSteps({
  forward: stepLine`${machine}: put ${words("controlPlanes")} behind 127.0.0.1`,
});
export type LoopbackEndpointStep = StepOf<typeof loopbackEndpointSteps>;

export const adminKubeconfigSteps = defineSteps({
  /** The repair of a control plane whose API server does not answer because certificates have ended. */
  renewEnded: stepLine`${machine}: renew ${count("certificates", "certificate")} over SSH, since the first one ended on ${token("day")}, and restart etcd, the API server, the controller manager and the scheduler`,
  restartRenewed: stepLine`${machine}: restart etcd, the API server, the controller manager and the scheduler over SSH, since an interrupted run renewed their certificates`,
  unreadCertificates: stepLine`${machine}: its certificates could not be read, so it is left as it is: ${prose("why")}`,
});
export type AdminKubeconfigStep = StepOf<typeof adminKubeconfigSteps>;

export const encryptionKeySteps = defineSteps({
  add: stepLine`${machine}: add the encryption key ${word("key")}, restart its API server`,
  promote: stepLine`${machine}: encrypt Secrets with ${word("key")}, restart its API server`,
  rewrite: stepLine`cluster: write every Secret again, encrypted with ${word("key")}`,
  remove: stepLine`${machine}: remove the encryption keys before ${word("key")}, restart its API server`,
});
export type EncryptionKeyStep = StepOf<typeof encryptionKeySteps>;

export const clusterOwnerSteps = defineSteps({
  ...PREPARATION,
  /** The change of a machine's owner. */
  takeOver: stepLine`${machine}: take over from ${prose("from")}`,
});
export type ClusterOwnerStep = StepOf<typeof clusterOwnerSteps>;

export const clusterInitSteps = defineSteps({
  init: stepLine`${value("(?:[^\\s:,]+|the first control plane)")("machine")}: kubeadm init, unless a control plane is a member already${optional(
    stepLine`; Kubernetes ${token("version")} with ${prose("components")}`,
  )}`,
  /** The claim of a member of a cluster that foresail did not make. */
  adopt: stepLine`${machine}: adopt as ${choice("role", ["control plane", "worker"])} of the cluster${optional(
    stepLine` at ${token("endpoint")}, Kubernetes ${token("version")}`,
  )}`,
  /** The identity of the stack on machines that an earlier release marked. */
  own: stepLine`record this stack as the owner on ${words("machines")}`,
  configuration: stepLine`configuration: ${prose("paths")}; each node gets it from its rollout`,
  upload: stepLine`cluster: write kubeadm-config and kubelet-config`,
  kubeProxy: stepLine`cluster: write the configuration of kube-proxy, and restart it on each node in turn`,
  /** Another address of the API servers for the nodes, in the cluster's own objects. */
  endpoint: stepLine`cluster: write the endpoint ${token("endpoint")} into kubeadm-config${whether("kubeProxy", ", cluster-info and the configuration of kube-proxy, and restart kube-proxy on each node in turn", " and cluster-info")}`,
  keepCredentials: stepLine`${machine}: keeps the registry credentials that it has; machines that join later get the new ones`,
});

export type ClusterInitStep = StepOf<typeof clusterInitSteps>;

export const readerAccountSteps = defineSteps({
  /** The owner in a cluster that has no record of it, or the former one's. */
  own: stepLine`cluster: record ${token("stack")} as its owner${optional(stepLine`, instead of ${prose("former")}`)}`,
  /** Settings that an interrupted run left in the cluster's own objects, and that the stack does not have. */
  kubeadm: stepLine`cluster: write kubeadm-config and kubelet-config again, since an interrupted run left other settings there`,
  kubeProxy: stepLine`cluster: write the configuration of kube-proxy again, and restart it on each node in turn, since an interrupted run left other settings there`,
  endpoint: stepLine`cluster: write the endpoint ${token("endpoint")} again, since an interrupted run left another one in kubeadm-config, cluster-info or the configuration of kube-proxy`,
  apply: stepLine`cluster: ${choice("how", ["install", "update"])} the ValidatingAdmissionPolicy ${word("policy")}, for the annotations ${prose("annotations")}`,
  write: stepLine`cluster: ${choice("how", ["create", "update"])} the ${word("object")} ${word("name")}`,
  /** An object that others deleted or changed. */
  restore: stepLine`cluster: restore the ${word("object")} ${word("name")} (${prose("why")})`,
  /** Objects that could not be compared with what foresail wrote. */
  unreadObjects: stepLine`cluster: not compared, since it could not be read: ${value("[^:;]+")("objects")}; ${prose("why")}`,
});

export type ReaderAccountStep = StepOf<typeof readerAccountSteps>;

export const nodeRolloutSteps = defineSteps({
  /** The change of a node to a version. */
  upgrade: stepLine`${machine} ${optional(stepLine`${word("from")} → `)}${word("to")}${optional(
    stepLine`, ${each("software", stepLine`${token("name")} ${token("from")} → ${token("to")}`)}`,
  )} (${whether("resumed", "begun by an earlier run: ")}${whether("staysCordoned", "", "cordon, ")}${whether("keepsPods", "keep its pods", "drain")}, ${choice(
    "how",
    [
      "kubeadm upgrade apply",
      "kubeadm upgrade node",
      "the node agent changes it",
      "desired versions written",
    ],
  )}${renews}, ${end})`,
  /** The change of a node's configuration at the same versions. */
  configure: stepLine`${machine}: ${whether("resumed", "begun by an earlier run: ")}configuration ${token("from")} → ${token("to")} (${whether(
    "cordons",
    "cordon, ",
  )}${whether("drains", "drain, ")}apply its files${optional(stepLine`, put back ${prose("repairs")}`)}${whether("etcd", ", restart etcd")}${whether("certificate", ", give the API server a certificate with the new names")}${whether("endpoint", ", connect to the new endpoint")}${whether("staticPods", ", restart the static pods that change")}, restart the kubelet${renews}${whether(
    "uncordons",
    ", uncordon",
  )})`,
  /** The repair of files that others changed. */
  repair: stepLine`${machine}: ${whether("resumed", "begun by an earlier run: ")}repair ${prose("files")} (${whether(
    "cordons",
    "cordon, ",
  )}${whether("drains", "drain, ")}put the files back, restart what reads them${renews}${whether("uncordons", ", uncordon")})`,
  /** The installation of updates of the operating system. */
  update: stepLine`${machine}: ${whether("resumed", "begun by an earlier run: ")}update ${count("packages", "package")} of the operating system, list ${token("list")} (${whether("staysCordoned", "", "cordon, ")}drain, install these versions, ${choice("reboot", REBOOTS)}, ${end}): ${prose("versions")}`,
  /** The reboot that updates of the operating system, installed by others, ask for. */
  reboot: stepLine`${machine}: ${whether("resumed", "begun by an earlier run: ")}reboot, since its packages ask for it (${whether("staysCordoned", "", "cordon, ")}drain, reboot, wait until Ready, ${end})`,
  /** What a step installs that has other changes, too. */
  updatesOf: stepLine`${machine}: the updates ${token("list")} of its operating system, ${choice("reboot", REBOOTS)}: ${prose("versions")}`,
  unreadUpdates: stepLine`${machine}: the pending updates of its operating system could not be read: ${prose("why")}`,
  /** Machines whose reports no run has seen. */
  laterUpdates: stepLine`the next preview lists the pending updates of ${phrase("machines")}, which their node agents report from this run on`,
  /** The renewal of a control plane's certificates. */
  renew: stepLine`${machine}: ${whether("resumed", "begun by an earlier run: ")}renew ${count("certificates", "certificate")} (the first ends on ${token("day")}), restart etcd, the API server, the controller manager and the scheduler`,
  /** A machine whose kubelet can't use the API any more. */
  renewKubelet: stepLine`${machine}: the certificate of its kubelet ended on ${token("day")}: sign a new one, restart the kubelet, wait until Ready`,
  /** Certificates that end soon, and that no step renews. */
  ending: stepLine`${machine}: certificates end in ${count("days", "day")}, on ${token("day")}: ${prose("names")}`,
  ended: stepLine`${machine}: certificates ended on ${token("day")}: ${prose("names")}`,
  /** Of a step's certificates, how long the first one is valid: a step that says so would be another one each day. */
  renewsIn: stepLine`${machine}: ${count("days", "day")} left until the first certificate that is renewed ends`,
  /** Files that others changed, which stay as they are. */
  drifted: stepLine`${machine}: differs from what foresail wrote: ${prose("files")}`,
  /** The return to what the node has: an earlier run asked for something that the configuration no longer has. */
  back: stepLine`${machine}: back to ${each("software", stepLine`${token("name")} ${token("to")} (an earlier run asked for ${token("asked")})`)} (${whether(
    "drains",
    "cordon, drain, ",
  )}complete what had begun on it, ${end})`,
  /** A copy of etcd and of the files of a control plane, before the first control plane changes. */
  snapshot: stepLine`${machine}: snapshot etcd to ${prose("folder")}, encrypted for ${count("recipients", "recipient")}; the newest ${number("keep")}${optional(
    stepLine` of the last ${number("days")} days`,
  )} stay there`,
  /** The end of a change that an earlier run made. */
  finish: stepLine`${machine} ${word("to")} (begun by an earlier run: ${end})`,
  /** A node whose machine a later run deletes. */
  leavesLater: stepLine`${machine}: stays at ${word("version")}, since a later run replaces or removes it`,
  waits: stepLine`${machine}: stays at ${word("version")} until later runs have replaced or removed ${words("machines")}`,
  /** A node that could begin if others of its pool, which people cordoned, took pods again. */
  cordoned: stepLine`${machine}: stays as it is until these are uncordoned: ${words("machines")}`,
  /** A node that could begin if these, whose kubelets do not report, were Ready. */
  notReady: stepLine`${machine}: stays as it is until these are Ready: ${words("machines")}`,
  /** Which nodes change first, and why. */
  order: stepLine`order: ${choice("what", [
    "control planes first, since no kubelet may be newer than an API server",
    "one worker first, and the others when it is Ready with the change",
    "one worker first, the other workers when it is Ready with the change, and control planes last, since a failure there costs the most",
    "workers first, and control planes last, since a failure there costs the most",
  ])}`,
  /** A change that failed on a node, which went back. */
  failedBefore: stepLine`${machine}: went back from this change in an earlier run, and is tried first again; no other node gets the change before: ${prose("why")}`,
  outage: stepLine`there ${choice("planes", [
    "is one control plane: the API does not answer while it changes",
    "are two control planes: etcd has no quorum, and the API does not answer, while one changes",
  ])}`,
  /** A line of the diff of what a change of configuration does to files. */
  diff: stepLine`diff ${number("at")} |${prose("text")}`,
  /** A line of the diff of what others changed in files. */
  driftDiff: stepLine`drift ${number("at")} |${prose("text")}`,
  /** What the diff of these nodes leaves out. */
  partialDiff: stepLine`the diff of ${phrase("machines")} leaves out the static pods and the kubelet's configuration, which kubeadm ${token("version")} writes after it is installed`,
  noDiff: stepLine`no diff of ${phrase("machines")}: ${prose("why")}`,
  /** A setting that others wrote or removed, and kubeadm does not know. */
  lost: stepLine`${machine}: ${choice("change", ["loses", "gets back"])} ${prose("setting")}, since kubeadm writes ${phrase("object")} again`,
  lostOfCluster: stepLine`the cluster ${choice("change", ["loses", "gets back"])} ${prose("setting")}, since kubeadm writes ${phrase("object")} again`,
  noLost: stepLine`whether ${phrase("machines")} would lose settings that others wrote could not be read: ${prose("why")}`,
  /** Machines that could not say whether a repository has a version. */
  unreadPackage: stepLine`whether a repository of ${phrase("machines")} has containerd ${token("version")} could not be read: ${prose("why")}`,
  drainBlocked: stepLine`${machine}: the drain would ${choice("how", ["be refused", "wait"])}: ${prose("why")}`,
});
export type NodeRolloutStep = StepOf<typeof nodeRolloutSteps>;
