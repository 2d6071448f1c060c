import type { ValidationIssue } from "../../../lib/validation/validation-issue";

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
    ...(externalNetworkId ? { LoadBalancer: { "floating-network-id": externalNetworkId } } : {}),
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

/** Returns validation issues of custom cloud.conf settings: names that would break the file, and plain-text secrets. */
export function cloudConfIssues(sections: CloudConfSections): ValidationIssue[] {
  return Object.entries(sections).flatMap(([section, settings]): ValidationIssue[] => {
    if (!/^[A-Za-z]+( "[^"\\\n]+")?$/.test(section))
      return [{ path: [section], message: "is not a section of cloud.conf; write e.g. LoadBalancer" }];
    return Object.entries(settings).flatMap(([key, value]): ValidationIssue[] => {
      const path = [section, key];
      if (!/^[a-z][a-z0-9-]*$/i.test(key))
        return [{ path, message: 'is not a setting of cloud.conf; write e.g. "lb-provider"' }];
      if (/secret|password/i.test(key))
        return [
          { path, message: "would be stored in plain text; write foresail:cloudApplicationCredential" },
        ];
      if (/\n/.test(String(value))) return [{ path, message: "has more than one line; write one" }];
      return [];
    });
  });
}
