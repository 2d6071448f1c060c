import { parse, stringify } from "yaml";
import type { Machine } from "../machine";

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

/**
 * The kubeconfig that foresail exports: one cluster and context a control plane, the current one being
 * `preferred` if it is still there, else the first.
 */
export function renderKubeconfig(
  cluster: string,
  controlPlanes: (Pick<Machine, "name" | "apiServer"> & { certificateName?: string })[],
  credentials: AdminCredentials,
  preferred?: string,
): string {
  const entry = (machine: string) => `${cluster}-${machine}`;
  const current = controlPlanes.find(({ name }) => name === preferred) ?? controlPlanes[0];
  return stringify(
    {
      apiVersion: "v1",
      kind: "Config",
      clusters: controlPlanes.map(({ name, apiServer, certificateName }) => ({
        name: entry(name),
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
      contexts: controlPlanes.map(({ name }) => ({
        name: entry(name),
        context: { cluster: entry(name), user: `${cluster}-admin` },
      })),
      "current-context": current ? entry(current.name) : "",
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
