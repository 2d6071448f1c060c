import { z } from "zod";
import { absolutePathIssue } from "../../providers/kubeadm/plan/validation/files";
import { bundleIssues, bundlePathIssue, sha256Issue } from "../../providers/kubeadm/plan/validation/source";
import { urlIssue } from "../../lib/validation/urls";
import { exactlyOne, rule, rules } from "./rule";

const url = () => rule(z.string(), (text) => urlIssue(text));

const PackageSource = z.strictObject({
  repository: url()
    .optional()
    .describe("URL of an apt repository laid out like the community's; when absent, the community's own."),
});

const BundleSource = rules(
  z.strictObject({
    path: rule(z.string(), (text) => absolutePathIssue(text) ?? bundlePathIssue(text))
      .optional()
      .describe(
        "Absolute path of the bundle folder on each machine; {version} in it becomes the Kubernetes version.",
      ),
    url: rule(z.string(), (text) => urlIssue(text) ?? bundlePathIssue(text))
      .optional()
      .describe(
        "URL of a bundle .tar.gz that each machine downloads; {version} in it becomes the Kubernetes version.",
      ),
    sha256: rule(z.string(), sha256Issue)
      .optional()
      .describe("SHA-256 of that archive: 64 hexadecimal digits."),
  }),
  bundleIssues,
);

/** Schema of the software source: exactly one of `packages` and `bundle`. */
export const SourceConfiguration = exactlyOne(
  z.strictObject({
    packages: PackageSource.optional().describe("The Kubernetes apt repository."),
    bundle: BundleSource.optional().describe(
      "A folder or archive with binaries and images, for air-gapped sites.",
    ),
  }),
);
