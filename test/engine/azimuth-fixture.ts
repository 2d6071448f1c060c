/** A management cluster with fakes for Azimuth, and a stack of the system "azimuth" in a compiled clone. */
import { KubernetesClient } from "../../lib/kubernetes";
import { waitFor } from "../../lib/wait";
import { API } from "../../providers/azimuth/plan/names";
import { Registrar } from "../../sandbox/azimuth/controllers/registrar";
import { azimuthValues } from "../../sandbox/azimuth/stack-values";
import { SimulatedControllers } from "../../sandbox/azimuth/simulated-controllers";
import { makeTenancy, TENANCY } from "../../sandbox/azimuth/tenancy";
import { TEST_NEEDS } from "../../sandbox/set-up";
import type { Toolchain } from "../../sandbox/toolchain";
import { BareApiServer, type BareApiServerOptions } from "../simulation/bare-api-server";
import { makeCompiledClone, removeFolder } from "./compiled-clone";
import { apiPrograms, engineToolchain, SET_UP_MILLISECONDS } from "./simulated-fixture";
import { TestStack } from "./test-stack";

export interface AzimuthFixture {
  readonly api: BareApiServer;
  readonly management: KubernetesClient;
  readonly controllers: SimulatedControllers;
  readonly registrar: Registrar;
  readonly folder: string;
  readonly stack: TestStack;
  /** Another stack of the same project. */
  other(): TestStack;
  /** A further stack of it, by name, which is not created yet. */
  stackOf(name: string): TestStack;
  /** The configuration of a stack. */
  values(over?: Record<string, unknown>): Record<string, unknown>;
}

/** A template that no cluster with a Lease can use. */
const FLAVORLESS_TEMPLATE = {
  apiVersion: API.azimuth,
  kind: "ClusterTemplate",
  metadata: { name: "flavorless" },
  spec: {
    label: "flavorless",
    description: "A node group without a flavor",
    values: { kubernetesVersion: "1.36.3", machineImageId: "3c9e-img", nodeGroups: [{ name: "gpu" }] },
  },
};

/** Registers the mocha hooks; the object is filled in before the first test. */
export function azimuthFixture(): AzimuthFixture {
  const made = {} as RunningAzimuth;
  before(async function () {
    this.timeout(SET_UP_MILLISECONDS);
    Object.assign(made, await startAzimuth(await engineToolchain(TEST_NEEDS.programs)));
  });
  after(() => made.stop?.());
  return made;
}

/** A fixture that the caller has to stop. */
interface RunningAzimuth extends AzimuthFixture {
  stop(): Promise<void>;
}

/** Starts the management cluster and makes the stack. @param options further arguments of the API server */
export async function startAzimuth(
  toolchain: Toolchain,
  options: Pick<BareApiServerOptions, "apiServerArguments"> = {},
  prepare: (api: BareApiServer) => void = () => undefined,
): Promise<RunningAzimuth> {
  // owned objects are deleted with their owner; those of the schema in the foreground, too
  const ownControllers = ["garbage-collector-controller", "namespace-controller"];
  const api = new BareApiServer({
    ...options,
    programs: apiPrograms(toolchain),
    controllers: ownControllers,
  });
  prepare(api);
  await api.start();
  const kubeconfig = api.kubeconfig();
  const management = await KubernetesClient.connect({ kubeconfig }, { seconds: 10 });
  const controllers = await SimulatedControllers.start({ kubeconfig, leaseCheckMilliseconds: 500 });
  const registrar = await Registrar.start();
  await makeTenancy(management);
  await management.apply(FLAVORLESS_TEMPLATE);
  const folder = makeCompiledClone();
  const stackOf = (stack: string) => new TestStack({ folder, project: "foresail", stack }, toolchain);
  const stack = await stackOf("test").create();
  await stack.setSecret("managementKubeconfig", kubeconfig);
  const other = stackOf("other");
  return {
    ...{ api, management, controllers, registrar, folder, stack, stackOf },
    other: () => other,
    values: (over = {}) => ({
      system: "azimuth",
      azimuth: { ...azimuthValues(registrar.url), ...over },
    }),
    stop: async () => {
      await registrar.stop();
      await controllers.stop();
      management.close();
      await api.stop();
      removeFolder(folder);
    },
  };
}

/** Sets the stack's configuration. */
export function configure(fixture: AzimuthFixture, over: Record<string, unknown> = {}): void {
  fixture.stack.configure(fixture.values(over));
}

/** The fields of an object that the tests read. */
export interface Live {
  metadata: {
    uid: string;
    annotations?: Record<string, string>;
    finalizers?: string[];
    deletionTimestamp?: string;
    ownerReferences?: { uid: string; controller?: boolean }[];
  };
  spec: Record<string, unknown>;
  status?: Record<string, unknown> & { services?: Record<string, unknown> };
  data?: Record<string, string>;
}

/** Reads objects of the tenancy. */
export function liveObjects(fixture: AzimuthFixture) {
  return {
    get: (apiVersion: string, kind: string, name: string) =>
      fixture.management.get<Live>({ apiVersion, kind, namespace: TENANCY.namespace, name }),
  };
}

/** Waits until a condition holds. */
export function untilTrue(what: string, probe: () => Promise<boolean>, seconds = 60): Promise<true> {
  return waitFor<true>({
    what,
    seconds,
    firstPauseMilliseconds: 30,
    longestPauseMilliseconds: 100,
    probe: async () => ((await probe()) ? { done: true } : { pending: "not so yet" }),
  });
}
