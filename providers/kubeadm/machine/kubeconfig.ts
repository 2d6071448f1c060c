import { parse, stringify } from "yaml";
import type { Machine } from "../plan/machine";

/** The administrator's credentials and the cluster's certificate authority, base64 as a kubeconfig holds them. */
export interface AdminCredentials {
  certificateAuthority: string;
  clientCertificate: string;
  clientKey: string;
}

interface KubeconfigFile {
  clusters?: { cluster: { "certificate-authority-data"?: string } }[];
  users?: { user: { "client-certificate-data"?: string; "client-key-data"?: string } }[];
}

/** Takes the credentials out of kubeadm's admin.conf. Throws when the text isn't one. */
export function adminCredentials(adminConf: string): AdminCredentials {
  const file = parse(adminConf) as KubeconfigFile;
  const certificateAuthority = file.clusters?.[0]?.cluster["certificate-authority-data"];
  const user = file.users?.[0]?.user;
  const clientCertificate = user?.["client-certificate-data"];
  const clientKey = user?.["client-key-data"];
  if (!certificateAuthority || !clientCertificate || !clientKey)
    throw new Error("admin.conf holds no certificate authority, client certificate and key");
  return { certificateAuthority, clientCertificate, clientKey };
}

/** The API servers that a kubeconfig names. */
interface ApiServers {
  controlPlanes: (Pick<Machine, "name" | "apiServer"> & { certificateName?: string })[];
  /** Name of the control plane to be asked first. */
  preferred?: string;
  /** host:port of what stands in front of all of them. */
  loadBalancer?: string;
}

/**
 * A kubeconfig with one cluster and context a control plane, and one with the cluster's own name for the load balancer.
 * The current one is the load balancer's; without one that of `preferred` if it is still there, else the first.
 */
export function renderKubeconfig(
  cluster: string,
  { controlPlanes, preferred, loadBalancer }: ApiServers,
  credentials: AdminCredentials,
): string {
  const found = controlPlanes.find(({ name }) => name === preferred) ?? controlPlanes[0];
  const balanced = loadBalancer === undefined ? [] : [{ entry: cluster, apiServer: loadBalancer }];
  const servers: { entry: string; apiServer: string; certificateName?: string }[] = [
    ...balanced,
    ...controlPlanes.map(({ name, ...plane }) => ({ ...plane, entry: `${cluster}-${name}` })),
  ];
  const current = balanced[0]?.entry ?? (found ? `${cluster}-${found.name}` : "");
  return stringify(
    {
      apiVersion: "v1",
      kind: "Config",
      clusters: servers.map(({ entry, apiServer, certificateName }) => ({
        name: entry,
        cluster: {
          server: `https://${apiServer}`,
          ...(certificateName === undefined ? {} : { "tls-server-name": certificateName }),
          "certificate-authority-data": credentials.certificateAuthority,
        },
      })),
      users: [
        {
          name: `${cluster}-admin`,
          user: {
            "client-certificate-data": credentials.clientCertificate,
            "client-key-data": credentials.clientKey,
          },
        },
      ],
      contexts: servers.map(({ entry }) => ({
        name: entry,
        context: { cluster: entry, user: `${cluster}-admin` },
      })),
      "current-context": current,
    },
    { lineWidth: 0 },
  );
}

/** The certificate authority of a kubeconfig, base64. Throws when it has none. */
export function certificateAuthority(kubeconfig: string): string {
  const authority = (parse(kubeconfig) as KubeconfigFile).clusters?.[0]?.cluster[
    "certificate-authority-data"
  ];
  if (!authority) throw new Error("the kubeconfig holds no certificate authority");
  return authority;
}
