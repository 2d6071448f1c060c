/** Section, such as "LoadBalancer" → setting, such as "lb-provider" → value. */
export type CloudConfSections = Readonly<Record<string, Readonly<Record<string, string | number | boolean>>>>;

/** Input of cloud.conf for the cloud provider in the cluster. Secret as a whole, because it contains a credential. */
interface CloudConf {
  authUrl: string;
  region?: string;
  applicationCredential: { id: string; secret: string };
  /** Network of the floating IPs of load balancers for Services. */
  externalNetworkId?: string;
  /** Custom settings, which override foresail's. */
  sections?: CloudConfSections;
}

/**
 * Returns the text of cloud.conf for the cloud controller manager and the Cinder CSI driver.
 *
 * Source: https://github.com/kubernetes/cloud-provider-openstack/blob/master/docs/openstack-cloud-controller-manager/using-openstack-cloud-controller-manager.md
 */
export function cloudConf(conf: CloudConf): string {
  const { authUrl, region, applicationCredential, externalNetworkId, sections = {} } = conf;
  const own: CloudConfSections = {
    Global: {
      "auth-url": authUrl,
      "application-credential-id": applicationCredential.id,
      "application-credential-secret": applicationCredential.secret,
      ...(region === undefined ? {} : { region }),
    },
    ...(externalNetworkId === undefined
      ? {}
      : { LoadBalancer: { "floating-network-id": externalNetworkId } }),
  };
  const names = [...new Set([...Object.keys(own), ...Object.keys(sections)])];
  return names
    .map((name) => {
      const settings = Object.entries({ ...own[name], ...sections[name] });
      return `[${name}]\n${settings.map(([key, value]) => `${entry(key, String(value))}\n`).join("")}`;
    })
    .join("\n");
}

/** Returns a line of cloud.conf. The parser (gcfg) requires escapes for backslashes and quotes in quoted values. */
function entry(key: string, value: string): string {
  return `${key}="${value.replace(/[\\"]/g, (character) => `\\${character}`)}"`;
}
