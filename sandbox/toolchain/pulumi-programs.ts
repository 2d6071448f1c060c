import { installedPlugin, installedPulumi } from "./installed";
import { commandLauncher, pulumiLaunchers } from "./launchers";
import type { Build, Program } from "./program";

/** The version of the CLI; package.json pins the same for `@pulumi/pulumi`. */
export const PULUMI_VERSION = "3.230.0";

const architecture = process.arch === "arm64" ? "arm64" : "amd64";
const system = process.platform === "darwin" ? "darwin" : "linux";

/** The CLI, its language host for node.js, and what the engine expects beside it: all must be in one folder. */
const pulumi: Program = {
  name: "pulumi",
  version: PULUMI_VERSION,
  title: `Pulumi CLI ${PULUMI_VERSION} with its node.js language host`,
  folder: `programs/pulumi-${PULUMI_VERSION}`,
  files: ["pulumi", "pulumi-language-nodejs", ...Object.keys(pulumiLaunchers)],
  installed: (cache) => installedPulumi(PULUMI_VERSION, cache),
  downloads: [
    {
      url: `https://get.pulumi.com/releases/sdk/pulumi-v${PULUMI_VERSION}-${system}-${architecture.replace("amd64", "x64")}.tar.gz`,
      checksums: `https://get.pulumi.com/releases/sdk/pulumi-${PULUMI_VERSION}-checksums.txt`,
      members: { pulumi: "pulumi/pulumi", "pulumi-language-nodejs": "pulumi/pulumi-language-nodejs" },
    },
  ],
  builds: [
    {
      module: "pulumi",
      packages: { pulumi: "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi" },
      ldflags: `-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=${PULUMI_VERSION}`,
    },
    {
      module: "pulumi-language-nodejs",
      packages: {
        "pulumi-language-nodejs": "github.com/pulumi/pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs",
      },
    },
  ],
  launchers: pulumiLaunchers,
};

/** Defines a resource plugin, in the folder of the sandbox's Pulumi home where the engine expects it. */
function plugin(name: string, version: string, ways: { builds?: Build[]; replacement?: string }): Program {
  const file = `pulumi-resource-${name}`;
  return {
    name: `plugin-${name}`,
    version,
    title: `Pulumi plugin ${name} ${version}`,
    folder: `pulumi-home/plugins/resource-${name}-v${version}`,
    files: [file],
    installed: (cache) => installedPlugin(name, version, cache),
    downloads: [
      {
        url: `https://get.pulumi.com/releases/plugins/${file}-v${version}-${system}-${architecture}.tar.gz`,
        checksums: `https://github.com/pulumi/pulumi-${name}/releases/download/v${version}/pulumi-${name}_${version}_checksums.txt`,
        members: { [file]: file },
      },
    ],
    builds: ways.builds ?? [],
    ...(ways.replacement === undefined ? {} : { replacement: { [file]: ways.replacement } }),
  };
}

/** The programs of Pulumi by the names that Need uses. */
export const pulumiPrograms = {
  pulumi,
  // one archive contains both, and the engine expects the language host beside itself
  "language-nodejs": pulumi,
  "plugin-kubernetes": plugin("kubernetes", "4.18.1", {
    builds: [
      {
        module: "pulumi-resource-kubernetes",
        packages: { "pulumi-resource-kubernetes": "." },
        ldflags: "-X github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version.Version=4.18.1",
        embed: {
          module: "github.com/pulumi/pulumi-kubernetes/provider/v4",
          files: [
            "cmd/pulumi-resource-kubernetes/schema.json",
            "cmd/pulumi-resource-kubernetes/terraform-mapping.json",
          ],
        },
      },
    ],
  }),
  "plugin-command": plugin("command", "1.2.1", { replacement: commandLauncher }),
  "plugin-openstack": plugin("openstack", "3.15.2", {
    builds: [
      {
        module: "pulumi-resource-openstack",
        packages: { "pulumi-resource-openstack": "." },
        ldflags: "-s -w -X main.version=3.15.2",
      },
    ],
  }),
} satisfies Record<string, Program>;
