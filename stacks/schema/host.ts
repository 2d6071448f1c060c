import { z } from "zod";
import { below, duplicateIssues } from "../../lib/validation/validation-issue";
import { noProxyIssue, proxyUrlIssue, urlIssue } from "../../lib/validation/urls";
import { DEFAULT_FILE_MODE } from "../../providers/kubeadm/plan/cluster/defaults";
import {
  absolutePathIssue,
  fileModeIssue,
  fileModeNumberIssue,
  fileOwnerIssue,
  hostFileContentIssue,
  hostFileListIssues,
  hostFilePathIssue,
} from "../../providers/kubeadm/plan/validation/files";
import { kernelFileIssues } from "../../providers/kubeadm/plan/validation/kernel-files";
import {
  bundleIssues,
  bundlePathIssue,
  keyFingerprintIssue,
  mirroredRegistryIssue,
  packagesIssues,
  sha256Issue,
} from "../../providers/kubeadm/plan/validation/source";
import {
  registryHostIssues,
  registryUrlIssue,
  plainHostIssues,
  unusedHostIssues,
} from "../../providers/kubeadm/plan/validation/registries";
import { CAPABILITIES } from "../../providers/kubeadm/plan/configuration/registries";
import { exactlyOne, keyRule, rule, rules, text, url } from "./rule";

const PackageSource = rules(
  z.strictObject({
    repository: url(["https"])
      .optional()
      .describe("URL of an apt repository laid out like the community's; when absent, the community's own."),
    keyFingerprint: text(keyFingerprintIssue)
      .optional()
      .describe(
        "Fingerprint of the repository's OpenPGP key, 40 hexadecimal digits; required for every repository but the community's.",
      ),
  }),
  packagesIssues,
);

const BundleSource = rules(
  z.strictObject({
    path: text((value) => absolutePathIssue(value) ?? bundlePathIssue(value))
      .optional()
      .describe(
        "Absolute path of the bundle folder on each machine; {version} in it becomes the Kubernetes version.",
      ),
    url: text((value) => urlIssue(value) ?? bundlePathIssue(value))
      .optional()
      .describe(
        "URL of a bundle .tar.gz that each machine downloads; {version} in it becomes the Kubernetes version.",
      ),
    sha256: text(sha256Issue).optional().describe("SHA-256 of that archive: 64 hexadecimal digits."),
  }),
  bundleIssues,
);

/** Schema of the software source: exactly one of `packages` and `bundle`. */
export const SourceConfiguration = exactlyOne(
  z.strictObject({
    packages: PackageSource.optional().describe("The Kubernetes apt repository."),
    bundle: BundleSource.optional().describe(
      "Folder or archive with binaries and images, for air-gapped sites.",
    ),
  }),
);

const HostFile = z.strictObject({
  path: text(hostFilePathIssue).describe("Absolute path on the machine."),
  content: text(hostFileContentIssue).describe("Content of the file. Not for secrets: previews show it."),
  mode: rule(
    z.string({ error: ({ input }) => (typeof input === "number" ? fileModeNumberIssue(input) : undefined) }),
    fileModeIssue,
  )
    .default(DEFAULT_FILE_MODE)
    .describe('Permissions, in octal and in quotes; "2755" sets the group, too.'),
  owner: text(fileOwnerIssue).default("root:root").describe('Owner: "user", "user:group" or "uid:gid".'),
});
export const HostFiles = rules(z.array(HostFile), (files) => [
  ...hostFileListIssues(files),
  ...kernelFileIssues(files),
]);

export const ProxyConfiguration = z.strictObject({
  http: text(proxyUrlIssue).optional().describe("Proxy for http:// addresses."),
  https: text(proxyUrlIssue).optional().describe("Proxy for https:// addresses."),
  noProxy: z
    .array(rule(z.string().min(1), noProxyIssue))
    .default([])
    .describe(
      "Hosts, domains and blocks reached without the proxy, besides the cluster's machines, Pods and Services.",
    ),
});

const mirrors = z.record(
  z.string(),
  rules(z.array(text(registryUrlIssue)).min(1), (urls) => duplicateIssues(urls, (text) => text)),
);

const RegistryHost = rules(
  z.strictObject({
    overridePath: z
      .boolean()
      .optional()
      .describe(
        "Use the path of the URL as it is; else containerd adds /v2. When absent, true for a path below /v2.",
      ),
    skipVerify: z.boolean().optional().describe("Accept any certificate."),
    ca: z
      .array(z.string())
      .optional()
      .describe(
        "Absolute paths on each machine of files with certificates that this host's own is verified with, which `files` can write.",
      ),
    header: z
      .record(z.string(), z.string())
      .optional()
      .describe("Headers of each request, name → value; none of them secret."),
    capabilities: z
      .array(z.enum(CAPABILITIES))
      .min(1)
      .optional()
      .describe('What it is asked for; when absent, "pull" and "resolve".'),
  }),
  registryHostIssues,
);

/** Registries without the rules that hold only together with those of the cluster. */
export const PoolRegistries = z.strictObject({
  mirrors: keyRule(mirrors, mirroredRegistryIssue)
    .default({})
    .describe(
      'Registry host → URLs of its mirrors, tried in this order; "_default" is every other registry. A path below /v2 is used as it is.',
    ),
  servers: keyRule(z.record(z.string(), text(registryUrlIssue)), mirroredRegistryIssue)
    .optional()
    .describe(
      "Registry host → URL that is asked when no mirror has an image; when absent, the registry itself.",
    ),
  hosts: z
    .record(z.string(), RegistryHost)
    .optional()
    .describe("How a mirror or server is asked, by its URL, in the same spelling."),
});

export const RegistriesConfiguration = rules(PoolRegistries, (registries) =>
  below(["hosts"], [...unusedHostIssues(registries), ...plainHostIssues(registries)]),
);
