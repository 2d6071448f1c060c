import type { Reporter } from "./progress";
import { ensureToolchain, type ProgramName, type PythonPackagesName, type Toolchain } from "./toolchain";

/** The prerequisites of a system or a test tier. */
export interface Needs {
  /** Programs by the names that the tool chain knows. */
  readonly programs: readonly ProgramName[];
  /** Kubernetes versions, such as "1.36.3". */
  readonly kubernetes: readonly string[];
  /** Whether container nodes are needed: their image and the bundles of those versions. */
  readonly nodes: boolean;
  /** Versions of Kubernetes whose kubeadm's own tests run; absent: none. */
  readonly kubeadmSuites?: readonly string[];
  /** Sets of Python packages; absent: none. */
  readonly python?: readonly PythonPackagesName[];
}

/** The prerequisites of every system of the sandbox. */
export const SANDBOX_NEEDS: Needs = {
  programs: ["pulumi", "language-nodejs", "plugin-command"],
  kubernetes: ["1.36.3"],
  nodes: true,
};

/** The prerequisites of the tests: networks from manifests and charts use the kubernetes plugin. */
export const TEST_NEEDS: Needs = {
  ...SANDBOX_NEEDS,
  programs: [...SANDBOX_NEEDS.programs, "plugin-kubernetes"],
};

/**
 * Installs everything that is missing on this machine; fast when nothing is missing.
 * @throws Error that names the missing item and the command that installs it
 */
export async function setUp(needs: Needs, report: Reporter): Promise<Toolchain> {
  const toolchain = await ensureToolchain(
    {
      programs: needs.programs,
      kubernetes: needs.kubernetes,
      kubeadmSuites: needs.kubeadmSuites ?? [],
      python: needs.python ?? [],
    },
    report,
  );
  if (needs.nodes) {
    const { ensureBundle, ensureNodeImage } = await import("./nodes/index.js");
    await ensureNodeImage(report);
    for (const version of needs.kubernetes) await ensureBundle(toolchain.kubernetes(version), report);
  }
  return toolchain;
}
