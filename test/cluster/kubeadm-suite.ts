import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { run } from "../../sandbox/nodes/command";
import { ensureToolchain } from "../../sandbox/toolchain";
import { silent, type TestCluster } from "./test-cluster";

/** What a report of ginkgo says about one test. */
export interface Spec {
  readonly ContainerHierarchyTexts?: readonly string[] | null;
  readonly LeafNodeText: string;
  readonly LeafNodeType: string;
  readonly State: "passed" | "failed" | "skipped" | "pending" | "panicked" | "aborted" | "timedout";
  readonly Failure?: { readonly Message?: string };
}

/** The tests of a report by their result. */
export interface Judgement {
  readonly passed: readonly string[];
  /** With the first line of the reason. */
  readonly failed: readonly string[];
  readonly skipped: readonly string[];
}

/** Sorts the tests of ginkgo's JSON report by their result; whatever neither passed nor was skipped failed. */
export function judge(report: readonly { readonly SpecReports?: readonly Spec[] | null }[]): Judgement {
  const specs = report.flatMap(({ SpecReports }) => SpecReports ?? []);
  const titles = (isChosen: (spec: Spec) => boolean) =>
    specs.filter((spec) => isChosen(spec)).map((spec) => titleOf(spec));
  const isTest = ({ LeafNodeType }: Spec) => LeafNodeType === "It";
  const isSkipped = ({ State }: Spec) => State === "skipped" || State === "pending";
  return {
    passed: titles((spec) => isTest(spec) && spec.State === "passed"),
    skipped: titles((spec) => isTest(spec) && isSkipped(spec)),
    // what prepares the tests counts, too
    failed: specs
      .filter((spec) => spec.State !== "passed" && !isSkipped(spec))
      .map((spec) => `${titleOf(spec)}: ${(spec.Failure?.Message ?? spec.State).split("\n")[0]}`),
  };
}

const titleOf = ({ ContainerHierarchyTexts, LeafNodeText, LeafNodeType }: Spec): string =>
  [...(ContainerHierarchyTexts ?? []), LeafNodeText || LeafNodeType].join(" ");

/** Tests of what foresail does not have: the Secret of `--upload-certs`, and a token between two joins. */
const NOT_USED = [
  "\\[copy-certs\\]",
  "bootstrap token should exist and be properly configured",
  "cluster-info ConfigMap should exist and be properly configured",
];
/** The test of what a cluster without the taint of control planes does not have. */
const TAINTED = "control-plane node should be labelled and tainted";
/** Fewer passed tests mean that the suite did not look at the cluster. */
const LEAST_PASSED = 25;

/**
 * Lets kubeadm's own tests look at the cluster: its ConfigMaps, tokens, certificates, RBAC, labels, taints and images.
 * @param version of the cluster, whose tests they are
 * @param options.isTainted whether its control planes have the taint of their role; default: yes
 * @throws AssertionError with each test that failed, and why
 */
export async function assertKubeadmAccepts(
  cluster: TestCluster,
  version: string,
  { isTainted = true }: { isTainted?: boolean } = {},
): Promise<void> {
  const toolchain = await ensureToolchain({ kubeadmSuites: [version] }, silent);
  const { file } = await cluster.kubeconfig();
  const folder = await mkdtemp(path.join(tmpdir(), "foresail-kubeadm-suite-"));
  try {
    const report = path.join(folder, "report.json");
    const notHere = isTainted ? NOT_USED : [...NOT_USED, TAINTED];
    const skip = notHere.flatMap((pattern) => ["--ginkgo.skip", pattern]);
    const answer = await run(
      toolchain.kubeadmSuite(version),
      ["--kubeconfig", file, ...skip, "--ginkgo.json-report", report],
      { folder, seconds: 120 },
    ).catch((error: unknown) => String(error));
    const text = await readFile(report, "utf8").catch(() => undefined);
    assert.ok(text, `kubeadm's tests did not run: ${answer}`);
    const { passed, failed } = judge(JSON.parse(text) as { SpecReports?: Spec[] }[]);
    assert.deepEqual(failed, []);
    assert.ok(passed.length >= LEAST_PASSED, `only ${passed.length} of kubeadm's tests ran:\n${answer}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
