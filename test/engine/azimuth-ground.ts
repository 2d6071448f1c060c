/** A management cluster with Azimuth's stand-ins, and a stack of the system "azimuth" in a compiled clone. */
import { KubernetesClient } from "../../clients/kubernetes";
import { waitFor } from "../../clients/wait";
import { API } from "../../core/azimuth/names";
import { Registrar } from "../../sandbox/azimuth/controllers/registrar";
import { azimuthValues } from "../../sandbox/azimuth/stack-values";
import { StandIns } from "../../sandbox/azimuth/stand-ins";
import { makeTenancy, TENANCY } from "../../sandbox/azimuth/tenancy";
import { TEST_NEEDS } from "../../sandbox/set-up";
import { BareApiServer } from "../simulation/bare-api-server";
import { makeCompiledClone, removeFolder } from "./compiled-clone";
import { apiPrograms, engineToolchain, SET_UP_MILLISECONDS } from "./simulated-ground";
import { TestStack } from "./test-stack";

export interface AzimuthGround {
  readonly api: BareApiServer;
  readonly management: KubernetesClient;
  readonly standIns: StandIns;
  readonly registrar: Registrar;
  readonly folder: string;
  readonly stack: TestStack;
  /** Another stack of the same project. */
  other(): TestStack;
  /** The configuration of a stack. */
  values(over?: Record<string, unknown>): Record<string, unknown>;
}

/** Templates that nobody could make a cluster from. */
const BROKEN_TEMPLATES = [
  { name: "broken", description: "No image", values: {} },
  {
    name: "flavourless",
    description: "A node group without a flavour",
    values: { machineImageId: "3c9e-img", nodeGroups: [{ name: "gpu" }] },
  },
].map(({ name, description, values }) => ({
  apiVersion: API.azimuth,
  kind: "ClusterTemplate",
  metadata: { name },
  spec: { label: name, description, values: { kubernetesVersion: "1.36.3", ...values } },
}));

/** Registers the mocha hooks; the object is filled in before the first test. */
export function azimuthGround(): AzimuthGround {
  const made = {} as { -readonly [Key in keyof AzimuthGround]: AzimuthGround[Key] };
  before(async function () {
    this.timeout(SET_UP_MILLISECONDS);
    const toolchain = await engineToolchain(TEST_NEEDS.programs);
    // what is owned goes with its owner; what the schema has in foreground, too
    const controllers = ["garbage-collector-controller", "namespace-controller"];
    made.api = await new BareApiServer({ programs: apiPrograms(toolchain), controllers }).start();
    const kubeconfig = made.api.kubeconfig();
    made.management = await KubernetesClient.connect({ kubeconfig }, { seconds: 10 });
    made.standIns = await StandIns.start({ kubeconfig });
    made.registrar = await Registrar.start();
    await makeTenancy(made.management);
    for (const template of BROKEN_TEMPLATES) await made.management.apply(template);
    made.folder = makeCompiledClone();
    const place = { folder: made.folder, project: "foresail" };
    made.stack = new TestStack({ ...place, stack: "test" }, toolchain);
    const other = new TestStack({ ...place, stack: "other" }, toolchain);
    made.other = () => other;
    made.values = (over = {}) => ({
      system: "azimuth",
      azimuth: { ...azimuthValues(made.registrar.url), ...over },
    });
    await made.stack.create();
    await made.stack.setSecret("managementKubeconfig", kubeconfig);
  });
  after(async () => {
    await made.registrar?.stop();
    await made.standIns?.stop();
    made.management?.close();
    await made.api?.stop();
    if (made.folder) removeFolder(made.folder);
  });
  return made;
}

/** Sets the stack's configuration. */
export function configure(ground: AzimuthGround, over: Record<string, unknown> = {}): void {
  ground.stack.configure(ground.values(over));
}

/** An object as the tests look at it. */
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
export function liveObjects(ground: AzimuthGround) {
  return {
    get: (apiVersion: string, kind: string, name: string) =>
      ground.management.get<Live>({ apiVersion, kind, namespace: TENANCY.namespace, name }),
  };
}

/** Waits until something is so. */
export function untilTrue(what: string, probe: () => Promise<boolean>, seconds = 10): Promise<true> {
  return waitFor<true>({
    what,
    seconds,
    firstPauseMilliseconds: 30,
    longestPauseMilliseconds: 100,
    probe: async () => ((await probe()) ? { done: true } : { pending: "not so yet" }),
  });
}
