import path from "node:path";
import type { Reporter } from "../progress";
import { cacheFolder } from "./cache";
import { toolchainEnvironment } from "./environment";
import { imageTags, type ImageTags } from "./image-tags";
import { cloudProviderOpenstack } from "./cloud-provider-openstack-program";
import { clusterApi, clusterApiDocker, newerClusterApi } from "./cluster-api-program";
import { containerdRelease, type ContainerdMinor } from "./containerd-program";
import { clusterPrograms, kubeadmSuite, KUBERNETES_FILES, kubernetesRelease } from "./kubernetes-programs";
import { obtain, type Obtained } from "./obtain";
import type { Program } from "./program";
import { pulumiPrograms } from "./pulumi-programs";
import { ensurePythonPackages, pythonPackages, type PythonPackagesName } from "./python-environment";
import { temporal } from "./temporal-program";
import { versitygw } from "./versitygw-program";

export type { PythonPackagesName } from "./python-environment";

const PROGRAMS = {
  ...pulumiPrograms,
  "cluster-api": clusterApi,
  "cluster-api-newer": newerClusterApi,
  "cluster-api-docker": clusterApiDocker,
  "cloud-provider-openstack": cloudProviderOpenstack,
  temporal,
  versitygw,
};

/** A program that a system or a test tier can request. */
export type ProgramName = keyof typeof PROGRAMS;

/** The prerequisites of a system or a test tier; nothing else is installed. */
export interface Need {
  readonly programs?: readonly ProgramName[];
  /** Versions such as "1.36.3". */
  readonly kubernetes?: readonly string[];
  /** Versions of Kubernetes whose kubeadm's own tests are needed. */
  readonly kubeadmSuites?: readonly string[];
  /** Minors of containerd that nodes have instead of their distribution's. */
  readonly containerd?: readonly ContainerdMinor[];
  /** Sets of Python packages. */
  readonly python?: readonly PythonPackagesName[];
}

type ClusterFile = (typeof KUBERNETES_FILES)[number] | "etcd" | "etcdctl" | "etcdutl" | "coredns" | "pause";

/** The programs of a cluster of one version: absolute paths, Linux programs of this machine's processor. */
export interface KubernetesPrograms extends Readonly<Record<ClusterFile, string>> {
  readonly version: string;
  /** The folder of the release: kubeadm, kubelet and so on; those of etcd, coredns and pause are elsewhere. */
  readonly folder: string;
  /** The tags that kubeadm of this version expects for the images of etcd, pause and coredns. */
  readonly tags: ImageTags;
}

/** Installed programs, and the environment to run them in. */
export interface Toolchain {
  /** The cache folder, shared by all clones on this machine. */
  readonly cache: string;
  /** The environment of this process with PATH, PULUMI_HOME and the engine's other variables. */
  readonly environment: Record<string, string>;
  /**
   * kubeadm's own tests of one Kubernetes version: an absolute path.
   * @throws Error when they were not requested
   */
  kubeadmSuite(version: string): string;
  /**
   * The absolute path of a program, such as "pulumi", "plugin-command" or "cluster-api".
   * @throws Error when it was not requested
   */
  program(name: string): string;
  /**
   * The programs of one Kubernetes version.
   * @throws Error when it was not requested
   */
  kubernetes(version: string): KubernetesPrograms;
  /**
   * The Python of a set of packages.
   * @throws Error when it was not requested
   */
  python(name: PythonPackagesName): string;
}

/** Runs at most two at once: a build uses all processors already, and its memory adds up. */
async function inPairs<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const failures: unknown[] = [];
  const queue = [...items.entries()];
  const worker = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      try {
        results[next[0]] = await work(next[1]);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all([worker(), worker()]);
  if (failures.length === 0) return results;
  throw new Error(
    failures.map((error) => (error instanceof Error ? error.message : String(error))).join("\n"),
  );
}

function kubernetesPrograms(version: string, obtained: readonly Obtained[]): KubernetesPrograms {
  const release = obtained.find(
    ({ program }) => program.name === "kubernetes" && program.version === version,
  );
  if (release === undefined)
    throw new Error(`Kubernetes ${version} was not requested when the tool chain was set up`);
  const files = [
    ...clusterPrograms(version).flatMap(({ files, folder }) =>
      files.map((file) => [
        file,
        path.join(obtained.find(({ program }) => program.folder === folder)?.folder ?? "", file),
      ]),
    ),
    ...KUBERNETES_FILES.map((file) => [file, path.join(release.folder, file)]),
  ];
  return {
    ...(Object.fromEntries(files) as Record<ClusterFile, string>),
    version,
    folder: release.folder,
    tags: release.stamp.facts as unknown as ImageTags,
  };
}

/**
 * Ensures that the required programs are in the cache; takes a few milliseconds when they are. Missing ones are found
 * on this machine, downloaded, or built (docs/adr/0009-toolchain.md).
 * @throws Error that lists for each unavailable program what was tried and how to fix it
 */
export async function ensureToolchain(need: Need, report: Reporter): Promise<Toolchain> {
  const cache = cacheFolder();
  const named = (need.programs ?? []).map((name): Program => PROGRAMS[name]);
  const versions = [...new Set(need.kubernetes ?? [])];
  const programs = new Set<Program>([
    ...named,
    ...versions.map(kubernetesRelease),
    ...(need.containerd ?? []).map(containerdRelease),
    ...versions.flatMap(clusterPrograms),
    ...(need.kubeadmSuites ?? []).map(kubeadmSuite),
  ]);
  const obtained = await inPairs([...programs], (program) =>
    obtain(
      program,
      report,
      cache,
      program.name === "kubernetes" ? { facts: (folder) => imageTags(folder, program.version) } : {},
    ),
  );
  const pythons = new Map<PythonPackagesName, string>();
  for (const name of need.python ?? [])
    pythons.set(name, await ensurePythonPackages(pythonPackages[name], report, cache));
  const cli = obtained.find(({ program }) => program.name === "pulumi");
  return {
    cache,
    environment: toolchainEnvironment(cache, cli?.folder),
    program(name) {
      for (const { program, folder } of obtained) {
        if (program.name === name) return path.join(folder, program.files[0] ?? "");
        const file = program.files.find((known) => known === name || known === `pulumi-${name}`);
        if (file !== undefined) return path.join(folder, file);
      }
      throw new Error(`${name} was not requested when the tool chain was set up`);
    },
    kubernetes: (version) => kubernetesPrograms(version, obtained),
    kubeadmSuite(version) {
      const { folder } = kubeadmSuite(version);
      if (!obtained.some(({ program }) => program.folder === folder))
        throw new Error(`kubeadm's tests of ${version} were not requested when the tool chain was set up`);
      return path.join(cache, folder, "kubeadm-suite");
    },
    python(name) {
      const python = pythons.get(name);
      if (python === undefined)
        throw new Error(`the Python packages ${name} were not requested when the tool chain was set up`);
      return python;
    },
  };
}
