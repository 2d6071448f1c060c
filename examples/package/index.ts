import * as pulumi from "@pulumi/pulumi";
import { KubeadmCluster } from "foresail";

const config = new pulumi.Config();

const cluster = new KubeadmCluster("demo", {
  version: "1.36.3",
  ssh: { user: "ops", privateKey: config.requireSecret("sshPrivateKey") },
  machines: [
    { name: "cp-1", role: "control-plane", address: "192.0.2.11" },
    {
      name: "w-1",
      role: "worker",
      address: "192.0.2.21",
      labels: { "topology.kubernetes.io/zone": "room-1" },
    },
  ],
  network: { plugin: { cilium: {} } },
});

export const kubeconfig = cluster.kubeconfig;
export const endpoints = cluster.endpoints;
export const nodes = cluster.nodes;
