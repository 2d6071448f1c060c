import type { CloudConfSections } from "./cloud-conf";
import type { ValidationIssue } from "../../../lib/validation/validation-issue";

/** Returns validation issues of custom cloud.conf settings: names that would break the file, and plain-text secrets. */
export function cloudConfIssues(sections: CloudConfSections): ValidationIssue[] {
  return Object.entries(sections).flatMap(([section, settings]): ValidationIssue[] => {
    if (!/^[A-Za-z]+( "[^"\\\n]+")?$/.test(section))
      return [{ path: [section], message: "is no section of cloud.conf; write e.g. LoadBalancer" }];
    return Object.entries(settings).flatMap(([key, value]): ValidationIssue[] => {
      const path = [section, key];
      if (!/^[a-z][a-z0-9-]*$/i.test(key))
        return [{ path, message: 'is no setting of cloud.conf; write e.g. "lb-provider"' }];
      if (/secret|password/i.test(key))
        return [{ path, message: "would be stored in plain; write foresail:cloudApplicationCredential" }];
      if (/\n/.test(String(value))) return [{ path, message: "has more than one line; write one" }];
      return [];
    });
  });
}
