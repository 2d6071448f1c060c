import type { Handlers } from "./handler-types";
import { endWithEngine } from "./orphan";
import { believingThisRun } from "./steps-of-this-run";

endWithEngine();

/**
 * The handlers of every resource, by the key that is in state. Each is loaded when a resource of its kind is
 * met, so that a stack pays only for what it uses.
 */
export const handlers = believingThisRun({
  get "kubeadm/HostKey"(): Handlers {
    return (require("./kubeadm/host-key-handlers") as typeof import("./kubeadm/host-key-handlers")).handlers;
  },
  get "kubeadm/ClusterInit"(): Handlers {
    return (require("./kubeadm/cluster-init-handlers") as typeof import("./kubeadm/cluster-init-handlers"))
      .handlers;
  },
  get "kubeadm/AdminKubeconfig"(): Handlers {
    return (
      require("./kubeadm/admin-kubeconfig-handlers") as typeof import("./kubeadm/admin-kubeconfig-handlers")
    ).handlers;
  },
  get "kubeadm/NodeGroup"(): Handlers {
    return (require("./kubeadm/node-group-handlers") as typeof import("./kubeadm/node-group-handlers"))
      .handlers;
  },
  get "kubeadm/NodeRollout"(): Handlers {
    return (require("./kubeadm/node-rollout-handlers") as typeof import("./kubeadm/node-rollout-handlers"))
      .handlers;
  },
  get "kubeadm/ReaderAccount"(): Handlers {
    return (
      require("./kubeadm/reader-account-handlers") as typeof import("./kubeadm/reader-account-handlers")
    ).handlers;
  },
  get "kubeadm/LoopbackEndpoint"(): Handlers {
    return (
      require("./kubeadm/loopback-endpoint-handlers") as typeof import("./kubeadm/loopback-endpoint-handlers")
    ).handlers;
  },
  get "kubeadm/NodeAgents"(): Handlers {
    return (require("./kubeadm/node-agents-handlers") as typeof import("./kubeadm/node-agents-handlers"))
      .handlers;
  },
  get "openstack/CloudPlan"(): Handlers {
    return (require("./openstack/cloud-plan-handlers") as typeof import("./openstack/cloud-plan-handlers"))
      .handlers;
  },
  get "openstack/InitializedMark"(): Handlers {
    return (
      require("./openstack/initialized-mark-handlers") as typeof import("./openstack/initialized-mark-handlers")
    ).handlers;
  },
  get "openstack/ServerHostKey"(): Handlers {
    return (
      require("./openstack/server-host-key-handlers") as typeof import("./openstack/server-host-key-handlers")
    ).handlers;
  },
  get "kubernetes/Adoption"(): Handlers {
    return (require("./kubernetes/adoption-handlers") as typeof import("./kubernetes/adoption-handlers"))
      .handlers;
  },
  get "kubernetes/ObjectReady"(): Handlers {
    return (
      require("./kubernetes/object-ready-handlers") as typeof import("./kubernetes/object-ready-handlers")
    ).handlers;
  },
  get "machine-pool/MachinePoolReady"(): Handlers {
    return (
      require("./machine-pool/machine-pool-ready-handlers") as typeof import("./machine-pool/machine-pool-ready-handlers")
    ).handlers;
  },
  get "azimuth/StatusStamp"(): Handlers {
    return (require("./azimuth/status-stamp-handlers") as typeof import("./azimuth/status-stamp-handlers"))
      .handlers;
  },
  get "azimuth/ZenithKeypair"(): Handlers {
    return (
      require("./azimuth/zenith-keypair-handlers") as typeof import("./azimuth/zenith-keypair-handlers")
    ).handlers;
  },
  get "azimuth/ServiceSync"(): Handlers {
    return (require("./azimuth/service-sync-handlers") as typeof import("./azimuth/service-sync-handlers"))
      .handlers;
  },
  get "azimuth/RecordPrune"(): Handlers {
    return (require("./azimuth/record-prune-handlers") as typeof import("./azimuth/record-prune-handlers"))
      .handlers;
  },
  get "azimuth/ClusterGone"(): Handlers {
    return (require("./azimuth/cluster-gone-handlers") as typeof import("./azimuth/cluster-gone-handlers"))
      .handlers;
  },
  get "helm/ReleaseRecovery"(): Handlers {
    return (require("./helm/release-recovery-handlers") as typeof import("./helm/release-recovery-handlers"))
      .handlers;
  },
  get "azimuth/EtcdKey"(): Handlers {
    return (require("./azimuth/etcd-key-handlers") as typeof import("./azimuth/etcd-key-handlers")).handlers;
  },
  get "tumblebug/TumblebugPlan"(): Handlers {
    return (
      require("./tumblebug/tumblebug-plan-handlers") as typeof import("./tumblebug/tumblebug-plan-handlers")
    ).handlers;
  },
  get "tumblebug/TumblebugNamespace"(): Handlers {
    return (
      require("./tumblebug/tumblebug-namespace-handlers") as typeof import("./tumblebug/tumblebug-namespace-handlers")
    ).handlers;
  },
  get "tumblebug/TumblebugVNet"(): Handlers {
    return (
      require("./tumblebug/tumblebug-vnet-handlers") as typeof import("./tumblebug/tumblebug-vnet-handlers")
    ).handlers;
  },
  get "tumblebug/TumblebugSecurityGroup"(): Handlers {
    return (
      require("./tumblebug/tumblebug-security-group-handlers") as typeof import("./tumblebug/tumblebug-security-group-handlers")
    ).handlers;
  },
  get "tumblebug/TumblebugSshKey"(): Handlers {
    return (
      require("./tumblebug/tumblebug-ssh-key-handlers") as typeof import("./tumblebug/tumblebug-ssh-key-handlers")
    ).handlers;
  },
  get "tumblebug/TumblebugImage"(): Handlers {
    return (
      require("./tumblebug/tumblebug-image-handlers") as typeof import("./tumblebug/tumblebug-image-handlers")
    ).handlers;
  },
  get "tumblebug/TumblebugSpec"(): Handlers {
    return (
      require("./tumblebug/tumblebug-spec-handlers") as typeof import("./tumblebug/tumblebug-spec-handlers")
    ).handlers;
  },
  get "tumblebug/TumblebugMcis"(): Handlers {
    return (
      require("./tumblebug/tumblebug-mcis-handlers") as typeof import("./tumblebug/tumblebug-mcis-handlers")
    ).handlers;
  },
  get "tumblebug/TumblebugVm"(): Handlers {
    return (
      require("./tumblebug/tumblebug-vm-handlers") as typeof import("./tumblebug/tumblebug-vm-handlers")
    ).handlers;
  },
  get "tumblebug/TumblebugLoadBalancer"(): Handlers {
    return (
      require("./tumblebug/tumblebug-load-balancer-handlers") as typeof import("./tumblebug/tumblebug-load-balancer-handlers")
    ).handlers;
  },
});
