import { type Command, Option } from "commander";
import { pageOf } from "../lib/pages";
import { ARCHITECTURES, RUNTIME_VERSIONS } from "../providers/kubeadm/plan/bundle/software";
import type { BundleCreateOptions } from "./commands/bundle-create";
import type { BundleVerifyOptions } from "./commands/bundle-verify";
import { running } from "./terminal/command";
import { exitCodesHelp } from "./terminal/exit-codes";

const CREATE_NOTES = `
It lists what it will download first, compares everything with the checksums that the projects publish, and continues an interrupted run.
HTTPS_PROXY and NO_PROXY name a proxy; logins of registries come from \`docker login\` or \`podman login\` (${pageOf("air-gap")}).
`;
const VERIFY_NOTES = `
It reads every file, and runs none.
`;

const architecture = (purpose: string) =>
  new Option("--arch <name>", purpose).choices(Object.keys(ARCHITECTURES));

/** Adds the commands about bundles for machines without a network. */
export function addBundleCommands(program: Command): void {
  const bundle = program
    .command("bundle")
    .description("commands about bundles for machines without a network (source.bundle)");
  bundle
    .command("create")
    .description("download Kubernetes with its images, and make a bundle of it")
    .requiredOption("--kubernetes <version>", "the version of Kubernetes, e.g. 1.36.3")
    .addOption(architecture("the processor of the machines").makeOptionMandatory())
    .requiredOption("--output <path>", "the folder to make, or an archive that ends with .tar.gz")
    .option("--images <file>", "further images, one on each line")
    .option(
      "--image-repository <name>",
      "the stack's imageRepository, which Kubernetes' images are named after",
    )
    .option("--from-programs <url>", "a mirror that has programs under URL/dl.k8s.io/ and URL/github.com/")
    .option("--registry <[host=]url...>", "a registry that has the images of a host, or of all others", [])
    .option("--containerd <version>", "the version of containerd", RUNTIME_VERSIONS.containerd)
    .option("--runc <version>", "the version of runc", RUNTIME_VERSIONS.runc)
    .option("--cni-plugins <version>", "the version of the CNI plugins", RUNTIME_VERSIONS.cniPlugins)
    .option("--dry-run", "only list what would be downloaded", false)
    .addHelpText("after", () => CREATE_NOTES + exitCodesHelp("bundle create"))
    .action(
      running<BundleCreateOptions>(async () => (await import("./commands/bundle-create.js")).bundleCreate),
    );
  bundle
    .command("verify")
    .description("check that a bundle is complete and unchanged, and what it is for")
    .argument("<path>", "a folder, or a .tar.gz")
    .option("--kubernetes <version>", "the version that it has to be for")
    .addOption(architecture("the processor that it has to be for"))
    .addHelpText("after", () => VERIFY_NOTES + exitCodesHelp("bundle verify"))
    .action(async (path: string, options: Omit<BundleVerifyOptions, "bundle">) => {
      const { bundleVerify } = await import("./commands/bundle-verify.js");
      process.exitCode = await bundleVerify({ ...options, bundle: path });
    });
}
