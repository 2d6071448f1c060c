import { randomUUID } from "node:crypto";
import { chmod, copyFile, mkdir, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Reporter } from "../progress";
import { bundleFolder, readBundleRecord, writeBundleRecord, type BundleRecord } from "./bundle-record";
import { run } from "./command";
import { ContainerEngine } from "./engine";
import { digestOf, writeImageArchive, writeProgramLayer } from "./image-archive";
import { writeIptablesLayer } from "./iptables-layer";
import { ECHO_IMAGE, planImages, type KubernetesPrograms } from "./kubernetes-programs";
import { ensureNodeImage, nodeImage } from "./node-image";
import { cacheFolder, projectFolder } from "./paths";

/** Increased when the bundle's layout changes, so that bundles of older code are rebuilt. */
const LAYOUT = 1;

/**
 * Builds the bundle of one version in the cache, unless it exists: bin/{kubeadm,kubelet,kubectl}, images/images.tar
 * with the images that kubeadm requires and the sandbox's echo image, SHA256SUMS, bundle.json.
 * @returns its folder
 * @throws Error when kubeadm requires an image for which no program is known, or a program is missing
 */
export async function ensureBundle(programs: KubernetesPrograms, report: Reporter): Promise<string> {
  const folder = bundleFolder(programs.version);
  const inputs = await describeInputs(programs);
  if ((await readBundleRecord(folder))?.inputs === inputs) return folder;
  await ensureNodeImage(report);
  await report.step(`bundle of Kubernetes v${programs.version}`, async (update) => {
    const part = `${folder}.${randomUUID().slice(0, 8)}.part`;
    try {
      await build(programs, part, inputs, update);
      await rm(folder, { recursive: true, force: true });
      await rename(part, folder);
    } finally {
      await rm(part, { recursive: true, force: true });
    }
    update("assembled from programs and images");
  });
  return folder;
}

async function build(
  programs: KubernetesPrograms,
  part: string,
  inputs: string,
  update: (detail: string) => void,
): Promise<void> {
  const staging = path.join(part, "staging");
  for (const name of ["bin", "images", "staging"]) await mkdir(path.join(part, name), { recursive: true });
  for (const name of ["kubeadm", "kubelet", "kubectl"] as const) {
    await copyFile(programs[name], path.join(part, "bin", name));
    await chmod(path.join(part, "bin", name), 0o755);
  }
  const listed = await run(programs.kubeadm, [
    "config",
    "images",
    "list",
    "--kubernetes-version",
    `v${programs.version}`,
  ]);
  const planned = planImages(listed.trim().split("\n"), programs);
  update("the layer with iptables");
  const iptables = await writeIptablesLayer(
    await ContainerEngine.ensure({ step: (_, work) => work(update) }),
    staging,
  );
  const images = [];
  for (const { reference, programs: files, targets, iptables: needsIptables } of planned) {
    update(reference);
    const layer = await writeProgramLayer(staging, files, targets);
    images.push({ reference, entrypoint: targets[0], layers: needsIptables ? [iptables, layer] : [layer] });
  }
  update(ECHO_IMAGE);
  const echo = await writeProgramLayer(staging, [await buildEcho(staging)], ["/echo"]);
  images.push({ reference: ECHO_IMAGE, entrypoint: "/echo", layers: [echo] });
  update("the image archive");
  await writeImageArchive(staging, images, path.join(part, "images", "images.tar"));
  await rm(staging, { recursive: true });
  await writeSums(part, {
    version: programs.version,
    inputs,
    images: images.map(({ reference }) => reference),
  });
}

async function writeSums(part: string, record: Omit<BundleRecord, "digest">): Promise<void> {
  const files = ["bin/kubeadm", "bin/kubectl", "bin/kubelet", "images/images.tar"];
  const digests = await Promise.all(files.map((file) => digestOf(path.join(part, file))));
  const sums = files.map((file, index) => `${digests[index]}  ${file}\n`).join("");
  await writeFile(path.join(part, "SHA256SUMS"), sums);
  await writeBundleRecord(part, { ...record, digest: await digestOf(path.join(part, "SHA256SUMS")) });
}

/** Builds the echo program; it needs only Go's standard library. */
async function buildEcho(staging: string): Promise<string> {
  const program = path.join(staging, "echo");
  await run("go", ["build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", program, "."], {
    folder: path.join(projectFolder, "sandbox", "nodes", "echo"),
    seconds: 300,
    environment: {
      CGO_ENABLED: "0",
      GOTOOLCHAIN: "local",
      GOFLAGS: "",
      GOPATH: path.join(cacheFolder, "go"),
      GOCACHE: path.join(cacheFolder, "go-build"),
    },
  });
  return program;
}

/** Identifies programs by size and time, because hashing a gigabyte at every start would take seconds. */
async function describeInputs(programs: KubernetesPrograms): Promise<string> {
  const names = Object.entries(programs as unknown as Record<string, unknown>)
    .filter((entry): entry is [string, string] => typeof entry[1] === "string" && path.isAbsolute(entry[1]))
    .filter(([name]) => name !== "folder")
    .sort(([one], [other]) => one.localeCompare(other));
  const programStates = await Promise.all(
    names.map(async ([name, file]) => {
      const { size, mtimeMs } = await stat(file);
      return `${name} ${size} ${Math.floor(mtimeMs)}`;
    }),
  );
  const echo = await digestOf(path.join(projectFolder, "sandbox", "nodes", "echo", "main.go"));
  return [`layout ${LAYOUT}`, nodeImage(), `echo ${echo}`, ...programStates].join("; ");
}
