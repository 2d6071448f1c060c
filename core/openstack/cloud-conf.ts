/** What the in-cluster parts of a cloud provider need to know of the cloud. The secret makes all of it secret. */
export interface CloudConf {
  authUrl: string;
  region?: string;
  applicationCredential: { id: string; secret: string };
  /** Where load balancers of Services get their floating IPs from. */
  externalNetworkId?: string;
}

/**
 * The file cloud.conf, as the cloud controller manager and the Cinder CSI driver read it.
 * Source: https://github.com/kubernetes/cloud-provider-openstack/blob/master/docs/openstack-cloud-controller-manager/using-openstack-cloud-controller-manager.md
 */
export function cloudConf({ authUrl, region, applicationCredential, externalNetworkId }: CloudConf): string {
  const lines = [
    "[Global]",
    entry("auth-url", authUrl),
    entry("application-credential-id", applicationCredential.id),
    entry("application-credential-secret", applicationCredential.secret),
    ...(region === undefined ? [] : [entry("region", region)]),
    ...(externalNetworkId === undefined
      ? []
      : ["", "[LoadBalancer]", entry("floating-network-id", externalNetworkId)]),
  ];
  return `${lines.join("\n")}\n`;
}

/** The reader (gcfg) takes backslash and quote inside quotes. */
function entry(key: string, value: string): string {
  return `${key}="${value.replace(/[\\"]/g, (character) => `\\${character}`)}"`;
}
