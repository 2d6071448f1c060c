/** Fixture of the engine's tests: a bare API server, simulated machines, and a stack in a compiled clone. */
import { createReporter } from "../../sandbox/progress";
import { TEST_NEEDS } from "../../sandbox/set-up";
import { ensureToolchain, type ProgramName, type Toolchain } from "../../sandbox/toolchain";
import { KubernetesClient } from "../../lib/kubernetes";
import { type ApiServerPrograms, BareApiServer } from "../simulation/bare-api-server";
import { type FleetOptions, SimulatedFleet } from "../simulation/simulated-fleet";
import { makeCompiledClone, removeFolder } from "./compiled-clone";
import { TestStack } from "./test-stack";

const KUBERNETES_VERSION = "1.36.3";

/** How long the programs may take when they have to be built first. */
export const SET_UP_MILLISECONDS = 1_800_000;

const WITHOUT_NETWORK_PLUGIN: ProgramName[] = TEST_NEEDS.programs.filter(
  (name) => name !== "plugin-kubernetes",
);

export interface SimulatedFixture {
  readonly api: BareApiServer;
  readonly fleet: SimulatedFleet;
  readonly folder: string;
  readonly stack: TestStack;
  readonly toolchain: Toolchain;
  /** Asks the API server directly. */
  readonly kubernetes: KubernetesClient;
}

interface GroundOptions {
  readonly machines: string[];
  readonly milliseconds?: FleetOptions["milliseconds"];
  readonly controllers?: string[];
  /** of the kubelets of the fleet; default "v1.36.3" */
  readonly version?: string;
  /** default: all that the tests need but the kubernetes plugin */
  readonly programs?: readonly ProgramName[];
}

/** The toolchain of the tests; only those with a network plugin need the kubernetes plugin. */
export function engineToolchain(
  programs: readonly ProgramName[] = WITHOUT_NETWORK_PLUGIN,
): Promise<Toolchain> {
  return ensureToolchain({ programs, kubernetes: [KUBERNETES_VERSION] }, createReporter());
}

/** The programs of the bare API server, from a toolchain. */
export function apiPrograms(toolchain: Toolchain): ApiServerPrograms {
  const programs = toolchain.kubernetes(KUBERNETES_VERSION);
  return {
    etcd: programs.etcd,
    kubeApiserver: programs["kube-apiserver"],
    kubeControllerManager: programs["kube-controller-manager"],
  };
}

/** Registers the mocha hooks; the object is filled in before the first test. */
export function simulatedFixture(options: GroundOptions): SimulatedFixture {
  const made = {} as { -readonly [Key in keyof SimulatedFixture]: SimulatedFixture[Key] };
  before(async function () {
    this.timeout(SET_UP_MILLISECONDS);
    Object.assign(made, await openFixture(options));
  });
  after(() => closeFixture(made));
  return made;
}

/** The same without hooks. */
export async function openFixture(options: GroundOptions): Promise<SimulatedFixture> {
  const toolchain = await engineToolchain(options.programs);
  const { controllers = ["token-cleaner-controller"] } = options;
  const api = await new BareApiServer({ programs: apiPrograms(toolchain), controllers }).start();
  const fleet = await SimulatedFleet.start({ ...options, api });
  const folder = makeCompiledClone();
  const stack = new TestStack({ folder, project: "foresail", stack: "test" }, toolchain);
  await stack.create();
  await stack.setSecret("sshPrivateKey", fleet.privateKey);
  const kubernetes = await KubernetesClient.connect({ kubeconfig: api.kubeconfig() }, { seconds: 10 });
  return { api, fleet, folder, stack, toolchain, kubernetes };
}

export async function closeFixture(fixture: Partial<SimulatedFixture>): Promise<void> {
  fixture.kubernetes?.close();
  await fixture.fleet?.stop();
  await fixture.api?.stop();
  if (fixture.folder) removeFolder(fixture.folder);
}
