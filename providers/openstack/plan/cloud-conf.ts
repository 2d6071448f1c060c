/** Section, such as "LoadBalancer", → setting, such as "lb-provider" → value. */
export type CloudConfSections = Readonly<Record<string, Readonly<Record<string, string | number | boolean>>>>;

/** What the in-cluster parts of a cloud provider need to know of the cloud. The secret makes all of it secret. */
interface CloudConf {
  authUrl: string;
  region?: string;
  applicationCredential: { id: string; secret: string };
  /** Where load balancers of Services get their floating IPs from. */
  externalNetworkId?: string;
  /** The user's own settings, over these. */
  sections?: CloudConfSections;
}

/**
 * The file cloud.conf, as the cloud controller manager and the Cinder CSI driver read it.
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

/** The reader (gcfg) takes backslash and quote inside quotes. */
function entry(key: string, value: string): string {
  return `${key}="${value.replace(/[\\"]/g, (character) => `\\${character}`)}"`;
}
