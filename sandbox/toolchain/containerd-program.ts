import type { Program } from "./program";

/** The minors of containerd that nodes can have instead of their distribution's, with the pinned patch of each. */
export const CONTAINERD_VERSIONS = { "2.2": "2.2.9", "2.4": "2.4.2" } as const;

export type ContainerdMinor = keyof typeof CONTAINERD_VERSIONS;

/** The programs of a release that a node runs; runc is the distribution's. */
export const CONTAINERD_FILES = ["containerd", "containerd-shim-runc-v2", "ctr"] as const;

/** A release of containerd, built for container nodes. */
export function containerdRelease(minor: ContainerdMinor): Program {
  const version = CONTAINERD_VERSIONS[minor];
  const module = "github.com/containerd/containerd/v2";
  const architecture = process.arch === "arm64" ? "arm64" : "amd64";
  const archive = `https://github.com/containerd/containerd/releases/download/v${version}/containerd-static-${version}-linux-${architecture}.tar.gz`;
  return {
    name: `containerd-${minor}`,
    version,
    title: `containerd ${version}`,
    folder: `programs/containerd-${version}`,
    files: CONTAINERD_FILES,
    downloads: [
      {
        url: archive,
        checksums: `${archive}.sha256sum`,
        members: Object.fromEntries(CONTAINERD_FILES.map((file) => [file, `bin/${file}`])),
      },
    ],
    builds: [
      {
        module: `containerd-${minor}`,
        packages: Object.fromEntries(CONTAINERD_FILES.map((file) => [file, `${module}/cmd/${file}`])),
        ldflags: `-s -w -X ${module}/version.Version=${version}`,
        linux: true,
      },
    ],
  };
}
