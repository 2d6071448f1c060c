import type { Handlers } from "../lib/pulumi/handler-types";
import { endWithEngine } from "../lib/pulumi/orphan";
import { believingThisRun } from "../lib/pulumi/steps-of-this-run";

endWithEngine();

/**
 * The handlers of every resource, by the key that is in state. Each is loaded when a resource of its kind is
 * met, so that a stack pays only for what it uses.
 */
export const handlers = believingThisRun({
  get "kubeadm/HostKey"(): Handlers {
    return (
      require("./kubeadm/resources/host-key-handlers") as typeof import("./kubeadm/resources/host-key-handlers")
    ).handlers;
  },
  get "kubeadm/ClusterInit"(): Handlers {
    return (
      require("./kubeadm/resources/cluster-init-handlers") as typeof import("./kubeadm/resources/cluster-init-handlers")
    ).handlers;
  },
  get "kubeadm/AdminKubeconfig"(): Handlers {
    return (
      require("./kubeadm/resources/admin-kubeconfig-handlers") as typeof import("./kubeadm/resources/admin-kubeconfig-handlers")
    ).handlers;
  },
  get "kubeadm/NodeGroup"(): Handlers {
    return (
      require("./kubeadm/resources/node-group-handlers") as typeof import("./kubeadm/resources/node-group-handlers")
    ).handlers;
  },
  get "kubeadm/NodeRollout"(): Handlers {
    return (
      require("./kubeadm/resources/node-rollout-handlers") as typeof import("./kubeadm/resources/node-rollout-handlers")
    ).handlers;
  },
  get "kubeadm/ReaderAccount"(): Handlers {
    return (
      require("./kubeadm/resources/reader-account-handlers") as typeof import("./kubeadm/resources/reader-account-handlers")
    ).handlers;
  },
  get "kubeadm/LoopbackEndpoint"(): Handlers {
    return (
      require("./kubeadm/resources/loopback-endpoint-handlers") as typeof import("./kubeadm/resources/loopback-endpoint-handlers")
    ).handlers;
  },
  get "kubeadm/NodeAgents"(): Handlers {
    return (
      require("./kubeadm/resources/node-agents-handlers") as typeof import("./kubeadm/resources/node-agents-handlers")
    ).handlers;
  },
  get "openstack/CloudPlan"(): Handlers {
    return (
      require("./openstack/resources/cloud-plan-handlers") as typeof import("./openstack/resources/cloud-plan-handlers")
    ).handlers;
  },
  get "openstack/InitializedMark"(): Handlers {
    return (
      require("./openstack/resources/initialized-mark-handlers") as typeof import("./openstack/resources/initialized-mark-handlers")
    ).handlers;
  },
  get "openstack/ServerHostKey"(): Handlers {
    return (
      require("./openstack/resources/server-host-key-handlers") as typeof import("./openstack/resources/server-host-key-handlers")
    ).handlers;
  },
  get "kubernetes/Adoption"(): Handlers {
    return (
      require("./kubernetes/resources/adoption-handlers") as typeof import("./kubernetes/resources/adoption-handlers")
    ).handlers;
  },
  get "kubernetes/ObjectReady"(): Handlers {
    return (
      require("./kubernetes/resources/object-ready-handlers") as typeof import("./kubernetes/resources/object-ready-handlers")
    ).handlers;
  },
  get "machine-pool/MachinePoolReady"(): Handlers {
    return (
      require("./machine-pool/resources/machine-pool-ready-handlers") as typeof import("./machine-pool/resources/machine-pool-ready-handlers")
    ).handlers;
  },
  get "azimuth/StatusStamp"(): Handlers {
    return (
      require("./azimuth/resources/status-stamp-handlers") as typeof import("./azimuth/resources/status-stamp-handlers")
    ).handlers;
  },
  get "azimuth/ZenithKeypair"(): Handlers {
    return (
      require("./azimuth/resources/zenith-keypair-handlers") as typeof import("./azimuth/resources/zenith-keypair-handlers")
    ).handlers;
  },
  get "azimuth/ServiceSync"(): Handlers {
    return (
      require("./azimuth/resources/service-sync-handlers") as typeof import("./azimuth/resources/service-sync-handlers")
    ).handlers;
  },
  get "azimuth/RecordPrune"(): Handlers {
    return (
      require("./azimuth/resources/record-prune-handlers") as typeof import("./azimuth/resources/record-prune-handlers")
    ).handlers;
  },
  get "azimuth/ClusterGone"(): Handlers {
    return (
      require("./azimuth/resources/cluster-gone-handlers") as typeof import("./azimuth/resources/cluster-gone-handlers")
    ).handlers;
  },
  get "helm/ReleaseRecovery"(): Handlers {
    return (
      require("./helm/resources/release-recovery-handlers") as typeof import("./helm/resources/release-recovery-handlers")
    ).handlers;
  },
  get "azimuth/EtcdKey"(): Handlers {
    return (
      require("./azimuth/resources/etcd-key-handlers") as typeof import("./azimuth/resources/etcd-key-handlers")
    ).handlers;
  },
  get "tumblebug/TumblebugPlan"(): Handlers {
    return (
      require("./tumblebug/resources/tumblebug-plan-handlers") as typeof import("./tumblebug/resources/tumblebug-plan-handlers")
    ).handlers;
  },
  get "tumblebug/TumblebugNamespace"(): Handlers {
    return (
      require("./tumblebug/resources/tumblebug-namespace-handlers") as typeof import("./tumblebug/resources/tumblebug-namespace-handlers")
    ).handlers;
  },
  get "tumblebug/TumblebugVNet"(): Handlers {
    return (
      require("./tumblebug/resources/tumblebug-vnet-handlers") as typeof import("./tumblebug/resources/tumblebug-vnet-handlers")
    ).handlers;
  },
  get "tumblebug/TumblebugSecurityGroup"(): Handlers {
    return (
      require("./tumblebug/resources/tumblebug-security-group-handlers") as typeof import("./tumblebug/resources/tumblebug-security-group-handlers")
    ).handlers;
  },
  get "tumblebug/TumblebugSshKey"(): Handlers {
    return (
      require("./tumblebug/resources/tumblebug-ssh-key-handlers") as typeof import("./tumblebug/resources/tumblebug-ssh-key-handlers")
    ).handlers;
  },
  get "tumblebug/TumblebugImage"(): Handlers {
    return (
      require("./tumblebug/resources/tumblebug-image-handlers") as typeof import("./tumblebug/resources/tumblebug-image-handlers")
    ).handlers;
  },
  get "tumblebug/TumblebugSpec"(): Handlers {
    return (
      require("./tumblebug/resources/tumblebug-spec-handlers") as typeof import("./tumblebug/resources/tumblebug-spec-handlers")
    ).handlers;
  },
  get "tumblebug/TumblebugMcis"(): Handlers {
    return (
      require("./tumblebug/resources/tumblebug-mcis-handlers") as typeof import("./tumblebug/resources/tumblebug-mcis-handlers")
    ).handlers;
  },
  get "tumblebug/TumblebugVm"(): Handlers {
    return (
      require("./tumblebug/resources/tumblebug-vm-handlers") as typeof import("./tumblebug/resources/tumblebug-vm-handlers")
    ).handlers;
  },
  get "tumblebug/TumblebugLoadBalancer"(): Handlers {
    return (
      require("./tumblebug/resources/tumblebug-load-balancer-handlers") as typeof import("./tumblebug/resources/tumblebug-load-balancer-handlers")
    ).handlers;
  },
});
