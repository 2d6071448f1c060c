import { stringify } from "yaml";
import { readYamlOf } from "../../../../lib/yaml";
import type { Machine } from "../../plan/cluster/machine";

/** The administrator's credentials and the cluster's certificate authority, base64 as in a kubeconfig. */
export interface AdminCredentials {
  certificateAuthority: string;
  clientCertificate: string;
  clientKey: string;
}

interface KubeconfigFile {
  clusters?: { cluster: { "certificate-authority-data"?: string } }[];
  users?: { user: { "client-certificate-data"?: string; "client-key-data"?: string } }[];
}

/** Extracts the credentials from kubeadm's admin.conf. @throws Error when the text is not an admin.conf */
export function adminCredentials(adminConf: string): AdminCredentials {
  const { clusters, users } = readYamlOf("admin.conf", adminConf) as KubeconfigFile;
  const authority = clusters?.[0]?.cluster["certificate-authority-data"];
  const { "client-certificate-data": clientCertificate, "client-key-data": clientKey } =
    users?.[0]?.user ?? {};
  if (!authority || !clientCertificate || !clientKey)
    throw new Error("admin.conf contains no certificate authority, client certificate and key");
  return { certificateAuthority: authority, clientCertificate, clientKey };
}

/** The API servers of a kubeconfig. */
interface ApiServers {
  controlPlanes: (Pick<Machine, "name" | "apiServer"> & { certificateName?: string })[];
  /** Name of the control plane of the current context. */
  preferred?: string;
  /** host:port of a load balancer in front of all of them. */
  loadBalancer?: string;
}

/**
 * Renders a kubeconfig with one cluster and context per control plane, and one with the cluster's own name for the load
 * balancer. The current context is the load balancer's; without one, that of `preferred` if it still exists, otherwise
 * the first.
 */
export function renderKubeconfig(
  name: string,
  { controlPlanes, preferred, loadBalancer }: ApiServers,
  { certificateAuthority: authority, clientCertificate, clientKey }: AdminCredentials,
): string {
  const planes = controlPlanes.map((plane) => ({ ...plane, entry: `${name}-${plane.name}` }));
  const found = planes.find((plane) => plane.name === preferred) ?? planes[0];
  const balancer = loadBalancer === undefined ? [] : [{ entry: name, apiServer: loadBalancer }];
  const servers: { entry: string; apiServer: string; certificateName?: string }[] = [...balancer, ...planes];
  const user = `${name}-admin`;
  const credentials = { "client-certificate-data": clientCertificate, "client-key-data": clientKey };
  return stringify(
    {
      apiVersion: "v1",
      kind: "Config",
      clusters: servers.map(({ entry, apiServer, certificateName }) => ({
        name: entry,
        cluster: {
          server: `https://${apiServer}`,
          ...(certificateName === undefined ? {} : { "tls-server-name": certificateName }),
          "certificate-authority-data": authority,
        },
      })),
      users: [{ name: user, user: credentials }],
      contexts: servers.map(({ entry }) => ({ name: entry, context: { cluster: entry, user } })),
      "current-context": (balancer[0] ?? found)?.entry ?? "",
    },
    { lineWidth: 0 },
  );
}

/** Returns the certificate authority of a kubeconfig, base64. @throws Error when it has none */
export function certificateAuthority(kubeconfig: string): string {
  const { clusters } = readYamlOf("the kubeconfig", kubeconfig) as KubeconfigFile;
  const authority = clusters?.[0]?.cluster["certificate-authority-data"];
  if (!authority) throw new Error("the kubeconfig contains no certificate authority");
  return authority;
}
