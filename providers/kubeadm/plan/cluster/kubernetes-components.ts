/** Tags of the images that kubeadm starts a cluster with, and that have versions of their own. */
export interface ComponentTags {
  readonly etcd: string;
  readonly coredns: string;
  readonly pause: string;
}

/**
 * The tags by Kubernetes version, from the sources of kubeadm: `npm run minors` adds the newest patches. Patches of one minor
 * may differ, so a version that is not in the table has no tags here.
 */
export const KUBERNETES_COMPONENTS: Readonly<Record<string, ComponentTags>> = {
  "1.31.14": { etcd: "3.5.24-0", coredns: "v1.11.3", pause: "3.10" },
  "1.32.10": { etcd: "3.5.24-0", coredns: "v1.11.3", pause: "3.10" },
  "1.32.13": { etcd: "3.5.24-0", coredns: "v1.11.3", pause: "3.10" },
  "1.33.6": { etcd: "3.5.24-0", coredns: "v1.12.0", pause: "3.10" },
  "1.33.13": { etcd: "3.5.24-0", coredns: "v1.12.0", pause: "3.10" },
  "1.34.2": { etcd: "3.6.5-0", coredns: "v1.12.1", pause: "3.10.1" },
  "1.34.4": { etcd: "3.6.5-0", coredns: "v1.12.1", pause: "3.10.1" },
  "1.35.4": { etcd: "3.6.6-0", coredns: "v1.13.1", pause: "3.10.1" },
  "1.36.3": { etcd: "3.6.8-0", coredns: "v1.14.2", pause: "3.10.2" },
  "1.37.2": { etcd: "3.7.0-0", coredns: "v1.14.6", pause: "3.10.2" },
};
