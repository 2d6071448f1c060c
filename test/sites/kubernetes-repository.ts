import { copyFile, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { run } from "../../sandbox/nodes/command";
import { digestOf } from "../../sandbox/nodes/image-archive";
import type { SigningKey } from "./signing-key";

/** The programs that are packed. */
interface PackedPrograms {
  /** such as "1.36.3" */
  readonly version: string;
  readonly kubelet: string;
  readonly kubeadm: string;
  readonly kubectl: string;
}

interface PackedFile {
  /** Its path on a machine. */
  readonly target: string;
  /** A program of this machine, or a text. */
  readonly from: { readonly program: string } | { readonly text: string };
}

/** The units as the community's packages ship them. */
const KUBELET_UNIT = `[Unit]
Description=kubelet: The Kubernetes Node Agent
Documentation=https://kubernetes.io/docs/
Wants=network-online.target
After=network-online.target

[Service]
ExecStart=/usr/bin/kubelet
Restart=always
StartLimitInterval=0
RestartSec=10

[Install]
WantedBy=multi-user.target
`;
const KUBEADM_DROP_IN = `[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
EnvironmentFile=-/etc/default/kubelet
ExecStart=
ExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
`;

const ARCHITECTURE = process.arch === "x64" ? "amd64" : process.arch;

/**
 * Makes an apt repository laid out like the community's for one Kubernetes minor: Release.key, InRelease, Packages
 * and the packages with their dependencies, revision 1.1.
 * @param folder where it is created; its earlier content is replaced
 */
export async function makeKubernetesRepository(
  folder: string,
  programs: PackedPrograms,
  key: SigningKey,
): Promise<void> {
  await mkdir(path.join(folder, ARCHITECTURE), { recursive: true });
  const version = `${programs.version}-1.1`;
  const program = (name: "kubelet" | "kubeadm" | "kubectl"): PackedFile => ({
    target: `/usr/bin/${name}`,
    from: { program: programs[name] },
  });
  const stanzas = [
    await pack(
      folder,
      "kubelet",
      version,
      "iptables (>= 1.4.21), kubernetes-cni (>= 1.2.0), iproute2, mount",
      [
        program("kubelet"),
        { target: "/usr/lib/systemd/system/kubelet.service", from: { text: KUBELET_UNIT } },
      ],
    ),
    await pack(folder, "kubeadm", version, "cri-tools (>= 1.30.0)", [
      program("kubeadm"),
      {
        target: "/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf",
        from: { text: KUBEADM_DROP_IN },
      },
    ]),
    await pack(folder, "kubectl", version, "", [program("kubectl")]),
    // their programs are not needed here, only that apt finds them
    await pack(folder, "kubernetes-cni", "1.7.1-1.1", "", []),
    await pack(folder, "cri-tools", "1.36.0-1.1", "", []),
  ];
  const packages = stanzas.join("\n");
  await writeFile(path.join(folder, "Packages"), packages);
  await signRepository(folder, key);
  await writeFile(path.join(folder, "Release.key"), key.publicKey);
}

/** Signs what the repository lists with this key; its Release.key stays as it is. */
export async function signRepository(folder: string, key: SigningKey): Promise<void> {
  const packages = path.join(folder, "Packages");
  const { size } = await stat(packages);
  const release = [
    "Origin: test",
    "Label: test",
    `Date: ${new Date().toUTCString()}`,
    `Architectures: ${ARCHITECTURE}`,
    "SHA256:",
    ` ${await digestOf(packages)} ${size} Packages`,
    "",
  ].join("\n");
  await writeFile(path.join(folder, "InRelease"), await key.sign(release));
}

/** Makes one package. @returns its paragraph in Packages */
async function pack(
  folder: string,
  name: string,
  version: string,
  depends: string,
  files: readonly PackedFile[],
): Promise<string> {
  const root = path.join(folder, "roots", name);
  await mkdir(path.join(root, "DEBIAN"), { recursive: true });
  const control = [
    `Package: ${name}`,
    `Version: ${version}`,
    `Architecture: ${ARCHITECTURE}`,
    "Maintainer: test <test@example.com>",
    ...(depends === "" ? [] : [`Depends: ${depends}`]),
    `Description: ${name} of the test repository`,
    "",
  ].join("\n");
  await writeFile(path.join(root, "DEBIAN", "control"), control);
  for (const { target, from } of files) {
    const file = path.join(root, target);
    await mkdir(path.dirname(file), { recursive: true });
    if ("program" in from) await copyFile(from.program, file);
    else await writeFile(file, from.text);
    await run("chmod", ["program" in from ? "0755" : "0644", file]);
  }
  const archive = path.join(ARCHITECTURE, `${name}_${version}_${ARCHITECTURE}.deb`);
  // uncompressed: three hundred megabytes are packed and unpacked in a second
  await run("dpkg-deb", ["--root-owner-group", "-Znone", "--build", root, path.join(folder, archive)]);
  await run("rm", ["-r", root]);
  return describePackage(folder, archive, control);
}

/** @returns the paragraph of Packages for an archive in the repository's folder */
export async function describePackage(folder: string, archive: string, control: string): Promise<string> {
  const { size } = await stat(path.join(folder, archive));
  return `${control}Filename: ${archive}\nSize: ${size}\nSHA256: ${await digestOf(path.join(folder, archive))}\n`;
}

/** Changes one byte of what the repository says of itself, after it was signed. */
export async function tamperWithRepository(folder: string): Promise<void> {
  const file = path.join(folder, "InRelease");
  const text = await readFile(file, "utf8");
  await writeFile(file, text.replace("Origin: test", "Origin: evil"));
}
