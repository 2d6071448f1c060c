import { stringify } from "yaml";
import { ECHO_IMAGE } from "../../sandbox/nodes";
import type { TestCluster } from "./test-cluster";

/** Where the kubelet of a control plane finds it. */
export const STATIC_ENDPOINT = "/etc/kubernetes/manifests/held-address.yaml";

/**
 * Lets a static pod of a control plane hold the cluster's address, as kube-vip and keepalived do: it is there before
 * kubeadm runs. Its programs are those of the machine.
 *
 * @returns the address, which no machine has
 */
export async function writeStaticEndpoint(cluster: TestCluster, controlPlane: string): Promise<string> {
  const node = (await cluster.fleet.list()).find(({ name }) => name === controlPlane);
  // the fleet gives its machines lower ones
  const address = (node?.internalAddress ?? "").replace(/\d+$/, "252");
  await cluster.onMachine(
    controlPlane,
    `mkdir -p /etc/kubernetes/manifests; cat >${STATIC_ENDPOINT} <<'YAML'\n${stringify(holderOf(address))}YAML`,
  );
  return address;
}

function holderOf(address: string): object {
  const hold = `ip address replace ${address}/32 dev eth0; exec sleep infinity`;
  const folders = { programs: "/usr", libraries: "/lib", loader: "/lib64" };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "held-address", namespace: "kube-system" },
    spec: {
      hostNetwork: true,
      priorityClassName: "system-node-critical",
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          name: "holder",
          image: ECHO_IMAGE,
          imagePullPolicy: "Never",
          command: ["/usr/bin/bash", "-c", hold],
          securityContext: { capabilities: { add: ["NET_ADMIN"] } },
          volumeMounts: Object.entries(folders).map(([name, mountPath]) => ({
            name,
            mountPath,
            readOnly: true,
          })),
        },
      ],
      volumes: Object.entries(folders).map(([name, path]) => ({ name, hostPath: { path } })),
    },
  };
}
