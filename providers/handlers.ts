import type { Handlers } from "../lib/pulumi/handler-types";
import { endWithEngine, isDynamicProvider } from "../lib/process/parent-watch";
import { interruptWithEngine } from "../lib/pulumi/cancellation";
import { enterProject } from "../lib/pulumi/project-folder";
import { printErrorsOnce } from "../lib/pulumi/displayed-handlers";
import { displayWarnings } from "../lib/text/warnings";
import { makeStructsFast } from "../lib/pulumi/fast-structs";
import { trustingThisRun } from "../lib/pulumi/stale-steps";

endWithEngine();
if (isDynamicProvider()) {
  enterProject();
  interruptWithEngine();
  printErrorsOnce();
  displayWarnings();
  makeStructsFast();
}

interface HandlerModule {
  readonly handlers: Handlers;
}

/** Returns the handlers of one resource from a module with those of several, by type. */
function partOf(module: unknown, type: string): HandlerModule {
  const handlers = (module as { handlers: Partial<Record<string, Handlers>> }).handlers[type];
  if (handlers === undefined) throw new Error(`no module has the handlers of ${type}`);
  return { handlers };
}

/**
 * The module of each resource's handlers, by its key in the state; a key never changes. A module is loaded on first
 * use, so that a stack loads only what it needs.
 */
const MODULES = {
  "stack/StackIdentity": () => require("./stack/resources/stack-identity-handlers") as HandlerModule,
  "kubeadm/HostKey": () => require("./kubeadm/resources/cluster/host-key-handlers") as HandlerModule,
  "kubeadm/ClusterOwner": () =>
    require("./kubeadm/resources/cluster/cluster-owner-handlers") as HandlerModule,
  "kubeadm/ClusterInit": () => require("./kubeadm/resources/cluster/cluster-init-handlers") as HandlerModule,
  "kubeadm/AdminKubeconfig": () =>
    require("./kubeadm/resources/cluster/admin-kubeconfig-handlers") as HandlerModule,
  "kubeadm/NodeGroup": () => require("./kubeadm/resources/membership/node-group-handlers") as HandlerModule,
  "kubeadm/NodeRollout": () => require("./kubeadm/resources/rollout/node-rollout-handlers") as HandlerModule,
  "kubeadm/ReaderAccount": () =>
    require("./kubeadm/resources/cluster/reader-account-handlers") as HandlerModule,
  "kubeadm/LoopbackEndpoint": () =>
    require("./kubeadm/resources/endpoint/loopback-endpoint-handlers") as HandlerModule,
  "kubeadm/EncryptionKey": () =>
    require("./kubeadm/resources/encryption/encryption-key-handlers") as HandlerModule,
  "kubeadm/NodeAgents": () => require("./kubeadm/resources/rollout/node-agents-handlers") as HandlerModule,
  "openstack/CloudPlan": () => require("./openstack/resources/cloud-plan-handlers") as HandlerModule,
  "openstack/InitializedMark": () =>
    require("./openstack/resources/initialized-mark-handlers") as HandlerModule,
  "openstack/ServerHostKey": () => require("./openstack/resources/server-host-key-handlers") as HandlerModule,
  "kubernetes/Adoption": () => require("./kubernetes/resources/adoption-handlers") as HandlerModule,
  "kubernetes/ObjectReady": () => require("./kubernetes/resources/object-ready-handlers") as HandlerModule,
  "machine-pool/MachinePoolReady": () =>
    require("./machine-pool/resources/machine-pool-ready-handlers") as HandlerModule,
  "azimuth/StatusStamp": () => require("./azimuth/resources/status-stamp-handlers") as HandlerModule,
  "azimuth/ZenithKeypair": () => require("./azimuth/resources/zenith-keypair-handlers") as HandlerModule,
  "azimuth/ServiceSync": () => require("./azimuth/resources/service-sync-handlers") as HandlerModule,
  "azimuth/RecordPrune": () => require("./azimuth/resources/record-prune-handlers") as HandlerModule,
  "azimuth/ClusterReady": () => require("./azimuth/resources/cluster-ready-handlers") as HandlerModule,
  "azimuth/DestroyGuard": () => require("./azimuth/resources/destroy-guard-handlers") as HandlerModule,
  "azimuth/ClusterGone": () => require("./azimuth/resources/cluster-gone-handlers") as HandlerModule,
  "helm/ReleaseRecovery": () => require("./helm/resources/release-recovery-handlers") as HandlerModule,
  "azimuth/EtcdKey": () => require("./azimuth/resources/etcd-key-handlers") as HandlerModule,
  "tumblebug/TumblebugPlan": () => require("./tumblebug/resources/plan-handlers") as HandlerModule,
  "tumblebug/TumblebugNamespace": () =>
    partOf(require("./tumblebug/resources/object-handlers"), "TumblebugNamespace"),
  "tumblebug/TumblebugVNet": () => partOf(require("./tumblebug/resources/object-handlers"), "TumblebugVNet"),
  "tumblebug/TumblebugSecurityGroup": () =>
    partOf(require("./tumblebug/resources/object-handlers"), "TumblebugSecurityGroup"),
  "tumblebug/TumblebugSshKey": () =>
    partOf(require("./tumblebug/resources/object-handlers"), "TumblebugSshKey"),
  "tumblebug/TumblebugImage": () =>
    partOf(require("./tumblebug/resources/object-handlers"), "TumblebugImage"),
  "tumblebug/TumblebugSpec": () => partOf(require("./tumblebug/resources/object-handlers"), "TumblebugSpec"),
  "tumblebug/TumblebugMcis": () => partOf(require("./tumblebug/resources/mcis-handlers"), "TumblebugMcis"),
  "tumblebug/TumblebugVm": () => partOf(require("./tumblebug/resources/mcis-handlers"), "TumblebugVm"),
  "tumblebug/TumblebugLoadBalancer": () =>
    require("./tumblebug/resources/load-balancer-handlers") as HandlerModule,
} satisfies Record<string, () => HandlerModule>;

/** The key of a resource's handlers in the state. */
export type HandlerKey = keyof typeof MODULES;

export const handlers = trustingThisRun(MODULES);
