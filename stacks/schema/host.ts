import { DEFAULT_FILE_MODE } from "../../providers/kubeadm/plan/defaults";
import { z } from "zod";
import { duplicateIssues } from "../../lib/validation/duplicates";
import {
  fileModeIssue,
  fileModeNumberIssue,
  fileOwnerIssue,
  hostFileContentIssue,
  hostFileListIssues,
  hostFilePathIssue,
} from "../../providers/kubeadm/plan/validation/files";
import { mirroredRegistryIssue } from "../../providers/kubeadm/plan/validation/source";
import { noProxyIssue, proxyUrlIssue, urlIssue } from "../../lib/validation/urls";
import { keyRule, rule, rules } from "./rule";

const HostFile = z.strictObject({
  path: rule(z.string(), hostFilePathIssue).describe("Absolute path on the machine."),
  content: rule(z.string(), hostFileContentIssue).describe(
    "What the file holds. Not for secrets: it is shown in previews.",
  ),
  mode: rule(
    z.string({ error: ({ input }) => (typeof input === "number" ? fileModeNumberIssue(input) : undefined) }),
    fileModeIssue,
  )
    .default(DEFAULT_FILE_MODE)
    .describe('Permissions, in octal and in quotes; "2755" sets the group, too.'),
  owner: rule(z.string(), fileOwnerIssue)
    .default("root:root")
    .describe('Owner: "user", "user:group" or "uid:gid".'),
});
export const HostFiles = rules(z.array(HostFile), hostFileListIssues);

const url = () => rule(z.string(), (text) => urlIssue(text));

export const ProxyConfiguration = z.strictObject({
  http: rule(z.string(), proxyUrlIssue).optional().describe("Proxy for http:// addresses."),
  https: rule(z.string(), proxyUrlIssue).optional().describe("Proxy for https:// addresses."),
  noProxy: z
    .array(rule(z.string().min(1), noProxyIssue))
    .default([])
    .describe("Hosts, domains and blocks reached without the proxy, besides the cluster's own."),
});

const mirrors = z.record(
  z.string(),
  rules(z.array(url()).min(1), (urls) => duplicateIssues(urls, (text) => text)),
);

export const RegistriesConfiguration = z.strictObject({
  mirrors: keyRule(mirrors, mirroredRegistryIssue)
    .default({})
    .describe(
      'Registry host → URLs of its mirrors, tried in this order; "_default" is every other registry.',
    ),
});
