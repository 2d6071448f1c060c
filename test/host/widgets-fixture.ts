import { KubernetesClient } from "../../lib/kubernetes";
import { installDefinitions } from "../../sandbox/management/definitions";
import { SET_UP_MILLISECONDS } from "../engine/simulated-fixture";
import { BareApiServer } from "../simulation/bare-api-server";
import { simulationPrograms } from "../simulation/programs";
import { WIDGETS } from "../simulation/widgets";
import { ProviderHost } from "./provider-host";

/** A bare API server with the kind Widget, and the handlers in Pulumi's own process. */
export interface WidgetsFixture {
  readonly api: BareApiServer;
  readonly host: ProviderHost;
  readonly kubernetes: KubernetesClient;
}

/** Registers the mocha hooks; the object is filled in before the first test. */
export function widgetsFixture(): WidgetsFixture {
  const made: Partial<{ -readonly [Key in keyof WidgetsFixture]: WidgetsFixture[Key] }> = {};
  before(async function () {
    this.timeout(SET_UP_MILLISECONDS);
    const { etcd, kubeApiserver } = await simulationPrograms();
    made.api = await new BareApiServer({ programs: { etcd, kubeApiserver } }).start();
    made.kubernetes = await KubernetesClient.connect({ kubeconfig: made.api.kubeconfig() }, { seconds: 10 });
    await installDefinitions(made.kubernetes, [WIDGETS]);
    made.host = await ProviderHost.inClone();
  });
  after(async () => {
    await made.host?.stop();
    made.kubernetes?.close();
    await made.api?.stop();
  });
  return made as WidgetsFixture;
}
